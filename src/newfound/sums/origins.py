"""Where rows are seen from: so near to them that no digits are lost to their distance from zero."""

import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats
from newfound.common.device import Array, on_host

if TYPE_CHECKING:
    from newfound.sums.sums import Sums

# Squared distance of the mean from the origin, in variances of a feature, beyond which the origin
# moves: it costs two of sixteen digits.
FAR = 100.0
# Rows of a batch by which a new origin is judged, and rows that are looked at before the first
# judgement.
SAMPLE, LEAST_ROWS = 1024, 16


class Sample(NamedTuple):
    """A few rows of a batch, on the host, which stand for all of it."""

    rows: Floats  # as they came, shape (k, d)
    weight: float  # how many rows each of them stands for

    @classmethod
    def of(cls, X: Array) -> "Sample":
        """Return rows from all over a batch (m, d), at most `SAMPLE` of them."""
        step = -(-int(X.shape[0]) // SAMPLE) or 1
        rows = np.asarray(on_host(X[::step, :]), dtype=np.float64)
        return cls(rows, X.shape[0] / len(rows) if len(rows) else 0.0)


def is_far(total: Floats, squares: Floats, weight_sum: float) -> NDArray[np.bool_]:
    """Tell of which features the mean is far from the origin, as their variance goes, shape (d,).

    `total` is the sum of rows seen from there, and `squares` of their squares, both of shape (d,).

    >>> is_far(np.array([3.0, 300.0]), np.array([6.0, 3e4 + 2]), 3.0)
    array([False,  True])
    """
    offset = total**2 / weight_sum
    far: NDArray[np.bool_] = offset > FAR * np.maximum(squares - offset, 0.0)
    return far


def nearest_values(rows: Floats, mean: Floats) -> Floats:
    """Return of each feature the value, of those in `rows` (m, d), that is nearest to its mean.

    It is a value that was taught, so that a feature that never changed is that value exactly.

    >>> nearest_values(np.array([[1.0, 7.0], [2.0, 7.0], [9.0, 7.0]]), np.array([4.0, 7.1]))
    array([2., 7.])
    """
    places = abs(rows - mean).argmin(axis=0)
    values: Floats = np.take_along_axis(rows, places[None], axis=0)[0]
    return values


def judge(sums: "Sums", X: Array | None = None) -> None:
    """Move the origin of sums to where rows are, those of `X` (m, d) that are to come included.

    It stays where it is, unless it is far from their mean. Judge it whenever as many rows have come
    and gone as there were.
    """
    sample = Sample(np.zeros((0, sums.width)), 0.0) if X is None else Sample.of(X)
    number = round(len(sample.rows) * sample.weight)
    sums.until_judged, n = max(LEAST_ROWS, sums.total + number), sums.weight_sum + number
    if not n:
        return
    origin = np.zeros(sums.width) if sums.origin is None else on_host(sums.origin)
    coming = sample.rows - origin
    total = on_host(sums.cross).sum(axis=1) + sample.weight * coming.sum(axis=0)
    squares = sums.squares + sample.weight * np.square(coming).sum(axis=0)
    far = is_far(total, squares, n) if sums.total else np.ones(sums.width, dtype=bool)
    if far.any():
        held = [gram.rows for gram in sums.grams if gram.buffer.count]
        mean, rows = origin + total / n, np.concatenate([sample.rows, *held])
        nearest = nearest_values(rows, mean) if len(rows) else mean
        origin = np.where(far, nearest, origin)
        sums.move_origin(origin)
        squares = sums.squares + sample.weight * np.square(sample.rows - origin).sum(axis=0)
    sums.judged = squares


def seen_alike(sums: "Sums", other: "Sums") -> "Sums":
    """Return `other` seen from the origin of `sums`; or move that of these, if they weigh less."""
    here, there = (None if part.origin is None else on_host(part.origin) for part in (sums, other))
    if not other.total or np.array_equal(_or_zero(here), _or_zero(there)):
        return other
    if sums.is_centred and sums.weight_sum <= other.weight_sum:
        sums.move_origin(there)
        return other
    other = copy.deepcopy(other)
    other.move_origin(here)
    return other


def _or_zero(origin: Floats | None) -> Floats:
    return np.zeros(1) if origin is None else origin
