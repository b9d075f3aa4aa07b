"""From the pixels that a camera's message holds to a picture, checked before anything is made."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import UnreadableImageError
from newfound.features.images import Image, as_rgb, check_size

Pixels = NDArray[np.uint8]

# How the files of the two compressions that are read begin.
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"


class Encoding(NamedTuple):
    """How pixels lie in the rows of a message."""

    channels: int
    bytes_each: int  # of a channel
    order: str  # of the colours; of a Bayer pattern, in its upper left 2 x 2 pixels


# Of these, each pixel has one of the colours.
BAYER = ("rggb", "bggr", "gbrg", "grbg")


def _encodings() -> dict[str, Encoding]:
    encodings = {}
    for bits in (8, 16):
        encodings[f"mono{bits}"] = encodings[f"{bits}UC1"] = Encoding(1, bits // 8, "grey")
        for order in ("rgb", "bgr"):
            # The alpha of a camera says nothing, and is left out.
            encodings[f"{order}{bits}"] = Encoding(3, bits // 8, order)
            encodings[f"{order}a{bits}"] = Encoding(4, bits // 8, order)
        for pattern in BAYER:
            encodings[f"bayer_{pattern}{bits}"] = Encoding(1, bits // 8, pattern)
    # What OpenCV calls so has blue first.
    return encodings | {"8UC3": encodings["bgr8"], "8UC4": encodings["bgra8"]}


ENCODINGS = _encodings()


def decompressed(data: bytes, called: str) -> Image.Image:
    """Return the picture of a CompressedImage, or raise UnreadableImageError.

    Parameters
    ----------
    data : bytes
        Of a JPEG or PNG; what they are is seen from how they begin.
    called : str
        What the message calls their format, for errors.

    Returns
    -------
    PIL image of mode RGB

    Examples
    --------
    >>> decompressed(b"no picture", "h264")
    Traceback (most recent call last):
    newfound.UnreadableImageError: compressed as 'h264', and neither JPEG nor PNG
    """
    if "compressedDepth" in called:
        raise UnreadableImageError(f"distances, not a picture ({called!r})")
    if not data.startswith((_JPEG, _PNG)):
        raise UnreadableImageError(f"compressed as {called[:60]!r}, and neither JPEG nor PNG")
    return as_rgb(data)


def raw(message: Any) -> Image.Image:
    """Return the picture of a sensor_msgs Image, or raise UnreadableImageError.

    Parameters
    ----------
    message : object
        With height, width, encoding, is_bigendian, step and data, a uint8 array of shape (n,).

    Returns
    -------
    PIL image of mode RGB
        Of 16 bits, the upper eight; of a Bayer pattern, with the colours between filled in.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> message = SimpleNamespace(
    ...     width=640, height=480, encoding="rgb8", is_bigendian=0, step=1920, data=np.zeros(100)
    ... )
    >>> raw(message)
    Traceback (most recent call last):
    newfound.UnreadableImageError: 640 x 480 of rgb8 takes 921,600 bytes, but there are 100
    """
    how = ENCODINGS.get(message.encoding)
    if how is None:
        raise UnreadableImageError(f"encoded as {message.encoding[:60]!r}, which is not read")
    _check(message, how)
    rows = message.data[: message.step * message.height].reshape(message.height, message.step)
    rows = rows[:, : message.width * how.channels * how.bytes_each]
    if how.bytes_each == 2:
        wide = np.ascontiguousarray(rows).view(">u2" if message.is_bigendian else "<u2")
        rows = (wide // 257).astype(np.uint8)  # as features.images does
    if how.order in BAYER:
        return Image.fromarray(demosaiced(rows, how.order))
    if how.order == "grey":
        return Image.fromarray(np.ascontiguousarray(rows)).convert("RGB")
    pixels = rows.reshape(message.height, message.width, how.channels)
    colours = pixels[:, :, :3] if how.order == "rgb" else pixels[:, :, 2::-1]
    return Image.fromarray(np.ascontiguousarray(colours))


def _check(message: Any, how: Encoding) -> None:
    """Raise UnreadableImageError if the sizes that a message tells lie."""
    width, height, step = message.width, message.height, message.step
    called, smallest = message.encoding, 2 if how.order in BAYER else 1
    check_size(width, height)
    if min(width, height) < smallest:
        raise UnreadableImageError(f"{width} x {height} pixels of {called}: too few")
    if step < (row := width * how.channels * how.bytes_each):
        raise UnreadableImageError(
            f"rows of {step:,} bytes, but {width} pixels of {called} take {row:,}"
        )
    if len(message.data) < (needed := step * height):
        raise UnreadableImageError(
            f"{width} x {height} of {called} takes {needed:,} bytes, "
            f"but there are {len(message.data):,}"
        )


def demosaiced(values: Pixels, pattern: str) -> Pixels:
    """Fill in the colours that a Bayer pattern lacks: means of the neighbours that have them.

    Parameters
    ----------
    values : ndarray of shape (h, w), uint8
        Each side of 2 at least.
    pattern : str
        The colours of the upper left 2 x 2 pixels, row by row, as "rggb".

    Returns
    -------
    ndarray of shape (h, w, 3), uint8
        Where a colour was measured, exactly that.

    Examples
    --------
    >>> demosaiced(np.array([[200, 100], [100, 50]], dtype=np.uint8), "rggb")[1, 1]
    array([200, 100,  50], dtype=uint8)
    """
    filled = np.empty((*values.shape, 3), dtype=np.uint8)
    for channel, colour in enumerate("rgb"):
        measured = np.zeros(values.shape, dtype=np.uint16)
        for place, letter in enumerate(pattern):
            if letter == colour:
                measured[place // 2 :: 2, place % 2 :: 2] = 1
        means = _blurred(measured * values) / _blurred(measured)
        filled[:, :, channel] = np.where(measured, values, np.rint(means))
    return filled


def _blurred(values: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Return 1 2 1 times 1 2 1 of each pixel's neighbours; of bytes, that fits into 16 bits."""
    from scipy.ndimage import convolve1d  # few cameras need it

    for axis in (0, 1):
        values = convolve1d(values, [1, 2, 1], axis, mode="constant")
    return values
