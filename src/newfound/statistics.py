"""The sums that hold everything taught: gram, cross, counts and labels; the only truth."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from newfound.gram import Floats, Gram, add_exactly, total_gram
from newfound.labels import Labels, join_labels, positions

Counts = NDArray[np.int64]
Index = NDArray[np.intp]
Rows = NDArray[np.floating]


def with_room(columns: Floats, needed: int) -> Floats:
    """Return `columns`, shape (capacity, width), or a copy at least `needed` long, zeros added.

    The capacity doubles, so that adding a class costs O(width) on average.
    """
    if needed <= len(columns):
        return columns
    grown = np.zeros((max(needed, 2 * len(columns)), columns.shape[1]))
    grown[: len(columns)] = columns
    return grown


class Statistics:
    """Sums over labelled rows: add, remove, merge; order and grouping never matter.

    Every method that changes something first does all that can fail, so that a row is either
    in all the sums or in none.

    Parameters
    ----------
    width : int
        Number of features, d.
    per_class : bool, default=False
        Hold one Gram per class instead of one for all: d^2 numbers a class (while it has at most
        d/2 examples, just these), for exact rebalancing and for forgetting a class.

    Examples
    --------
    >>> sums = Statistics(width=2)
    >>> index, labels = sums.locate(np.array(["mug", "cup", "mug"]))
    >>> sums.add(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), index, labels)
    >>> sums.labels.tolist(), sums.counts.tolist(), sums.cross.tolist()
    (['cup', 'mug'], [1, 2], [[0.0, 2.0], [1.0, 1.0]])
    """

    # labels: the classes, in order of first arrival; their order is the order of all that follows.
    # counts: examples of each class taught and not forgotten.
    # _cross[t] + _dropped[t]: sum of the rows of class t (X'Y, transposed), in twice the precision.
    # grams: one Gram of all rows, or one for each class; always so that their sum is X'X.
    # dtype: float32 if every row ever added was, else float64.

    def __init__(self, width: int, per_class: bool = False) -> None:
        self.width = width
        self.per_class = per_class
        self.labels: Labels = np.array([], dtype=np.str_)
        self.counts = np.zeros(0, dtype=np.int64)
        self.dtype: np.dtype[Any] | None = None
        self.grams: list[Gram] = [] if per_class else [Gram(width, recent_apart=True)]
        self._cross = np.zeros((0, width))
        self._dropped = np.zeros((0, width))
        self._position: dict[Any, int] = {}

    @property
    def n_classes(self) -> int:
        """Number of classes, T."""
        return len(self.counts)

    @property
    def total(self) -> int:
        """Number of examples, n."""
        return int(self.counts.sum())

    @property
    def cross(self) -> Floats:
        """X'Y, shape (d, T); must not be written to."""
        return self._cross[: self.n_classes].T

    @property
    def cross_parts(self) -> tuple[Floats, Floats]:
        """Y'X, shape (T, d), and what rounding dropped from it; must not be written to."""
        return self._cross[: self.n_classes], self._dropped[: self.n_classes]

    @property
    def gram(self) -> Floats:
        """X'X as the lower triangle of a new (d, d) matrix in Fortran order."""
        return total_gram(self.grams, self.width)

    def gram_times(self, vector: Floats) -> Floats:
        """Return X'X times a vector, shape (d,), without folding anything."""
        product = np.zeros(self.width)
        for gram in self.grams:
            product += gram.times(vector)
        return product

    @property
    def nbytes(self) -> int:
        """Bytes of memory held by the sums."""
        arrays = (self.counts, self.labels, self._cross, self._dropped)
        return sum(array.nbytes for array in arrays) + sum(gram.nbytes for gram in self.grams)

    def position(self, label: Any) -> int:
        """Return where a class stands, or raise ValueError if there is none of that name."""
        try:
            return self._position[label]
        except (KeyError, TypeError):
            shown = ", ".join(map(repr, self.labels.tolist()[:10])) or "none"
            more = ", …" if self.n_classes > 10 else ""
            raise ValueError(f"no class {label!r} here; the classes are {shown}{more}") from None

    def locate(self, y: Labels) -> tuple[Index, Labels]:
        """Return the class index of each label in `y`, and all labels once these are known.

        Changes nothing. Labels that are new stand last, sorted.
        """
        distinct, inverse = np.unique(y, return_inverse=True)
        join_labels(self.labels, distinct)  # refuses labels of another type, even equal ones
        fresh = [value not in self._position for value in distinct.tolist()]
        labels = join_labels(self.labels, distinct[fresh])
        place = positions(labels) if any(fresh) else self._position
        index = np.array([place[value] for value in distinct.tolist()], dtype=np.intp)
        return index[inverse.reshape(-1)], labels

    def add(self, X: Rows, index: Index, labels: Labels) -> None:
        """Add rows `X` (m, d) of classes `index` (m,), `labels` being all classes, old and new."""
        new = len(labels) - self.n_classes
        counts = np.pad(self.counts, (0, new)) + np.bincount(index, minlength=len(labels))
        grams = self.grams
        if self.per_class:
            grams = grams + [self._class_gram() for _ in range(new)]
        self._cross = with_room(self._cross, len(counts))
        self._dropped = with_room(self._dropped, len(counts))
        present, sums = self._class_sums(X, index)
        additions = [gram.prepare(rows) for gram, rows in self._split(grams, X, index)]

        for add in additions:
            add()
        self._shift_cross(present, sums)
        self.grams, self.counts = grams, counts
        if new:
            self.labels, self._position = labels, positions(labels)
        if len(X):
            self.dtype = np.result_type(X.dtype, self.dtype or X.dtype)

    def remove(self, X: Rows, index: Index) -> Index:
        """Remove rows `X` (m, d) of classes `index` (m,); return the classes that vanished with it.

        Raises ValueError and changes nothing if there are fewer examples of a class than that, or
        if all rows are still held and one of `X` is not among them.
        """
        self.check_removable(X, index)
        present, sums = self._class_sums(X, index)
        for gram, rows in self._split(self.grams, X, index):
            gram.remove(rows)
        self._shift_cross(present, -sums)
        counts = self.counts - np.bincount(index, minlength=self.n_classes)
        vanished = np.flatnonzero((counts == 0) & (self.counts > 0))
        self.counts = counts
        for place in vanished[::-1]:
            self.drop(int(place))
        if not self.total and not self.per_class:
            self.grams = [Gram(self.width, recent_apart=True)]
        return vanished

    def check_removable(self, X: Rows, index: Index) -> None:
        """Raise ValueError if `remove(X, index)` would; change nothing."""
        counts = self.counts - np.bincount(index, minlength=self.n_classes)
        short = np.flatnonzero(counts < 0)
        if len(short):
            label, held = self.labels.tolist()[short[0]], self.counts[short[0]]
            raise ValueError(
                f"cannot forget {held - counts[short[0]]} examples of {label!r}: "
                f"{held} of them were taught"
            )
        for gram, rows in self._split(self.grams, X, index):
            gram.find(rows)

    def drop(self, place: int) -> None:
        """Take out class number `place`, with its Gram if it has one of its own."""
        keep = np.arange(self.n_classes) != place
        self.labels, self.counts = self.labels[keep], self.counts[keep]
        self._position = positions(self.labels)
        self._cross = np.delete(self._cross, place, axis=0)
        self._dropped = np.delete(self._dropped, place, axis=0)
        if self.per_class:
            self.grams = self.grams[:place] + self.grams[place + 1 :]

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        source = self.position(old)
        label = new.tolist()[0]
        others = np.delete(self.labels, source)
        join_labels(others, new)
        if label == old or label not in self._position:
            before, after = self.labels[:source], self.labels[source + 1 :]
            self.labels = join_labels(join_labels(before, new), after)
            self._position = positions(self.labels)
            return
        target = self.position(label)
        if self.per_class:
            self.grams[target].merge(self.grams[source])
        self._shift_cross(np.array([target]), self._cross[[source]])
        self._shift_cross(np.array([target]), self._dropped[[source]])
        self.counts[target] += self.counts[source]
        self.drop(source)

    def merge(self, other: "Statistics") -> None:
        """Add everything `other` holds; classes are matched by label."""
        if other.width != self.width:
            raise ValueError(
                f"cannot merge: {other.width} features there, {self.width} features here"
            )
        if self.per_class and not other.per_class and other.total:
            raise ValueError(
                "cannot merge: this model holds its sums per class and the other does not; "
                "teach the other with a class_weight, too"
            )
        fresh = [label not in self._position for label in other.labels.tolist()]
        join_labels(self.labels, other.labels)
        nothing, nowhere = np.zeros((0, self.width)), np.zeros(0, dtype=np.intp)
        self.add(nothing, nowhere, join_labels(self.labels, other.labels[fresh]))
        index = np.array([self._position[label] for label in other.labels.tolist()], dtype=np.intp)
        for place, gram in enumerate(other.grams):
            self.grams[index[place] if self.per_class else 0].merge(gram)
        self._shift_cross(index, other._cross[: len(index)].copy())
        self._shift_cross(index, other._dropped[: len(index)].copy())
        self.counts[index] += other.counts.copy()
        if other.dtype is not None:
            self.dtype = np.result_type(other.dtype, self.dtype or other.dtype)

    def restore(
        self,
        labels: Labels,
        counts: Counts,
        cross: Floats,
        dropped: Floats,
        dtype: np.dtype[Any] | None,
    ) -> None:
        """Take over sums that were held before, all but the Grams, which start empty."""
        shape = (len(labels), self.width)
        if counts.shape != shape[:1] or cross.shape != shape or dropped.shape != shape:
            raise ValueError("sums of different shapes do not belong together")
        self.labels, self._position = labels, positions(labels)
        self.counts = counts.astype(np.int64)
        self._cross, self._dropped, self.dtype = cross.copy(), dropped.copy(), dtype
        if self.per_class:
            self.grams = [self._class_gram() for _ in labels]

    def _class_gram(self) -> Gram:
        # Beyond d/2 rows the rows of a class outgrow the triangle of its Gram.
        return Gram(self.width, self.width // 2)

    def _split(self, grams: list[Gram], X: Rows, index: Index) -> list[tuple[Gram, Rows]]:
        """Pair each Gram with the rows of `X` that belong to it."""
        if not self.per_class:
            return [(grams[0], X)]
        return [(grams[place], X[index == place]) for place in np.unique(index)]

    def _class_sums(self, X: Rows, index: Index) -> tuple[Index, Floats]:
        """Return the classes in `index` and, for each, the sum of its rows in float64."""
        if len(X) == 1:
            return index, X.astype(np.float64)
        present, compact = np.unique(index, return_inverse=True)
        members = csr_array(
            (np.ones(len(X)), compact, np.arange(len(X) + 1)), (len(X), len(present))
        )
        return present, members.T @ X

    def _shift_cross(self, places: Index, sums: Floats) -> None:
        total, dropped = self._cross[places], self._dropped[places]
        add_exactly(total, dropped, sums)
        self._cross[places], self._dropped[places] = total, dropped
