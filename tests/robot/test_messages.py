"""Messages of ROS: every encoding of images, sizes that lie, and what newfound sends."""

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.files import digest_of
from newfound.robot import messages
from newfound.robot.encodings import ENCODINGS, demosaiced
from newfound.robot.messages import (
    CLASSIFICATION,
    CLASSIFICATION_2D,
    IMAGE,
    VISION_INFO,
    MessageError,
    decode,
    read_image,
    typestore,
)
from tests.robot.bags import BEGIN, Told, compressed, encoded, image, text

PIXELS = np.random.default_rng(5).integers(0, 256, (6, 8, 4), dtype=np.uint8)


def decoded(told: Told, ros: int = 2) -> NDArray[Any]:
    return np.asarray(read_image(encoded(told, ros), told.type, ros).picture())


def rows(encoding: str) -> NDArray[Any]:
    """Pixels of an encoding, of which the colours are known."""
    how = ENCODINGS[encoding]
    values = PIXELS[:, :, : how.channels]
    return values if how.bytes_each == 1 else values.astype(np.uint16) * 257


@pytest.mark.parametrize("ros", [1, 2])
@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if "bayer" not in name])
def test_every_encoding_gives_its_colours(encoding: str, ros: int) -> None:
    if encoding.startswith(("rgb", "bgr", "8UC3", "8UC4")):
        order = [0, 1, 2] if encoding.startswith("rgb") else [2, 1, 0]
    else:
        order = [0, 0, 0]
    for big in (False, True):
        pixels = rows(encoding)
        pixels = pixels.astype(pixels.dtype.newbyteorder(">" if big else "<"))
        expected = PIXELS[:, :, order]
        np.testing.assert_array_equal(decoded(image(0, pixels, encoding), ros), expected)


