"""Which frames of a stream are worth a lesson: those that are sharp and show something new."""

import math
import re
from collections import Counter, deque
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError

if TYPE_CHECKING:
    from PIL.Image import Image

# Why frames are skipped.
ALIKE, BLURRED = "that hardly differ", "blurred"
BY_EVERY, BEYOND = "by --every", "beyond --at-most"
# A frame hardly differs from another if their vectors are nearer than this part of their length.
NEAR = 0.3
# With so many of those taught last it is compared.
REMEMBERED = 256
# A frame is blurred if it has less than this part of the sharpness that is usual among so many
# frames up to it; fewer than FEWEST say nothing.
BLUR, NEIGHBOURS, FEWEST = 0.25, 31, 5
# Sharpness is measured with sides of about so many pixels, where the noise of a sensor is gone.
SIDE = 128
_EVERY = re.compile(r"(\d{1,9})|(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6}) ?s")


class Every:
    """Takes one of so many frames, or one in so many seconds.

    Parameters
    ----------
    frames : int, default=1
    seconds : float, default=0.0
        If above 0, it counts instead.

    Examples
    --------
    >>> every = Every.parse("0.5s")
    >>> [every.takes(time) for time in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    [True, False, False, True, False, True]
    """

    def __init__(self, frames: int = 1, seconds: float = 0.0) -> None:
        self.frames, self.seconds = frames, seconds
        self._came, self._last = 0, math.nan

    @classmethod
    def parse(cls, text: str) -> "Every":
        """Return what "5" (frames) or "0.5s" (seconds) means.

        >>> Every.parse("often")
        Traceback (most recent call last):
        newfound.InputError: 'often' is neither a number of frames, as 5, nor of seconds, as 0.5s
        """
        found = _EVERY.fullmatch(text.strip())
        frames, seconds = (int(found[1] or 0), float(found[2] or 0)) if found else (0, 0.0)
        if not (frames or seconds):
            raise InputError(
                f"{text!r} is neither a number of frames, as 5, nor of seconds, as 0.5s"
            )
        return cls(max(frames, 1), seconds)

    def takes(self, time: float) -> bool:
        """Tell whether to take the next frame, of this time in seconds."""
        if self.seconds:
            # Times are on a grid, so that what is taken does not drift.
            last, self._last = self._last, math.floor(time / self.seconds + 1e-6)
            return last != self._last
        self._came += 1
        return (self._came - 1) % self.frames == 0


class Thinning:
    """Decides which frames of one thing, in the order of their time, are worth a lesson.

    It takes as much memory after a million frames as after some hundreds.

    Parameters
    ----------
    every : Every, optional
        Which frames to consider at all.
    at_most : int, optional
        How many to take.

    Attributes
    ----------
    taken : int
        Frames that were.
    skipped : Counter
        Frames that were not, by reason.

    Examples
    --------
    >>> thinning = Thinning()
    >>> [thinning.takes(np.array(vector)) for vector in ([1.0, 0.0], [1.0, 0.1], [0.0, 1.0])]
    [True, False, True]
    >>> thinning.skipped
    Counter({'that hardly differ': 1})
    """

    # _sharpness: of the last frames. _bank, shape (REMEMBERED, d): vectors taken last, in a ring.

    def __init__(self, every: Every | None = None, at_most: int | None = None) -> None:
        self.every, self.at_most = every, at_most
        self.taken, self.skipped = 0, Counter[str]()
        self._sharpness: deque[float] = deque(maxlen=NEIGHBOURS)
        self._bank: NDArray[np.floating] | None = None

    @property
    def is_full(self) -> bool:
        """Whether as many were taken as are wanted."""
        return self.at_most is not None and self.taken >= self.at_most

    def wants(self, image: "Image", time: float = 0.0) -> bool:
        """Tell whether a frame is worth turning into a vector.

        Parameters
        ----------
        image : PIL image
        time : float, default=0.0
            When it was taken, in seconds.

        Returns
        -------
        bool
        """
        if self.is_full:
            return self._skip(BEYOND)
        if self.every is not None and not self.every.takes(time):
            return self._skip(BY_EVERY)
        return not self._is_blurred(image) or self._skip(BLURRED)

    def takes(self, vector: NDArray[np.floating]) -> bool:
        """Tell whether a frame is worth a lesson, by its vector, shape (d,).

        If it is, later ones are compared with it.
        """
        if self.is_full:
            return self._skip(BEYOND)
        if self._bank is None:
            self._bank = np.empty((REMEMBERED, len(vector)), dtype=vector.dtype)
        far = np.linalg.norm(self._bank[: self.taken] - vector, axis=1)
        if len(far) and far.min() <= NEAR * np.linalg.norm(vector):
            return self._skip(ALIKE)
        self._bank[self.taken % REMEMBERED] = vector
        self.taken += 1
        return True

    def _skip(self, why: str) -> bool:
        self.skipped[why] += 1
        return False

    def _is_blurred(self, image: "Image") -> bool:
        """Tell whether a frame is far less sharp than its neighbours.

        Plain things are never sharp, so it is compared with no fixed number. If all of a clip is
        out of focus, that is not noticed.
        """
        self._sharpness.append(sharpness(image))
        if len(self._sharpness) < FEWEST:
            return False
        return self._sharpness[-1] < BLUR * median(self._sharpness)


def sharpness(image: "Image") -> float:
    """Return how much an image varies from pixel to pixel: the variance of its Laplacian.

    >>> from PIL import Image, ImageFilter
    >>> board = Image.fromarray(np.kron(np.eye(2), np.full((32, 32), 255)).astype(np.uint8))
    >>> sharpness(board) > 10 * sharpness(board.filter(ImageFilter.GaussianBlur(4)))
    True
    """
    small = image.reduce(max(1, min(image.size) // SIDE)).convert("L")
    grey: NDArray[Any] = np.asarray(small, dtype=np.float32)
    if min(grey.shape) < 3:
        return 0.0
    middle, around = grey[1:-1, 1:-1], grey[:-2, 1:-1] + grey[2:, 1:-1]
    around = around + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4 * middle))
