"""Small pictures of what was taught, to look at and to teach again."""

import re
from contextlib import suppress
from io import BytesIO

from newfound.common.errors import UnreadableImageError
from newfound.common.files import digest_of
from newfound.features.images import Image, as_rgb, read_file
from newfound.recognition.sources import Example

# No side of a thumbnail has more pixels: a network of 224 x 224 still sees what it saw.
LARGEST_SIDE = 256
# A JPEG of that size is kept as it is up to so many bytes; what is made here is of this quality.
LARGEST_KEPT, QUALITY = 48 * 1024, 85
_START, _END = b"\xff\xd8", b"\xff\xd9"
# Parts of a JPEG that make up the picture: tables, sizes, the colour profile that browsers add. All
# others may say where and by whom it was taken.
_SCAN, _PROFILE = 0xDA, 0xE2
_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7]", re.DOTALL)
_PICTURE = {0xC0, 0xC1, 0xC2, 0xC4, 0xDB, 0xDD, 0xE0, _SCAN}


def thumbnail_of(image: bytes | Image.Image) -> bytes | None:
    """Return an image as a JPEG of at most 256 x 256 pixels; None: it cannot be read.

    A small JPEG with nothing in it but the picture stays as it is, to the byte.

    Parameters
    ----------
    image : bytes of an image file, or PIL image

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
    if isinstance(image, bytes) and _is_plain(image) and max(picture.size) <= LARGEST_SIDE:
        return image
    picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE), Image.Resampling.BICUBIC)
    picture.info.clear()  # comments and the like would be written again
    file = BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def picture_of(example: Example) -> bytes | None:
    """Return a thumbnail of an example: its own, or of a file that is still the same."""
    if example.thumbnail is not None:
        return example.thumbnail
    with suppress(UnreadableImageError):
        image = read_file(example.name)
        return thumbnail_of(image) if digest_of(image) == example.digest else None
    return None


def _is_plain(image: bytes) -> bool:
    """Tell whether the bytes are a small JPEG that has no parts but those of its picture."""
    if len(image) > LARGEST_KEPT or not (image.startswith(_START) and image.endswith(_END)):
        return False
    place = len(_START)
    while place + 4 <= len(image):
        start, kind = image[place], image[place + 1]
        is_profile = kind == _PROFILE and image.startswith(b"ICC_PROFILE\0", place + 4)
        if start != 0xFF or not (kind in _PICTURE or is_profile):
            return False
        place += 2 + int.from_bytes(image[place + 2 : place + 4], "big")
        if kind == _SCAN:
            # In what follows, a marker is 255 and neither 0 nor one of those for restarts.
            found = _MARKER.search(image, place)
            if found is None or found[0] == _END:
                return found is not None and found.end() == len(image)
            place = found.start()
    return False
