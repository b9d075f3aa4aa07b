"""Where rows are seen from: so near to them that no digits are lost to their distance from zero."""

import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot

from newfound.common.arrays import Floats
from newfound.common.device import Array, device_of, namespace_of, on_host
from newfound.sums.device import rows_at
from newfound.sums.shifted import ShiftedRows

if TYPE_CHECKING:
    from newfound.sums.sums import Sums

# Squared distance of the mean from the origin, in variances of a feature, beyond which the origin
# moves: it costs two of sixteen digits.
FAR = 100.0
# Rows of a batch by which a new origin is judged.
SAMPLE = 1024


class Sample(NamedTuple):
    """A few rows of a batch, on the host, which stand for all of it."""

    rows: Floats  # as they came, shape (k, d)
    weights: Floats  # of those that each of them stands for, shape (k,)

    @classmethod
    def of(cls, X: Array, weights: Floats | None) -> "Sample":
        """Return rows from all over a batch (m, d), or the heaviest, at most `SAMPLE` of them."""
        number = int(X.shape[0])
        if weights is None:
            step = -(-number // SAMPLE) or 1
            rows = np.asarray(on_host(X[::step, :]), dtype=np.float64)
            return cls(rows, np.full(len(rows), number / max(1, len(rows))))
        places = np.sort(np.argsort(-weights, kind="stable")[:SAMPLE])
        rows = np.asarray(on_host(rows_at(X, places, device_of(X))), dtype=np.float64)
        return cls(rows, weights[places] * (weights.sum() / weights[places].sum()))


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
    return values + 0.0  # which makes -0.0 equal to 0.0


def squares_of(X: Array, weights: Floats | None, sums: "Sums", terms: Array | None = None) -> float:
    """Return the sum of the squares of rows `X` (m, d), each with its weight, seen from the origin.

    `terms` are what is added to the sums by class, shape (m, k, d), if that is known.

    >>> from newfound.sums import Sums
    >>> squares_of(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([4.0, 1.0]), Sums(width=2))
    101.0
    """
    if sums.device is None and terms is not None and weights is None and len(X) == 1:
        row = terms[0, 0]  # which is what is asked for, without detours
        return float(ddot(row, row))
    rows, total = ShiftedRows(X, sums.origin, weights, sums.device), 0.0
    for start in range(0, rows.size, SAMPLE):
        part = rows.part(slice(start, min(start + SAMPLE, rows.size)))
        if sums.device is None:
            part = np.asarray(part, dtype=np.float64)
            total += float(np.vdot(part, part))
        else:
            part = sums.device.double(part)
            total += float(namespace_of(part).sum(part * part))
    return total


def judge(sums: "Sums", X: Array | None = None, weights: Floats | None = None) -> None:
    """Move the origin of sums to where rows are, `X` (m, d) included, which are to come.

    It stays where it is, unless it is far from their mean. For that, rows that have come and gone
    since must have larger squares than all there were: it is to be judged again when they have.
    """
    sample = Sample(np.zeros((0, sums.width)), np.zeros(0))
    if X is not None:
        sample = Sample.of(X, weights)
    n, squares = sums.weight_sum + float(sample.weights.sum()), sums.squares
    if n and sums.is_centred:
        origin = np.zeros(sums.width) if sums.origin is None else on_host(sums.origin)
        coming = sample.rows - origin
        total = on_host(sums.cross).sum(axis=1) + sample.weights @ coming
        all_squares = squares + sample.weights @ np.square(coming)
        far = is_far(total, all_squares, n) if sums.total else np.ones(sums.width, dtype=bool)
        if far.any():
            held = [gram.rows for gram in sums.grams if gram.buffer.count]
            mean, rows = origin + total / n, np.concatenate([sample.rows, *held])
            nearest = nearest_values(rows, mean) if len(rows) else mean
            sums.move_origin(np.where(far, nearest, origin))
            squares = sums.squares
    # Twice what is to come: as it comes, and as it is there.
    coming_squares = 0.0 if X is None else squares_of(X, weights, sums)
    sums.until_judged = float(squares.sum()) + 2 * coming_squares
    sums.judgements += 1


def judge_what_is_left(sums: "Sums") -> None:
    """Judge the origin of sums from which rows went: those may have been all that was near it."""
    if sums.total and sums.is_centred:
        total = on_host(sums.cross).sum(axis=1)
        if is_far(total, sums.squares, sums.weight_sum).any():
            judge(sums)


def judged(sums: "Sums", X: Array, weights: Floats | None) -> "Sums":
    """Return a copy of sums after judgement, to take their place; they are left as they are."""
    nearer = copy.copy(sums)
    judge(nearer, X, weights)
    return nearer


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
