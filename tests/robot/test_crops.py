"""The part of each frame that is looked at."""

import numpy as np
import pytest
from PIL import Image

from newfound import InputError
from newfound.robot.crops import CENTRE, Crop

PIXELS = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
PICTURE = Image.fromarray(PIXELS)


def test_a_rectangle_is_cut_out() -> None:
    part = Crop.parse(" 3, 5,20 ,7").of(PICTURE)
    assert np.array_equal(np.asarray(part), PIXELS[5:12, 3:23])
    assert np.array_equal(np.asarray(Crop.parse("0,0,64,48").of(PICTURE)), PIXELS)


def test_the_centre_is_the_largest_square_in_the_middle() -> None:
    assert np.array_equal(np.asarray(CENTRE.of(PICTURE)), PIXELS[:, 8:56])
    assert CENTRE.of(PICTURE.rotate(90, expand=True)).size == (48, 48)


@pytest.mark.parametrize(
    "text", ["", "1,2,3", "1,2,3,4,5", "-1,0,9,9", "0,0,0,9", "0,0,9.5,9", "x"]
)
def test_what_is_no_rectangle_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="no part of a frame"):
        Crop.parse(text)


@pytest.mark.parametrize("text", ["0,0,65,1", "0,0,1,49", "64,0,1,1", "999999,0,1,1"])
def test_a_part_must_lie_in_the_frame(text: str) -> None:
    with pytest.raises(InputError, match="does not lie in a frame of 64 x 48 pixels"):
        Crop.parse(text).of(PICTURE)


def test_parts_are_told_apart_by_how_they_are_written() -> None:
    assert str(Crop.parse("1, 2,3,4")) == "1,2,3,4"
    assert str(CENTRE) == "centre"
