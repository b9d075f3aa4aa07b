"""From an RGB image to the numbers a network takes."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.features.images import Image

Size = int | tuple[int, int]
Levels = float | tuple[float, float, float]


@dataclass(frozen=True)
class Preprocessing:
    """Crop, resize, shift and scale: (pixel - mean) / scale, with pixels from 0 to 255.

    Parameters
    ----------
    size : int or (height, width)
    mean, scale : float or one for each channel, red first
    channels : "rgb", "bgr" or "grey"
        The order in which the network takes them.
    crop : float, optional
        Side of a centred square, as a part of the shorter side of the image. None squeezes the
        whole image into `size`.
    layout : "chw" or "hwc"
        Whether channels come first or last.

    Examples
    --------
    >>> from PIL import Image
    >>> prepare = Preprocessing(size=2, mean=127.0, scale=128.0, crop=None)
    >>> prepare(Image.new("RGB", (30, 20), "white"))[0]
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """

    size: Size
    mean: Levels = 0.0
    scale: Levels = 1.0
    channels: Literal["rgb", "bgr", "grey"] = "rgb"
    crop: float | None = None
    layout: Literal["chw", "hwc"] = "chw"

    def __post_init__(self) -> None:
        sides = self.height_width
        whole = isinstance(sides, tuple) and all(isinstance(side, int) for side in sides)
        if not whole or len(sides) != 2 or not 1 <= min(sides) <= max(sides) <= 4096:
            raise InputError(
                f"size must be one number of pixels or two, from 1 to 4096, got {self.size}"
            )
        if self.channels not in ("rgb", "bgr", "grey"):
            raise InputError(f"channels must be 'rgb', 'bgr' or 'grey', got {self.channels!r}")
        if self.crop is not None and not (
            isinstance(self.crop, int | float) and 0 < self.crop <= 1
        ):
            raise InputError(f"crop must be above 0 and at most 1, or None, got {self.crop}")
        shapes = ((),) if self.channels == "grey" else ((), (3,))
        for levels in (self.mean, self.scale):
            is_number = np.asarray(levels).dtype.kind in "if"
            if not is_number or np.shape(levels) not in shapes or not np.isfinite(levels).all():
                raise InputError(
                    f"mean and scale must be a number, or one for each channel, got {levels}"
                )

        if 0 in np.atleast_1d(self.scale):
            raise InputError("scale must not be 0: pixels are divided by it")

    @property
    def height_width(self) -> tuple[int, int]:
        """Size of what comes out, in pixels."""
        return (self.size, self.size) if isinstance(self.size, int) else self.size

    @property
    def enough(self) -> int:
        """Shorter side of an image that has nearly all the detail that is used.

        A tenth less is allowed: it changes features less than saving a JPEG with quality 75
        instead of 90 does, and saves time.
        """
        return int(0.9 * max(self.height_width) / (self.crop or 1.0))

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        values = {**self.__dict__, "size": list(self.height_width)}
        for name in ("mean", "scale"):
            values[name] = np.asarray(values[name], dtype=float).tolist()
        return values

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of what comes out."""
        depth = 1 if self.channels == "grey" else 3
        height, width = self.height_width
        return (depth, height, width) if self.layout == "chw" else (height, width, depth)

    def __call__(
        self, image: Image.Image, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Return an RGB image as a network takes it, in `out` if that is given."""
        height, width = self.height_width
        box = None
        if self.crop is not None:
            side = self.crop * min(image.size)
            left, top = ((length - side) / 2 for length in image.size)
            box = (left, top, left + side, top + side)
        resized = image.resize((width, height), Image.Resampling.BICUBIC, box=box)
        if self.channels == "grey":
            resized = resized.convert("L")
        pixels = np.asarray(resized).reshape(height, width, -1)
        if self.channels == "bgr":
            pixels = pixels[..., ::-1]
        if self.layout == "chw":
            pixels = pixels.transpose(2, 0, 1)
        values = np.empty(self.shape, dtype=np.float32) if out is None else out
        np.subtract(pixels, self._levels(self.mean), out=values)
        np.divide(values, self._levels(self.scale), out=values)
        return values

    def _levels(self, levels: Levels) -> NDArray[np.float32]:
        """Return one number, or one for each channel, where the layout has the channels."""
        order = np.array(levels, dtype=np.float32)
        if not order.ndim:
            return order
        order = order[::-1] if self.channels == "bgr" else order
        return order.reshape(3, 1, 1) if self.layout == "chw" else order
