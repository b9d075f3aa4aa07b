"""Who votes, and on what: witnesses of known classes, and models that were taught less of some."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from newfound.common.arrays import Counts, Floats, Index, Labels
from newfound.heads.recoding import recoding_factors
from newfound.selection.what_if import Basis, Group, Scene, left_out_scores
from newfound.selection.witnesses import Witnesses
from newfound.solvers.cholesky import Equations, factorise, regularised
from newfound.sums.blas import products

# Classes that are looked at, and rows that vote, all classes together: drawn where there are more,
# so that no number of classes makes a piece of work longer.
MOST_CLASSES, VOTERS, FEWEST_OF_A_CLASS = 100, 1000, 5
# A known class has at least this share of what such classes usually have: one that has just come
# says little by its few witnesses.
KNOWN_SHARE = 0.25
# The largest count that is pretended, and how often larger each is than the last.
LARGEST, RUNG = 1024, 4
# Scenes for each pretended count: at least, and at most. Between, as many as it takes for each
# known class to play a rare one.
FEWEST, MOST = 4, 8


class Snapshot(NamedTuple):
    """All that votes depend on, as it was when they were called for."""

    equations: Equations
    labels: Labels  # shape (T,)
    counts: Counts  # shape (T,)
    witnesses: Witnesses
    fit_intercept: bool

    @property
    def total(self) -> int:
        """Examples taught."""
        return int(self.counts.sum())

    @property
    def mean(self) -> Floats:
        """Of all rows, shape (d,); zeros without an intercept."""
        cross, masses = self.equations.cross, self.equations.masses
        mean: Floats = cross.sum(axis=1) / masses.sum() * self.fit_intercept
        return mean

    def factor(self, penalty: float) -> Floats:
        """Return the lower Cholesky factor of the regularised gram, shape (d, d)."""
        gram, _, masses = self.equations
        return factorise(regularised(gram.copy(order="F"), self.mean, masses.sum(), penalty))


def known_classes(
    labels: Labels, counts: Counts, witnesses: Witnesses, min_class_count: int
) -> Index:
    """Return which classes are known well: those that vote.

    They have at least so many examples, a quarter of what such classes usually have, and two
    witnesses.

    Examples
    --------
    >>> rows, labels = np.zeros((94, 1)), np.array(["cup"] * 60 + ["jug"] * 4 + ["mug"] * 30)
    >>> witnesses = Witnesses(seed=0).after(rows, labels, cap=9)
    >>> known_classes(np.array(["cup", "jug", "mug"]), np.array([60, 4, 30]), witnesses, 30)
    array([0, 2])
    """
    often = counts >= max(2, min_class_count)
    if not often.any():
        return np.flatnonzero(often)
    often &= counts >= KNOWN_SHARE * np.median(counts[often])
    known = [place for place in np.flatnonzero(often) if witnesses.count(labels[place].item()) > 1]
    return np.array(known, dtype=np.intp)


class Panel:
    """Witnesses of classes known well, who vote on models that leave them out.

    Parameters
    ----------
    snapshot : Snapshot
    known : ndarray of shape (C,)
        The classes known well.
    what_if : bool
        Whether some of the classes are pretended rare. Otherwise the vote is on the model as it
        is, with all classes to choose from.
    """

    # classes: those that are looked at, sorted by label, shape (C,).
    # voters, of_class, ranks: rows around the mean, the place of each one's class among `classes`,
    #     and its own among the witnesses of that class; shapes (V, d), (V,), (V,).
    # ladder: the pretended counts, shape (M,); infinity where nothing is pretended.
    # scenes: for each, which of the classes are rare.
    # few[m, c]: which vector is the mean of the first m witnesses of class c.

    def __init__(self, snapshot: Snapshot, known: Index, what_if: bool) -> None:
        self.snapshot = snapshot
        labels = snapshot.labels
        rng = np.random.default_rng((snapshot.witnesses.seed, snapshot.total))
        known = known[np.argsort(labels[known], kind="stable")]
        self.classes = known[np.sort(rng.permutation(len(known))[:MOST_CLASSES])]
        witnesses = [
            np.array(snapshot.witnesses.samples[label].rows, dtype=np.float64)
            for label in labels[self.classes].tolist()
        ]
        limit = max(FEWEST_OF_A_CLASS, VOTERS // len(self.classes))
        # Seen from the mean, which changes no score and keeps digits.
        self.voters = np.concatenate([rows[-limit:] for rows in witnesses]) - snapshot.mean
        taking = [min(limit, len(rows)) for rows in witnesses]
        self.of_class = np.repeat(np.arange(len(self.classes)), taking)
        self.ranks = np.concatenate([np.arange(len(rows))[-limit:] for rows in witnesses])
        self.ladder, self.scenes = np.array([np.inf]), [np.zeros(0, dtype=np.intp)]
        if what_if:
            self._set_the_stage(rng)
        self._gather_vectors(witnesses)

    @property
    def n_voters(self) -> int:
        """How many vote."""
        return len(self.voters)

    def _set_the_stage(self, rng: np.random.Generator) -> None:
        counts, C = self.snapshot.counts, len(self.classes)
        usual = int(np.median(counts[self.classes]))
        rungs = np.log2(min(usual, LARGEST)) // np.log2(RUNG) + 1
        self.ladder = float(RUNG) ** np.arange(rungs)
        # As large a part of the known classes as is rare among all, but never most of them; and not
        # less than a fifth, for each that plays a rare one tells something.
        part = min(max(1 - C / np.count_nonzero(counts), 0.2), 0.5)
        size = max(1, int(part * C))
        number = min(max(FEWEST, C // size), MOST)
        times = -(-number * size // C)
        order = np.concatenate([rng.permutation(C) for _ in range(times)])
        self.scenes = [np.unique(each) for each in order[: number * size].reshape(number, size)]

    def _gather_vectors(self, witnesses: list[Floats]) -> None:
        _, cross, masses = self.snapshot.equations
        others = np.ones(len(masses), dtype=bool)
        others[self.classes] = False
        rest = float(masses[others].sum())
        self.group = Group(
            masses[self.classes],
            self.snapshot.counts[self.classes],
            rest,
            self.snapshot.fit_intercept,
        )
        vectors = [
            cross[:, self.classes] / self.group.masses,
            cross[:, others].sum(axis=1, keepdims=True) / (rest or 1.0),
        ]
        self.few: dict[tuple[float, int], int] = {}
        for rung in self.ladder:
            for place, rows in enumerate(witnesses):
                if rung <= len(rows) // 2:
                    self.few[rung, place] = len(self.classes) + 1 + len(self.few)
                    vectors.append(rows[: int(rung)].mean(axis=0)[:, None])
        self.vectors = np.concatenate(vectors, axis=1) - self.snapshot.mean[:, None]

    def basis(self, factor: Floats) -> Basis:
        """Return what all scores are made of, given the factor for a penalty."""
        V = self.n_voters
        columns = np.asfortranarray(np.concatenate([self.voters.T, self.vectors], axis=1))
        half: Floats = blas.dtrsm(1.0, factor, columns, lower=1, overwrite_b=1)
        rows, vectors = half[:, :V], half[:, V:]
        squares: Floats = np.einsum("ij,ij->j", rows, rows)
        return Basis(products(vectors, vectors), products(rows, vectors), squares)

    def accuracies(self, basis: Basis, rung: float, recodings: Floats) -> tuple[Floats, Floats]:
        """Return accuracies by recoding, shape (A,), had some classes been taught `rung` times.

        Of all known classes, and of those pretended rare alone, means over classes and scenes.
        """
        parts = [self._vote(basis, rung, scene, recodings) for scene in self.scenes]
        both: Floats = np.mean(parts, axis=0)
        return both[0], both[1]

    def _vote(self, basis: Basis, rung: float, rare: Index, recodings: Floats) -> list[Floats]:
        group, C = self.group, len(self.classes)
        rare = rare[group.counts[rare] > rung]
        taught = [place for place in rare.tolist() if (rung, place) in self.few]
        # The vectors that this scene needs: the means of all, and of its few rows.
        keep = np.array([*range(C + 1), *(self.few[rung, place] for place in taught)])
        masses, columns = group.masses.copy(), np.arange(C)
        masses[rare] = rung * (group.masses / group.counts)[rare]
        columns[taught] = np.arange(C + 1, len(keep))
        votes = ~np.isin(self.of_class, taught) | (self.ranks >= rung)  # rows taught do not
        of_class = self.of_class[votes]
        scores = left_out_scores(
            Basis(
                basis.products[np.ix_(keep, keep)],
                basis.rows[np.ix_(votes, keep)],
                basis.squares[votes],
            ),
            group,
            Scene(masses, columns),
            of_class,
        )
        factors = np.array([recoding_factors(masses, float(value)) for value in recodings])
        found = accuracies(scores.T, of_class, factors)
        of_rare = found[:, rare] if len(rare) else found
        return [found.mean(axis=1), of_rare.mean(axis=1)]

    def plain_accuracies(self, factor: Floats, recodings: Floats) -> Floats:
        """Return accuracies by recoding, shape (A,), as things are, with all classes to choose."""
        snapshot, of_class = self.snapshot, self.classes[self.of_class]
        _, cross, masses = snapshot.equations
        V, right = self.n_voters, cross - np.outer(snapshot.mean, masses)
        columns = np.asfortranarray(np.concatenate([self.voters.T, right], axis=1))
        half: Floats = blas.dtrsm(1.0, factor, columns, lower=1, overwrite_b=1)
        voters, right = half[:, :V], half[:, V:]
        share = snapshot.fit_intercept / masses.sum()
        leverage = np.einsum("ij,ij->j", voters, voters) + share
        leverage *= (masses / np.maximum(snapshot.counts, 1))[of_class]  # weights are held fixed
        scores = products(right, voters) + share * masses[:, None]
        scores[of_class, np.arange(V)] -= leverage
        scores /= np.maximum(1 - leverage, np.finfo(float).tiny)
        scores[masses == 0] = -np.inf  # announced, but not taught
        factors = np.array([recoding_factors(masses, float(value)) for value in recodings])
        found: Floats = accuracies(scores, of_class, factors)[:, self.classes].mean(axis=1)
        return found


def accuracies(scores: Floats, truth: NDArray[np.intp], factors: Floats) -> Floats:
    """Return the accuracy of each class under each of several recodings.

    Parameters
    ----------
    scores : ndarray of shape (T, V)
        A class a row, so that the largest of each column is found many columns at a time.
    truth : ndarray of shape (V,)
        The class of each column.
    factors : ndarray of shape (A, T)
        Factors on the scores.

    Returns
    -------
    ndarray of shape (A, T)
        0 for a class of which there is no column.

    Examples
    --------
    >>> scores = np.array([[0.7, 0.6], [0.3, 0.4]])
    >>> accuracies(scores, np.array([0, 1]), np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([[1., 0.],
           [1., 1.]])
    """
    own = scores[truth, np.arange(len(truth))]
    hits = [own * factor[truth] >= (scores * factor[:, None]).max(axis=0) for factor in factors]
    there = np.maximum(np.bincount(truth, minlength=len(scores)), 1)
    return np.array([np.bincount(truth, hit, minlength=len(scores)) / there for hit in hits])
