"""Pixels as features: no network."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.features.extractor import Extractor
from newfound.features.identity import Identity
from newfound.features.preprocessing import Preprocessing, Size
from newfound.features.root import root_in_identity, take_root


class Pixels(Extractor):
    """The pixels of an image, resized; for small images that are alike, and for tests.

    Parameters
    ----------
    size : int or (height, width), default=28
    range : (float, float), default=(0.0, 1.0)
        What black and white become.
    channels : "grey" or "rgb", default="grey"
    root : bool, default=False
        Take signed square roots, and scale rows to unit length (`take_root`). That helps with some
        images and harms with others (docs/features.md).

    Examples
    --------
    >>> pixels = Pixels(size=2, range=(-1.0, 1.0))
    >>> pixels([np.full((8, 8), 255, dtype=np.uint8)])
    array([[1., 1., 1., 1.]], dtype=float32)
    """

    smallest = 2
    batch_size = 64

    def __init__(
        self,
        size: Size = 28,
        range: tuple[float, float] = (0.0, 1.0),
        channels: Literal["grey", "rgb"] = "grey",
        *,
        root: bool = False,
    ) -> None:
        if not isinstance(range, tuple | list) or len(range) != 2 or not range[0] < range[1]:
            raise InputError(f"range must be two numbers that rise, black and white, got {range}")
        self.size, self.range, self.channels, self.root = size, range, channels, root
        black, white = range
        step = 255 / (white - black)
        self.prepare = Preprocessing(size, -black * step, step, channels)
        self.width = math.prod(self.prepare.shape)
        preprocessing = {
            "size": list(self.prepare.height_width),
            "range": [float(black), float(white)],
            "channels": channels,
            **root_in_identity(root),
        }
        self.identity = Identity("pixels", preprocessing=preprocessing)

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the pixels, shape (m, width)."""
        rows = batch.reshape(len(batch), -1)
        return take_root(rows) if self.root else rows.copy()
