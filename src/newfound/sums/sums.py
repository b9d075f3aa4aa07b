"""The sums that hold everything taught."""

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.device import Device, namespace_of, on_host, precision_of
from newfound.common.errors import InputError
from newfound.common.interrupts import uninterrupted
from newfound.common.threads import one_thread
from newfound.sums import origins
from newfound.sums.classes import ClassTable
from newfound.sums.cross import Cross
from newfound.sums.device import rows_by_gram, zeros
from newfound.sums.device_sums import DeviceCross
from newfound.sums.gram import Gram, raw_rows, total_gram
from newfound.sums.labels import as_labels, check_same_type, join_labels, positions
from newfound.sums.removal import check_removal, check_totals, check_weights, counts_without
from newfound.sums.rows import as_rows
from newfound.sums.shifted import ShiftedRows
from newfound.sums.weights import as_weights, counted

# Rows at most whose class sums are made without rounding where one Gram is held for all classes:
# beyond, X'X is rounded as well. Where a class's rows are held as they are, it never is.
FEW_ROWS = 64


class Sums(ClassTable):
    """Sums over labelled rows: add, remove, merge; order and grouping never matter.

    Adding, removing and renaming first do all that can fail, so that a row is either in
    all the sums or in none. Merging does not: merge into a copy.

    Parameters
    ----------
    width : int
        Number of features, d.
    per_class : bool, default=False
        Hold one Gram per class instead of one for all: d^2 numbers a class (while it has at most
        d/2 examples, just these), for exact rebalancing and for forgetting a class.
    device : Device, optional
        Where rows come from and sums live, if that is not the host. Then rows and all sums of
        features are arrays of that device; labels and counts are on the host as ever.
    is_centred : bool, default=False
        Whether rows are seen from an origin near to them: then sums lose no digits to a mean that
        is far from zero. Only what is the same wherever rows are seen from may be derived from
        them, as it is with an intercept.

    Examples
    --------
    >>> sums = Sums(width=2)
    >>> index, labels = sums.locate(np.array(["mug", "cup", "mug"]))
    >>> sums.add(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), index, labels)
    >>> sums.labels.tolist(), sums.counts.tolist(), sums.cross.tolist()
    (['cup', 'mug'], [1, 2], [[0.0, 2.0], [1.0, 1.0]])
    """

    # origin: where rows are seen from, shape (d,), where they live; replaced, never written to. A
    #     value that was taught, in each feature. None: zero. It moves when it is far from the mean.
    # until_judged: how large the squares of rows may be together, which come and go, before it is
    #     judged again whether it is. Less than zero: that is due as soon as one comes.
    # judgements: how often it was.
    # _cross: the sum of the rows of each class (X'Y), in twice the precision.
    # grams: one Gram of all rows, or one for each class; always so that their sum is X'X.
    # has_shrunk: whether rows were taken out since these began, or were read and found sound: what
    #     is left may be rounding.
    # dtype: float32 if every row ever added was, else float64.
    # _added_up: the sum of the Grams of all classes, from when it is first asked for until rows are
    #     taken out; it is not stored. None: not made, or there is but one Gram.

    def __init__(
        self,
        width: int,
        per_class: bool = False,
        device: Device | None = None,
        is_centred: bool = False,
    ) -> None:
        super().__init__()
        self.width = width
        self.per_class = per_class
        self.device = device
        self.is_centred = is_centred
        self.origin: Any = None
        self.until_judged, self.judgements = -1.0, 0
        self.dtype: np.dtype[Any] | None = None
        self.has_shrunk = False
        self.grams: list[Any] = [] if per_class else [self._new_gram()]
        self._cross = _cross_of(np.zeros((0, width)), np.zeros((0, width)), device)
        self._added_up: Gram | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_added_up": None}  # which can be made anew

    @classmethod
    def of(cls, X: Any, y: Any, per_class: bool = False, sample_weight: Any = None) -> "Sums":
        """Return the sums of labelled rows; they need no estimator.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Finite numbers; float32 is kept, all else becomes float64. A sparse matrix becomes
            dense as a whole.
        y : array-like of shape (m,)
            The labels: strings, booleans or whole numbers.
        per_class : bool, default=False
            Hold one Gram per class instead of one for all.
        sample_weight : array-like of shape (m,), optional
            How often each row counts; not negative.

        Returns
        -------
        Sums
            To be added to others, say, those of other machines.

        Raises
        ------
        InputError
            If rows or labels cannot be taught, or there are more of the one than of the other.

        Examples
        --------
        >>> sums = Sums.of([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["mug", "cup", "mug"])
        >>> sums.labels.tolist(), sums.counts.tolist()
        (['cup', 'mug'], [1, 2])
        """
        rows, labels = as_rows(X), as_labels(y)
        if len(rows) != len(labels):
            raise InputError(f"X has {len(rows)} rows, but y has {len(labels)} labels")
        sums = cls(rows.shape[1], per_class)
        rows, labels, sample_weight = counted(rows, labels, as_weights(sample_weight, len(rows)))
        sums.check_new(labels)
        sums.add(rows, *sums.locate(labels), sample_weight)
        return sums

    @property
    def cross(self) -> Floats:
        """X'Y of rows seen from the origin, shape (d, T); must not be written to."""
        return self._cross.totals.T

    @property
    def cross_parts(self) -> tuple[Floats, Floats]:
        """Y'X, shape (T, d), and what rounding left out of it, on the host; only to be read."""
        return self._cross.parts

    @property
    @one_thread
    def gram(self) -> Floats:
        """X'X as the lower triangle of a new (d, d) matrix in Fortran order."""
        return total_gram(self._all_rows(), self.width, self.device)

    @one_thread
    def gram_in(self, workspace: Floats) -> Floats:
        """Overwrite a matrix (d, d) in Fortran order with X'X, in its lower triangle; return it."""
        return total_gram(self._all_rows(), self.width, self.device, workspace)

    def _all_rows(self) -> list[Any]:
        """Return Grams whose sum is X'X, as few as there are at hand."""
        held_apart = self.per_class and self.device is None
        if not held_apart or self.total <= raw_rows(self.width):
            return self.grams
        if self._added_up is None:
            added_up = Gram(self.width, origin=self.origin)
            added_up.restore(total_gram(self.grams, self.width), np.zeros(self.width), 0, 0.0)
            self._added_up = added_up
        return [self._added_up]

    @property
    def trace(self) -> float:
        """Sum of the squares of all features."""
        return float(sum([gram.trace for gram in self.grams]))

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (d,), on the host."""
        return sum([gram.squares for gram in self.grams], start=np.zeros(self.width))

    @one_thread
    def gram_times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (d,) or (d, k), without flushing anything."""
        product = 0.0 * columns
        for gram in self._all_rows():
            product += gram.times(columns)
        return product

    def rows_of(self, label: Any) -> Floats:
        """Return a copy of the rows of a class that are still held as they came, on the host.

        There are none unless sums are held per class and the class has few examples, all of which
        weigh one.

        Examples
        --------
        >>> Sums.of([[1.0, 2.0], [3.0, 4.0]], ["cup", "mug"], per_class=True).rows_of("mug")
        array([[3., 4.]])
        """
        index = self.position(label)
        if self.per_class and self.grams[index].holds_rows and not self.is_weighted:
            rows: Floats = self.grams[index].rows.copy()
            return rows
        return np.zeros((0, self.width))

    @property
    def held_rows(self) -> Floats | None:
        """A copy of all rows, shape (n, d), if they are still held as they came; else None."""
        if self.is_weighted or not all(gram.holds_rows for gram in self.grams):
            return None
        return np.concatenate([gram.rows for gram in self.grams])

    def around(self, X: Rows, weights: Floats | None = None) -> Rows:
        """Return rows `X` (m, d) seen from the origin, times the roots of their weights (m,)."""
        rows: Rows = ShiftedRows(X, self.origin, weights, self.device).part()
        return rows

    def move_origin(self, origin: Floats | None) -> None:
        """See all rows from another origin (d,), which is on the host; None: from zero."""
        there = origin if origin is None or self.device is None else self.device.put(origin)
        zero = zeros((self.width,), self.device)
        before, after = (zero if place is None else place for place in (self.origin, there))
        by, weight_sums, totals = after - before, self.weight_sums, self._cross.totals
        if self.per_class:
            sizes = enumerate(weight_sums.tolist())
            of = [(totals[place, :], size) for place, size in sizes]
        else:
            of = [(namespace_of(totals).sum(totals, axis=0), self.weight_sum)]
        grams = [gram.shifted(there, *sums) for gram, sums in zip(self.grams, of, strict=True)]
        # Rounding is all that is left of the sums of a feature that is the origin in every row.
        varies = sum([gram.squares for gram in grams], start=np.zeros(self.width)) > 0
        cross = self._cross.shifted(by, weight_sums, varies)
        with uninterrupted():
            self.origin, self.grams, self._cross = there, grams, cross
            self._added_up = None

    def add(
        self,
        X: Rows,
        index: Index,
        labels: Labels,
        sample_weight: Floats | None = None,
        *also: Callable[[], object],
    ) -> None:
        """Add rows `X` (m, d) of classes `index` (m,), `labels` being all classes, old and new.

        Each counts as often as its weight (m,) says, which is above zero, if there are weights.
        What else is to change with the sums is done with them as one, last.
        """
        self.prepare(X, index, labels, sample_weight, *also)()

    def prepare(
        self,
        X: Rows,
        index: Index,
        labels: Labels,
        sample_weight: Floats | None = None,
        *also: Callable[[], object],
    ) -> Callable[[], None]:
        """Do all of `add` that can fail; return a function that does the rest, `also` included."""
        number = len(index)
        exact = self.per_class or number <= FEW_ROWS
        present, terms = self._cross.terms(X, index, exact, sample_weight, self.origin)
        squares = origins.squares_of(X, sample_weight, self, terms)
        if number and squares > self.until_judged:
            nearer = origins.judged(self, X, sample_weight)
            become = partial(vars(self).update, vars(nearer))
            return nearer.prepare(X, index, labels, sample_weight, become, *also)
        size = len(labels)
        new = size - len(self._counts)
        counts, grams = self._counts_with(index, size), self.grams
        if new and self.per_class:
            grams = grams + [self._new_gram() for _ in range(new)]
        changes: list[Callable[[], object]] = [self._cross.prepare(present, terms, size)]
        changes += self._prepare_sums(X, index, sample_weight, grams, size)
        dtype = self.dtype
        if X.dtype is not dtype and number:
            dtype = _wider(dtype, precision_of(X))

        def add() -> None:
            with uninterrupted():
                self.grams, self._counts, self.total = grams, counts, self.total + number
                self.until_judged -= squares
                self.dtype = dtype
                if new:
                    self._name(labels)
                for change in changes:
                    change()
                for change in also:
                    change()

        return add

    def _prepare_sums(
        self, X: Rows, index: Index, sample_weight: Floats | None, grams: list[Any], size: int
    ) -> list[Callable[[], object]]:
        """Do all that can fail of adding rows to Grams and weights; return the rest."""
        changes: list[Callable[[], object]] = []
        if self.per_class:
            for place, part, weights in rows_by_gram(X, index, sample_weight, True, self.device):
                changes.append(grams[place].prepare(part, weights))
        else:
            changes.append(grams[0].prepare(X, sample_weight))
        if self._added_up is not None:
            changes.append(self._added_up.prepare(X, sample_weight))
        if sample_weight is not None or self._weight_sums is not None:
            changes.append(self._prepare_weights(index, sample_weight, size))
        return changes

    def announce(self, y: Labels) -> None:
        """Add classes of which there are no examples yet.

        Examples
        --------
        >>> sums = Sums(width=2)
        >>> sums.announce(np.array(["mug", "cup"]))
        >>> sums.labels.tolist(), sums.counts.tolist()
        (['cup', 'mug'], [0, 0])
        """
        self._make_room(self.locate(y)[1])

    def _make_room(self, labels: Labels) -> None:
        """Add classes, so that these are all there are."""
        self.add(zeros((0, self.width), self.device), np.zeros(0, dtype=np.intp), labels)

    def prepare_removal(
        self,
        X: Rows,
        index: Index,
        sample_weight: Floats | None = None,
        *also: Callable[[], object],
    ) -> Callable[[], Index]:
        """Do all that can fail of removing rows; return a function that does the rest.

        That function returns the classes that vanished. What else is to change with the sums is
        done with them as one, last.

        Parameters
        ----------
        X : ndarray of shape (m, d)
        index : ndarray of shape (m,)
            The class of each row.
        sample_weight : ndarray of shape (m,), optional
            The weight that each was added with, above zero.

        Raises
        ------
        NotTaughtError
            If there are fewer examples of a class than that, or they weigh less, if a class's
            examples do not add up to its sum though all of them go, if all rows are still held
            and one of `X` is not among them, or if the sums of a class would be left as those of
            no data.
        """
        counts = counts_without(self, index)
        is_weighted = self._weight_sums is not None or sample_weight is not None
        if is_weighted:
            check_weights(self, index, sample_weight, counts)
        present, terms = self._cross.terms(X, index, True, sample_weight, self.origin)
        rows = self.around(X, sample_weight)
        squares = origins.squares_of(X, sample_weight, self)
        check_totals(self, rows, index, counts, present, on_host(terms).sum(axis=0))
        parts = rows_by_gram(X, index, sample_weight, self.per_class, self.device)
        changes: list[Callable[[], object]] = [
            self.grams[place].prepare_removal(part, weights) for place, part, weights in parts
        ]
        for place, part, weights in parts if self.per_class else ():
            check_removal(self.grams[place], self.around(part, weights))
        changes.append(self._cross.prepare(present, -terms, len(counts)))
        if is_weighted:
            changes.append(self._prepare_weights(index, sample_weight, len(counts), -1.0))
        vanished = np.flatnonzero((counts == 0) & (self._counts > 0))

        def remove() -> Index:
            with uninterrupted():
                for change in changes:
                    change()
                self.counts, self._added_up = counts, None
                self.has_shrunk, self.until_judged = True, self.until_judged - squares
                if len(vanished):
                    self._replace(vanished, counts, self._weight_sums, self._cross, self.grams)
                for change in also:
                    change()
            origins.judge_what_is_left(self)
            return vanished

        return remove

    def remove_classes(self, index: Index) -> None:
        """Take out classes, each with its Gram if it has one of its own."""
        self._replace(index, self.counts, self._weight_sums, self._cross, self.grams)
        origins.judge_what_is_left(self)

    def rename(self, old: Any, new: Labels) -> None:
        """Give class `old` the label in `new`, shape (1,); a class that has it takes `old` in."""
        source = self.position(old)
        label = new.tolist()[0]
        join_labels(np.delete(self.labels, source), new)
        if label == old or label not in self._position:
            self._rename(source, new)
            return
        target, counts, grams = self.position(label), self.counts.copy(), list(self.grams)
        counts[target] += counts[source]
        if self.per_class:
            grams[target] = copy.deepcopy(grams[target])
            grams[target].merge(grams[source])
        weight_sums = self._weight_sums and self._weight_sums.joined(source, target)
        cross = self._cross.joined(source, target)
        self._replace(np.array([source]), counts, weight_sums, cross, grams)

    def check_mergeable(self, other: "Sums") -> None:
        """Raise ValueError if what `other` holds cannot be added."""
        if other.width != self.width:
            raise InputError(
                f"cannot merge: {other.width} features there, {self.width} features here"
            )
        if self.per_class and not other.per_class and other.total:
            raise InputError(
                "cannot merge: this model holds its sums per class and the other does not; "
                "teach the other with a class_weight, too"
            )
        check_same_type(self.labels, other.labels)
        if other.total:
            self._check_beside(np.array([other.weight_sum / other.total, other.light_weight]))

    @one_thread
    def merge(self, other: "Sums") -> None:
        """Add everything `other` holds; classes are matched by label."""
        self.check_mergeable(other)
        fresh = [label not in self._position for label in other.labels.tolist()]
        other = origins.seen_alike(self, other)
        self._make_room(join_labels(self.labels, other.labels[fresh]))
        index = np.array([self._position[label] for label in other.labels.tolist()], dtype=np.intp)
        self._added_up = None
        for there, gram in enumerate(other.grams):
            self.grams[index[there] if self.per_class else 0].merge(gram)
        parts = np.array(other.cross_parts)
        terms = parts if self.device is None else self.device.put(parts)
        self._cross.prepare(index, terms, self.n_classes)()
        if self.is_weighted or other.is_weighted:
            theirs = np.array(other._all_weight_sums().parts)  # noqa: SLF001 - of this class
            self._prepare_terms(index, theirs, self.n_classes)()
        counts = self.counts.copy()
        counts[index] += other.counts
        self.counts = counts
        self.has_shrunk |= other.has_shrunk
        if other.dtype is not None:
            self.dtype = _wider(self.dtype, other.dtype)
        origins.judge(self)

    def __add__(self, other: "Sums") -> "Sums":
        """Return the sums of both, neither of which changes; classes are matched by label.

        Examples
        --------
        >>> morning = Sums.of([[1.0], [2.0]], ["cup", "mug"])
        >>> evening = Sums.of([[4.0]], ["mug"])
        >>> both = morning + evening
        >>> both.labels.tolist(), both.counts.tolist(), both.cross.tolist()
        (['cup', 'mug'], [1, 2], [[1.0, 6.0]])
        """
        if not isinstance(other, Sums):
            return NotImplemented
        both = copy.deepcopy(self)
        both.merge(other)
        return both

    def __radd__(self, other: int) -> "Sums":
        """Let `sum` begin: it starts with 0."""
        return copy.deepcopy(self) if other == 0 else NotImplemented

    def restore(
        self, arrays: Mapping[str, NDArray[Any]], labels: Labels, dtype: np.dtype[Any] | None
    ) -> None:
        """Take over arrays of `to_arrays`, all but those of the Grams, which start empty."""
        self.labels, self._position, self.dtype = labels, positions(labels), dtype
        self.counts = arrays["counts"].astype(np.int64)
        self._cross = _cross_of(arrays["cross"], arrays["cross_residue"], self.device)
        origin = arrays["origin"]
        if origin.any():
            self.origin = origin if self.device is None else self.device.put(origin)
        self.grams = [self._new_gram() for _ in (labels if self.per_class else (None,))]
        if "weight_sums" in arrays:
            inverse = arrays["inverse_weight_sums"]
            totals = np.column_stack([arrays["weight_sums"], inverse])
            residue = np.column_stack([arrays["weight_sums_residue"], np.zeros(len(inverse))])
            self._weight_sums = Cross(totals, residue)

    def _new_gram(self) -> Gram:
        """Return an empty Gram: of one class, or of all."""
        # Beyond d/2 rows the rows of a class outgrow the triangle of its Gram.
        limit = self.width // 2 if self.per_class else None
        apart = self.device is None and not self.per_class
        return Gram(self.width, limit, apart, self.device, self.origin)

    def _replace(
        self, gone: Index, counts: Counts, weight_sums: Cross | None, cross: Any, grams: list[Any]
    ) -> None:
        """Hold these sums, without the classes in `gone`, instead of the present ones."""
        labels, counts = np.delete(self.labels, gone), np.delete(counts, gone)
        cross, position = cross.without(gone), positions(labels)
        weight_sums = (
            weight_sums.without(gone) if weight_sums is not None and counts.any() else None
        )
        if self.per_class:
            kept = np.delete(np.arange(self.n_classes), gone)
            grams = [grams[index] for index in kept]
        elif not counts.any():
            grams = [self._new_gram()]
        with uninterrupted():
            self.labels, self.counts, self._position = labels, counts, position
            self._cross, self.grams, self._added_up = cross, grams, None
            self._weight_sums = weight_sums
            if not self.total:
                self.until_judged = -1.0


def _cross_of(totals: Floats, residue: Floats, device: Device | None) -> Cross | DeviceCross:
    """Return sums by class that have these values, (T, d), which are on the host."""
    if device is not None:
        return DeviceCross(device.put(totals + residue), device)
    return Cross(totals.copy(), residue.copy())


def _wider(known: np.dtype[Any] | None, new: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of rows of both types together: float32 only if both are."""
    # None is asked for first: to numpy, it is another name of float64.
    return new if known is None or known == new else np.dtype(np.float64)