def test_what_pads_the_rows_is_left_out() -> None:
    wide = np.zeros((6, 40), dtype=np.uint8)
    wide[:, :24] = PIXELS[:, :, :3].reshape(6, 24)
    wide[:, 24:] = 99
    told = image(0, wide, "rgb8", width=8, step=40)
    np.testing.assert_array_equal(decoded(told), PIXELS[:, :, :3])


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
def test_a_bayer_pattern_of_one_colour_gives_that_colour(pattern: str, bits: int) -> None:
    colour = {"r": 200, "g": 90, "b": 30}
    values = np.empty((5, 7), dtype=np.uint8)
    for place, letter in enumerate(pattern):
        values[place // 2 :: 2, place % 2 :: 2] = colour[letter]
    pixels = values if bits == 8 else values.astype(np.uint16) * 257
    found = decoded(image(0, pixels, f"bayer_{pattern}{bits}"))
    assert (found == (200, 90, 30)).all()


def test_colours_between_are_means_of_their_neighbours() -> None:
    values = np.random.default_rng(1).integers(0, 256, (8, 8), dtype=np.uint8)
    found, near = demosaiced(values, "rggb"), values.astype(float)
    np.testing.assert_array_equal(found[::2, ::2, 0], values[::2, ::2])  # as measured
    assert found[2, 3, 0] == np.rint((near[2, 2] + near[2, 4]) / 2)
    assert found[3, 3, 0] == np.rint((near[2, 2] + near[2, 4] + near[4, 2] + near[4, 4]) / 4)
    assert found[2, 2, 1] == np.rint((near[1, 2] + near[3, 2] + near[2, 1] + near[2, 3]) / 4)


@pytest.mark.parametrize(
    ("format", "suffix"), [("bgr8; jpeg compressed bgr8", "JPEG"), ("", "PNG")]
)
def test_compressed_images_are_what_they_are_not_what_they_are_called(
    format: str, suffix: str
) -> None:
    file = io.BytesIO()
    Image.fromarray(PIXELS[:, :, :3]).save(file, suffix)
    data = encoded(compressed(3, file.getvalue(), format), 2)
    for type in ("sensor_msgs/CompressedImage", None):
        found = read_image(data, type)
        assert (found.stamp, found.frame_id) == (BEGIN + 3 * 10**9, "camera")
        assert found.digest() == digest_of(file.getvalue())  # as a photo of the same bytes
        assert found.picture().size == (8, 6)
    plain = read_image(file.getvalue())
    assert (plain.stamp, plain.digest()) == (None, digest_of(file.getvalue()))


def test_the_type_of_a_raw_image_is_found_without_being_told() -> None:
    data = encoded(image(0, PIXELS[:, :, :3]), 2)
    assert read_image(data).encoding == "rgb8"
    with pytest.raises(MessageError, match="neither an Image nor a CompressedImage"):
        read_image(encoded(text(0, "mug"), 2))
    with pytest.raises(MessageError, match="neither"):
        read_image(data[:-4])


def test_raw_images_of_other_shapes_have_other_digests() -> None:
    flat = image(0, PIXELS[:, :, :3]).fields | {"height": 3, "width": 16, "step": 48}
    first = read_image(encoded(image(0, PIXELS[:, :, :3]), 2)).digest()
    assert read_image(encoded(Told(0, "", IMAGE, flat), 2)).digest() != first
    assert read_image(encoded(image(9, PIXELS[:, :, :3]), 2)).digest() == first


@pytest.mark.parametrize(
    ("lies", "said"),
    [
        ({"width": 640, "height": 480, "step": 1920}, "640 x 480 of rgb8 takes 921,600 bytes, but"),
        ({"step": 10}, "rows of 10 bytes, but 8 pixels of rgb8 take 24"),
        ({"height": 2**32 - 1, "step": 2**32 - 1}, "pixels, more than the 64,000,000"),
        ({"width": 0}, "0 x 6 pixels of rgb8: too few"),
        ({"step": 2**32 - 1}, "takes 25,769,803,770 bytes"),
        ({"encoding": "yuv422"}, "encoded as 'yuv422', which is not read"),
        (
            {"encoding": "bayer_rggb8", "width": 1, "step": 1},
            "1 x 6 pixels of bayer_rggb8: too few",
        ),
    ],
)
def test_sizes_that_lie_are_named(lies: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableImageError, match=said):
        decoded(image(0, PIXELS[:, :, :3], **lies))


@pytest.mark.parametrize(
    ("format", "data", "said"),
    [
        ("16UC1; compressedDepth png", b"\x89PNG\r\n\x1a\n", "distances, not a picture"),
        ("h264", b"\0\0\0\1", "compressed as 'h264', and neither JPEG nor PNG"),
        ("jpeg", b"GIF89a", "neither JPEG nor PNG"),
        ("jpeg", b"", "neither JPEG nor PNG"),
        ("jpeg", b"\xff\xd8\xff\xe0", "damaged|not an image"),
    ],
)
def test_what_is_not_a_picture_is_named(format: str, data: bytes, said: str) -> None:
    with pytest.raises(UnreadableImageError, match=said):
        decoded(compressed(0, data, format))


def test_what_is_no_image_at_all_is_named() -> None:
    with pytest.raises(MessageError, match="a std_msgs/msg/String is not an image"):
        read_image(encoded(text(0, "mug"), 2), "std_msgs/msg/String")
    for type in ("sensor_msgs/msg/NoSuchThing", "", "msg", "/"):
        with pytest.raises(MessageError, match="are not read"):
            decode(b"", type)


def test_vision_msgs_are_those_that_ros_has() -> None:
    # The sums of Noetic's definitions, as its generated code has them.
    sums = {
        CLASSIFICATION_2D: "b23d0855d0f41568e09106615351255f",
        VISION_INFO: "eee36f8dc558754ceb4ef619179d8b34",
    }
    assert {name: typestore(1).generate_msgdef(name)[1] for name in sums} == sums


def test_what_newfound_sends_can_be_read_again() -> None:
    sent = messages.classification_ros2(BEGIN + 7, "camera", [("Tüte", 0.75), ("a\udcff", 0.25)])
    found = decode(sent, CLASSIFICATION)
    stamp = found.header.stamp
    assert (stamp.sec, stamp.nanosec, found.header.frame_id) == (1_700_000_000, 7, "camera")
    guesses = [(each.class_id, each.score) for each in found.results]
    assert guesses == [("Tüte", 0.75), ("a?", 0.25)]
    assert decode(messages.classification_ros2(0, "", []), CLASSIFICATION).results == []
    numbers = decode(messages.classification_ros1(BEGIN, "c", [(3, 0.5)]), CLASSIFICATION_2D, 1)
    assert [(each.id, each.score) for each in numbers.results] == [(3, 0.5)]
    info = decode(messages.vision_info_ros1(0, "newfound", "/newfound/labels", 2), VISION_INFO, 1)
    assert (info.database_location, info.database_version) == ("/newfound/labels", 2)
    assert messages.read_text(messages.text_message("Tüte")) == "Tüte"
    assert messages.read_text(messages.text_message("Tüte", ros=1), ros=1) == "Tüte"
    with pytest.raises(InputError, match="not a std_msgs/msg/String"):
        messages.read_text(messages.text_message("mug", ros=1)[:-1], ros=1)
