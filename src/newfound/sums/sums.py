"""The sums that hold everything taught."""

import copy
from collections import ChainMap
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.device import Device, on_host, precision_of
from newfound.common.errors import InputError, NotTaughtError
from newfound.common.interrupts import uninterrupted
from newfound.common.threads import one_thread
from newfound.sums.cross import Cross, class_terms
from newfound.sums.device import DeviceCross, DeviceGram, rows_at, weighted
from newfound.sums.gram import Gram, raw_rows, total_gram
from newfound.sums.labels import as_labels, check_same_type, join_labels, positions
from newfound.sums.removal import check_removal
from newfound.sums.rows import as_rows
from newfound.sums.weights import as_weights, counted

# How far, relative to these and to other examples, the sum of examples may miss that of a class
# they all belong to; and relative to the root of the largest sum of squares there ever was, for
# rounding in sums of what was there before is not held against them.
SUM_SLACK, PEAK_SLACK = 1e-6, 1e-9
# Share of the weight that goes below which what is left is lost to rounding.
LOST = 1e-28
# Rows at most whose class sums are made without rounding where one Gram is held for all classes:
# beyond, X'X is rounded as well. Where a class's rows are held as they are, it never is.
FEW_ROWS = 64


class Sums:
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
    # _masses: the sum of the weights of each class, shape (T, 1), in twice the precision, from the
    #     first weight on that is not one. None: every example weighs one.
    # _cross: the sum of the rows of each class (X'Y), in twice the precision.
    # grams: one Gram of all rows, or one for each class; always so that their sum is X'X.
    # dtype: float32 if every row ever added was, else float64.
    # _order: labels, the same sorted, and what sorts them; made anew for other labels.
    # _added_up: the sum of the Grams of all classes, from when it is first asked for until rows are
    #     taken out; it is not stored. None: not made, or there is but one Gram.

    def __init__(self, width: int, per_class: bool = False, device: Device | None = None) -> None:
        self.width = width
        self.per_class = per_class
        self.device = device
        self.labels: Labels = np.array([], dtype=np.str_)
        self.counts = np.zeros(0, dtype=np.int64)
        self.dtype: np.dtype[Any] | None = None
        self.grams: list[Any] = [] if per_class else [self._gram()]
        self._masses: Cross | None = None
        self._cross = self._cross_of(np.zeros((0, width)), np.zeros((0, width)))
        self._position: dict[Any, int] = {}
        self._added_up: Gram | None = None
        self._order: tuple[Labels, tuple[Labels, Index | slice]] | None = None

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
        sums.add(rows, *sums.locate(labels), sample_weight)
        return sums

    @property
    def sorted_classes(self) -> tuple[Labels, Index | slice]:
        """The classes, sorted, shape (T,), and what sorts them; must not be written to."""
        found = self._order
        if found is None or found[0] is not self.labels:  # which is replaced, never changed
            indices = np.argsort(self.labels, kind="stable")
            is_sorted = bool((np.diff(indices) == 1).all())
            order = slice(None) if is_sorted else indices
            self._order = found = (self.labels, (self.labels[indices], order))
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
    def is_weighted(self) -> bool:
        """Whether an example was taught that does not weigh one."""
        return self._masses is not None

    @property
    def masses(self) -> Floats:
        """Sum of the weights of each class's examples, shape (T,); must not be written to."""
        if self._masses is None:
            return self.counts.astype(np.float64)
        masses: Floats = self._masses.totals[:, 0]
        return masses

    @property
    def mass(self) -> float:
        """Sum of the weights of all examples."""
        return float(self.total if self._masses is None else self.masses.sum())

    def mass_without(self, index: Index, sample_weight: Floats | None) -> float:
        """Return what all weigh but examples of these classes, of such weights, to the last digit.

        >>> sums = Sums.of([[1.0], [2.0]], ["a", "a"], sample_weight=[1e20, 3.0])
        >>> sums.mass_without(np.array([0]), np.array([1e20]))
        3.0
        """
        gone = np.bincount(index, sample_weight, minlength=self.n_classes)
        held, rest = self.mass_parts or (self.masses, 0.0)
        return float(((held - gone) + rest).sum())

    @property
    def mass_parts(self) -> tuple[Floats, Floats] | None:
        """The masses, shape (T,), and what rounding left out of them; None: they are the counts."""
        if self._masses is None:
            return None
        return self._masses.totals[:, 0], self._masses.residue[:, 0]

    @property
    def sizes(self) -> Floats:
        """As how many examples each class counts, shape (T,), where it is asked how much is known.

        An example of weight two counts as two, for it is as if it had been taught twice. One that
        weighs less than one is an example all the same.
        """
        return np.maximum(self.masses, self.counts)

    @property
    def size(self) -> int:
        """As how many examples all classes count together."""
        return self.total if self._masses is None else int(self.sizes.sum())

    @property
    def cross(self) -> Floats:
        """X'Y, shape (d, T); must not be written to."""
        cross: Floats = self._cross.totals.T
        return cross

    @property
    def cross_parts(self) -> tuple[Floats, Floats]:
        """Y'X, shape (T, d), and what rounding left out of it, on the host; only to be read."""
        parts: tuple[Floats, Floats] = self._cross.parts
        return parts

    @property
    @one_thread
    def gram(self) -> Floats:
        """X'X as the lower triangle of a new (d, d) matrix in Fortran order."""
        return total_gram(self._all_rows(), self.width, self._room())

    @one_thread
    def gram_in(self, room: Floats) -> Floats:
        """Overwrite a matrix (d, d) in Fortran order with X'X, in its lower triangle; return it."""
        return total_gram(self._all_rows(), self.width, room)

    def _room(self) -> Any:
        """Return room for a matrix (d, d) on the device; on the host, others make it."""
        return None if self.device is None else self.device.zeros(self.width, self.width)

    def _all_rows(self) -> list[Any]:
        """Return Grams whose sum is X'X, as few as there are at hand."""
        held_apart = self.per_class and self.device is None
        if not held_apart or self.total <= raw_rows(self.width):
            return self.grams
        if self._added_up is None:
            added_up = Gram(self.width)
            added_up.restore(total_gram(self.grams, self.width), np.zeros(self.width), 0, 0.0)
            self._added_up = added_up
        return [self._added_up]

    @property
    def rounding(self) -> float:
        """What rounding may have left in X'X when it was larger, at most."""
        return float(sum(gram.rounding for gram in self.grams))

    @property
    def trace(self) -> float:
        """Sum of the squares of all features."""
        return float(sum(gram.trace for gram in self.grams))

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (d,), on the host."""
        return sum((gram.squares for gram in self.grams), start=np.zeros(self.width))

    @one_thread
    def gram_times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (d,) or (d, k), without flushing anything."""
        product = np.zeros(columns.shape) if self.device is None else 0.0 * columns
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

    def position(self, label: Any) -> int:
        """Return where a class stands, or raise ValueError if there is none of that name."""
        known = isinstance(label, Hashable) and label in self._position
        if known and isinstance(label, bool | np.bool_) == (self.labels.dtype.kind == "b"):
            return self._position[label]
        shown = ", ".join(map(repr, self.labels.tolist()[:10])) or "none"
        more = ", …" if self.n_classes > 10 else ""
        raise InputError(f"no class {label!r} here; the classes are {shown}{more}")

    def locate(self, y: Labels) -> tuple[Index, Labels]:
        """Return the class index of each label in `y`, and all labels once these are known.

        Changes nothing. Labels that are new stand last, sorted.
        """
        check_same_type(self.labels, y)  # 1 and True are equal, yet not the same label
        if len(y) == 1 and (known := self._position.get(y[0].item())) is not None:
            return np.array([known], dtype=np.intp), self.labels
        distinct, inverse = np.unique(y, return_inverse=True)
        values = distinct.tolist()
        fresh = [value not in self._position for value in values]
        labels = join_labels(self.labels, distinct[fresh])
        new = enumerate(distinct[fresh].tolist(), start=self.n_classes)
        position = ChainMap({value: index for index, value in new}, self._position)
        index = np.array([position[value] for value in values], dtype=np.intp)
        return index[inverse.reshape(-1)], labels

    @one_thread
    def add(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Add rows `X` (m, d) of classes `index` (m,), `labels` being all classes, old and new.

        Each counts as often as its weight (m,) says, which is above zero, if there are weights.
        """
        old, new = self.n_classes, len(labels) - self.n_classes
        counts = np.pad(self.counts, (0, new)) if new else self.counts.copy()
        if len(index) == 1:
            counts[index[0]] += 1
        else:
            counts += np.bincount(index, minlength=len(labels))
        grams = self.grams
        if self.per_class and new:
            grams = grams + [self._class_gram() for _ in range(new)]
        exact = self.per_class or len(index) <= FEW_ROWS
        terms = self._cross.terms(X, index, exact, sample_weight)
        shift = self._cross.prepare(*terms, len(labels))
        rows = weighted(X, sample_weight, self.device)
        additions = [gram.prepare(some) for gram, some in self._split(grams, rows, index)]
        if self._added_up is not None:
            additions.append(self._added_up.prepare(rows))
        masses, weigh = self._prepare_masses(index, sample_weight, len(labels))

        with uninterrupted():
            for change in (*additions, shift, weigh):
                change()
            self._masses = masses
            self.grams, self._counts, self.total = grams, counts, self.total + len(index)
            if new:
                self.labels = labels
                arrived = zip(labels[old:].tolist(), range(old, len(labels)), strict=True)
                self._position.update(arrived)
            if len(index):
                self.dtype = _wider(self.dtype, precision_of(X))

    def _prepare_masses(
        self, index: Index, sample_weight: Floats | None, size: int, sign: float = 1.0
    ) -> tuple[Cross | None, Callable[[], None]]:
        """Make room for the masses of `size` classes; return them, and what adds weights to them.

        As long as all examples weigh one, there are none.
        """
        masses = self._masses
        if masses is None:
            if sample_weight is None:
                return None, _nothing
            masses = self._counts_as_masses()
        given = np.ones(len(index)) if sample_weight is None else sample_weight
        present, terms = class_terms(given[:, None], index, exact=True)
        return masses, masses.prepare(present, sign * terms, size)

    def _counts_as_masses(self) -> Cross:
        """Return what classes weigh of which every example weighs one."""
        return Cross(self.masses[:, None], np.zeros((self.n_classes, 1)))

    def announce(self, y: Labels) -> None:
        """Make room for classes of which there are no examples yet.

        Examples
        --------
        >>> sums = Sums(width=2)
        >>> sums.announce(np.array(["mug", "cup"]))
        >>> sums.labels.tolist(), sums.counts.tolist()
        (['cup', 'mug'], [0, 0])
        """
        _, labels = self.locate(y)
        self.add(np.zeros((0, self.width)), np.zeros(0, dtype=np.intp), labels)

    @one_thread
    def prepare_removal(
        self, X: Rows, index: Index, sample_weight: Floats | None = None
    ) -> Callable[[], Index]:
        """Do all that can fail of removing rows; return a function that does the rest.

        That function returns the classes that vanished.

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
        counts = self._counts_without(index)
        self._check_masses(index, sample_weight, counts)
        present, terms = self._cross.terms(X, index, exact=True, sample_weight=sample_weight)
        rows = weighted(X, sample_weight, self.device)
        self._check_totals(rows, index, counts, present, on_host(terms).sum(axis=0))
        pairs = self._split(self.grams, rows, index)
        removals = [gram.prepare_removal(rows) for gram, rows in pairs]
        for gram, rows in pairs if self.per_class else ():
            check_removal(gram, rows)
        shift = self._cross.prepare(present, -terms, self.n_classes)
        masses, weigh = self._prepare_masses(index, sample_weight, self.n_classes, -1.0)
        vanished = np.flatnonzero((counts == 0) & (self.counts > 0))

        def remove() -> Index:
            with uninterrupted():
                for change in (*removals, shift, weigh):
                    change()
                self.counts, self._added_up, self._masses = counts, None, masses
                self.remove_classes(vanished)
            return vanished

        return remove

    def remove_classes(self, index: Index) -> None:
        """Take out classes, each with its Gram if it has one of its own."""
        if len(index):
            self._replace(index, self.counts, self._masses, self._cross, self.grams)

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
        target, counts, grams = self.position(label), self.counts.copy(), list(self.grams)
        counts[target] += counts[source]
        if self.per_class:
            grams[target] = copy.deepcopy(grams[target])
            grams[target].merge(grams[source])
        masses = None if self._masses is None else self._masses.joined(source, target)
        cross = self._cross.joined(source, target)
        self._replace(np.array([source]), counts, masses, cross, grams)

    @one_thread
    def merge(self, other: "Sums") -> None:
        """Add everything `other` holds; classes are matched by label."""
        if other.width != self.width:
            raise InputError(
                f"cannot merge: {other.width} features there, {self.width} features here"
            )
        if self.per_class and not other.per_class and other.total:
            raise InputError(
                "cannot merge: this model holds its sums per class and the other does not; "
                "teach the other with a class_weight, too"
            )
        fresh = [label not in self._position for label in other.labels.tolist()]
        check_same_type(self.labels, other.labels)
        nothing, nowhere = np.zeros((0, self.width)), np.zeros(0, dtype=np.intp)
        if self.device is not None:
            nothing = self.device.put(nothing)
        self.add(nothing, nowhere, join_labels(self.labels, other.labels[fresh]))
        index = np.array([self._position[label] for label in other.labels.tolist()], dtype=np.intp)
        self._added_up = None
        for there, gram in enumerate(other.grams):
            self.grams[index[there] if self.per_class else 0].merge(gram)
        parts = np.array(other.cross_parts)
        terms = parts if self.device is None else self.device.put(parts)
        self._cross.prepare(index, terms, self.n_classes)()
        if self.is_weighted or other.is_weighted:
            masses = self._masses or self._counts_as_masses()
            theirs = np.array(other.mass_parts or [other.masses])
            masses.prepare(index, theirs[:, :, None], self.n_classes)()
            self._masses = masses
        counts = self.counts.copy()
        counts[index] += other.counts
        self.counts = counts
        if other.dtype is not None:
            self.dtype = _wider(self.dtype, other.dtype)

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
        self,
        labels: Labels,
        counts: Counts,
        cross: Floats,
        residue: Floats,
        dtype: np.dtype[Any] | None,
        masses: tuple[Floats, Floats] | None = None,
    ) -> None:
        """Take over sums that were held before, all but the Grams, which start empty.

        Of masses, None, or what `mass_parts` returned.
        """
        shape = (len(labels), self.width)
        if counts.shape != shape[:1] or cross.shape != shape or residue.shape != shape:
            raise InputError("sums of different shapes do not belong together")
        self.labels, self._position = labels, positions(labels)
        self.counts = counts.astype(np.int64)
        self._cross, self.dtype = self._cross_of(cross, residue), dtype
        self._masses = None if masses is None else Cross(*(part[:, None] for part in masses))
        if self.per_class:
            self.grams = [self._class_gram() for _ in labels]

    def _gram(self) -> Any:
        """Return an empty Gram for rows of all classes."""
        if self.device is not None:
            return DeviceGram(self.width, self.device)
        return Gram(self.width, recent_apart=True)

    def _class_gram(self) -> Any:
        # Beyond d/2 rows the rows of a class outgrow the triangle of its Gram.
        limit = self.width // 2
        if self.device is not None:
            return DeviceGram(self.width, self.device, limit)
        return Gram(self.width, limit)

    def _cross_of(self, totals: Floats, residue: Floats) -> Any:
        """Return sums by class that have these values, (T, d), which are on the host."""
        if self.device is not None:
            return DeviceCross(self.device.put(totals + residue), self.device)
        return Cross(totals.copy(), residue.copy())

    def _split(self, grams: list[Any], X: Rows, index: Index) -> list[tuple[Any, Rows]]:
        """Pair each Gram with the rows of `X` that belong to it."""
        if not self.per_class:
            return [(grams[0], X)]
        present = [(each, np.flatnonzero(index == each)) for each in np.unique(index)]
        return [(grams[each], rows_at(X, where, self.device)) for each, where in present]

    def _counts_without(self, index: Index) -> Counts:
        """Return the counts once examples of these classes are gone, or raise NotTaughtError."""
        counts = self.counts - np.bincount(index, minlength=self.n_classes)
        short = np.flatnonzero(counts < 0)
        if len(short):
            label, held = self.labels.tolist()[short[0]], self.counts[short[0]]
            raise NotTaughtError(
                f"cannot forget {held - counts[short[0]]} examples of {label!r}: "
                f"{held} of them were taught"
            )
        return counts

    def _check_masses(self, index: Index, sample_weight: Floats | None, counts: Counts) -> None:
        """Raise NotTaughtError if the examples of a class do not weigh so much, or weigh more."""
        if sample_weight is None and not self.is_weighted:
            return
        gone = np.bincount(index, sample_weight, minlength=self.n_classes)
        held, rest = self.mass_parts or (self.masses, 0.0)
        left, slack = (held - gone) + rest, SUM_SLACK * gone
        # Beside what goes, even sums in twice the precision have lost what is smaller than this.
        wrong = np.where(counts > 0, left <= LOST * gone, abs(left) > slack) & (gone > 0)
        if wrong.any():
            each = int(np.flatnonzero(wrong)[0])
            raise NotTaughtError(
                f"cannot forget examples of {self.labels.tolist()[each]!r} that weigh "
                f"{gone[each]:g}: all of that class weigh {held[each]:g}. Give the weights that "
                "they were taught with; or, if these are, what would be left weighs too little "
                "beside them to be told from rounding"
            )

    def _check_totals(
        self, X: Rows, index: Index, counts: Counts, present: Index, totals: Floats
    ) -> None:
        """Raise NotTaughtError if a class loses all its examples, and they miss its sum."""
        trace, peak = self.trace, sum(gram.peak for gram in self.grams)
        slack = SUM_SLACK * (trace / max(1, self.total)) ** 0.5 + PEAK_SLACK * peak**0.5
        for each, total in zip(present, totals, strict=True):
            gram = self.grams[each if self.per_class else 0]
            # Where all rows of the class are held that are not zero, or no row is left that is
            # not, it is enough that these are among them, which their Gram sees to.
            if counts[each] or (not gram.peak and (self.per_class or not trace)):
                continue
            rows = on_host(rows_at(X, np.flatnonzero(index == each), self.device))
            size, held = np.abs(rows).sum(axis=0, dtype=np.float64), self._cross.totals[each, :]
            if (abs(on_host(held) - total) > SUM_SLACK * size + slack).any():
                raise NotTaughtError(
                    f"cannot forget these examples of {self.labels.tolist()[each]!r}: they do "
                    "not add up to what was taught, so the model is left as it was"
                )

    def _replace(
        self, gone: Index, counts: Counts, masses: Cross | None, cross: Any, grams: list[Any]
    ) -> None:
        """Hold these sums, without the classes in `gone`, instead of the present ones."""
        labels, counts = np.delete(self.labels, gone), np.delete(counts, gone)
        cross, position = cross.without(gone), positions(labels)
        masses = masses.without(gone) if masses is not None and counts.any() else None
        if self.per_class:
            kept = np.delete(np.arange(self.n_classes), gone)
            grams = [grams[index] for index in kept]
        elif not counts.any():
            grams = [self._gram()]
        with uninterrupted():
            self.labels, self.counts, self._position = labels, counts, position
            self._cross, self.grams, self._added_up = cross, grams, None
            self._masses = masses


def _nothing() -> None:
    pass


def _wider(known: np.dtype[Any] | None, new: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type of rows of both types together: float32 only if both are."""
    # None is asked for first: to numpy, it is another name of float64.
    return new if known is None or known == new else np.dtype(np.float64)
