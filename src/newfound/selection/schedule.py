"""How strongly to recode a class seen m times, worked out by what-ifs, a piece at a time."""

from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels
from newfound.heads.recoding import recoding_factors
from newfound.selection.holdout import HeldBack
from newfound.selection.rules import nearness, what_if_rule
from newfound.selection.what_if import Basis, Pretence, accuracies, pretended_scores
from newfound.solvers.base import Solver
from newfound.solvers.grid import Candidates
from newfound.solvers.settings import ClassWeight
from newfound.sums.blas import products

# The largest count that is pretended: a class seen more often is not rare, whatever the others are.
LARGEST = 1024
# Rows that vote on a scenario, all classes together; more would cost more than they tell.
VOTERS = 1000
# Scenarios for each pretended count: at least, and at most. Between, as many as it takes for each
# known class to play a rare one.
FEWEST, MOST = 4, 8


class Key(NamedTuple):
    """The candidates that what-ifs or tests are about; they tell nothing of any other."""

    penalties: tuple[float, ...]
    recodings: tuple[float, ...]
    class_weight: ClassWeight | None
    fit_intercept: bool


class Occasion(NamedTuple):
    """What a schedule was made for: when this has changed much, it is time for another."""

    examples: int
    known: int  # classes well known
    pretended: int  # classes pretended rare at once

    def has_changed(self, other: "Occasion", factor: float) -> bool:
        """Tell whether `other` is so different that what was worked out here is stale."""
        examples, known, pretended = np.array(other) / np.array(self)
        return not (
            1 / factor < examples < factor
            and 1 / factor < known < factor
            and 1 / factor < pretended < factor
        )


class Schedule(NamedTuple):
    """What the what-ifs said: accuracies by pretended count, penalty and recoding."""

    key: Key
    occasion: Occasion
    ladder: Floats  # the pretended counts, shape (M,)
    table: Floats  # of each known class, shape (M, K, A, C)
    rare: Floats  # of the classes pretended rare, shape (M, K, A)
    others: Floats  # of the other known classes, shape (M, K, A)

    def choose(self) -> tuple[int, Floats]:
        """Return the place of the penalty, and the recoding for each rung of the ladder."""
        penalty, places = what_if_rule(self.table, self.ladder)
        recodings = self.key.recodings
        return penalty, np.interp(places, np.arange(len(recodings)), recodings)

    def present(self, rare_counts: Counts, small: int) -> Floats:
        """Return how much each rung of the ladder matters, shape (M,), adding up to 1."""
        if len(rare_counts):
            return nearness(rare_counts.astype(np.float64), self.ladder) / len(rare_counts)
        matters = (self.ladder <= max(1, small)).astype(np.float64)
        shares: Floats = matters / matters.sum()
        return shares


