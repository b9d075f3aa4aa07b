"""A reservoir: a bounded, fair sample of the distinct rows of one class."""

from math import expm1, inf, log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Index

Keys = NDArray[np.uint64]
Row = NDArray[np.floating]

# Share of a weight that is what rounding leaves of it, once all of it is taken away.
ROUNDING = 1e-9


def rank(key: int, weight: float) -> float:
    """Return when the turn of a row is: an exponential variable, with a rate that is its weight.

    The smallest of many ranks is that of a row drawn by weight, the next that of one drawn from
    the others, and so on.

    >>> rank(0, 1.0) < rank(2**63, 1.0), rank(2**63, 2.0) == rank(2**63, 1.0) / 2
    (True, True)
    """
    return -log1p(-((key >> 12) + 0.5) / 2.0**52) / weight


class Reservoir(NamedTuple):
    """Of the distinct rows of a class that came, those with the smallest ranks.

    No array is written to, and every method returns another reservoir.
    """

    hashes: Keys = np.zeros(0, dtype=np.uint64)  # of the numbers of each row, shape (k,)
    keys: Keys = np.zeros(0, dtype=np.uint64)  # the same, as good as drawn, shape (k,)
    weights: Floats = np.zeros(0)  # of each row, or the sum over all rows that came and equal it
    ranks: Floats = np.zeros(0)  # rising, shape (k,)
    rows: tuple[Row, ...] = ()  # shape (d,) each

    @property
    def size(self) -> int:
        """How many rows it holds, k."""
        return len(self.rows)

    @classmethod
    def of(cls, hashes: Keys, keys: Keys, weights: Floats, rows: tuple[Row, ...]) -> "Reservoir":
        """Return one of these rows, no two of which are equal."""
        ranks = [rank(*pair) for pair in zip(keys.tolist(), weights.tolist(), strict=True)]
        return cls(hashes, keys, weights, np.array(ranks, dtype=np.float64), rows).sort()

    def adjusted_weights(self, cap: int) -> Floats:
        """Return for what weight of examples each row stands, if at most `cap` of them were kept.

        That is its weight over how likely one of such a weight is to be kept (Cohen and Kaplan,
        PODC 2007).

        >>> keys, rows = np.array([2**60, 2**61], dtype=np.uint64), tuple(np.eye(2))
        >>> reservoir = Reservoir.of(keys, keys, np.ones(2), rows)
        >>> reservoir.adjusted_weights(cap=3), reservoir.adjusted_weights(cap=2).round(3)
        (array([1., 1.]), array([8., 8.]))
        """
        last = self.ranks[-1] if self.size >= cap else inf
        return np.array([weight / -expm1(-weight * last) for weight in self.weights.tolist()])

    def first(self, cap: int) -> "Reservoir":
        """Return the first `cap` rows: a fair sample, too."""
        return self if self.size <= cap else self.take(np.arange(cap))

    def add(self, row: Row, hashed: int, key: int, weight: float, cap: int) -> "Reservoir":
        """Return the sample once a row has come: what a stream does, so without a detour."""
        is_full = len(self.rows) >= cap and rank(key, weight) >= self.ranks[cap - 1]
        if is_full and not (self.hashes == hashed).any():
            return self.first(cap)
        keys = np.array([hashed, key], dtype=np.uint64)
        coming = Reservoir.of(keys[:1], keys[1:], np.array([weight]), (row.copy(),))
        return self.merge(coming, cap)

    def merge(self, other: "Reservoir", cap: int) -> "Reservoir":
        """Return the sample of the rows of both: at most `cap`, the same in either order."""
        if not other.size or not self.size:
            return (self if self.size else other).first(cap)
        keys, weights = self.keys.copy(), self.weights.copy()
        fresh = np.ones(other.size, dtype=bool)
        for place in np.flatnonzero(np.isin(other.hashes, self.hashes)):
            own = self.find(int(other.hashes[place]), other.rows[place])
            if own >= 0:
                weights[own] += other.weights[place]
                keys[own] = min(keys[own], other.keys[place])  # which seeds may have made differ
                fresh[place] = False
        ours, more = self.reweigh(keys, weights), other.take(np.flatnonzero(fresh))
        pairs = zip(ours[:4], more[:4], strict=True)
        hashes, keys, weights, ranks = [np.concatenate(pair) for pair in pairs]
        both = Reservoir(hashes, keys, weights, ranks, ours.rows + more.rows)
        return both.sort().first(cap)

    def remove(self, row: Row, hashed: int, weight: float) -> "Reservoir":
        """Return what is left once a row that equals `row` is forgotten, held or not."""
        place = self.find(hashed, row)
        if place < 0:
            return self
        weights = self.weights.copy()
        weights[place] -= weight
        if weights[place] > ROUNDING * self.weights[place]:
            return self.reweigh(self.keys, weights).sort()
        return self.take(np.delete(np.arange(self.size), place))

    def find(self, hashed: int, row: Row) -> int:
        """Return where a row is held that equals this one, or -1."""
        places = np.flatnonzero(self.hashes == hashed).tolist()
        return next((at for at in places if np.array_equal(self.rows[at], row)), -1)

    def take(self, places: Index) -> "Reservoir":
        """Return the rows at these places, in their order."""
        rows = tuple([self.rows[place] for place in places.tolist()])
        hashes, keys = self.hashes[places], self.keys[places]
        return Reservoir(hashes, keys, self.weights[places], self.ranks[places], rows)

    def reweigh(self, keys: Keys, weights: Floats) -> "Reservoir":
        """Return the same rows with other keys and weights, not sorted yet."""
        ranks = self.ranks.copy()
        for place in np.flatnonzero((weights != self.weights) | (keys != self.keys)).tolist():
            ranks[place] = rank(int(keys[place]), float(weights[place]))
        return self._replace(keys=keys, weights=weights, ranks=ranks)

    def sort(self) -> "Reservoir":
        """Return the same rows by rising ranks; of two that are equal, by their keys."""
        order: Index = np.lexsort((self.keys, self.ranks))
        keys = self.keys[order]
        if (keys[1:] == keys[:-1]).any():  # by chance, of other rows
            places = sorted(order.tolist(), key=self._order)
            return self.take(np.array(places, dtype=np.intp))
        return self if (order[1:] > order[:-1]).all() else self.take(order)

    def _order(self, place: int) -> tuple[float, int, bytes]:
        row = self.rows[place].astype(np.float64).tobytes()
        return float(self.ranks[place]), int(self.keys[place]), row
