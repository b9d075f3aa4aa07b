"""What is known of classes beside their features: labels, counts, and what examples weigh."""

from collections import ChainMap
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels
from newfound.common.errors import InputError
from newfound.sums.cross import Cross, class_terms
from newfound.sums.labels import check_same_type, join_labels, positions
from newfound.sums.names import check_names
from newfound.sums.weights import check_together

# What a sum of one over weights is at least, where rounding left less.
TINY = 1e-300


class ClassTable:
    """Classes in order of first arrival: where each stands, and how much there is of it.

    Examples
    --------
    >>> table = ClassTable()
    >>> index, labels = table.locate(np.array(["mug", "cup", "mug"]))
    >>> index.tolist(), labels.tolist(), table.n_classes
    ([1, 0, 1], ['cup', 'mug'], 0)
    """

    # labels: the classes; their order is the order of all that follows. It is replaced, never
    #     changed.
    # counts, total: examples of each class taught and not forgotten, and of all.
    # _weight_sums: the sum of the weights of each class and that of one over each, shape (T, 2), in
    #     twice the precision, from the first weight on that is not one. None: all weigh one.
    # _position: where each label stands, by its plain Python value.
    # _order: labels, and what `sorted_classes` is of them; made anew for other labels.

    def __init__(self) -> None:
        self.labels: Labels = np.array([], dtype=np.str_)
        self.counts = np.zeros(0, dtype=np.int64)
        self._weight_sums: Cross | None = None
        self._position: dict[Any, int] = {}
        self._order: tuple[Labels, tuple[Labels, Index | slice]] | None = None

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
    def sorted_classes(self) -> tuple[Labels, Index | slice]:
        """The classes, sorted, shape (T,), and what sorts them; must not be written to."""
        known = self._order
        if known is None or known[0] is not self.labels:
            indices = np.argsort(self.labels, kind="stable")
            is_sorted = bool((np.diff(indices) == 1).all())
            order = slice(None) if is_sorted else indices
            self._order = known = (self.labels, (self.labels[indices], order))
        return known[1]

    @property
    def order(self) -> Index | slice:
        """What sorts classes: `labels[order]` is sorted."""
        return self.sorted_classes[1]

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

    def check_new(self, y: Labels) -> None:
        """Raise ValueError if one of the labels in `y` is new, and cannot become a label."""
        check_names(label for label in dict.fromkeys(y.tolist()) if label not in self._position)

    def _counts_with(self, index: Index, size: int) -> Counts:
        """Return the counts of `size` classes once rows of classes `index` (m,) have come."""
        counts = np.zeros(size, dtype=np.int64)
        counts[: len(self._counts)] = self._counts
        if len(index) == 1:
            counts[index[0]] += 1
        else:
            counts += np.bincount(index, minlength=size)
        return counts

    def _name(self, labels: Labels) -> None:
        """Know these classes, the last of which are new."""
        old, size = len(self.labels), len(labels)
        self.labels = labels
        self._position.update(zip(labels[old:].tolist(), range(old, size), strict=True))

    def _rename(self, source: int, new: Labels) -> None:
        """Give the class at `source` the label in `new`, shape (1,), which no other has."""
        before, after = self.labels[:source], self.labels[source + 1 :]
        self.labels = join_labels(join_labels(before, new), after)
        self._position = positions(self.labels)

    @property
    def is_weighted(self) -> bool:
        """Whether an example was taught that does not weigh one."""
        return self._weight_sums is not None

    @property
    def weight_sums(self) -> Floats:
        """Sum of the weights of each class's examples, shape (T,); must not be written to."""
        if self._weight_sums is None:
            return self._counts.astype(np.float64)
        weight_sums: Floats = self._weight_sums.totals[:, 0]
        return weight_sums

    @property
    def weight_sum(self) -> float:
        """Sum of the weights of all examples."""
        return float(self.total if self._weight_sums is None else self.weight_sums.sum())

    @property
    def weight_sum_parts(self) -> tuple[Floats, Floats] | None:
        """Weights of classes, shape (T,), and what rounding left out; None: they are the counts."""
        if self._weight_sums is None:
            return None
        return self._weight_sums.totals[:, 0], self._weight_sums.residue[:, 0]

    @property
    def inverse_weight_sums(self) -> Floats:
        """Sum of one over the weights of each class's examples, shape (T,); only to be read."""
        inverse: Floats = self._all_weight_sums().totals[:, 1]
        return inverse

    @property
    def light_weight(self) -> float:
        """What light examples weigh: the harmonic mean of all weights, in which these count most.

        >>> from newfound.sums.sums import Sums
        >>> round(Sums.of([[1.0], [2.0]], ["a", "a"], sample_weight=[1e9, 1.0]).light_weight, 6)
        2.0
        """
        if self._weight_sums is None:
            return 1.0
        inverse = max(float(self.inverse_weight_sums.sum()), TINY)
        # No more than the mean: what rounding left of lighter ones may be too little.
        return min(self.total / inverse, self.weight_sum / self.total)

    def _all_weight_sums(self) -> Cross:
        """Return the sums of weights, which are counts where all weigh one."""
        counts = np.column_stack([self.counts, self.counts]).astype(np.float64)
        return self._weight_sums or Cross(counts, np.zeros_like(counts))

    def weight_sums_without(
        self, index: Index, sample_weight: Floats | None
    ) -> tuple[Floats, Floats]:
        """Return what classes weigh but for examples of such weights, and what these weigh, (T,).

        To the last digit of what is left.
        """
        gone = np.bincount(index, sample_weight, minlength=self.n_classes).astype(np.float64)
        weight_sums, residue = self.weight_sum_parts or (self.weight_sums, 0.0)
        return (weight_sums - gone) + residue, gone

    def weight_sum_without(self, index: Index, sample_weight: Floats | None) -> float:
        """Return what all weigh but examples of these classes, of such weights, to the last digit.

        >>> from newfound.sums import Sums
        >>> sums = Sums.of([[1.0], [2.0]], ["a", "a"], sample_weight=[1e15, 0.3])
        >>> sums.weight_sum_without(np.array([0]), np.array([1e15]))
        0.3
        """
        if self._weight_sums is None and sample_weight is None:
            return float(self.total - len(index))
        return float(self.weight_sums_without(index, sample_weight)[0].sum())

    @property
    def sizes(self) -> Floats:
        """As how many examples each class counts, shape (T,), where it is asked how much is known.

        An example of weight two counts as two, for it is as if it had been taught twice. One that
        weighs less than one is an example all the same.
        """
        return np.maximum(self.weight_sums, self.counts)

    @property
    def size(self) -> int:
        """As how many examples all classes count together."""
        return self.total if self._weight_sums is None else int(self.sizes.sum())

    def _prepare_weights(
        self, index: Index, sample_weight: Floats | None, size: int, sign: float = 1.0
    ) -> Callable[[], None]:
        """Reserve memory for the weights of `size` classes; return what adds to them.

        Raises ValueError if rounding would swallow these, or others beside them.
        """
        weights = np.ones(len(index)) if sample_weight is None else sample_weight
        if sign > 0:
            self._check_beside(weights)
        both = np.column_stack([weights, 1 / weights])
        present, terms = class_terms(both, index, exact=True)
        return self._prepare_terms(present, sign * terms, size)

    def _check_beside(self, weights: Floats) -> None:
        """Raise ValueError if weights (m,) would be swallowed by those there are, or swallow them.

        What is there is judged by what is typical of its heavy and of its light examples.
        """
        if self.total:
            typical = self.weight_sum / self.total, self.light_weight
            weights = np.concatenate([weights, typical])
        check_together(weights)

    def _prepare_terms(self, index: Index, terms: Floats, size: int) -> Callable[[], None]:
        """Reserve memory for the weights of `size` classes; return what adds terms to some."""
        weight_sums = self._all_weight_sums()
        add = weight_sums.prepare(index, terms, size)

        def weigh() -> None:
            add()
            self._weight_sums = weight_sums

        return weigh
