"""Which frames are worth a lesson."""

import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFilter

from newfound import InputError
from newfound.features import Pixels
from newfound.recognition.sources import Problem
from newfound.robot.every import Every
from newfound.robot.frames import Frame
from newfound.robot.thinning import ALIKE_FROM, REMEMBERED, Thinning, sharpness
from tests.robot.clips import moving, scene, still

RNG = np.random.default_rng(0)


def taken(vectors: Any, **options: Any) -> list[int]:
    """Return which vectors are taken."""
    thinning = Thinning(**options)
    return [index for index, vector in enumerate(vectors) if thinning.takes(vector)]


@given(st.lists(st.lists(st.integers(-3, 3), min_size=5, max_size=5), max_size=30))
def test_a_frame_is_taken_if_it_correlates_with_none_that_was(rows: list[list[int]]) -> None:
    vectors = np.array(rows, dtype=float).reshape(-1, 5)
    expected: list[int] = []
    for index, vector in enumerate(vectors):
        alike = False
        for other in expected:
            pair = vectors[other], vector
            if min(map(np.ptp, pair)) == 0:
                alike |= max(map(np.ptp, pair)) == 0  # both are plain
            else:
                alike |= bool(np.corrcoef(*pair)[0, 1] >= ALIKE_FROM)
        if not alike:
            expected.append(index)
    assert taken(vectors) == expected


def test_neither_scale_nor_light_makes_a_frame_another() -> None:
    vector = RNG.normal(size=50).astype(np.float32)
    assert taken([vector, 7 * vector, vector + 3, 0.1 * vector - 1, -vector]) == [0, 4]


def test_a_camera_that_stands_still_teaches_one_frame_and_one_that_moves_teaches_all() -> None:
    extractor = Pixels(size=8)
    assert taken(extractor(list(still(1, 20, noise=8)))) == [0]
    assert taken(extractor(list(moving(1, 8)))) == list(range(8))


def test_frames_that_show_nothing_are_one() -> None:
    assert taken(np.zeros((5, 9), np.float32)) == [0]
    assert taken(np.full((5, 9), 0.1, np.float32)) == [0]
    assert taken(0.5 + RNG.normal(0, 0.004, (5, 64))) == [0]


@pytest.mark.slow
def test_what_was_taken_long_ago_is_forgotten_and_memory_is_bounded() -> None:
    vectors = RNG.normal(size=(REMEMBERED + 2, 64))
    thinning = Thinning()
    for vector in vectors:
        assert thinning.takes(vector)
    assert not thinning.takes(vectors[-1])
    assert not thinning.takes(vectors[2])
    assert thinning.takes(vectors[0])
    tracemalloc.start()
    for _ in range(500):
        thinning.takes(RNG.normal(size=64))
        thinning.wants(Image.new("L", (32, 32)))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 50_000


def test_no_more_are_taken_than_are_wanted() -> None:
    thinning = Thinning(at_most=2)
    picture = Image.fromarray(scene(1))
    assert [thinning.takes(vector) for vector in np.eye(4)] == [True, True, False, False]
    assert thinning.is_full
    assert not thinning.wants(picture)
    assert thinning.skipped == Counter({"beyond --at-most": 3})


@pytest.mark.parametrize("blur", [6, (6, 0), (0, 6)], ids=["all", "sideways", "upwards"])
def test_a_blurred_frame_among_sharp_ones_is_skipped(blur: Any) -> None:
    pictures = [Image.fromarray(picture) for picture in still(1, 20)]
    pictures[12] = pictures[12].filter(ImageFilter.BoxBlur(blur))
    thinning = Thinning()
    assert [n for n, picture in enumerate(pictures) if not thinning.wants(picture)] == [12]
    assert thinning.skipped == Counter({"blurred": 1})


def test_plain_things_and_what_is_out_of_focus_throughout_are_not_called_blurred() -> None:
    for blur in (6, 20):
        thinning = Thinning()
        soft = [Image.fromarray(each).filter(ImageFilter.BoxBlur(blur)) for each in still(2, 20)]
        assert all(map(thinning.wants, soft))


def test_sharpness_does_not_depend_on_the_size_of_a_picture() -> None:
    picture = Image.fromarray(np.kron(scene(1), np.ones((4, 4, 1), np.uint8)))
    assert picture.size == (256, 192)
    larger = picture.resize((1024, 768), Image.Resampling.NEAREST)
    assert 0.25 < sharpness(larger) / sharpness(picture) < 4
    assert sharpness(Image.new("RGB", (2, 2))) == 0


def frames_at(times: list[float]) -> list[Frame]:
    """Return frames of these times."""
    picture = Image.new("RGB", (8, 8))
    return [Frame(picture, time, f"at {time}", bytes(16)) for time in times]


def test_every_so_many_frames_or_seconds() -> None:
    frames: list[Frame | Problem] = [*frames_at([n / 10 for n in range(21)])]
    frames.insert(5, Problem("one", "damaged"))
    for text, expected in {
        "1": [n / 10 for n in range(21)],
        "7": [0.0, 0.7, 1.4],
        "0.5s": [0.0, 0.5, 1.0, 1.5, 2.0],
        "0.35 s": [0.0, 0.4, 0.7, 1.1, 1.4, 1.8],
        "9s": [0.0],
    }.items():
        skipped = Counter[str]()
        kept = list(Every.parse(text).of(frames, skipped))
        assert [each.time for each in kept if isinstance(each, Frame)] == expected, text
        assert Problem("one", "damaged") in kept
        assert skipped.total() == 21 - len(expected)


@pytest.mark.parametrize("text", ["0", "0s", "-1", "", "1.5", "s", "1e3s", "5 frames", "nan"])
def test_what_is_no_number_of_frames_or_seconds_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="neither a number of frames"):
        Every.parse(text)
