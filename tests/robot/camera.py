"""A camera made up: pictures of things, as the messages that a robot sends."""

from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from newfound.robot.messages import COMPRESSED, ImageMessage, read_image, typestore

CAMERA = "camera"


def picture(thing: int, number: int, side: int = 64) -> bytes:
    """Return a JPEG: each thing has light spots of its own, some others in each picture."""
    spots = np.random.default_rng(thing).random((8, 8)) < 0.3
    noise = np.random.default_rng((thing, number)).random((8, 8)) < 0.08
    small = Image.fromarray(np.where(spots ^ noise, 255, 0).astype(np.uint8))
    held = BytesIO()
    small.resize((side, side), Image.Resampling.NEAREST).save(held, "JPEG", quality=95)
    return held.getvalue()


def message(thing: int, number: int, stamp: int = 0, ros: int = 2) -> bytes:
    """Return a CompressedImage of a thing; `stamp` in nanoseconds."""
    return compressed(picture(thing, number), stamp, ros)


def compressed(jpeg: bytes, stamp: int, ros: int = 2) -> bytes:
    """Return a JPEG as a CompressedImage."""
    store = typestore(ros)
    types: Any = store.types
    time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
    more = {"seq": 0} if ros == 1 else {}
    header = types["std_msgs/msg/Header"](stamp=time, frame_id=CAMERA, **more)
    data = np.frombuffer(jpeg, dtype=np.uint8)
    write = store.serialize_ros1 if ros == 1 else store.serialize_cdr
    return bytes(write(types[COMPRESSED](header, "jpeg", data), COMPRESSED))


def seen(thing: int, number: int, stamp: int = 0) -> ImageMessage:
    """Return a message as it is read."""
    return read_image(message(thing, number, stamp), COMPRESSED)
