"""Who votes, and on what: witnesses, on the model as it is, and on models taught less of some."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from newfound.common.arrays import Counts, Floats, Index
from newfound.heads.recoding import recoding_factors
from newfound.selection.snapshot import Snapshot
from newfound.selection.what_if import Basis, Group, Scene, left_out_scores
from newfound.sums.blas import products

# Classes that are looked at, and rows that vote, all classes together: drawn where there are more,
# so that no number of classes makes a piece of work longer.
MOST_CLASSES, VOTERS, FEWEST_OF_A_CLASS = 100, 500, 5
# A known class has at least this share of what such classes usually have: one that has just come
# says little by its few witnesses.
KNOWN_SHARE = 0.25
# Counts that are pretended.
LADDER: Floats = np.power(4.0, np.arange(6))
# Scenes for each pretended count: in each, other classes play the rare ones.
SCENES = 4

Mask = NDArray[np.bool_]


def are_known(counts: Counts, min_class_count: int) -> Mask:
    """Tell which classes are known well, by their counts: shape (T,).

    They have at least so many examples, and a quarter of what such classes usually have.

    >>> are_known(np.array([60, 4, 30, 800, 800]), min_class_count=30)
    array([False, False, False,  True,  True])
    """
    often: Mask = counts >= max(2, min_class_count)
    if often.any():
        often &= counts >= KNOWN_SHARE * np.median(counts[often])
    return often


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

    # classes: those that are looked at, sorted by label, shape (C,).
    # votes, known: which of them vote, and which of those are known well, shape (C,).
    # voters, of_class, ranks: rows around the mean, the place of each one's class among `classes`,
    #     and its own among the witnesses of that class; shapes (V, r), (V,), (V,).
    # ladder: the pretended counts, shape (M,).
    # scenes: which of the classes are rare; none, where nothing is pretended.
    # few[m, c]: which vector is the mean of the first m witnesses of class c.

    def __init__(self, snapshot: Snapshot, min_class_count: int, what_if: bool) -> None:
        self.snapshot = snapshot
        rng = np.random.default_rng((snapshot.witnesses.seed, snapshot.total))
        taught = np.flatnonzero(snapshot.counts)
        taught = taught[np.argsort(snapshot.labels[taught], kind="stable")]
        self.classes: Index = taught[np.sort(rng.permutation(len(taught))[:MOST_CLASSES])]
        counts = snapshot.counts[self.classes]
        witnesses = [snapshot.rows_of(place) for place in self.classes.tolist()]
        self.votes: Mask = (counts > 1) & ([len(rows) > 1 for rows in witnesses])
        self.known = self.votes & are_known(snapshot.counts, min_class_count)[self.classes]
        self._call_witnesses(witnesses)
        self.ladder, self.scenes = LADDER, list[Index]()
        if what_if and np.count_nonzero(self.known) > 1:
            self._set_the_stage(rng, counts)
        self._gather_vectors(witnesses)

    def _call_witnesses(self, witnesses: list[Floats]) -> None:
        places = np.flatnonzero(self.votes)
        limit = max(FEWEST_OF_A_CLASS, VOTERS // max(1, len(places)))
        own = [np.arange(len(witnesses[place]))[-limit:] for place in places]
        self.of_class: Index = np.repeat(places, [len(each) for each in own])
        self.ranks: Index = np.concatenate(own) if own else np.zeros(0, dtype=np.intp)
        called = [witnesses[place][-limit:] for place in places]
        self.voters = np.concatenate(called) if called else np.zeros((0, 1))

    def _set_the_stage(self, rng: np.random.Generator, counts: Counts) -> None:
        known = np.flatnonzero(self.known)
        self.ladder = LADDER[np.median(counts[known]) >= LADDER]
        # As large a part of the known classes as is rare among all, but never most of them; and not
        # less than a fifth, for each that plays a rare one tells something.
        part = min(max(1 - len(known) / len(counts), 0.2), 0.5)
        size = max(1, int(part * len(known)))
        times = -(-SCENES * size // len(known))
        order = known[np.concatenate([rng.permutation(len(known)) for _ in range(times)])]
        self.scenes = [np.unique(each) for each in order[: SCENES * size].reshape(SCENES, size)]

    def _gather_vectors(self, witnesses: list[Floats]) -> None:
        snapshot, classes = self.snapshot, self.classes
        masses, others = snapshot.masses, np.ones(len(snapshot.masses), dtype=bool)
        others[classes] = False
        rest = float(masses[others].sum())
        self.group = Group(masses[classes], snapshot.counts[classes], rest, snapshot.fit_intercept)
        mean_of_rest = masses[others] @ snapshot.means[others] / (rest or 1.0)
        vectors = [*snapshot.means[classes], mean_of_rest]
        self.few: dict[tuple[float, int], int] = {}
        for rung in self.ladder if self.scenes else ():
            for place in np.flatnonzero(self.known).tolist():
                if rung <= len(witnesses[place]) // 2:
                    self.few[rung, place] = len(vectors)
                    vectors.append(witnesses[place][: int(rung)].mean(axis=0))
        self.vectors = np.array(vectors)

    def basis(self, factor: Floats) -> Basis:
        """Return what all scores are made of, given the factor for a penalty."""
        V = len(self.voters)
        columns = np.concatenate([self.voters, self.vectors]).T
        half: Floats = blas.dtrsm(1.0, factor, columns, lower=1, overwrite_b=1)
        rows, vectors = half[:, :V], half[:, V:]
        squares: Floats = np.einsum("ij,ij->j", rows, rows)
        return Basis(products(vectors, vectors), products(rows, vectors), squares)

    def as_it_is(self, basis: Basis, recodings: Floats, of_known: bool = False) -> Floats:
        """Return the accuracy of the classes that vote, by recoding, shape (A,).

        They compete with each other. Or, as the paper has it, it is that of known classes, which
        compete with all.
        """
        nobody, everybody = np.zeros(0, dtype=np.intp), np.ones(len(self.classes), dtype=bool)
        who = (self.known, everybody) if of_known else (self.votes, self.votes)
        return self._vote(basis, np.inf, nobody, recodings, *who)[0]

    def what_if(self, basis: Basis, rung: float, recodings: Floats) -> tuple[Floats, Floats]:
        """Return accuracies by recoding, shape (A,), had some classes been taught `rung` times.

        Of all known classes, and of those pretended rare alone, means over classes and scenes.
        """
        parts = [
            self._vote(basis, rung, scene, recodings, self.known, self.known)
            for scene in self.scenes
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
        )
        # Without the voter its class has an example less, and so is recoded a little more.
        n = group.counts[of_class]
        as_often = masses[of_class] == group.masses[of_class]
        rarer = np.where(as_often, n / (n - 1), 1.0) ** recodings[:, None]
        place = np.cumsum(competing) - 1  # among those that compete
        factors = recoding_factors(masses, 1.0) ** recodings[:, None]
        found = accuracies(scores.T[competing], place[of_class], factors[:, competing], rarer)
        of_rare = found[:, place[rare]] if len(rare) else found[:, place[voting]]
        return [found[:, place[voting]].mean(axis=1), of_rare.mean(axis=1)]


def accuracies(scores: Floats, truth: Index, factors: Floats, own_factors: Floats) -> Floats:
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

    Returns
    -------
    ndarray of shape (A, T)
        0 for a class of which there is no column.

    Examples
    --------
    >>> scores = np.array([[0.7, 0.6], [0.3, 0.4]])
    >>> factors = np.array([[1.0, 1.0], [1.0, 2.0]])
    >>> accuracies(scores, np.array([0, 1]), factors, np.ones((2, 2)))
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
    there = np.maximum(np.bincount(truth, minlength=len(scores)), 1)
    return np.array([np.bincount(truth, hit, minlength=len(scores)) / there for hit in hits])
