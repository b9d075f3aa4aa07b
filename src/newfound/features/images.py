"""Images from anywhere, checked before any network sees them."""

import os
import threading
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import UnreadableImageError
from newfound.common.extras import imported_from
from newfound.common.files import open_regular
from newfound.common.limits import LARGEST_FILE as LARGEST_FILE

# From here elsewhere, too, so that whoever lacks it is told once how to get it.
with imported_from("vision"):
    from PIL import Image as Image
    from PIL import ImageOps, UnidentifiedImageError

Source = str | os.PathLike[str] | bytes | Image.Image | NDArray[np.uint8]

# Larger ones are refused before they are decoded. A picture of that size is 192 MB.
LARGEST_PIXELS = 64_000_000
# Larger ones than this are decoded one at a time, and made smaller at once, to save memory.
LARGE_PIXELS = 16_000_000
_one_large_at_a_time = threading.Lock()
# Scans of a JPEG, at most: each takes a pass over all its pixels, though it may have ten bytes.
# Progressive ones have about ten.
SCAN, MOST_SCANS = b"\xff\xda", 100
# What Pillow may try to read. Among those left out, some call other programs.
FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "AVIF")
# Names of formats that people have, that are not read, by where and how their files begin.
_FOREIGN = (
    (4, b"ftyphei", "HEIC"),
    (4, b"ftypmif1", "HEIF"),
    (0, b"%PDF", "PDF"),
    (0, b"<svg", "SVG"),
    (0, b"8BPS", "Photoshop"),
)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of an image file, or raise UnreadableImageError. Never waits for a pipe.

    Examples
    --------
    >>> read_file("no such file.jpg")
    Traceback (most recent call last):
    newfound.UnreadableImageError: there is no such file
    """
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST_FILE:
                raise UnreadableImageError(
                    f"a file of {size / 2**20:,.0f} MB, more than the "
                    f"{LARGEST_FILE / 2**20:.0f} MB that are read"
                )
            return file.read()
    except FileNotFoundError:
        is_link = Path(path).is_symlink()
        raise UnreadableImageError(
            "a link to a file that is not there" if is_link else "there is no such file"
        ) from None
    except OSError as error:
        raise UnreadableImageError((error.strerror or str(error)).lower()) from error
    except ValueError as error:  # a NUL in its name
        raise UnreadableImageError(f"no name of a file ({error})") from error


def as_rgb(source: Source, *, smallest: int = 1, enough: int | None = None) -> Image.Image:
    """Return an image as 8-bit RGB, the way up it was taken, or raise UnreadableImageError.

    Transparent parts become white. Animated images are refused, as are images of too many or too
    few pixels, and formats that cannot be decoded safely; nothing is decoded before that is known.

    Parameters
    ----------
    source : path, bytes of a file, PIL image or uint8 array of shape (h, w) or (h, w, 3)
    smallest : int, default=1
        Fewest pixels that each side must have.
    enough : int, optional
        Sides of this many pixels are all that is needed: JPEGs may be decoded smaller than they
        are, but not smaller than this.

    Returns
    -------
    PIL image of mode RGB

    Examples
    --------
    >>> as_rgb(np.zeros((20, 30), dtype=np.uint8)).size
    (30, 20)
    >>> as_rgb(b"")
    Traceback (most recent call last):
    newfound.UnreadableImageError: an empty file
    """
    if isinstance(source, np.ndarray):
        return _checked(_from_array(source), smallest)
    if not isinstance(source, str | os.PathLike | bytes | Image.Image):
        raise UnreadableImageError(f"not an image, but a {type(source).__name__}")
    try:
        if isinstance(source, Image.Image):
            image = _checked(source, smallest).copy()  # it is somebody else's
        else:
            data = source if isinstance(source, bytes) else read_file(source)
            image = _checked(_opened(data), smallest)
            _check_scans(image, data)
            if enough is not None and image.format == "JPEG":
                image.draft(None, (enough, enough))
        if image.width * image.height > LARGE_PIXELS:
            with _one_large_at_a_time:
                return _reduced(_eight_bit_rgb(_upright(image)), enough)
        return _eight_bit_rgb(_upright(image))
    except UnreadableImageError:
        raise
    except Exception as error:  # whatever a damaged file makes the decoders do
        raise UnreadableImageError(f"damaged or cut short ({error})") from error


def _reduced(image: Image.Image, enough: int | None) -> Image.Image:
    """Return a large image with a side at least twice as long as is enough, if that is less."""
    factor = 1 if enough is None else min(image.size) // (2 * enough)
    return image.reduce(factor) if factor > 1 else image


def _opened(data: bytes) -> Image.Image:
    if not data:
        raise UnreadableImageError("an empty file")
    try:
        Image.init()  # makes all formats known, once
        formats = [name for name in FORMATS if name in Image.OPEN]
        return Image.open(BytesIO(data), formats=formats)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UnreadableImageError(
            f"more than the {LARGEST_PIXELS:,} pixels that are decoded"
        ) from None
    except UnidentifiedImageError:
        for offset, mark, name in _FOREIGN:
            if data[offset : offset + len(mark)].lower() == mark.lower():
                raise UnreadableImageError(
                    f"{name}, which is not read: save it as JPEG or PNG"
                ) from None
        raise UnreadableImageError(f"not an image, or none of {', '.join(FORMATS)}") from None


def count_pixels(data: bytes) -> int:
    """Return how many pixels the bytes of an image file say it has, or raise UnreadableImageError.

    Nothing is decoded.

    Examples
    --------
    >>> file = BytesIO()
    >>> Image.new("RGB", (640, 480)).save(file, "PNG")
    >>> count_pixels(file.getvalue())
    307200
    """
    with _opened(data) as image:
        return image.width * image.height


def check_size(width: int, height: int) -> None:
    """Raise UnreadableImageError if an image has more pixels than are decoded."""
    if width * height > LARGEST_PIXELS:
        raise UnreadableImageError(
            f"{width} x {height} pixels, more than the {LARGEST_PIXELS:,} that are decoded"
        )


def _check_scans(image: Image.Image, data: bytes) -> None:
    """Raise UnreadableImageError if a JPEG has so many scans that decoding would take minutes."""
    scans = data.count(SCAN)  # which is nowhere else among the pixels
    if scans > MOST_SCANS and image.format in ("JPEG", "MPO"):
        raise UnreadableImageError(
            f"a JPEG of {scans:,} scans, more than the {MOST_SCANS} that are decoded"
        )


def _checked(image: Image.Image, smallest: int) -> Image.Image:
    width, height = image.size
    check_size(width, height)
    if min(width, height) < smallest:
        raise UnreadableImageError(
            f"{width} x {height} pixels, too small: each side must have {smallest}"
        )
    # Cameras put previews behind the first picture of an MPO.
    if image.format != "MPO" and getattr(image, "is_animated", False):
        raise UnreadableImageError(
            "animated, or several pictures in one file: save the one you mean by itself"
        )
    if image.mode == "I" and image.format not in ("PNG", None):
        raise UnreadableImageError("pixels of 32 bits: save it with 8 or 16")
    return image


def _upright(image: Image.Image) -> Image.Image:
    """Return the image decoded, the way up its EXIF says; what EXIF is damaged says nothing."""
    image.load()
    with suppress(Exception):
        ImageOps.exif_transpose(image, in_place=True)
    return image


def _eight_bit_rgb(image: Image.Image) -> Image.Image:
    mode, see_through = image.mode, "transparency" in image.info
    if mode == "RGB" and not see_through:
        return image
    if mode.startswith("I;16") or mode == "I":
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 65535:
            raise UnreadableImageError("pixels of more than 16 bits: save it with 8 or 16")
        return Image.fromarray((values // 257).astype(np.uint8)).convert("RGB")
    if mode == "F":
        raise UnreadableImageError("pixels of floating point: save it with 8 or 16 bits")
    if mode in ("RGBA", "LA", "PA", "RGBa", "La") or see_through:
        image = image.convert("RGBA")
        white = Image.new("RGB", image.size, "white")
        white.paste(image, mask=image.getchannel("A"))
        return white
    return image.convert("RGB")


def _from_array(array: NDArray[Any]) -> Image.Image:
    grey, colour = array.ndim == 2, array.ndim == 3 and array.shape[2] == 3
    if array.dtype != np.uint8 or not (grey or colour):
        raise UnreadableImageError(
            f"an array of {array.dtype} and shape {array.shape}: "
            "images are uint8 of shape (h, w) or (h, w, 3)"
        )
    if not array.size:
        raise UnreadableImageError("an empty array")
    return Image.fromarray(np.ascontiguousarray(array)).convert("RGB")
