"""Witnesses: exemplars of each class, a reservoir sample of rows that are all in the sums."""

from functools import lru_cache
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.scatter import BITS, STEP, scattered, scattered_one
from newfound.memory.reservoir import Keys, Reservoir

# Numbers whose hashes are made at a time: they stay in a cache.
_CHUNK = 2**17
# What a class has of which nothing is kept.
NOTHING = Reservoir()
# Of the weight of all rows, what rounding may have taken.
ALMOST_NOTHING = 1e-9


class Witnesses:
    """Copies of a few learned rows of each class, to ask how the model would do without them.

    Every row has a key that looks drawn, made from its numbers, and with its weight that makes its
    rank. The rows with the smallest ranks stay. So each row of a class is as likely to be among
    them as others of its weight, in whatever order and however cut rows come, and the sample of two
    streams is the sample of their samples. A row that comes again has the same key, and so is no
    second witness: its weight is added to the first, if that was kept. Were one of two equal rows
    left out, the other would still tell what it is.

    No method changes anything: it returns other witnesses.

    Parameters
    ----------
    seed : int
    of_class : dict of label to Reservoir, optional

    Examples
    --------
    >>> witnesses = Witnesses(seed=0)
    >>> witnesses = witnesses.add(np.arange(9.0)[:, None], np.array(["mug"] * 9), cap=2)
    >>> len(witnesses["mug"].rows), witnesses["mug"].weights
    (2, array([1., 1.]))
    """

    # of_class[label]: of every class that has any.

    def __init__(self, seed: int, of_class: dict[Any, Reservoir] | None = None) -> None:
        self.seed = seed
        self.of_class = of_class or {}

    def __getitem__(self, label: Any) -> Reservoir:
        return self.of_class.get(label, NOTHING)

    def stack(self, labels: Labels, width: int) -> tuple[Rows, Index]:
        """Return all witnesses of these classes, shape (V, width), and the class of each."""
        parts = [self[label].rows for label in labels.tolist()]
        index = np.repeat(np.arange(len(labels)), [len(part) for part in parts])
        rows = [row for part in parts for row in part]
        return (np.array(rows) if rows else np.zeros((0, width))), index

    def weights(self, labels: Labels) -> Floats:
        """Return the weights of all witnesses of these classes, as `stack` has them, (V,)."""
        return np.concatenate([self[label].weights for label in labels.tolist()] + [np.zeros(0)])

    def hold_all(self, weight_sum: float, gone: float = 0.0) -> bool:
        """Tell whether they are all rows, which weighed so much before what is `gone` went.

        >>> Witnesses(seed=0).add(np.ones((3, 2)), np.array(["a"] * 3), 9).hold_all(3.0)
        True
        """
        kept = sum(reservoir.weights.sum() for reservoir in self.of_class.values())
        return bool(abs(kept + gone - weight_sum) <= ALMOST_NOTHING * weight_sum)

    def nearest(self, X: Rows, labels: Labels) -> Floats:
        """Return the witness nearest to each row of `X` (m, d), of one of its own `labels` (m, k).

        NaN, where there are none.

        >>> witnesses = Witnesses(seed=0).add(np.array([[0.0], [4.0]]), np.array(["a", "b"]), 9)
        >>> witnesses.nearest(np.array([[3.0], [3.0]]), np.array([["a", "b"], ["a", "a"]]))
        array([[4.],
               [0.]])
        """
        nearest, least = np.full(X.shape, np.nan), np.full(len(X), np.inf)
        for label in np.unique(labels).tolist():
            if self[label].size:
                rows, asked = np.array(self[label].rows), (labels == label).any(axis=1)
                # Squared distances, but for what all witnesses share; in their own precision.
                with np.errstate(all="ignore"):
                    products = X[asked].astype(rows.dtype) @ rows.T
                    squares = np.einsum("ij,ij->i", rows, rows) - 2 * products
                nearer = squares.min(axis=1) < least[asked]
                places = np.flatnonzero(asked)[nearer]
                least[places] = squares.min(axis=1)[nearer]
                nearest[places] = rows[squares.argmin(axis=1)[nearer]]
        return nearest

    def add(
        self, X: Rows, labels: Labels, cap: int, sample_weight: Floats | None = None
    ) -> "Witnesses":
        """Return the witnesses once rows `X` (m, d) with these labels (m,) have come."""
        hashes = hashes_of(X)
        if len(labels) == 1:  # what a stream does, so without a detour
            label, weight = labels.item(), 1.0 if sample_weight is None else float(sample_weight[0])
            before, hashed = self.of_class.get(label, NOTHING), int(hashes[0])
            key = scattered_one(hashed + self.seed + STEP & BITS)
            after = before.add(X[0], hashed, key, weight, cap)
            if after is before:  # most rows do not become witnesses
                return self
            return Witnesses(self.seed, {**self.of_class, label: after})
        of_class, keys = dict(self.of_class), keys_of(hashes, self.seed)
        weights = np.ones(len(labels)) if sample_weight is None else sample_weight
        for label, at in _by_label(labels):
            fresh = _sample_of(X, hashes, keys, weights, at, cap)
            of_class[label] = self[label].merge(fresh, cap)
        return Witnesses(self.seed, of_class)

    def remove(self, X: Rows, labels: Labels, sample_weight: Floats | None = None) -> "Witnesses":
        """Return what is left once rows `X` (m, d) with these labels (m,) are forgotten."""
        of_class, hashes = dict(self.of_class), hashes_of(X)
        weights = np.ones(len(labels)) if sample_weight is None else sample_weight
        for label, at in _by_label(labels):
            # Most rows are no witnesses.
            for place in at[np.isin(hashes[at], self[label].hashes)].tolist():
                gone = X[place], int(hashes[place]), float(weights[place])
                of_class[label] = of_class[label].remove(*gone)
        return Witnesses(self.seed, of_class)

    def only(self, labels: list[Any]) -> "Witnesses":
        """Return those of these classes."""
        here = {label: self.of_class[label] for label in labels if label in self.of_class}
        return Witnesses(self.seed, here)

    def first(self, cap: int) -> "Witnesses":
        """Return at most `cap` of each class: a fair sample, as all of them are."""
        of_class = {label: reservoir.first(cap) for label, reservoir in self.of_class.items()}
        return Witnesses(self.seed, of_class)

    def rename(self, old: Any, new: Any, cap: int) -> "Witnesses":
        """Return those there are once class `old` is called `new`, or has become part of it."""
        of_class = dict(self.of_class)
        sample = of_class.pop(old, NOTHING)
        of_class[new] = of_class.get(new, NOTHING).merge(sample, cap)
        return Witnesses(self.seed, of_class)

    def merge(self, other: "Witnesses", cap: int) -> "Witnesses":
        """Return the witnesses of two streams: the same in either order, fair to every row."""
        labels = self.of_class | other.of_class
        of_class = {label: self[label].merge(other[label], cap) for label in labels}
        return Witnesses(self.seed, of_class)


