"""Witnesses: a bounded, fair sample of the rows of each class, all of which are in the sums."""

from bisect import bisect
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Index, Labels, Rows

# Odd constants of the mixing function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_BITS = 2**64 - 1


class Sample(NamedTuple):
    """Of the rows of a class that came, those with the smallest keys."""

    keys: tuple[int, ...] = ()  # rising; each as good as drawn from all whole numbers of 64 bits
    rows: tuple[NDArray[np.floating], ...] = ()  # shape (d,) each; never written to
    seen: int = 0  # rows of the class that came and were not forgotten

    def joined(self, other: "Sample", cap: int) -> "Sample":
        """Return the sample of the rows of both: at most `cap`, the same in either order."""
        pairs = [*zip(self.keys, self.rows, strict=True), *zip(other.keys, other.rows, strict=True)]
        pairs.sort(key=lambda pair: (pair[0], pair[1].tobytes()))
        keys, rows = zip(*pairs[:cap], strict=True) if pairs else ((), ())
        return Sample(keys, rows, self.seen + other.seen)

    def without(self, row: NDArray[np.floating]) -> "Sample":
        """Return what is left once a row that equals `row` is forgotten, witness or not."""
        left = self._replace(seen=max(0, self.seen - 1))
        for i, held in enumerate(self.rows):
            if np.array_equal(held, row):
                keys, rows = self.keys, self.rows
                return left._replace(keys=keys[:i] + keys[i + 1 :], rows=rows[:i] + rows[i + 1 :])
        return left


class Witnesses:
    """Copies of a few learned rows of each class, to ask how the model would do without them.

    Every row that comes gets a key that nobody can foresee, made from its numbers and its turn.
    The rows with the smallest keys stay. So each row of a class is equally likely to be among
    them, and the sample of two streams is the sample of their samples.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> witnesses = Witnesses(seed=0)
    >>> witnesses = witnesses.after(np.arange(9.0)[:, None], np.array(["mug"] * 9), cap=2)
    >>> len(witnesses.samples["mug"].rows), witnesses.samples["mug"].seen
    (2, 9)
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

    def after(self, X: Rows, labels: Labels, cap: int) -> "Witnesses":
        """Return the witnesses once rows `X` (m, d) with these labels (m,) have come."""
        samples = dict(self.samples)
        if len(labels) == 1:
            places = {labels.tolist()[0]: np.zeros(1, dtype=np.intp)}
        else:
            distinct, inverse = np.unique(labels, return_inverse=True)
            order, ends = np.argsort(inverse, kind="stable"), np.cumsum(np.bincount(inverse))
            parts = np.split(order, ends[:-1])
            places = dict(zip(distinct.tolist(), parts, strict=True))
        for label, at in places.items():
            held = samples.get(label, Sample())
            keys = self._keys(X[at], held.seen)
            samples[label] = _with(held, keys, X, at, cap)
        return Witnesses(self.seed, samples)

    @classmethod
    def apart(
        cls, seed: int, X: Rows, labels: Labels, cap: int, before: Mapping[Any, int]
    ) -> "Witnesses":
        """Return the witnesses of rows that are learned apart from those before them.

        Merged into the witnesses of `before[label]` rows of each class, they are what these would
        have been after the rows: keys go by a row's turn, wherever it is learned.

        >>> rows, labels = np.arange(9.0)[:, None], np.array(["mug"] * 9)
        >>> whole = Witnesses(0).after(rows, labels, cap=2)
        >>> late = Witnesses.apart(0, rows[5:], labels[5:], 2, {"mug": 5})
        >>> parts = Witnesses(0).after(rows[:5], labels[:5], cap=2).merged(late, cap=2)
        >>> parts.samples["mug"] == whole.samples["mug"]
        True
        """
        turns = {label: Sample(seen=before.get(label, 0)) for label in set(labels.tolist())}
        late = cls(seed, turns).after(X, labels, cap)
        for label, sample in late.samples.items():
            late.samples[label] = sample._replace(seen=sample.seen - turns[label].seen)
        return late

    def without(self, X: Rows, labels: Labels) -> "Witnesses":
        """Return what is left once rows `X` (m, d) with these labels (m,) are forgotten."""
        samples = dict(self.samples)
        for row, label in zip(X, labels.tolist(), strict=True):
            samples[label] = samples.get(label, Sample()).without(row)
        return Witnesses(self.seed, samples)

    def only(self, labels: list[Any]) -> "Witnesses":
        """Return those of these classes."""
        here = {label: self.samples[label] for label in labels if label in self.samples}
        return Witnesses(self.seed, here)

    def capped(self, cap: int) -> "Witnesses":
        """Return at most `cap` of each class: a fair sample, as all of them are."""
        if all(len(sample.rows) <= cap for sample in self.samples.values()):
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

    def _keys(self, rows: Rows, turn: int) -> list[int]:
        """Return a key for each of the rows (m, d) of a class, the first of which is its `turn`."""
        # The same for the same numbers, in whatever precision they come.
        bits = np.ascontiguousarray(rows, dtype=np.float64).view(np.uint64)
        mixed = (bits * (2 * np.arange(bits.shape[1], dtype=np.uint64) + 1)).sum(axis=1).tolist()
        return [
            _scattered(_scattered(bits + self.seed) + i * _STEP)
            for i, bits in enumerate(mixed, turn + 1)
        ]


def _with(held: Sample, keys: list[int], X: Rows, at: Index, cap: int) -> Sample:
    """Return a sample once rows X[at] with these keys have come."""
    seen = held.seen + len(keys)
    if len(keys) == 1:  # what a stream does with every row, so without a detour
        if len(held.keys) >= cap and keys[0] >= held.keys[cap - 1]:
            return Sample(held.keys[:cap], held.rows[:cap], seen)
        place, row = bisect(held.keys, keys[0]), X[at[0]].copy()
        kept = (*held.keys[:place], keys[0], *held.keys[place:])
        rows = (*held.rows[:place], row, *held.rows[place:])
        return Sample(kept[:cap], rows[:cap], seen)
    smallest = sorted(range(len(keys)), key=keys.__getitem__)[:cap]
    fresh = Sample(tuple(keys[i] for i in smallest), tuple(X[at[i]].copy() for i in smallest))
    return held.joined(fresh, cap)._replace(seen=seen)


def _scattered(value: int) -> int:
    """Return a number of 64 bits that looks drawn, the same for the same value."""
    value &= _BITS
    value = (value ^ (value >> 30)) * _FIRST & _BITS
    value = (value ^ (value >> 27)) * _SECOND & _BITS
    return value ^ (value >> 31)
