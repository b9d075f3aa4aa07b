"""Who votes, and on what: witnesses, on the model as it is, and on models taught less of some."""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Floats, Index, Labels
from newfound.common.pieces import Stages, Task
from newfound.heads.recoding import recoding_factors
from newfound.selection.snapshot import ENTRY, Snapshot
from newfound.selection.what_if import Basis, Group, Scene, left_out_scores
from newfound.selection.witnesses import Sample, Witnesses
from newfound.sums.tiles import solve_lower

# Classes that are looked at, and rows that vote, all classes together: drawn where there are more,
# so that no number of classes makes a piece of work longer.
MOST_CLASSES, VOTERS, FEWEST_OF_A_CLASS = 100, 500, 5
# A known class has at least this share of what such classes usually have: one that has just come
# says little by its few witnesses.
KNOWN_SHARE = 0.25
# Counts that are pretended.
LADDER: Floats = np.power(4.0, np.arange(6))
# Of the mass of a class, what one of its witnesses can have at most beside the others.
ALMOST_ALL = 1 - 1e-12
# Scenes for each pretended count: in each, other classes play the rare ones.
SCENES = 4
# Columns that are solved for, and rows that are multiplied, at a time.
COLUMNS = 64
# How many operations of BLAS take as long as the first touch of an entry that is new in memory.
NEW_ENTRY = 1000.0

Mask = NDArray[np.bool_]


def are_known(counts: Counts | Floats, min_class_count: int) -> Mask:
    """Tell which classes are known well, by as how many examples they count: shape (T,).

    They have at least so many examples, and a quarter of what such classes usually have.

    >>> are_known(np.array([60, 4, 30, 800, 800]), min_class_count=30)
    array([False, False, False,  True,  True])
    """
    often: Mask = counts >= max(2, min_class_count)
    if often.any():
        often &= counts >= KNOWN_SHARE * np.median(counts[often])
    return often


class Roster(NamedTuple):
    """Which classes are looked at."""

    classes: Index  # sorted by label, shape (C,)
    votes: Mask  # which of them vote, shape (C,)
    known: Mask  # and which of those are known well, shape (C,)
    sizes: Counts  # how many witnesses each has, shape (C,)


def roster(
    counts: Floats,
    labels: Labels,
    witnesses: Witnesses,
    min_class_count: int,
    rng: np.random.Generator,
) -> Roster:
    """Return which of all classes, that count as so many examples, are looked at."""
    taught = np.flatnonzero(counts)
    taught = taught[np.argsort(labels[taught], kind="stable")]
    classes: Index = taught[np.sort(rng.permutation(len(taught))[:MOST_CLASSES])]
    samples, nothing = witnesses.samples, Sample()
    held = [len(samples.get(label, nothing).held) for label in labels[classes].tolist()]
    sizes = np.array(held, dtype=np.int64)
    votes = (counts[classes] > 1) & (sizes > 1)
    return Roster(classes, votes, votes & are_known(counts, min_class_count)[classes], sizes)


