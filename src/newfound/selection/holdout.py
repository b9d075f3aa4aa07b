"""Examples held out of the stream for validation: every i-th of a class, boundedly many."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Index, Labels, Rows

# The rows held of one class, oldest slot first; replaced as a whole, never changed in place.
Held = list[NDArray[np.floating]]


class Plan(NamedTuple):
    """What becomes of rows that have come; those held out are so only after `commit`."""

    learned: Rows  # rows to learn now: new ones, and such as lost their place to a new one
    source: Index  # for each, the new row it is or lost its place to: both are of one class
    commit: Callable[[], None]


class HeldBack:
    """A bounded sample of each class's rows, kept out of the sums.

    Of each class every i-th row shown is offered a place, so the first are always learned. While
    there is room it is held; then it takes the place of another with the probability that makes
    every row offered so far equally likely to be held (reservoir sampling). Whatever loses is
    learned: no example is thrown away.

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> held = HeldBack(seed=0)
    >>> plan = held.plan(np.arange(7.0)[:, None], ["mug"] * 7, every=3, cap=9)
    >>> plan.commit()
    >>> plan.learned.ravel(), held.stacked(np.array(["mug"]), width=1)[0].ravel()
    (array([0., 1., 3., 4., 6.]), array([2., 5.]))
    """

    # rows[label]: those held now; every class that has any is a key.
    # shown[label], offered[label]: how many rows came, and how many of them were offered a place.

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rows: dict[Any, Held] = {}
        self.shown: dict[Any, int] = {}
        self.offered: dict[Any, int] = {}

    @property
    def labels(self) -> list[Any]:
        """All classes of which anything is kept."""
        return list({**self.rows, **self.shown, **self.offered})

    def count(self, label: Any) -> int:
        """Return how many rows of a class are held."""
        return len(self.rows.get(label, ()))

    def counts(self, labels: Labels) -> NDArray[np.int64]:
        """Return how many rows of each class are held, shape (T,)."""
        return np.array([self.count(label) for label in labels.tolist()], dtype=np.int64)

    def stacked(self, labels: Labels, width: int) -> tuple[Rows, Index]:
        """Return all rows held, shape (V, width), and the place of each one's class in `labels`."""
        parts = [self.rows.get(label, []) for label in labels.tolist()]
        index = np.repeat(np.arange(len(labels)), [len(part) for part in parts])
        rows = [row for part in parts for row in part]
        return (np.array(rows) if rows else np.zeros((0, width))), index

    def plan(self, X: Rows, labels: list[Any], every: int, cap: int) -> Plan:
        """Decide about rows `X` (m, d) with these labels; nothing changes before `commit`."""
        rows: dict[Any, Held] = {}
        shown: dict[Any, int] = {}
        offered: dict[Any, int] = {}
        learned: list[int] = []
        displaced: Held = []
        by: list[int] = []
        for place, label in enumerate(labels):
            shown[label] = shown.get(label, self.shown.get(label, 0)) + 1
            if shown[label] % every or not cap:
                learned.append(place)
                continue
            offered[label] = offered.get(label, self.offered.get(label, 0)) + 1
            held = rows.setdefault(label, list(self.rows.get(label, ())))
            slot = len(held) if len(held) < cap else self._draw(offered[label])
            if slot >= cap:
                learned.append(place)
            elif slot == len(held):
                held.append(X[place].copy())
            else:
                displaced.append(held[slot])
                by.append(place)
                held[slot] = X[place].copy()

        def commit() -> None:
            self.rows.update(rows)
            self.shown.update(shown)
            self.offered.update(offered)

        rest = X if len(learned) == len(X) else X[learned]
        source = np.array(learned + by, dtype=np.intp)
        return Plan(np.vstack([rest, *displaced]) if displaced else rest, source, commit)

    def plan_removal(self, X: Rows, labels: list[Any]) -> tuple[NDArray[np.bool_], "HeldBack"]:
        """Return which rows of `X` are held out, and what is left without any of `X`."""
        left = self.copy()
        found = np.zeros(len(X), dtype=bool)
        for place, (row, label) in enumerate(zip(X, labels, strict=True)):
            held = left.rows.get(label, [])
            same = [i for i, other in enumerate(held) if np.array_equal(other, row)]
            if same:
                left.rows[label] = held[: same[-1]] + held[same[-1] + 1 :]
                left.offered[label] = left.offered.get(label, 1) - 1
            found[place] = bool(same)
            left.shown[label] = max(0, left.shown.get(label, 0) - 1)
        return found, left

    def trimmed(self, cap: int) -> tuple["HeldBack", Held, list[Any]]:
        """Return a fair sample of at most `cap` rows a class, and the others with their labels."""
        kept = self.copy()
        others: Held = []
        labels: list[Any] = []
        for label, rows in self.rows.items():
            if len(rows) > cap:
                rng = np.random.default_rng((self.seed, len(rows)))
                stays = np.isin(np.arange(len(rows)), rng.permutation(len(rows))[:cap])
                kept.rows[label] = [
                    row for row, is_kept in zip(rows, stays, strict=True) if is_kept
                ]
                others += [row for row, is_kept in zip(rows, stays, strict=True) if not is_kept]
                labels += [label] * (len(rows) - cap)
        return kept, others, labels

    def without(self, label: Any) -> tuple[Held, "HeldBack"]:
        """Return the rows held of a class, and what is left without it."""
        left = self.copy()
        for part in (left.shown, left.offered):
            part.pop(label, None)
        return left.rows.pop(label, []), left

    def only(self, labels: set[Any]) -> "HeldBack":
        """Return what is kept of these classes."""
        left = HeldBack(self.seed)
        left.rows = {label: rows for label, rows in self.rows.items() if label in labels}
        left.shown = {label: n for label, n in self.shown.items() if label in labels}
        left.offered = {label: n for label, n in self.offered.items() if label in labels}
        return left

    def renamed(self, old: Any, new: Any) -> "HeldBack":
        """Return a copy in which class `old` is called `new`, or has become part of it."""
        rows, left = self.without(old)
        if rows:
            left.rows[new] = left.rows.get(new, []) + rows
        left.shown[new] = left.shown.get(new, 0) + self.shown.get(old, 0)
        left.offered[new] = left.offered.get(new, 0) + self.offered.get(old, 0)
        return left

    def merged(self, other: "HeldBack") -> "HeldBack":
        """Return the union; there may be more than may be held."""
        union = self.copy()
        for label in other.labels:
            union.rows[label] = union.rows.get(label, []) + other.rows.get(label, [])
            union.shown[label] = union.shown.get(label, 0) + other.shown.get(label, 0)
            union.offered[label] = union.offered.get(label, 0) + other.offered.get(label, 0)
        return union

    def copy(self) -> "HeldBack":
        """Return a copy; the rows themselves are shared, for they never change."""
        other = HeldBack(self.seed)
        other.rows = {label: list(rows) for label, rows in self.rows.items()}
        other.shown, other.offered = dict(self.shown), dict(self.offered)
        return other

    def _draw(self, offered: int) -> int:
        """Return a place from 0 to `offered` - 1, the same whenever the seed is."""
        return int(np.random.default_rng((self.seed, offered)).integers(offered))
