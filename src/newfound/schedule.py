"""How strongly to recode a class seen m times, worked out by what-ifs, a piece at a time."""

from typing import Any, NamedTuple

import numpy as np

from newfound.candidates import Candidates
from newfound.choosing import nearness, what_if_rule
from newfound.gram import Floats
from newfound.held_back import HeldBack
from newfound.labels import Labels
from newfound.recoding import recoding_factors
from newfound.statistics import Counts, Index
from newfound.what_if import Basis, Pretence, accuracies, pretended_scores

# The largest count that is pretended: a class seen more often is not rare, whatever the others are.
LARGEST = 1024
# Rows that vote on a scenario, all classes together; more would cost more than they tell.
VOTERS = 1000
# Scenarios for each pretended count: at least, and at most. Between, as many as it takes for each
# known class to play a rare one twice.
FEWEST, MOST = 4, 8


class Occasion(NamedTuple):
    """What a schedule was made for: when this has changed much, it is time for another."""

    examples: int
    known: int  # classes well known
    pretended: int  # classes pretended rare at once

    def has_grown(self, other: "Occasion", factor: float) -> bool:
        """Tell whether `other` is so much later that what was worked out here is stale."""
        examples, known, pretended = np.array(other) / np.array(self)
        return bool(
            examples >= factor
            or known >= (1 + factor) / 2
            or not 1 / factor < pretended < factor
            or examples < 1 / factor
        )


class Schedule(NamedTuple):
    """What the what-ifs said: accuracies by pretended count, penalty and recoding."""

    occasion: Occasion
    ladder: Floats  # the pretended counts, shape (M,)
    table: Floats  # of each known class, shape (M, K, A, C)
    rare: Floats  # of the classes pretended rare, shape (M, K, A)
    others: Floats  # of the other known classes, shape (M, K, A)

    def choose(self, rare_counts: Counts, small: int, recodings: Floats) -> tuple[int, Floats]:
        """Return the place of the penalty, and the recoding for each rung of the ladder.

        For the rare classes at hand or, if there are none, for any that comes and has less than
        `small` examples.
        """
        penalty, places = what_if_rule(self.table, self.present(rare_counts, small))
        return penalty, recodings[places]

    def present(self, rare_counts: Counts, small: int) -> Floats:
        """Return how much each rung of the ladder matters, shape (M,), adding up to 1."""
        if len(rare_counts):
            return nearness(rare_counts.astype(np.float64), self.ladder) / len(rare_counts)
        matters = (self.ladder < small).astype(np.float64)
        shares: Floats = matters / matters.sum()
        return shares


class Work:
    """A schedule in the making: one penalty a piece, each from the sums as they then are.

    Parameters
    ----------
    occasion : Occasion
    known : list of labels
        Classes known well.
    held : HeldBack
        Their rows held back: some play the few that were taught, the others vote.
    count : int
        How often a known class has been taught, typically: the ladder goes up to it.
    candidates : int
        Number of penalties.
    recodings : ndarray of shape (A,)
    """

    def __init__(
        self,
        occasion: Occasion,
        known: list[Any],
        held: HeldBack,
        count: int,
        candidates: int,
        recodings: Floats,
    ) -> None:
        rng = np.random.default_rng((held.seed, occasion.examples))
        self.occasion, self.known, self.recodings = occasion, known, recodings
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
        shape = (len(self.ladder), candidates, len(recodings))
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
        return Schedule(self.occasion, self.ladder, self.table, self.rare, self.others)

    def still_fits(self, labels: Labels) -> bool:
        """Tell whether all the known classes are there still."""
        return set(self.known) <= set(labels.tolist())

    def advance(self, candidates: Candidates) -> None:
        """Do the next piece."""
        piece, self.done = self.done, self.done + 1
        solver, statistics = candidates.solvers[piece], candidates.statistics
        places = np.array([statistics.position(label) for label in self.known])
        counts, masses = statistics.counts, solver.masses
        means = statistics.cross / np.maximum(counts, 1)
        few = [
            rows[: int(rung)].mean(axis=0)
            for rung in self.ladder
            for rows in self.examples
            if rung <= len(rows)
        ]
        U = np.column_stack([means, *few])
        directions = solver.inverse_times(U)
        whole = Basis(directions.T @ self.voters.T, U.T @ directions)
        truth = places[self.of_class]
        column = len(masses)
        for m, rung in enumerate(self.ladder):
            columns = {}
            for place, rows in enumerate(self.examples):
                if rung <= len(rows):
                    columns[place] = column
                    column += 1
            self._try(m, piece, whole, columns, places, counts, masses, truth, solver.fit_intercept)

    def _try(
        self,
        m: int,
        piece: int,
        whole: Basis,
        columns: dict[int, int],
        places: Index,
        counts: Counts,
        masses: Floats,
        truth: Index,
        fit_intercept: bool,
    ) -> None:
        """Fill in what all scenarios say about one pretended count."""
        T, rung = len(masses), self.ladder[m]
        total, rare, others = [], [], []
        for scenario in self.scenarios:
            scarce = [place for place in scenario if counts[places[place]] > rung]
            # The vectors that this scenario needs: the means of all classes, and its few rows.
            needed = [columns[place] for place in scarce if place in columns]
            keep = np.concatenate([np.arange(T), needed]).astype(np.intp)
            basis = Basis(whole.scores[keep], whole.products[np.ix_(keep, keep)])
            pretended, votes = {}, np.ones(len(truth), dtype=bool)
            for place in scarce:
                at = places[place]
                column = T + needed.index(columns[place]) if place in columns else at
                pretended[int(at)] = Pretence(float(rung * masses[at] / counts[at]), int(column))
                if place in columns:  # rows that are taught do not vote
                    votes &= (self.of_class != place) | (self.ranks >= rung)
            scores, kept = pretended_scores(basis, masses, pretended, fit_intercept)
            factors = np.array([recoding_factors(kept, float(value)) for value in self.recodings])
            # Classes that are rare already stay out of it: the pretended ones play their part.
            here = scores[np.ix_(places, votes)]
            found = accuracies(here, self.of_class[votes], factors[:, places])
            is_rare = np.isin(np.arange(len(places)), scarce)
            total.append(found)
            rare.append(found[:, is_rare].mean(axis=1) if scarce else found.mean(axis=1))
            others.append(found[:, ~is_rare].mean(axis=1))
        self.table[m, piece] = np.mean(total, axis=0)
        self.rare[m, piece] = np.mean(rare, axis=0)
        self.others[m, piece] = np.mean(others, axis=0)

    def _draw(self, rng: np.random.Generator) -> list[list[int]]:
        """Return which of the known classes each scenario pretends rare: each about as often."""
        size, order = self.occasion.pretended, np.zeros(0, dtype=np.intp)
        number = min(max(FEWEST, 2 * len(self.known) // size), MOST)
        while len(order) < number * size:
            order = np.append(order, rng.permutation(len(self.known)))
        return [np.unique(part).tolist() for part in order[: number * size].reshape(number, size)]