class Work:
    """A schedule in the making: one penalty a piece, each from the sums as they then are.

    Parameters
    ----------
    key : Key
    occasion : Occasion
    known : list of labels
        Classes known well.
    held : HeldBack
        Their rows held out: some play the few that were taught, the others vote.
    count : int
        How often a known class has been taught, typically: the ladder goes up to it.
    """

    def __init__(
        self, key: Key, occasion: Occasion, known: list[Any], held: HeldBack, count: int
    ) -> None:
        rng = np.random.default_rng((held.seed, occasion.examples))
        self.key, self.occasion, self.known = key, occasion, known
        self.ladder: Floats = np.exp2(np.arange(min(count, LARGEST).bit_length()).astype(float))
        self.examples: list[Floats] = []  # for each known class, rows that play the few taught
        voters, of_class, ranks = [], [], []
        limit = max(5, VOTERS // len(known))
        for place, label in enumerate(known):
            rows = np.array(held.rows[label], dtype=np.float64)
            rows = rows[rng.permutation(len(rows))]
            self.examples.append(rows[: len(rows) // 2])
            first = max(0, len(rows) - limit)
            voters.append(rows[first:])
            of_class.append(np.full(len(rows) - first, place))
            ranks.append(np.arange(first, len(rows)))
        self.voters = np.concatenate(voters)
        # The place among `known` of each voter's class, and its own place among its class's rows.
        self.of_class: Index = np.concatenate(of_class)
        self.ranks: Index = np.concatenate(ranks)
        self.scenarios = self._draw(rng)
        shape = (len(self.ladder), len(key.penalties), len(key.recodings))
        self.table = np.zeros((*shape, len(known)))
        self.rare, self.others = np.zeros(shape), np.zeros(shape)
        self.done = 0

    @property
    def is_done(self) -> bool:
        """Whether all pieces are there."""
        return self.done == self.table.shape[1]

    @property
    def schedule(self) -> Schedule:
        """The finished schedule."""
        return Schedule(self.key, self.occasion, self.ladder, self.table, self.rare, self.others)

    def still_fits(self, labels: Labels, key: Key) -> bool:
        """Tell whether all the known classes are there still, and the candidates are the same."""
        return key == self.key and set(self.known) <= set(labels.tolist())

    def advance(self, candidates: Candidates) -> None:
        """Do the next piece."""
        piece, self.done = self.done, self.done + 1
        solver, sums = candidates.solvers[piece], candidates.sums
        places = np.array([sums.position(label) for label in self.known])
        means = sums.cross / np.maximum(sums.counts, 1)
        # U: the means of all classes and, for each rung and known class, that of a few rows.
        vectors: list[Floats] = [means]
        columns: dict[tuple[float, int], int] = {}
        for rung in self.ladder:
            for place, rows in enumerate(self.examples):
                if rung <= len(rows):
                    columns[rung, place] = means.shape[1] + len(columns)
                    vectors.append(rows[: int(rung)].mean(axis=0)[:, None])
        U = np.asfortranarray(np.concatenate(vectors, axis=1))
        directions = solver.inverse_times(U)
        basis = Basis(products(self.voters.T, directions).T, products(U, directions))
        for m, rung in enumerate(self.ladder):
            parts = [
                self._try(scenario, rung, solver, basis, places, columns)
                for scenario in self.scenarios
            ]
            self.table[m, piece], self.rare[m, piece], self.others[m, piece] = (
                np.mean(part, axis=0) for part in zip(*parts, strict=True)
            )

    def _try(
        self,
        scenario: list[int],
        rung: float,
        solver: Solver,
        basis: Basis,
        places: Index,
        columns: dict[tuple[float, int], int],
    ) -> tuple[Floats, Floats, Floats]:
        """Return, by recoding, the accuracy of each known class; of the rare ones; of the others.

        `places` says where the known classes stand, `columns` where the means of few rows do.
        """
        counts, masses = solver.sums.counts, solver.masses
        scarce = [place for place in scenario if counts[places[place]] > rung]
        # The vectors that this scenario needs: the means of all classes, and its few rows.
        taught = [place for place in scarce if (rung, place) in columns]
        keep = [*range(len(masses)), *(columns[rung, place] for place in taught)]
        few = {place: len(masses) + i for i, place in enumerate(taught)}
        pretended = {}
        for place in scarce:
            at = int(places[place])
            pretended[at] = Pretence(rung * masses[at] / counts[at], few.get(place, at))
        scores, kept = pretended_scores(
            Basis(basis.scores[keep], basis.products[np.ix_(keep, keep)]),
            masses,
            pretended,
            solver.fit_intercept,
        )
        votes = ~np.isin(self.of_class, taught) | (self.ranks >= rung)  # rows taught do not
        factors = np.array([recoding_factors(kept, value) for value in self.key.recodings])
        # Classes that are rare already stay out of it: the pretended ones play their part.
        found = accuracies(scores[np.ix_(places, votes)], self.of_class[votes], factors[:, places])
        is_rare = np.isin(np.arange(len(places)), scarce)
        rare = found[:, is_rare if scarce else ~is_rare].mean(axis=1)
        return found, rare, found[:, ~is_rare].mean(axis=1)

    def _draw(self, rng: np.random.Generator) -> list[list[int]]:
        """Return which of the known classes each scenario pretends rare: each about as often."""
        size, order = self.occasion.pretended, np.zeros(0, dtype=np.intp)
        number = min(max(FEWEST, len(self.known) // size), MOST)
        while len(order) < number * size:
            order = np.append(order, rng.permutation(len(self.known)))
        return [np.unique(part).tolist() for part in order[: number * size].reshape(number, size)]
