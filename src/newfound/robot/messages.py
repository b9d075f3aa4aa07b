"""The messages of ROS that newfound reads and writes: images, texts, classifications.

Nothing that a recording or a publisher says of its types is believed: its bytes are read by the
definitions here, which ROS 1 and ROS 2 have kept since they exist. No ROS is needed.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.common.files import digest_of

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

    @property
    def digest(self) -> bytes:
        """What it is known by, 16 bytes; a JPEG in a message is the same as one in a file."""
        if self.message is None:
            return digest_of(self.payload)
        size = f"{self.encoding} {self.message.width} x {self.message.height} {self.message.step} "
        return digest_of(size.encode("utf-8", "replace") + self.payload)

    def picture(self) -> "Image":
        """Return it as RGB, or raise UnreadableImageError."""
        from newfound.robot.encodings import decompressed, raw

        if self.message is None:
            return decompressed(self.payload, self.encoding)
        return raw(self.message)


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
    types = {}
    for name, text in (_OF_ROS1 if ros == 1 else _OF_ROS2).items():
        types.update(get_types_from_msg(text, name))
    store.register(types)
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


def decode_cdr(data: bytes, type: str) -> Any:
    """Return the message that bytes of ROS 2 hold, or raise MessageError.

    Examples
    --------
    >>> decode_cdr(string_message_cdr("mug"), "std_msgs/msg/String").data
    'mug'
    >>> decode_cdr(b"mug", "std_msgs/msg/String")
    Traceback (most recent call last):
    newfound.robot.messages.MessageError: not a std_msgs/msg/String: Invalid or unsupported CDR ...
    """
    return _decode(typestore(2), "deserialize_cdr", data, type)


def decode_ros1(data: bytes, type: str) -> Any:
    """Return the message that bytes of ROS 1 hold, or raise MessageError.

    Examples
    --------
    >>> decode_ros1(string_message_ros1("mug"), "std_msgs/String").data
    'mug'
    """
    return _decode(typestore(1), "deserialize_ros1", data, type)


def _decode(store: Any, method: str, data: bytes, type: str) -> Any:
    if (name := type_name(type)) not in store.fielddefs:
        raise MessageError(f"messages of type {type} are not read")
    try:
        # What a message says of its lengths is checked there against the bytes that there are.
        return getattr(store, method)(memoryview(data), name)
    except Exception as error:  # whatever bytes from outside make it do
        raise MessageError(f"not a {name}: {error}") from error


def image_message_cdr(data: bytes, type: str | None = None) -> ImageMessage:
    r"""Return the image that a message of ROS 2 holds, or raise MessageError.

    Parameters
    ----------
    data : bytes
        In CDR. Where no type is said, also the bytes of a JPEG or PNG file and nothing else.
    type : str, optional
        That of an Image or a CompressedImage. By default the one that takes every byte.

    Returns
    -------
    ImageMessage

    Examples
    --------
    >>> image_message_cdr(b"\x89PNG\r\n\x1a\n...").stamp is None
    True
    """
    if type is not None:
        return image_message(decode_cdr(data, type))
    if data[:1] in (b"\xff", b"\x89"):  # CDR begins with a zero
        return ImageMessage(None, "", "a file", bytes(data))
    for name in IMAGES:
        try:
            return image_message(decode_cdr(data, name))
        except MessageError:
            continue
    raise MessageError("neither an Image nor a CompressedImage of sensor_msgs, JPEG or PNG")


def image_message_ros1(data: bytes, type: str) -> ImageMessage:
    """Return the image that a message of ROS 1 holds, or raise MessageError."""
    return image_message(decode_ros1(data, type))


def image_message(message: Any) -> ImageMessage:
    """Return the image in a decoded message, or raise MessageError if there is none."""
    if (name := message.__msgtype__) not in IMAGES:
        raise MessageError(f"a {name} is not an image")
    stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
    payload, frame_id = message.data.tobytes(), message.header.frame_id
    if name == COMPRESSED:
        return ImageMessage(stamp, frame_id, message.format, payload)
    return ImageMessage(stamp, frame_id, message.encoding, payload, message)


def string_cdr(data: bytes) -> str:
    """Return the text in a std_msgs String of ROS 2, or raise MessageError."""
    return str(decode_cdr(data, STRING).data)


def string_ros1(data: bytes) -> str:
    """Return the text in a std_msgs String of ROS 1, or raise MessageError."""
    return str(decode_ros1(data, STRING).data)


def string_message_cdr(text: str) -> bytes:
    """Return a std_msgs String of ROS 2.

    Examples
    --------
    >>> string_cdr(string_message_cdr("Tüte"))
    'Tüte'
    """
    return _encoded(2, STRING, data=_text(text))


def string_message_ros1(text: str) -> bytes:
    """Return a std_msgs String of ROS 1."""
    return _encoded(1, STRING, data=_text(text))


def classification_cdr(stamp: int, frame_id: str, results: Sequence[tuple[str, float]]) -> bytes:
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
    >>> data = classification_cdr(1_500_000_000, "camera", [("mug", 0.9)])
    >>> decode_cdr(data, CLASSIFICATION).results[0].class_id
    'mug'
    """
    hypothesis = typestore(2).types[HYPOTHESIS]
    guesses = [hypothesis(class_id=_text(label), score=score) for label, score in results]
    return _encoded(2, CLASSIFICATION, header=_header(2, stamp, frame_id), results=guesses)


def classification_ros1(stamp: int, frame_id: str, results: Sequence[tuple[int, float]]) -> bytes:
    """Return a vision_msgs Classification2D of ROS 1, whose classes are numbers; without an image.

    Examples
    --------
    >>> data = classification_ros1(0, "camera", [(7, 0.9)])
    >>> decode_ros1(data, CLASSIFICATION_2D).results[0].id
    7
    """
    import numpy as np

    types, header = typestore(1).types, _header(1, stamp, frame_id)
    guesses = [types[HYPOTHESIS](id=number, score=score) for number, score in results]
    none = types[IMAGE](header, 0, 0, "", 0, 0, np.zeros(0, dtype=np.uint8))
    return _encoded(1, CLASSIFICATION_2D, header=header, results=guesses, source_img=none)


def vision_info_ros1(stamp: int, method: str, location: str, version: int) -> bytes:
    """Return a vision_msgs VisionInfo of ROS 1: which parameter says what the numbers mean."""
    return _encoded(
        1,
        VISION_INFO,
        header=_header(1, stamp, ""),
        method=_text(method),
        database_location=_text(location),
        database_version=version,
    )


def _header(ros: int, stamp: int, frame_id: str) -> Any:
    types = typestore(ros).types
    time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
    number = {"seq": 0} if ros == 1 else {}
    return types["std_msgs/msg/Header"](stamp=time, frame_id=_text(frame_id), **number)


def _encoded(ros: int, type: str, **fields: Any) -> bytes:
    store = typestore(ros)
    write = store.serialize_ros1 if ros == 1 else store.serialize_cdr
    return bytes(write(store.types[type](**fields), type))


def _text(text: str) -> str:
    """Return a text that UTF-8 can write, whatever the name of a file left in it."""
    return text.encode("utf-8", "replace").decode()
