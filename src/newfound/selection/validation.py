"""The validation set: witnesses, scored by models that leave each of them out."""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels, Mask
from newfound.common.pieces import Stages, Task
from newfound.heads.recoding import recoding_factors
from newfound.memory.witnesses import Witnesses
from newfound.selection.snapshot import ENTRY, Snapshot
from newfound.selection.what_if import Basis, Group, Scenario, left_out_scores
from newfound.sums.tiles import solve_lower

# Classes and rows of a validation set, at most, and rows of a class, at least: drawn where there
# are more, so that no number of classes makes a piece of work longer.
MOST_CLASSES, MOST_ROWS, FEWEST_OF_A_CLASS = 100, 500, 5
# Rows at most where there is a layer, and they tell whether it pays, too.
MOST_VOTERS = 2 * MOST_ROWS
# A frequent class has at least this share of what such classes typically have: one that has just
# come says little by its few witnesses.
FREQUENT_SHARE = 0.25
# Numbers of examples that scenarios simulate.
COUNTS: Floats = np.power(4.0, np.arange(6))
# Of the weight of a class, what one of its witnesses can have at most beside the others.
ALMOST_ALL = 1 - 1e-12
# Scenarios for each simulated count: in each, other classes are rare.
SCENARIOS = 4
# Columns that are solved for, and rows that are multiplied, at a time.
COLUMNS = 64
# How many operations of BLAS take as long as the first touch of an entry that is new in memory.
NEW_ENTRY = 1000.0


def are_frequent(counts: Counts | Floats, min_class_count: int) -> Mask:
    """Tell which classes are frequent, by as how many examples they count: shape (T,).

    They have at least `min_class_count` examples, and a quarter of what such classes typically
    have.

    >>> are_frequent(np.array([60, 4, 30, 800, 800]), min_class_count=30)
    array([False, False, False,  True,  True])
    """
    frequent: Mask = counts >= max(2, min_class_count)
    if frequent.any():
        frequent &= counts >= FREQUENT_SHARE * np.median(counts[frequent])
    return frequent


class ValidatedClasses(NamedTuple):
    """Which classes a validation set is about."""

    classes: Index  # sorted by label, shape (C,)
    scored: Mask  # of which of them rows are scored, shape (C,)
    frequent: Mask  # and which of those are frequent, shape (C,)
    sizes: Counts  # how many witnesses each has, shape (C,)
    rng: np.random.Generator  # what they were drawn with, if there are many


def validated_classes(
    counts: Floats, labels: Labels, witnesses: Witnesses, min_class_count: int
) -> ValidatedClasses:
    """Return which classes to validate, given as how many examples each counts, shape (T,).

    A class is scored if it has two examples that differ.
    """
    rng = np.random.default_rng((witnesses.seed, int(counts.sum())))
    taught = np.flatnonzero(counts)
    taught = taught[np.argsort(labels[taught], kind="stable")]
    classes: Index = taught[np.sort(rng.permutation(len(taught))[:MOST_CLASSES])]
    sizes = np.array([witnesses[label].size for label in labels[classes].tolist()], dtype=np.int64)
    scored = (counts[classes] > 1) & (sizes > 1)
    frequent = scored & are_frequent(counts, min_class_count)[classes]
    return ValidatedClasses(classes, scored, frequent, sizes, rng)


