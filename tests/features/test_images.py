"""Images: whatever a file may hold is handled, or refused by name."""

import gc
import io
import os
import weakref
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound.common.errors import UnreadableImageError
from newfound.features.catalog import extractor_from_name
from newfound.features.images import LARGEST_PIXELS, as_rgb, read_file

# Red on top, blue below, wider than high: shows turns, swaps of channels and lost rows.
SCENE = Image.new("RGB", (40, 20), "red")
SCENE.paste("blue", (0, 10, 40, 20))


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def corners(image: Image.Image) -> tuple[Any, Any]:
    width, height = image.size
    return image.getpixel((1, 1)), image.getpixel((width - 2, height - 2))


def is_near(one: Any, other: tuple[int, int, int]) -> bool:
    return bool(np.abs(np.subtract(one, other)).max() < 30)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("PNG", {}),
        ("BMP", {}),
        ("TIFF", {}),
        ("PPM", {}),
        ("GIF", {}),
        ("JPEG", {"quality": 95, "subsampling": 0}),
        ("WEBP", {"lossless": True}),
    ],
)
def test_every_usual_format_gives_its_colours(kind: str, options: dict[str, Any]) -> None:
    image = as_rgb(encoded(SCENE, kind, **options))
    assert image.mode == "RGB"
    assert image.size == SCENE.size
    top, bottom = corners(image)
    assert is_near(top, (255, 0, 0))
    assert is_near(bottom, (0, 0, 255))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_turns_the_image_the_way_it_was_taken(orientation: int) -> None:
    turns = Image.Transpose
    # What a camera held that way would have stored: the opposite of what EXIF asks for.
    opposite = {
        2: turns.FLIP_LEFT_RIGHT,
        3: turns.ROTATE_180,
        4: turns.FLIP_TOP_BOTTOM,
        5: turns.TRANSPOSE,
        6: turns.ROTATE_90,
        7: turns.TRANSVERSE,
        8: turns.ROTATE_270,
    }
    stored = SCENE if orientation == 1 else SCENE.transpose(opposite[orientation])
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = as_rgb(encoded(stored, "PNG", exif=exif))
    np.testing.assert_array_equal(np.asarray(image), np.asarray(SCENE))


def test_a_palette_gives_the_colours_it_stands_for() -> None:
    assert corners(as_rgb(encoded(SCENE.convert("P"), "PNG"))) == ((255, 0, 0), (0, 0, 255))


def test_cmyk_gives_nearly_the_colours_it_stands_for() -> None:
    top, bottom = corners(as_rgb(encoded(SCENE.convert("CMYK"), "JPEG", quality=95)))
    assert is_near(top, (255, 0, 0))
    assert is_near(bottom, (0, 0, 255))


def test_sixteen_bits_are_scaled_and_not_cut_off() -> None:
    levels = np.array([[0, 257 * 100], [257 * 200, 65535]], dtype=np.uint16)
    image = as_rgb(encoded(Image.fromarray(levels), "PNG"))
    np.testing.assert_array_equal(np.asarray(image)[..., 0], [[0, 100], [200, 255]])


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_becomes_white(mode: str) -> None:
    image = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 20, 10))
    if mode == "P":
        small = Image.new("P", (20, 20), 1)
        small.putpalette([0, 0, 0, 255, 0, 0])
        small.paste(0, (0, 0, 20, 10))
        data = encoded(small, "PNG", transparency=1)
    else:
        data = encoded(image.convert(mode), "PNG")
    assert corners(as_rgb(data)) == ((0, 0, 0), (255, 255, 255))