class Panel:
    """Witnesses who vote on models that leave each of them out.

    On the model as it is, all classes vote that have two witnesses. And if two or more classes are
    known well, these vote on models in which some of them are pretended rare.

    Parameters
    ----------
    snapshot : Snapshot
    min_class_count : int
        Examples from which on a class may be known well.
    what_if : bool
        Whether to pretend anything.
    """

    # classes, votes, known: as in Roster.
    # of_class, ranks: of each voter, the place of its class among `classes`, and its own among the
    #     witnesses of that class; shape (V,).
    # weights, shares: of each voter, what its vote counts, and its share of the mass of its class;
    #     shape (V,).
    # ladder: the pretended counts, shape (M,).
    # scenes: which of the classes are rare; none, where nothing is pretended.
    # few[m, c]: which vector is the mean of the first m witnesses of class c.

    def __init__(self, snapshot: Snapshot, min_class_count: int, what_if: bool) -> None:
        self.snapshot = snapshot
        rng = np.random.default_rng((snapshot.witnesses.seed, snapshot.size))
        self.classes, self.votes, self.known, sizes = roster(
            snapshot.sizes, snapshot.labels, snapshot.witnesses, min_class_count, rng
        )
        counts = snapshot.sizes[self.classes]
        self._call_witnesses(sizes)
        self.ladder, self.scenes = LADDER, list[Index]()
        if what_if and np.count_nonzero(self.known) > 1:
            self._set_the_stage(rng, counts)
        self._name_vectors(sizes)

    def _call_witnesses(self, sizes: Counts) -> None:
        places = np.flatnonzero(self.votes)
        self._limit = max(FEWEST_OF_A_CLASS, VOTERS // max(1, len(places)))
        own = [np.arange(sizes[place])[-self._limit :] for place in places]
        self.of_class: Index = np.repeat(places, [len(each) for each in own])
        self.ranks: Index = np.concatenate(own) if own else np.zeros(0, dtype=np.intp)
        samples = [self.snapshot.sample_of(place) for place in self.classes[places].tolist()]
        cap, last = self.snapshot.cap, slice(-self._limit, None)
        self.weights = _joined([each.votes(cap)[last] for each in samples])
        of_rows = _joined([each.weights[last] for each in samples])
        shares = of_rows / self.snapshot.plain[self.classes[self.of_class]]
        self.shares = np.minimum(shares, ALMOST_ALL)

    def _set_the_stage(self, rng: np.random.Generator, counts: Floats) -> None:
        known = np.flatnonzero(self.known)
        self.ladder = LADDER[np.median(counts[known]) >= LADDER]
        # As large a part of the known classes as is rare among all, but never most of them; and not
        # less than a fifth, for each that plays a rare one tells something.
        part = min(max(1 - len(known) / len(counts), 0.2), 0.5)
        size = max(1, int(part * len(known)))
        times = -(-SCENES * size // len(known))
        order = known[np.concatenate([rng.permutation(len(known)) for _ in range(times)])]
        self.scenes = [np.unique(each) for each in order[: SCENES * size].reshape(SCENES, size)]

    def _name_vectors(self, sizes: Counts) -> None:
        snapshot, classes = self.snapshot, self.classes
        self._others = np.ones(len(snapshot.masses), dtype=bool)
        self._others[classes] = False
        rest = float(snapshot.masses[self._others].sum())
        masses, counts = snapshot.masses[classes], snapshot.sizes[classes]
        self.group = Group(masses, counts, rest, snapshot.fit_intercept)
        self.few: dict[tuple[float, int], int] = {}
        for rung in self.ladder if self.scenes else ():
            for place in np.flatnonzero(self.known).tolist():
                if rung <= sizes[place] // 2:
                    self.few[rung, place] = len(classes) + 1 + len(self.few)

    @cached_property
    def voters(self) -> Floats:
        """Rows around the mean that vote, shape (V, r)."""
        places = self.classes[self.votes].tolist()
        called = [self.snapshot.rows_of(place, slice(-self._limit, None)) for place in places]
        return np.concatenate(called) if called else np.zeros((0, 1))

    @cached_property
    def vectors(self) -> Floats:
        """Means of classes, of all others together, and of a few rows each, shape (q, r)."""
        snapshot, others = self.snapshot, self._others
        mean_of_rest = snapshot.masses[others] @ snapshot.means[others] / (self.group.rest or 1.0)
        vectors = [*snapshot.means[self.classes], mean_of_rest]
        for rung, place in self.few:
            # They were drawn by their weights, so that each counts the same.
            rows = snapshot.rows_of(self.classes[place], slice(int(rung)))
            vectors.append(rows.mean(axis=0))
        return np.array(vectors)

    # The same room is used for every penalty: memory that is new takes long to come.
    @cached_property
    def room(self) -> Floats:
        """Room for a factor, shape (r, r)."""
        return np.empty_like(self.snapshot.matrix)

    @cached_property
    def _half(self) -> Floats:
        """Room for what a factor maps to voters and vectors, shape (r, V + q), Fortran order."""
        size = len(self.of_class) + len(self.classes) + 1 + len(self.few)
        return np.empty((len(self.snapshot.matrix), size), order="F")

    def gather(self) -> list[Task]:
        """Return what has rows and room at hand for all that follows."""
        entries = ENTRY * len(self.snapshot.mean)
        rows = [
            Task(2 * entries * len(self.of_class), partial(getattr, self, "voters")),
            Task(8 * entries * len(self.few), partial(getattr, self, "vectors")),
        ]
        return rows + [
            Task(NEW_ENTRY * part.size, partial(part.fill, 0.0))
            for room in (self.room, self._half)
            for part in np.split(room, range(COLUMNS, room.shape[1], COLUMNS), axis=1)
        ]

    def basis_for(self, penalty: float) -> Stages[Basis]:
        """Return what all scores are made of under a penalty."""
        factor = yield from self.snapshot.factor_in_stages(penalty, self.room)
        return (yield from self.basis_in_stages(factor))

    def basis_in_stages(self, factor: Floats) -> Stages[Basis]:
        """Return what all scores are made of, given the factor for a penalty."""
        r, V, q = len(factor), len(self.voters), len(self.vectors)
        half = self._half

        def begin() -> None:
            half[:, :V], half[:, V:] = self.voters.reshape(V, r).T, self.vectors.T

        yield [Task(ENTRY * half.size, begin)]
        starts = range(0, V + q, COLUMNS)
        parts = [half[:, left : left + COLUMNS] for left in starts]
        yield [
            Task(float(r * r * part.shape[1]), partial(solve_lower, factor, part)) for part in parts
        ]
        rows, vectors, found = half[:, :V].T, half[:, V:], np.empty((V + q, q))
        yield [
            Task(2.0 * r * q * part.shape[1], partial(np.matmul, part.T, vectors, out=product))
            for part, product in zip(
                parts, np.split(found, range(COLUMNS, V + q, COLUMNS)), strict=True
            )
        ]
        squares: Floats = np.einsum("ij,ij->i", rows, rows)
        return Basis(found[V:], found[:V], squares)

    def cost(self, recodings: Floats) -> float:
        """Return about how many operations a vote takes on one scene."""
        V, C = len(self.of_class), len(self.classes)
        q = C + 1 + max(map(len, self.scenes), default=0)
        return 6.0 * V * q * q + ENTRY * len(recodings) * C * V

    def as_it_is(self, basis: Basis, recodings: Floats, of_known: bool = False) -> Floats:
        """Return the accuracy of the classes that vote, by recoding, shape (A,).

        They compete with each other. Or, as the paper has it, it is that of known classes, which
        compete with all.
        """
        nobody, everybody = np.zeros(0, dtype=np.intp), np.ones(len(self.classes), dtype=bool)
        who = (self.known, everybody) if of_known else (self.votes, self.votes)
        return self._vote(basis, np.inf, nobody, recodings, *who)[0]

    def what_if_in_stages(
        self, basis: Basis, rung: float, recodings: Floats
    ) -> Stages[tuple[Floats, Floats]]:
        """Return accuracies by recoding, shape (A,), had some classes been taught `rung` times.

        Of all known classes, and of those pretended rare alone, means over classes and scenes.
        """
        parts = [list[Floats]() for _ in self.scenes]

        def act(scene: Index, found: list[Floats]) -> None:
            found += self._vote(basis, rung, scene, recodings, self.known, self.known)

        yield [
            Task(self.cost(recodings), partial(act, scene, found))
            for scene, found in zip(self.scenes, parts, strict=True)
        ]
        both: Floats = np.mean(parts, axis=0)
        return both[0], both[1]

    def _vote(
        self,
        basis: Basis,
        rung: float,
        rare: Index,
        recodings: Floats,
        voting: Mask,
        competing: Mask,
    ) -> list[Floats]:
        group, C = self.group, len(self.classes)
        rare = rare[group.counts[rare] > rung]
        taught = [place for place in rare.tolist() if (rung, place) in self.few]
        is_taught = np.zeros(C, dtype=bool)
        is_taught[taught] = True
        # The vectors that this scene needs: the means of all, and of its few rows.
        keep = np.array([*range(C + 1), *(self.few[rung, place] for place in taught)])
        masses, columns = group.masses.copy(), np.arange(C)
        masses[rare] = rung * (group.masses / group.counts)[rare]
        columns[taught] = np.arange(C + 1, len(keep))
        may = voting[self.of_class]
        may &= ~is_taught[self.of_class] | (self.ranks >= rung)  # rows taught do not
        of_class = self.of_class[may]
        scores = left_out_scores(
            Basis(
                basis.products[np.ix_(keep, keep)],
                basis.rows[np.ix_(may, keep)],
                basis.squares[may],
            ),
            group,
            Scene(masses, columns),
            of_class,
            self.shares[may],
        )
        # Without the voter its class has a smaller mass, and so is recoded a little more.
        as_often = masses[of_class] == group.masses[of_class]
        rarer = np.where(as_often, 1 / (1 - self.shares[may]), 1.0) ** recodings[:, None]
        place = np.cumsum(competing) - 1  # among those that compete
        factors = recoding_factors(masses, 1.0) ** recodings[:, None]
        truth, weights = place[of_class], self.weights[may]
        found = accuracies(scores.T[competing], truth, factors[:, competing], rarer, weights)
        of_rare = found[:, place[rare]] if len(rare) else found[:, place[voting]]
        return [found[:, place[voting]].mean(axis=1), of_rare.mean(axis=1)]


def _joined(parts: list[list[float]]) -> Floats:
    return np.array([each for part in parts for each in part], dtype=np.float64)


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