class ValidationSet:
    """Witnesses, scored by the model as it is without each of them, and by simulated ones.

    The model as it is scores the witnesses of all classes that have two. If two or more classes are
    frequent, scenarios in which some of these are rare score theirs.

    Parameters
    ----------
    snapshot : Snapshot
    min_class_count : int
        Examples from which on a class may be frequent.
    what_if : bool
        Whether to simulate anything.
    most_rows : int, default=500
    """

    # classes, scored, frequent: as in ValidatedClasses.
    # of_class, ranks: of each row, the place of its class among `classes`, and its own among the
    #     witnesses of that class; shape (V,).
    # weights, shares: of each row, what it counts, and its share of the weight of its class;
    #     shape (V,).
    # counts: the simulated ones, shape (M,).
    # scenarios: which of the classes are rare in each; none, where nothing is simulated.
    # few[m, c]: which vector is the mean of the first m witnesses of class c.

    def __init__(
        self,
        snapshot: Snapshot,
        min_class_count: int,
        what_if: bool,
        most_rows: int = MOST_ROWS,
    ) -> None:
        self.snapshot, self._most_rows = snapshot, most_rows
        self.classes, self.scored, self.frequent, sizes, rng = validated_classes(
            snapshot.sizes, snapshot.labels, snapshot.witnesses, min_class_count
        )
        self._choose_rows(sizes)
        self.counts, self.scenarios = COUNTS, list[Index]()
        if what_if and np.count_nonzero(self.frequent) > 1:
            self._make_scenarios(rng, snapshot.sizes[self.classes])
        self._name_vectors(sizes)

    def _choose_rows(self, sizes: Counts) -> None:
        places = np.flatnonzero(self.scored)
        self._limit = max(FEWEST_OF_A_CLASS, self._most_rows // max(1, len(places)))
        ranks = [np.arange(sizes[place])[-self._limit :] for place in places]
        self.of_class: Index = np.repeat(places, [len(part) for part in ranks])
        self.ranks: Index = np.concatenate([np.zeros(0, dtype=np.intp), *ranks])
        reservoirs = [self.snapshot.reservoir(place) for place in self.classes[places].tolist()]
        cap, last, nothing = self.snapshot.cap, slice(-self._limit, None), np.zeros(0)
        weights = [reservoir.adjusted_weights(cap)[last] for reservoir in reservoirs]
        own = [reservoir.weights[last] for reservoir in reservoirs]
        self.weights: Floats = np.concatenate([nothing, *weights])
        shares = np.concatenate([nothing, *own]) / self.snapshot.plain[self.classes[self.of_class]]
        self.shares: Floats = np.minimum(shares, ALMOST_ALL)

    def _make_scenarios(self, rng: np.random.Generator, counts: Floats) -> None:
        frequent = np.flatnonzero(self.frequent)
        self.counts = COUNTS[np.median(counts[frequent]) >= COUNTS]
        # As large a part of the frequent classes as is rare among all, but never most of them; and
        # not less than a fifth, for each that is made rare tells something.
        part = min(max(1 - len(frequent) / len(counts), 0.2), 0.5)
        size = max(1, int(part * len(frequent)))
        times = -(-SCENARIOS * size // len(frequent))
        order = frequent[np.concatenate([rng.permutation(len(frequent)) for _ in range(times)])]
        rare = order[: SCENARIOS * size].reshape(SCENARIOS, size)
        self.scenarios = [np.unique(classes) for classes in rare]

    def _name_vectors(self, sizes: Counts) -> None:
        snapshot, classes = self.snapshot, self.classes
        self._others = np.ones(len(snapshot.weight_sums), dtype=bool)
        self._others[classes] = False
        rest = float(snapshot.weight_sums[self._others].sum())
        weight_sums, counts = snapshot.weight_sums[classes], snapshot.sizes[classes]
        self.group = Group(weight_sums, counts, rest, snapshot.fit_intercept)
        self.few: dict[tuple[float, int], int] = {}
        for count in self.counts if self.scenarios else ():
            for place in np.flatnonzero(self.frequent).tolist():
                if count <= sizes[place] // 2:
                    self.few[count, place] = len(classes) + 1 + len(self.few)

    @cached_property
    def rows(self) -> Floats:
        """The rows that are scored, around the mean, shape (V, r)."""
        places, last = self.classes[self.scored].tolist(), slice(-self._limit, None)
        rows = [self.snapshot.rows_of(place, last) for place in places]
        return np.concatenate(rows) if rows else np.zeros((0, 1))

    @cached_property
    def vectors(self) -> Floats:
        """Means of classes, of all others together, and of a few rows each, shape (q, r)."""
        snapshot, others = self.snapshot, self._others
        of_rest = snapshot.weight_sums[others] / (self.group.rest or 1.0)
        vectors = [*snapshot.means[self.classes], of_rest @ snapshot.means[others]]
        for count, place in self.few:
            # They were drawn by their weights, so that each counts the same.
            rows = snapshot.rows_of(self.classes[place], slice(int(count)))
            vectors.append(rows.mean(axis=0))
        return np.array(vectors)

    # The same workspace is used for every penalty: memory that is new takes long to come.
    @cached_property
    def workspace(self) -> Floats:
        """Memory for a factor, shape (r, r)."""
        return np.empty_like(self.snapshot.matrix)

    @cached_property
    def _half(self) -> Floats:
        """Memory for what a factor maps to rows and vectors, shape (r, V + q), Fortran order."""
        size = len(self.of_class) + len(self.classes) + 1 + len(self.few)
        return np.empty((len(self.snapshot.matrix), size), order="F")

    def gather(self) -> list[Task]:
        """Return what has rows and memory at hand for all that follows."""
        entries = ENTRY * len(self.snapshot.mean)
        rows = [
            Task(2 * entries * len(self.of_class), partial(getattr, self, "rows")),
            Task(8 * entries * len(self.few), partial(getattr, self, "vectors")),
        ]
        return rows + [
            Task(NEW_ENTRY * part.size, partial(part.fill, 0.0))
            for matrix in (self.workspace, self._half)
            for part in np.split(matrix, range(COLUMNS, matrix.shape[1], COLUMNS), axis=1)
        ]

    def basis_for(self, penalty: float) -> Stages[Basis]:
        """Return what all scores are made of under a penalty."""
        factor = yield from self.snapshot.factor_in_stages(penalty, self.workspace)
        return (yield from self.basis_in_stages(factor))

    def basis_in_stages(self, factor: Floats) -> Stages[Basis]:
        """Return what all scores are made of, given the factor for a penalty."""
        r, V, q = len(factor), len(self.rows), len(self.vectors)
        half = self._half

        def begin() -> None:
            half[:, :V], half[:, V:] = self.rows.reshape(V, r).T, self.vectors.T

        yield [Task(ENTRY * half.size, begin)]
        starts = range(0, V + q, COLUMNS)
        parts = [half[:, left : left + COLUMNS] for left in starts]
        yield [
            Task(float(r * r * part.shape[1]), partial(solve_lower, factor, part)) for part in parts
        ]
        rows, vectors, products = half[:, :V].T, half[:, V:], np.empty((V + q, q))
        yield [
            Task(2.0 * r * q * part.shape[1], partial(np.matmul, part.T, vectors, out=product))
            for part, product in zip(
                parts, np.split(products, range(COLUMNS, V + q, COLUMNS)), strict=True
            )
        ]
        squares: Floats = np.einsum("ij,ij->i", rows, rows)
        return Basis(products[V:], products[:V], squares)

    def cost(self, recodings: Floats) -> float:
        """Return about how many operations it takes to score one scenario."""
        V, C = len(self.of_class), len(self.classes)
        q = C + 1 + max(map(len, self.scenarios), default=0)
        return 6.0 * V * q * q + ENTRY * len(recodings) * C * V

    def accuracy_as_is(self, basis: Basis, recodings: Floats, of_frequent: bool = False) -> Floats:
        """Return the accuracy of the classes that are scored, by recoding, shape (A,).

        They compete with each other. Or, as the paper has it, it is that of frequent classes, which
        compete with all.
        """
        nothing, all_classes = np.zeros(0, dtype=np.intp), np.ones(len(self.classes), dtype=bool)
        scored, competing = self.scored, self.scored
        if of_frequent:
            scored, competing = self.frequent, all_classes
        return self._accuracy(basis, np.inf, nothing, recodings, scored, competing)[0]

    def accuracy_if_rare(
        self, basis: Basis, count: float, recodings: Floats
    ) -> Stages[tuple[Floats, Floats]]:
        """Return accuracies by recoding, shape (A,), had some classes `count` examples.

        Of all frequent classes, and of those that are made rare, means over classes and scenarios.
        """
        parts = [list[Floats]() for _ in self.scenarios]

        def score(rare: Index, part: list[Floats]) -> None:
            part += self._accuracy(basis, count, rare, recodings, self.frequent, self.frequent)

        yield [
            Task(self.cost(recodings), partial(score, rare, part))
            for rare, part in zip(self.scenarios, parts, strict=True)
        ]
        both: Floats = np.mean(parts, axis=0)
        return both[0], both[1]

    def _accuracy(
        self,
        basis: Basis,
        count: float,
        rare: Index,
        recodings: Floats,
        scored: Mask,
        competing: Mask,
    ) -> list[Floats]:
        group, C = self.group, len(self.classes)
        rare = rare[group.counts[rare] > count]
        taught = [place for place in rare.tolist() if (count, place) in self.few]
        is_taught = np.zeros(C, dtype=bool)
        is_taught[taught] = True
        # The vectors that this scenario needs: the means of all, and of its few rows.
        keep = np.array([*range(C + 1), *(self.few[count, place] for place in taught)])
        weight_sums, columns = group.weight_sums.copy(), np.arange(C)
        weight_sums[rare] = count * (group.weight_sums / group.counts)[rare]
        columns[taught] = np.arange(C + 1, len(keep))
        may = scored[self.of_class]
        may &= ~is_taught[self.of_class] | (self.ranks >= count)  # rows taught are not scored
        of_class = self.of_class[may]
        products, rows = basis.products[np.ix_(keep, keep)], basis.rows[np.ix_(may, keep)]
        own, scenario = Basis(products, rows, basis.squares[may]), Scenario(weight_sums, columns)
        scores = left_out_scores(own, group, scenario, of_class, self.shares[may])
        # Without the row its class weighs less, and so is recoded a little more.
        as_often = weight_sums[of_class] == group.weight_sums[of_class]
        rarer = np.where(as_often, 1 / (1 - self.shares[may]), 1.0) ** recodings[:, None]
        place = np.cumsum(competing) - 1  # among those that compete
        factors = recoding_factors(weight_sums, 1.0) ** recodings[:, None]
        truth, weights = place[of_class], self.weights[may]
        of_each = accuracies(scores.T[competing], truth, factors[:, competing], rarer, weights)
        of_rare = of_each[:, place[rare]] if len(rare) else of_each[:, place[scored]]
        return [of_each[:, place[scored]].mean(axis=1), of_rare.mean(axis=1)]


def accuracies(
    scores: Floats, truth: Index, factors: Floats, own_factors: Floats, weights: Floats
) -> Floats:
    """Return the accuracy of each class under each of several recodings.

    Parameters
    ----------
    scores : ndarray of shape (T, V)
        A class a row, so that the largest of each column is found many columns at a time.
    truth : ndarray of shape (V,)
        The class of each column.
    factors : ndarray of shape (A, T)
        Factors on the scores.
    own_factors : ndarray of shape (A, V)
        Factors on the score of the true class of each column, beside those.
    weights : ndarray of shape (V,)
        What each column counts.

    Returns
    -------
    ndarray of shape (A, T)
        0 for a class of which there is no column.

    Examples
    --------
    >>> scores = np.array([[0.7, 0.6], [0.3, 0.4]])
    >>> factors = np.array([[1.0, 1.0], [1.0, 2.0]])
    >>> accuracies(scores, np.array([0, 1]), factors, np.ones((2, 2)), np.ones(2))
    array([[1., 0.],
           [1., 1.]])
    """
    columns = np.arange(len(truth))
    own, hits = scores[truth, columns], []
    others = scores.copy()
    others[truth, columns] = -np.inf
    for factor, of_own in zip(factors, own_factors, strict=True):
        best = (others * factor[:, None]).max(axis=0)
        hits.append(own * factor[truth] * of_own >= best)
    there = np.bincount(truth, weights, minlength=len(scores))
    there[there == 0] = 1.0
    return np.array(
        [np.bincount(truth, weights * hit, minlength=len(scores)) / there for hit in hits]
    )
