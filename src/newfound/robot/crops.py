"""The part of each frame that is looked at."""

import re
from typing import TYPE_CHECKING, NamedTuple

from newfound.common.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

_NUMBERS = re.compile(r"\s*(\d{1,6})\s*" + r",\s*(\d{1,6})\s*" * 3)


class Crop(NamedTuple):
    """A part of a frame: a rectangle, or the largest square in the middle.

    Examples
    --------
    >>> from PIL import Image
    >>> Crop.parse("10,0,20,30").of(Image.new("RGB", (64, 48))).size
    (20, 30)
    >>> CENTRE.of(Image.new("RGB", (64, 48))).size
    (48, 48)
    """

    box: tuple[int, int, int, int] | None  # left, top, width and height in pixels; None: the square

    @classmethod
    def parse(cls, text: str) -> "Crop":
        """Return the rectangle that "x,y,w,h" names.

        >>> Crop.parse("1,2,3")
        Traceback (most recent call last):
        newfound.InputError: '1,2,3' is no part of a frame: that is x,y,w,h, whole numbers of pixels
        """
        match = _NUMBERS.fullmatch(text)
        left, top, width, height = map(int, match.groups()) if match else (0, 0, 0, 0)
        if not (width and height):
            raise InputError(
                f"{text!r} is no part of a frame: that is x,y,w,h, whole numbers of pixels"
            )
        return cls((left, top, width, height))

    def __str__(self) -> str:
        return "centre" if self.box is None else ",".join(map(str, self.box))

    def of(self, image: "Image") -> "Image":
        """Return this part of an image, or raise InputError if it has no such part.

        >>> from PIL import Image
        >>> Crop.parse("0,0,100,9").of(Image.new("RGB", (64, 48)))
        Traceback (most recent call last):
        newfound.InputError: 0,0,100,9 does not lie in a frame of 64 x 48 pixels
        """
        left, top, width, height = self.box or _square(*image.size)
        right, bottom = left + width, top + height
        if right > image.width or bottom > image.height:
            raise InputError(
                f"{self} does not lie in a frame of {image.width} x {image.height} pixels"
            )
        return image.crop((left, top, right, bottom))


# The largest square in the middle.
CENTRE = Crop(None)


def _square(width: int, height: int) -> tuple[int, int, int, int]:
    side = min(width, height)
    return (width - side) // 2, (height - side) // 2, side, side
