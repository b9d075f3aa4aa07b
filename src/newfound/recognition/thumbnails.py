"""Small pictures of what was taught, to look at and to teach again."""

from io import BytesIO

from newfound.common.errors import UnreadableImageError
from newfound.features.images import Image, as_rgb

# No side of a thumbnail has more pixels: a network of 224 x 224 still sees what it saw.
LARGEST_SIDE = 256
# A JPEG of that size is kept as it is up to so many bytes; what is made here is of this quality.
LARGEST_KEPT, QUALITY = 48 * 1024, 85
_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
# What other bytes a camera or a program may have put in: where and when it was taken, comments.
_WITH_MORE = (b"Exif\0", b"http://ns.adobe.com", b"ICC_PROFILE", b"\xff\xfe")


def thumbnail_of(image: bytes) -> bytes | None:
    """Return an image as a JPEG of at most 256 x 256 pixels; None: it cannot be read.

    A small JPEG with nothing in it but the picture stays as it is, to the byte.

    Parameters
    ----------
    image : bytes
        Of an image file.

    Returns
    -------
    bytes or None

    Examples
    --------
    >>> file = BytesIO()
    >>> Image.new("RGB", (640, 480)).save(file, "PNG")
    >>> Image.open(BytesIO(thumbnail_of(file.getvalue()))).size
    (256, 192)
    >>> thumbnail_of(b"no image") is None
    True
    """
    try:
        picture = as_rgb(image, enough=LARGEST_SIDE)
    except UnreadableImageError:
        return None
    if _is_plain(image) and max(picture.size) <= LARGEST_SIDE:
        return image
    picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.BICUBIC)
    file = BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def _is_plain(image: bytes) -> bool:
    """Tell whether the bytes are a small JPEG, and nothing else is among or behind them."""
    return (
        len(image) <= LARGEST_KEPT
        and image.startswith(_START)
        and image.endswith(_END)
        and not any(mark in image for mark in _WITH_MORE[:-1])
        and _WITH_MORE[-1] not in image[:1024]
    )
