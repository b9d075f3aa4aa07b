"""The sums that hold everything taught: gram, cross, counts and labels; the only truth."""

import copy
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.errors import InvalidInputError
from newfound.common.interrupts import uninterrupted
from newfound.sums.blas import CHUNK_ROWS
from newfound.sums.exact import add_exactly, split
from newfound.sums.gram import Gram, total_gram
from newfound.sums.labels import check_same_type, join_labels, positions

# How far, relative to these and to other examples, the sum of examples may miss that of a class
# they all belong to; and relative to the root of the largest sum of squares there ever was, for
# rounding in sums of what was there before is not held against them.
SUM_SLACK, PEAK_SLACK = 1e-6, 1e-9
# Rows at most whose class sums are made without rounding where one Gram is held for all classes:
# beyond, X'X is rounded as well. Where a class's rows are held as they are, it never is.
FEW_ROWS = 64


def with_room(columns: Floats, needed: int) -> Floats:
    """Return `columns`, shape (capacity, width), or a copy at least `needed` long, zeros added.

    The capacity doubles, so that adding a class costs O(width) on average.
    """
    if needed <= len(columns):
        return columns
    grown = np.zeros((max(needed, 2 * len(columns)), columns.shape[1]))
    grown[: len(columns)] = columns
    return grown


