"""Which frames of a stream are worth a lesson: those that are sharp and show something new."""

from collections import Counter, deque
from statistics import median

import numpy as np
from numpy.typing import NDArray

from newfound.features.images import Image

# Why frames are skipped.
ALIKE, BLURRED, BEYOND = "hardly different", "blurred", "beyond --at-most"
# A frame hardly differs from another if their vectors correlate by at least this. Frames of a
# camera that stands still do: 0.95 and more, with the usual noise of a sensor, light that flickers
# and H.264. So do neighbours in the sequences of Washington RGB-D, 0.96 in the median; those of
# unrelated things have 0.18. What is left of these sequences teaches as much as all of them. The
# correlation, because it asks nothing of an extractor's scale.
ALIKE_FROM = 0.93
# A vector that varies by less than this part of its length shows nothing but noise.
PLAIN = 0.02
# How many of those taught last it is compared with.
REMEMBERED = 256
# A frame is blurred if its sharpness is below this part of the median of the NEIGHBOURS frames up
# to it; fewer than FEWEST say nothing.
BLUR, NEIGHBOURS, FEWEST = 0.25, 31, 5
# Sides in pixels at which sharpness is measured: there most of a sensor's noise is gone.
SIDE = 128


class Thinning:
    """Decides which frames of one thing, in the order of their time, are worth a lesson.

    It takes as much memory after a million frames as after some hundreds.

    Parameters
    ----------
    at_most : int, optional
        How many to take.
    skipped : Counter, optional
        Is added to: frames that were not taken, by reason.

    Attributes
    ----------
    taken : int
        Frames that were.
    skipped : Counter

    Examples
    --------
    >>> thinning = Thinning()
    >>> [thinning.takes(np.array(vector)) for vector in ([1, 2, 9], [1, 3, 9], [9, 2, 1])]
    [True, False, True]
    >>> thinning.skipped
    Counter({'hardly different': 1})
    """

    # _sharpness: of the last frames.
    # _bank: shape (REMEMBERED, d), of those taken last, standardised, in a ring.

    def __init__(self, at_most: int | None = None, skipped: Counter[str] | None = None) -> None:
        self.at_most, self.taken = at_most, 0
        self.skipped = Counter[str]() if skipped is None else skipped
        self._sharpness: deque[float] = deque(maxlen=NEIGHBOURS)
        self._bank: NDArray[np.floating] | None = None

    @property
    def is_full(self) -> bool:
        """Whether as many were taken as are wanted."""
        return self.at_most is not None and self.taken >= self.at_most

    def wants(self, image: Image.Image) -> bool:
        """Tell whether a frame is worth turning into a vector, by its picture."""
        if self.is_full:
            return self._skip(BEYOND)
        return not self._is_blurred(image) or self._skip(BLURRED)

    def takes(self, vector: NDArray[np.floating]) -> bool:
        """Tell whether a frame is worth a lesson, by its vector, shape (d,).

        If it is, later ones are compared with it.
        """
        if self.is_full:
            return self._skip(BEYOND)
        row = _standardised(vector)
        if self._bank is None:
            self._bank = np.empty((REMEMBERED, len(row)))
        apart = ((self._bank[: self.taken] - row) ** 2).sum(axis=1)
        if apart.min(initial=np.inf) <= 2 * (1 - ALIKE_FROM):
            return self._skip(ALIKE)
        self._bank[self.taken % REMEMBERED] = row
        self.taken += 1
        return True

    def _skip(self, why: str) -> bool:
        self.skipped[why] += 1
        return False

    def _is_blurred(self, image: Image.Image) -> bool:
        """Tell whether a frame is far less sharp than its neighbours.

        Plain things are never sharp, so it is compared with no fixed number. If all of a clip is
        out of focus, that is not noticed.
        """
        self._sharpness.append(sharpness(image))
        if len(self._sharpness) < FEWEST:
            return False
        return self._sharpness[-1] < BLUR * median(self._sharpness)


def _standardised(vector: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return a vector less its mean, at unit length: two correlate by 1 - half their distance^2.

    Vectors that hardly vary, as pixels of a black picture, become 0, and are all the same.
    """
    row: NDArray[np.float64] = np.asarray(vector, dtype=np.float64)
    length, row = np.linalg.norm(row), row - row.mean()
    spread = np.linalg.norm(row)
    return row / spread if spread > PLAIN * length else np.zeros_like(row)


def sharpness(image: Image.Image) -> float:
    """Return how much an image varies from pixel to pixel, in the direction where that is less.

    Out of focus it is little in all directions, and in motion in one of them.

    >>> from PIL import Image, ImageFilter
    >>> board = Image.fromarray(np.kron(np.eye(2), np.full((32, 32), 255)).astype(np.uint8))
    >>> sharpness(board) > 10 * sharpness(board.filter(ImageFilter.BoxBlur((8, 0))))
    True
    """
    small = image.reduce(max(1, min(image.size) // SIDE)).convert("L")
    grey = np.asarray(small, dtype=np.float32)
    if min(grey.shape) < 3:
        return 0.0
    return min(float(np.var(np.diff(grey, n=2, axis=axis))) for axis in (0, 1))
