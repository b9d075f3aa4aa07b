"""Witnesses: a bounded, fair sample of the rows of each class, all of which are in the sums."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import expm1, inf, log1p
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Index, Labels, Rows

# Odd constants of the mixing function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_BITS = 2**64 - 1
# Numbers whose keys are made at a time: they stay in a cache.
_CHUNK = 2**17
# Share of a weight that is what rounding leaves of it, once all of it is taken away.
ROUNDING = 1e-9


class Witness(NamedTuple):
    """A copy of a row."""

    key: int  # as good as drawn from all whole numbers of 64 bits
    row: NDArray[np.floating]  # shape (d,); never written to
    weight: float  # of the row, or the sum over all rows that came and equal it

    @property
    def rank(self) -> float:
        """When its turn is: an exponential variable, with a rate that is its weight.

        The smallest of many ranks is that of a row drawn by weight, the next that of one drawn
        from the others, and so on.
        """
        return -log1p(-((self.key >> 12) + 0.5) / 2.0**52) / self.weight

    @property
    def order(self) -> tuple[float, int]:
        """What sorts witnesses: their ranks; of two that are equal, their keys."""
        return self.rank, self.key

    def equals(self, other: "Witness") -> bool:
        """Tell whether it is a copy of an equal row."""
        return self.key == other.key and np.array_equal(self.row, other.row)


class Sample(NamedTuple):
    """Of the distinct rows of a class that came, those with the smallest ranks."""

    held: tuple[Witness, ...] = ()  # by rising ranks

    @property
    def rows(self) -> list[NDArray[np.floating]]:
        """Their rows, shape (d,) each; must not be written to."""
        return [witness.row for witness in self.held]

    @property
    def weights(self) -> list[float]:
        """Their weights."""
        return [witness.weight for witness in self.held]

    def votes(self, cap: int) -> list[float]:
        """Return for what weight of examples each stands, if at most `cap` of them were kept.

        That is its weight over how likely one of such a weight is to be kept (Cohen and Kaplan,
        PODC 2007).

        >>> row = np.zeros(1)
        >>> sample = Sample((Witness(2**60, row, 1.0), Witness(2**61, row + 1, 1.0)))
        >>> sample.votes(cap=3), [round(vote, 3) for vote in sample.votes(cap=2)]
        ([1.0, 1.0], [8.0, 8.0])
        """
        last = self.held[-1].rank if len(self.held) >= cap else inf
        return [weight / -expm1(-weight * last) for weight in self.weights]

    def joined(self, other: "Sample", cap: int) -> "Sample":
        """Return the sample of the rows of both: at most `cap`, the same in either order."""
        if not other.held or not self.held:
            return Sample((self.held or other.held)[:cap])
        places = {each.key: place for place, each in enumerate(self.held)}
        both = list(self.held)
        for each in other.held:
            place = places.get(each.key)
            if place is not None and both[place].equals(each):
                both[place] = each._replace(weight=each.weight + both[place].weight)
            else:
                both.append(each)
        return _sorted(both, cap)

    def without(self, row: NDArray[np.floating], weight: float = 1.0) -> "Sample":
        """Return what is left once a row that equals `row` is forgotten, witness or not."""
        for place, each in enumerate(self.held):
            if np.array_equal(each.row, row):
                left = each.weight - weight
                kept = (each._replace(weight=left),) if left > ROUNDING * each.weight else ()
                held = (*self.held[:place], *kept, *self.held[place + 1 :])
                return _sorted(held, len(held))
        return self

    def after(self, coming: Witness, cap: int) -> "Sample":
        """Return the sample once one row has come: what a stream does, so without a detour."""
        held = self.held
        if coming.key not in [each.key for each in held]:
            if len(held) >= cap and coming.rank >= held[cap - 1].rank:
                return Sample(held[:cap])
            coming = coming._replace(row=coming.row.copy())
        return self.joined(Sample((coming,)), cap)


def _sorted(witnesses: Iterable[Witness], cap: int) -> Sample:
    found = sorted(witnesses, key=attrgetter("order"))
    if any(one.key == next.key for one, next in pairwise(found)):  # by chance, of other rows
        found.sort(key=lambda each: (*each.order, each.row.tobytes()))
    return Sample(tuple(found[:cap]))


class Witnesses:
    """Copies of a few learned rows of each class, to ask how the model would do without them.

    Every row has a key that looks drawn, made from its numbers, and with its weight that makes its
    rank. The rows with the smallest ranks stay. So each row of a class is as likely to be among
    them as others of its weight, in whatever order and however cut rows come, and the sample of two
    streams is the sample of their samples. A row that comes again has the same key, and so is no
    second witness: its weight is added to the first, if that was kept. Were one of two equal rows
    left out, the other would still tell what it is.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> witnesses = Witnesses(seed=0)
    >>> witnesses = witnesses.after(np.arange(9.0)[:, None], np.array(["mug"] * 9), cap=2)
    >>> len(witnesses.samples["mug"].rows), witnesses.samples["mug"].weights
    (2, [1.0, 1.0])
    """

    # samples[label]: of every class that has any. Neither it nor a sample is changed in place.

    def __init__(self, seed: int, samples: dict[Any, Sample] | None = None) -> None:
        self.seed = seed
        self.samples = samples or {}

    def stacked(self, labels: Labels, width: int) -> tuple[Rows, Index]:
        """Return all witnesses of these classes, shape (V, width), and the class of each."""
        parts = [self.samples.get(label, Sample()).rows for label in labels.tolist()]
        index = np.repeat(np.arange(len(labels)), [len(part) for part in parts])
        rows = [row for part in parts for row in part]
        return (np.array(rows) if rows else np.zeros((0, width))), index

    def weights(self, labels: Labels) -> Floats:
        """Return the weights of all witnesses of these classes, as `stacked` has them, (V,)."""
        parts = [self.samples.get(label, Sample()).weights for label in labels.tolist()]
        return np.array([weight for part in parts for weight in part], dtype=np.float64)

    def nearest(self, X: Rows, labels: Labels) -> Floats:
        """Return the witness nearest to each row of `X` (m, d), of one of its own `labels` (m, k).

        NaN, where there are none.

        >>> witnesses = Witnesses(seed=0).after(np.array([[0.0], [4.0]]), np.array(["a", "b"]), 9)
        >>> witnesses.nearest(np.array([[3.0], [3.0]]), np.array([["a", "b"], ["a", "a"]]))
        array([[4.],
               [0.]])
        """
        found, least = np.full(X.shape, np.nan), np.full(len(X), np.inf)
        for label in np.unique(labels).tolist():
            rows = self.samples.get(label, Sample()).rows
            if rows:
                held, asked = np.array(rows), (labels == label).any(axis=1)
                # Squared distances, but for what all witnesses share; in their own precision.
                with np.errstate(all="ignore"):
                    products = X[asked].astype(held.dtype) @ held.T
                    far = np.einsum("ij,ij->i", held, held) - 2 * products
                nearer = far.min(axis=1) < least[asked]
                places = np.flatnonzero(asked)[nearer]
                least[places] = far.min(axis=1)[nearer]
                found[places] = held[far.argmin(axis=1)[nearer]]
        return found

    def after(
        self, X: Rows, labels: Labels, cap: int, sample_weight: Floats | None = None
    ) -> "Witnesses":
        """Return the witnesses once rows `X` (m, d) with these labels (m,) have come."""
        samples, keys = dict(self.samples), self._keys(X)
        if len(labels) == 1:
            label, weight = labels.tolist()[0], 1.0 if sample_weight is None else sample_weight[0]
            coming = Witness(int(keys[0]), X[0], float(weight))
            samples[label] = samples.get(label, Sample()).after(coming, cap)
            return Witnesses(self.seed, samples)
        weights = np.ones(len(labels)) if sample_weight is None else sample_weight
        distinct, inverse = np.unique(labels, return_inverse=True)
        order, ends = np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))
        for label, at in zip(distinct.tolist(), np.split(order, ends[:-1]), strict=True):
            fresh = _sample_of(X, keys, weights, at, cap)
            samples[label] = samples.get(label, Sample()).joined(fresh, cap)
        return Witnesses(self.seed, samples)

    def without(self, X: Rows, labels: Labels, sample_weight: Floats | None = None) -> "Witnesses":
        """Return what is left once rows `X` (m, d) with these labels (m,) are forgotten."""
        samples = dict(self.samples)
        weights = np.ones(len(labels)) if sample_weight is None else sample_weight
        for row, label, weight in zip(X, labels.tolist(), weights.tolist(), strict=True):
            samples[label] = samples.get(label, Sample()).without(row, weight)
        return Witnesses(self.seed, samples)

    def only(self, labels: list[Any]) -> "Witnesses":
        """Return those of these classes."""
        here = {label: self.samples[label] for label in labels if label in self.samples}
        return Witnesses(self.seed, here)

    def capped(self, cap: int) -> "Witnesses":
        """Return at most `cap` of each class: a fair sample, as all of them are."""
        if all(len(sample.held) <= cap for sample in self.samples.values()):
            return self
        nothing = Sample()
        samples = {label: each.joined(nothing, cap) for label, each in self.samples.items()}
        return Witnesses(self.seed, samples)

    def renamed(self, old: Any, new: Any, cap: int) -> "Witnesses":
        """Return those there are once class `old` is called `new`, or has become part of it."""
        samples = dict(self.samples)
        sample = samples.pop(old, Sample())
        samples[new] = samples.get(new, Sample()).joined(sample, cap)
        return Witnesses(self.seed, samples)

    def merged(self, other: "Witnesses", cap: int) -> "Witnesses":
        """Return the witnesses of two streams: the same in either order, fair to every row."""
        labels = self.samples | other.samples
        nothing = Sample()
        return Witnesses(
            self.seed,
            {
                label: self.samples.get(label, nothing).joined(
                    other.samples.get(label, nothing), cap
                )
                for label in labels
            },
        )

    def _keys(self, X: Rows) -> NDArray[np.uint64]:
        """Return the keys of rows `X` (m, d), shape (m,): the same for the same numbers."""
        m, d = X.shape
        mixed, size = np.empty(m, dtype=np.uint64), max(1, _CHUNK // max(1, d))
        for start in range(0, m, size):
            # In whatever precision they come; and + 0.0 makes -0.0 equal to 0.0.
            rows = X[start : start + size].astype(np.float64) + 0.0
            bits = rows.view(np.uint64)
            # Numbers such as 0 and 1 differ in their first bits alone, of which a product would
            # make but first bits.
            bits ^= bits >> np.uint64(32)
            bits ^= bits >> np.uint64(16)
            mixed[start : start + size] = bits @ _multipliers(d)
        return _scattered(mixed + np.uint64(self.seed + _STEP & _BITS))


@lru_cache(maxsize=8)
def _multipliers(width: int) -> NDArray[np.uint64]:
    """Return an odd number for each feature, so that each has its own part in a key."""
    return _scattered(np.arange(1, width + 1, dtype=np.uint64) * np.uint64(_STEP)) | np.uint64(1)


def _sample_of(X: Rows, keys: NDArray[np.uint64], weights: Floats, at: Index, cap: int) -> Sample:
    """Return the sample of the rows X[at], with these keys (m,) and weights (m,)."""
    distinct, first, inverse = np.unique(keys[at], return_index=True, return_inverse=True)
    total = np.bincount(inverse, weights[at])
    ranks = -np.log1p(-((distinct >> np.uint64(12)) + 0.5) / 2.0**52) / total
    few = np.argsort(ranks, kind="stable")[: 2 * cap]  # twice as many, lest rounding play a part
    rows = (X[at[place]].copy() for place in first[few])
    parts = zip(distinct[few].tolist(), rows, total[few].tolist(), strict=True)
    return _sorted((Witness(*part) for part in parts), cap)


def _scattered(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers of 64 bits that look drawn, the same for the same values."""
    first, second = np.uint64(_FIRST), np.uint64(_SECOND)
    values = (values ^ (values >> np.uint64(30))) * first
    values = (values ^ (values >> np.uint64(27))) * second
    return values ^ (values >> np.uint64(31))
