"""The messages of ROS that newfound reads and writes: images, texts, classifications.

Nothing that a recording or a publisher says of its types is believed: its bytes are read by the
definitions here, which ROS 1 and ROS 2 have kept since they exist. No ROS is needed.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.common.files import digest_of
from newfound.robot.crops import Crop

if TYPE_CHECKING:
    from PIL.Image import Image

IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
IMAGES = (COMPRESSED, IMAGE)
STRING = "std_msgs/msg/String"
CLASSIFICATION = "vision_msgs/msg/Classification"  # of ROS 2
CLASSIFICATION_2D, VISION_INFO = "vision_msgs/msg/Classification2D", "vision_msgs/msg/VisionInfo"
HYPOTHESIS = "vision_msgs/msg/ObjectHypothesis"

# rosbags does not have vision_msgs: those of ROS 2 (4.0), and of ROS 1 (Noetic).
_OF_ROS2 = {
    HYPOTHESIS: "string class_id\nfloat64 score",
    CLASSIFICATION: "std_msgs/Header header\nObjectHypothesis[] results",
}
_OF_ROS1 = {
    HYPOTHESIS: "int64 id\nfloat64 score",
    CLASSIFICATION_2D: "Header header\nObjectHypothesis[] results\nsensor_msgs/Image source_img",
    VISION_INFO: "Header header\nstring method\nstring database_location\nint32 database_version",
}


class MessageError(InputError):
    """Some bytes are not the message that they are said to be."""


class ImageMessage(NamedTuple):
    """An image as it came: when it was taken and by which camera, and its pixels, not decoded."""

    stamp: int | None  # when it was taken, in nanoseconds: exact, as whoever pairs messages needs
    frame_id: str
    encoding: str  # what the message calls its encoding or its format
    payload: bytes  # the compressed file, or the pixels row by row
    message: Any = None  # of raw pixels: what else it says of them

    def digest(self, crop: Crop | None = None) -> bytes:
        """Return what a part is known by, 16 bytes; a whole JPEG is the same as one in a file."""
        size, raw = "", self.message
        if raw is not None:
            size = f"{self.encoding} {raw.width} x {raw.height} {raw.step} "
        digest = digest_of(size.encode("utf-8", "replace") + self.payload)
        return digest if crop is None else digest_of(digest + str(crop).encode())

    def picture(self, crop: Crop | None = None) -> "Image":
        """Return a part, or all, as RGB; raise InputError if there is none."""
        from newfound.robot.encodings import decompressed, raw

        is_raw = self.message is not None
        image = raw(self.message) if is_raw else decompressed(self.payload, self.encoding)
        return image if crop is None else crop.of(image)


@cache
def typestore(ros: int = 2) -> Any:
    """Return rosbags' definitions of ROS 1 or 2, with those of vision_msgs.

    Examples
    --------
    >>> typestore(1).generate_msgdef(VISION_INFO)[1]
    'eee36f8dc558754ceb4ef619179d8b34'
    """
    with imported_from("robot"):
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    store = get_typestore(Stores.ROS1_NOETIC if ros == 1 else Stores.ROS2_JAZZY)
    for name, text in (_OF_ROS1 if ros == 1 else _OF_ROS2).items():
        store.register(get_types_from_msg(text, name))
    return store


def type_name(text: str) -> str:
    """Return the name of a type as it is written here, from how ROS 1, ROS 2 and DDS write it.

    Examples
    --------
    >>> type_name("sensor_msgs/Image"), type_name("sensor_msgs::msg::dds_::Image_")
    ('sensor_msgs/msg/Image', 'sensor_msgs/msg/Image')
    """
    package, *_, name = text.replace("::", "/").rpartition("/")
    package = package.removesuffix("/dds_").removesuffix("/msg")
    return f"{package}/msg/{name.removesuffix('_')}"


def decode(data: bytes, type: str, ros: int = 2) -> Any:
    """Return the message that bytes of ROS 1 or 2 hold, or raise MessageError.

    Examples
    --------
    >>> decode(text_message("mug"), "std_msgs/msg/String").data
    'mug'
    >>> decode(text_message("mug", ros=1), "std_msgs/String", ros=1).data
    'mug'
    >>> decode(b"mug", "std_msgs/msg/String")
    Traceback (most recent call last):
    newfound.robot.messages.MessageError: not a std_msgs/msg/String: Invalid or unsupported CDR ...
    """
    store, name = typestore(ros), type_name(type)
    if name not in store.fielddefs:
        raise MessageError(f"messages of type {type} are not read")
    read = store.deserialize_ros1 if ros == 1 else store.deserialize_cdr
    try:
        # What a message says of its lengths is checked there against the bytes that there are.
        return read(memoryview(data), name)
    except Exception as error:  # whatever bytes from outside make it do
        raise MessageError(f"not a {name}: {error}") from error


def read_image(data: bytes, type: str | None = None, ros: int = 2) -> ImageMessage:
    r"""Return the image that a message holds, or raise MessageError.

    Parameters
    ----------
    data : bytes
        As ROS writes them. Where no type is said, also the bytes of a JPEG or PNG file and nothing
        else.
    type : str, optional
        That of an Image or a CompressedImage. By default the one that takes every byte.
    ros : int, default=2
        1 or 2.

    Returns
    -------
    ImageMessage

    Examples
    --------
    >>> read_image(b"\x89PNG\r\n\x1a\n...").stamp is None
    True
    """
    if type is not None:
        return _image_in(decode(data, type, ros))
    if data[:1] in (b"\xff", b"\x89"):  # CDR begins with a zero
        return ImageMessage(None, "", "a file", bytes(data))
    for name in IMAGES:
        with suppress(MessageError):
            return _image_in(decode(data, name, ros))
    raise MessageError("neither an Image nor a CompressedImage of sensor_msgs, JPEG or PNG")


def _image_in(message: Any) -> ImageMessage:
    if (name := message.__msgtype__) not in IMAGES:
        raise MessageError(f"a {name} is not an image")
    stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    payload, frame_id = message.data.tobytes(), message.header.frame_id
    if name == COMPRESSED:
        return ImageMessage(stamp, frame_id, message.format, payload)
    return ImageMessage(stamp, frame_id, message.encoding, payload, message)


def read_text(data: bytes, ros: int = 2) -> str:
    """Return the text in a std_msgs String, or raise MessageError."""
    return str(decode(data, STRING, ros).data)


def text_message(text: str, ros: int = 2) -> bytes:
    """Return a std_msgs String.

    Examples
    --------
    >>> read_text(text_message("Tüte"))
    'Tüte'
    """
    return _encoded(ros, STRING, _text(text))


def classification_ros2(stamp: int, frame_id: str, results: Sequence[tuple[str, float]]) -> bytes:
    """Return a vision_msgs Classification of ROS 2.

    Parameters
    ----------
    stamp : int
        When the image was taken, in nanoseconds.
    frame_id : str
        The camera's.
    results : sequence of (label, score)

    Returns
    -------
    bytes

    Examples
    --------
    >>> data = classification_ros2(1_500_000_000, "camera", [("mug", 0.9)])
    >>> decode(data, CLASSIFICATION).results[0].class_id
    'mug'
    """
    hypothesis = typestore(2).types[HYPOTHESIS]
    guesses = [hypothesis(class_id=_text(label), score=score) for label, score in results]
    return _encoded(2, CLASSIFICATION, _header(2, stamp, frame_id), guesses)


def classification_ros1(stamp: int, frame_id: str, results: Sequence[tuple[int, float]]) -> bytes:
    """Return a vision_msgs Classification2D of ROS 1, whose classes are numbers; without an image.

    Examples
    --------
    >>> data = classification_ros1(0, "camera", [(7, 0.9)])
    >>> decode(data, CLASSIFICATION_2D, ros=1).results[0].id
    7
    """
    import numpy as np

    types, header = typestore(1).types, _header(1, stamp, frame_id)
    guesses = [types[HYPOTHESIS](id=number, score=score) for number, score in results]
    none = types[IMAGE](header, 0, 0, "", 0, 0, np.zeros(0, dtype=np.uint8))
    return _encoded(1, CLASSIFICATION_2D, header, guesses, none)


def vision_info_ros1(stamp: int, method: str, location: str, version: int) -> bytes:
    """Return a vision_msgs VisionInfo of ROS 1: which parameter says what the numbers mean."""
    header = _header(1, stamp, "")
    return _encoded(1, VISION_INFO, header, _text(method), _text(location), version)


def _header(ros: int, stamp: int, frame_id: str) -> Any:
    types = typestore(ros).types
    time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
    number = {"seq": 0} if ros == 1 else {}
    return types["std_msgs/msg/Header"](stamp=time, frame_id=_text(frame_id), **number)


def _encoded(ros: int, type: str, *fields: Any) -> bytes:
    """Return a message of these fields, in the order of its definition."""
    store = typestore(ros)
    write = store.serialize_ros1 if ros == 1 else store.serialize_cdr
    return bytes(write(store.types[type](*fields), type))


def _text(text: str) -> str:
    """Return a text that UTF-8 can write, whatever the name of a file left in it."""
    return text.encode("utf-8", "replace").decode()
