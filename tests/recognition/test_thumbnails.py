"""Thumbnails: small pictures, and nothing else."""

from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound.recognition.thumbnails import LARGEST_SIDE, thumbnail_of


def picture(size: tuple[int, int] = (200, 150), **options: Any) -> bytes:
    pixels = np.random.default_rng(0).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).resize(size).save(file, **{"format": "JPEG", "quality": 60, **options})
    return file.getvalue()


def test_a_small_jpeg_stays_as_it_is_so_that_it_is_known_again() -> None:
    for image in picture(), picture(progressive=True), picture(icc_profile=b"a profile"):
        assert thumbnail_of(image) == image


@pytest.mark.parametrize(
    "image",
    [
        picture(exif=Image.Exif()),
        picture(comment=b"taken at home"),
        picture()[:-2] + b"\xff\xfe\x00\x12<script>behind it\xff\xd9",
        picture() + b"<script>",
        picture() + b"<script>\xff\xd9",
        picture((300, 200)),
        picture(format="PNG"),
    ],
)
def test_whatever_else_is_in_a_file_is_left_out(image: bytes) -> None:
    made = thumbnail_of(image)
    assert made is not None
    assert made != image
    for trace in (b"home", b"<script>", b"Exif"):
        assert trace not in made
    with Image.open(BytesIO(made)) as found:
        assert found.format == "JPEG"
        assert max(found.size) <= LARGEST_SIDE


@pytest.mark.parametrize("image", [b"", b"no image", picture()[:500], b"\xff\xd8\xff\xd9"])
def test_what_is_no_image_has_no_thumbnail(image: bytes) -> None:
    assert thumbnail_of(image) is None