def test_half_transparent_is_half_white() -> None:
    image = as_rgb(encoded(Image.new("RGBA", (8, 8), (0, 0, 0, 128)), "PNG"))
    assert is_near(corners(image)[0], (127, 127, 127))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"just some text", "not an image"),
        (encoded(SCENE, "PNG")[:60], "damaged or cut short"),
        (encoded(SCENE.resize((400, 400)), "JPEG")[:2000], "damaged or cut short"),
        (encoded(SCENE, "GIF", save_all=True, append_images=[SCENE.rotate(90)]), "animated"),
        (encoded(SCENE, "PNG", save_all=True, append_images=[SCENE.rotate(180)]), "animated"),
        (encoded(SCENE, "TIFF", save_all=True, append_images=[SCENE]), "several pictures"),
        (encoded(Image.new("F", (9, 9)), "TIFF"), "floating point"),
        (encoded(Image.new("I", (9, 9), 200), "TIFF"), "pixels of 32 bits"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC.*save it as JPEG"),
        (b"%PDF-1.7", "PDF"),
        (encoded(Image.new("1", (9, 9)), "XBM"), "not an image, or none of JPEG"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableImageError, match=reason):
        as_rgb(data)


@pytest.mark.parametrize("side", [8001, 30_000])
def test_absurdly_large_images_are_refused_before_they_are_decoded(side: int) -> None:
    # A PNG that says it is that large and then ends: decoding it would be another complaint.
    header = encoded(Image.new("L", (1, 1)), "PNG")
    place = header.index(b"IHDR")
    body = b"IHDR" + side.to_bytes(4, "big") * 2 + header[place + 12 : place + 17]
    data = header[: place - 4] + (13).to_bytes(4, "big") + body
    data += zlib.crc32(body).to_bytes(4, "big") + header[place + 21 :]
    with pytest.raises(UnreadableImageError, match=f"more than the {LARGEST_PIXELS:,}"):
        as_rgb(data)


def test_tiny_images_are_refused_where_they_mean_nothing() -> None:
    data = encoded(Image.new("RGB", (1, 1)), "GIF")
    assert as_rgb(data).size == (1, 1)
    with pytest.raises(UnreadableImageError, match="1 x 1 pixels, too small"):
        as_rgb(data, smallest=16)


def test_large_jpegs_are_decoded_smaller_but_not_smaller_than_enough() -> None:
    data = encoded(SCENE.resize((1600, 1200)), "JPEG")
    assert as_rgb(data).size == (1600, 1200)
    small = as_rgb(data, enough=224)
    assert small.size == (400, 300)
    top, bottom = corners(small)
    assert is_near(top, (255, 0, 0))
    assert is_near(bottom, (0, 0, 255))


@pytest.mark.parametrize(
    "array",
    [np.zeros((4, 4)), np.zeros((4, 4, 4), dtype=np.uint8), np.zeros((0, 4), dtype=np.uint8)],
)
def test_arrays_that_are_no_images_are_refused(array: Any) -> None:
    with pytest.raises(UnreadableImageError, match="array"):
        as_rgb(array)


def test_arrays_and_opened_images_are_taken_as_they_are() -> None:
    np.testing.assert_array_equal(np.asarray(as_rgb(np.asarray(SCENE))), np.asarray(SCENE))
    assert corners(as_rgb(SCENE.convert("RGBA"))) == ((255, 0, 0), (0, 0, 255))


def test_an_opened_image_is_treated_as_its_file_is() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = encoded(SCENE, "PNG", exif=exif)
    opened = Image.open(io.BytesIO(turned))
    np.testing.assert_array_equal(np.asarray(as_rgb(opened)), np.asarray(as_rgb(turned)))
    assert opened.size == SCENE.size  # and stays as it is
    moving = encoded(SCENE, "GIF", save_all=True, append_images=[SCENE.rotate(90)])
    with pytest.raises(UnreadableImageError, match="animated"):
        as_rgb(Image.open(io.BytesIO(moving)))
    cut = encoded(SCENE.resize((400, 400)), "JPEG")[:2000]
    with pytest.raises(UnreadableImageError, match="cut short"):
        as_rgb(Image.open(io.BytesIO(cut)))


def test_a_colour_that_stands_for_transparent_becomes_white() -> None:
    assert corners(as_rgb(encoded(SCENE, "PNG", transparency=(255, 0, 0)))) == (
        (255, 255, 255),
        (0, 0, 255),
    )


def test_a_camera_s_preview_behind_the_picture_does_no_harm() -> None:
    small = SCENE.resize((8, 4))
    data = encoded(SCENE, "MPO", save_all=True, append_images=[small], quality=95, subsampling=0)
    assert as_rgb(data).size == SCENE.size


def test_files_beyond_all_measure_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newfound.features.images.LARGEST_FILE", 1000)
    (tmp_path / "a.jpg").write_bytes(b"0" * 1001)
    with pytest.raises(UnreadableImageError, match="more than the"):
        read_file(tmp_path / "a.jpg")


def test_only_files_are_read_and_nothing_waits(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "dangling.jpg").symlink_to(tmp_path / "nowhere")
    (tmp_path / "circle.jpg").symlink_to(tmp_path / "circle.jpg")
    for name, reason in (
        ("pipe.jpg", "a named pipe, not a file"),
        ("dangling.jpg", "a link to a file that is not there"),
        ("circle.jpg", "too many levels of symbolic links"),
        ("nothing.jpg", "there is no such file"),
        (".", "a folder, not a file"),
    ):
        with pytest.raises(UnreadableImageError, match=reason):
            read_file(tmp_path / name)


def test_large_images_are_made_smaller_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.features.images.LARGE_PIXELS", 500)
    data = encoded(SCENE.resize((400, 200)), "PNG")
    small = as_rgb(data, enough=20)
    assert small.size == (80, 40)  # twice what is enough
    assert corners(small) == ((255, 0, 0), (0, 0, 255))
    assert as_rgb(data).size == (400, 200)


def test_what_is_nothing_like_an_image_is_said_to_be_none() -> None:
    for thing in (None, 3, bytearray(b"x")):
        with pytest.raises(
            UnreadableImageError, match=f"not an image, but a {type(thing).__name__}"
        ):
            as_rgb(thing)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_damaged_exif_says_nothing_about_the_picture() -> None:
    data = encoded(SCENE, "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08\xff\xff\0\0")
    assert as_rgb(data).size == SCENE.size


def test_a_damaged_image_takes_no_memory_once_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even until the garbage collector comes: many of them may be in a row."""
    decoded: list[weakref.ref[Image.Image]] = []
    really_open = Image.open

    def noted(*values: Any, **options: Any) -> Image.Image:
        image = really_open(*values, **options)
        decoded.append(weakref.ref(image))
        return image

    monkeypatch.setattr(Image, "open", noted)
    noise = Image.effect_noise((200, 200), 100).convert("RGB")
    extractor, cut = extractor_from_name("pixels:size=8"), encoded(noise, "PNG")[:-100]
    gc.disable()
    try:
        with pytest.raises(UnreadableImageError):
            extractor.one(cut)
        assert [one() for one in decoded] == [None]
    finally:
        gc.enable()


def test_a_jpeg_of_many_scans_is_refused_before_it_is_decoded() -> None:
    data = encoded(SCENE, "JPEG", progressive=True)
    assert as_rgb(data).size == SCENE.size
    start = data.index(b"\xff\xda")
    scan = data[data.rindex(b"\xff\xda") : -2]
    bomb = data[:start] + data[start:-2] + 1000 * scan + data[-2:]
    with pytest.raises(UnreadableImageError, match=r"a JPEG of 1,0\d\d scans, more than the 100"):
        as_rgb(bomb)