class Sums:
    """Sums over labelled rows: add, remove, merge; order and grouping never matter.

    Adding, removing, dropping and renaming first do all that can fail, so that a row is either in
    all the sums or in none. Merging does not: merge into a copy.

    Parameters
    ----------
    width : int
        Number of features, d.
    per_class : bool, default=False
        Hold one Gram per class instead of one for all: d^2 numbers a class (while it has at most
        d/2 examples, just these), for exact rebalancing and for forgetting a class.

    Examples
    --------
    >>> sums = Sums(width=2)
    >>> index, labels = sums.locate(np.array(["mug", "cup", "mug"]))
    >>> sums.add(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), index, labels)
    >>> sums.labels.tolist(), sums.counts.tolist(), sums.cross.tolist()
    (['cup', 'mug'], [1, 2], [[0.0, 2.0], [1.0, 1.0]])
    """

    # labels: the classes, in order of first arrival; their order is the order of all that follows.
    # counts, total: examples of each class taught and not forgotten, and of all.
    # _cross[t] + _dropped[t]: sum of the rows of class t (X'Y, transposed), in twice the precision.
    # grams: one Gram of all rows, or one for each class; always so that their sum is X'X.
    # dtype: float32 if every row ever added was, else float64.
    # _order: labels, the same sorted, and what sorts them; made anew for other labels.
    # _added_up: the sum of the Grams of all classes, and the counts it was made for: these are
    #     replaced, never changed, with every change of the sums. None: not made yet, or one Gram.

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
        self._added_up: tuple[Counts, Floats] | None = None
        self._order: tuple[Labels, tuple[Labels, Index | slice]] | None = None

    @property
    def sorted_classes(self) -> tuple[Labels, Index | slice]:
        """The classes, sorted, shape (T,), and what sorts them; must not be written to."""
        found = self._order
        if found is None or found[0] is not self.labels:  # which is replaced, never changed
            places = np.argsort(self.labels, kind="stable")
            is_sorted = bool((np.diff(places) == 1).all())
            order = slice(None) if is_sorted else places
            self._order = found = (self.labels, (self.labels[places], order))
        return found[1]

    @property
    def order(self) -> Index | slice:
        """What sorts classes: `labels[order]` is sorted."""
        return self.sorted_classes[1]

    @property
    def n_classes(self) -> int:
        """Number of classes, T."""
        return len(self._counts)

    @property
    def counts(self) -> Counts:
        """Examples of each class taught and not forgotten, shape (T,); must not be written to."""
        return self._counts

    @counts.setter
    def counts(self, counts: Counts) -> None:
        self._counts, self.total = counts, int(counts.sum())

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
        if not self.per_class:
            return total_gram(self.grams, self.width)
        added_up = self._added_up
        if added_up is None or added_up[0] is not self._counts:
            added_up = self._counts, total_gram(self.grams, self.width)
            self._added_up = added_up
        return added_up[1].copy(order="F")

    @property
    def rounding(self) -> float:
        """What rounding may have left in X'X when it was larger, at most."""
        return sum(gram.rounding for gram in self.grams)

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (d,)."""
        return sum((gram.squares for gram in self.grams), start=np.zeros(self.width))

    def gram_times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (d,) or (d, k), without flushing anything."""
        product = np.zeros(columns.shape)
        for gram in self.grams:
            product += gram.times(columns)
        return product

    def position(self, label: Any) -> int:
        """Return where a class stands, or raise ValueError if there is none of that name."""
        known = isinstance(label, Hashable) and label in self._position
        if known and isinstance(label, bool | np.bool_) == (self.labels.dtype.kind == "b"):
            return self._position[label]
        shown = ", ".join(map(repr, self.labels.tolist()[:10])) or "none"
        more = ", …" if self.n_classes > 10 else ""
        raise InvalidInputError(f"no class {label!r} here; the classes are {shown}{more}")

    def locate(self, y: Labels) -> tuple[Index, Labels]:
        """Return the class index of each label in `y`, and all labels once these are known.

        Changes nothing. Labels that are new stand last, sorted.
        """
        check_same_type(self.labels, y)  # 1 and True are equal, yet not the same label
        if len(y) == 1 and (place := self._position.get(y[0].item())) is not None:
            return np.array([place], dtype=np.intp), self.labels
        distinct, inverse = np.unique(y, return_inverse=True)
        values = distinct.tolist()
        fresh = [value not in self._position for value in values]
        labels = join_labels(self.labels, distinct[fresh])
        place_of_new = {
            value: place
            for place, value in enumerate(distinct[fresh].tolist(), start=self.n_classes)
        }
        index = [self._position.get(value, place_of_new.get(value, -1)) for value in values]
        return np.array(index, dtype=np.intp)[inverse.reshape(-1)], labels

    def add(self, X: Rows, index: Index, labels: Labels) -> None:
        """Add rows `X` (m, d) of classes `index` (m,), `labels` being all classes, old and new."""
        old, new = self.n_classes, len(labels) - self.n_classes
        counts = np.pad(self.counts, (0, new)) if new else self.counts.copy()
        if len(index) == 1:
            counts[index[0]] += 1
        else:
            counts += np.bincount(index, minlength=len(labels))
        grams = self.grams
        if self.per_class and new:
            grams = grams + [self._class_gram() for _ in range(new)]
        self._cross = with_room(self._cross, len(labels))
        self._dropped = with_room(self._dropped, len(labels))
        exact = self.per_class or len(X) <= FEW_ROWS
        shift = self._prepare_shift(*self._class_terms(X, index, exact))
        additions = [gram.prepare(rows) for gram, rows in self._split(grams, X, index)]

        with uninterrupted():
            for add in additions:
                add()
            shift()
            self.grams, self._counts, self.total = grams, counts, self.total + len(X)
            if new:
                self.labels = labels
                places = range(old, len(labels))
                self._position.update(zip(labels[old:].tolist(), places, strict=True))
            if len(X):
                # Not "!= X.dtype" alone: to numpy, None is another name of float64.
                if self.dtype is None:
                    self.dtype = X.dtype
                elif self.dtype != X.dtype:
                    self.dtype = np.dtype(np.float64)

    def prepare_removal(self, X: Rows, index: Index) -> Callable[[], Index]:
        """Do all of `remove(X, index)` that can fail; return a function that does the rest.

        Raises ValueError if there are fewer examples of a class than that, if a class's examples
        do not add up to its sum though all of them go, or if all rows are still held and one of
        `X` is not among them.
        """
        counts = self.counts - np.bincount(index, minlength=self.n_classes)
        short = np.flatnonzero(counts < 0)
        if len(short):
            label, held = self.labels.tolist()[short[0]], self.counts[short[0]]
            raise InvalidInputError(
                f"cannot forget {held - counts[short[0]]} examples of {label!r}: "
                f"{held} of them were taught"
            )
        present, terms = self._class_terms(X, index, exact=True)
        trace, peak = (sum(getattr(gram, of) for gram in self.grams) for of in ("trace", "peak"))
        slack = SUM_SLACK * (trace / max(1, self.total)) ** 0.5 + PEAK_SLACK * peak**0.5
        for place, total in zip(present, terms.sum(axis=0), strict=True):
            gram = self.grams[place if self.per_class else 0]
            # Where all rows of the class are held that are not zero, or no row is left that is
            # not, it is enough that these are among them, which is seen to below.
            if counts[place] or (not gram.peak and (self.per_class or not trace)):
                continue
            size = np.abs(X[index == place]).sum(axis=0, dtype=np.float64)
            if (abs(self._cross[place] - total) > SUM_SLACK * size + slack).any():
                raise InvalidInputError(
                    f"cannot forget these examples of {self.labels.tolist()[place]!r}: they do "
                    "not add up to what was taught, so the model is left as it was"
                )
        removals = [gram.prepare_removal(rows) for gram, rows in self._split(self.grams, X, index)]
        shift = self._prepare_shift(present, -terms)
        vanished = np.flatnonzero((counts == 0) & (self.counts > 0))

        def remove() -> Index:
            with uninterrupted():
                for take_out in removals:
                    take_out()
                shift()
                self.counts = counts
                self.drop(vanished)
            return vanished

        return remove

    def remove(self, X: Rows, index: Index) -> Index:
        """Remove rows `X` (m, d) of classes `index` (m,); return the classes that vanished."""
        return self.prepare_removal(X, index)()

    def drop(self, places: Index) -> None:
        """Take out classes, each with its Gram if it has one of its own."""
        if not len(places):
            return
        gone = set(places.tolist())
        labels, counts = np.delete(self.labels, places), np.delete(self.counts, places)
        cross, dropped = (np.delete(part, places, axis=0) for part in (self._cross, self._dropped))
        grams = [gram for place, gram in enumerate(self.grams) if place not in gone]
        if not self.per_class:
            grams = self.grams if counts.any() else [Gram(self.width, recent_apart=True)]
        with uninterrupted():
            self.labels, self.counts, self._position = labels, counts, positions(labels)
            self._cross, self._dropped, self.grams = cross, dropped, grams

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        source = self.position(old)
        label = new.tolist()[0]
        join_labels(np.delete(self.labels, source), new)
        if label == old or label not in self._position:
            before, after = self.labels[:source], self.labels[source + 1 :]
            self.labels = join_labels(join_labels(before, new), after)
            self._position = positions(self.labels)
            return
        # On a copy of the target, so that nothing has changed until all has been worked out.
        target, joined = self.position(label), copy.copy(self)
        joined.grams = list(self.grams)
        joined._cross, joined._dropped = self._cross.copy(), self._dropped.copy()
        if self.per_class:
            joined.grams[target] = copy.deepcopy(self.grams[target])
            joined.grams[target].merge(self.grams[source])
        joined._prepare_shift(np.array([target]), np.array(self.cross_parts)[:, [source]])()
        counts = self.counts.copy()
        counts[target] += counts[source]
        joined.counts = counts
        joined.drop(np.array([source]))
        with uninterrupted():
            self.__dict__.update(joined.__dict__)

    def merge(self, other: "Sums") -> None:
        """Add everything `other` holds; classes are matched by label."""
        if other.width != self.width:
            raise InvalidInputError(
                f"cannot merge: {other.width} features there, {self.width} features here"
            )
        if self.per_class and not other.per_class and other.total:
            raise InvalidInputError(
                "cannot merge: this model holds its sums per class and the other does not; "
                "teach the other with a class_weight, too"
            )
        fresh = [label not in self._position for label in other.labels.tolist()]
        check_same_type(self.labels, other.labels)
        nothing, nowhere = np.zeros((0, self.width)), np.zeros(0, dtype=np.intp)
        self.add(nothing, nowhere, join_labels(self.labels, other.labels[fresh]))
        index = np.array([self._position[label] for label in other.labels.tolist()], dtype=np.intp)
        for place, gram in enumerate(other.grams):
            self.grams[index[place] if self.per_class else 0].merge(gram)
        self._prepare_shift(index, np.array(other.cross_parts))()
        counts = self.counts.copy()
        counts[index] += other.counts
        self.counts = counts
        if other.dtype is not None:
            known = other.dtype if self.dtype is None else self.dtype
            self.dtype = np.result_type(other.dtype, known)

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
            raise InvalidInputError("sums of different shapes do not belong together")
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

    def _class_terms(self, X: Rows, index: Index, exact: bool) -> tuple[Index, Floats]:
        """Return the k classes in `index`, and terms (m, k, d) that add up to each one's rows.

        If `exact`, the terms have twice the working precision together. That takes ten times as
        long; otherwise the sum is rounded as X'X of the rows is.
        """
        if len(X) == 1:
            return index, X.astype(np.float64)[None]
        present, compact = np.unique(index, return_inverse=True)
        terms = np.zeros((2, len(present), self.width))
        size = CHUNK_ROWS if exact else len(X)
        for start in range(0, len(X), size):
            rows, of = X[start : start + size], compact[start : start + size]
            n = len(rows)
            members = csr_array((np.ones(n), of, np.arange(n + 1)), (n, len(present)))
            for part in split(rows.astype(np.float64)) if exact else (rows,):
                add_exactly(terms[0], terms[1], members.T @ part)
        return present, terms

    def _prepare_shift(self, places: Index, terms: Floats) -> Callable[[], None]:
        """Return a function that adds `terms` (m, k, d) to the cross of the classes at `places`."""
        # A slice is ten times faster than a list of one.
        where = slice(places[0], places[0] + 1) if len(places) == 1 else places
        total, dropped = self._cross[where].copy(), self._dropped[where].copy()
        for term in terms:
            add_exactly(total, dropped, term)
        if not (self._cross.flags.writeable and self._dropped.flags.writeable):
            self._cross, self._dropped = self._cross.copy(), self._dropped.copy()

        def shift() -> None:
            self._cross[where], self._dropped[where] = total, dropped

        return shift