def _by_label(labels: Labels) -> list[tuple[Any, Index]]:
    """Return each label, and where it stands among `labels` (m,)."""
    distinct, inverse = np.unique(labels, return_inverse=True)
    order, ends = np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))
    return list(zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True))


def hashes_of(X: Rows) -> Keys:
    """Return a hash of each row of `X` (m, d), shape (m,): the same for the same numbers.

    >>> bool(hashes_of(np.array([[0.5, -0.0]])) == hashes_of(np.float32([[0.5, 0.0]])))
    True
    """
    m, d = X.shape
    hashes, size = np.empty(m, dtype=np.uint64), max(1, _CHUNK // max(1, d))
    for start in range(0, m, size):
        # In whatever precision they come; and + 0.0 makes -0.0 equal to 0.0.
        rows = X[start : start + size].astype(np.float64) + 0.0
        bits = rows.view(np.uint64)
        # Numbers such as 0 and 1 differ in their first bits alone, of which a product would make
        # but first bits.
        bits ^= bits >> np.uint64(32)
        bits ^= bits >> np.uint64(16)
        hashes[start : start + size] = bits @ _multipliers(d)
    return hashes


def keys_of(hashes: Keys, seed: int) -> Keys:
    """Return the keys of rows with these hashes: other ones for another seed."""
    return scattered(hashes + np.uint64(seed + STEP & BITS))


@lru_cache(maxsize=8)
def _multipliers(width: int) -> Keys:
    """Return an odd number for each feature, so that each has its own part in a hash."""
    return scattered(np.arange(1, width + 1, dtype=np.uint64) * np.uint64(STEP)) | np.uint64(1)


def _sample_of(
    X: Rows, hashes: Keys, keys: Keys, weights: Floats, at: Index, cap: int
) -> Reservoir:
    """Return the sample of the rows X[at], with these hashes, keys and weights, shape (m,) each."""
    distinct, first, inverse = np.unique(hashes[at], return_index=True, return_inverse=True)
    total: Floats = np.bincount(inverse, weights[at]).astype(np.float64)
    own = keys[at[first]]
    ranks = -np.log1p(-((own >> np.uint64(12)) + 0.5) / 2.0**52) / total
    few = np.argsort(ranks, kind="stable")[: 2 * cap]  # twice as many, lest rounding play a part
    rows = tuple([X[at[place]].copy() for place in first[few]])
    return Reservoir.of(distinct[few], own[few], total[few], rows).first(cap)
