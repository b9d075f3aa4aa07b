"""What choosing inside the stream keeps, and how it comes to a choice."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Floats, Index, Rows
from newfound.heads.recoding import recoding_factors
from newfound.selection.holdout import HeldBack
from newfound.selection.progressive import Progress
from newfound.selection.rules import Choice, first_best, nearest, paper_rule
from newfound.selection.schedule import Key, Occasion, Schedule, Work
from newfound.solvers.base import Solver
from newfound.solvers.grid import Candidates
from newfound.solvers.settings import SelectionSettings
from newfound.sums.sums import Sums

# Penalties tried by default, in mean squares of a feature.
PENALTIES = np.logspace(1, 5, 10)
# Of the mean square of a row, what is no spread but rounding: the rows are all alike.
ALL_ALIKE = 1e-13
# The recoding until the stream has said anything, as near as those allowed come to it.
USUAL_RECODING = 0.7
# Rows of a class held out for the what-ifs where validation is progressive.
FEW = 20
# How often the occasion of a schedule must grow until a new one is begun, a piece with every call
# that learns; and until such a call does all of it.
RENEW, RENEW_NOW = 2.0, 4.0


class Voting(NamedTuple):
    """How the classes that vote fare as things are."""

    table: Floats  # accuracy, shape (K, A, C)
    classes: Index  # which classes those are, shape (C,)


class Selector:
    """Examples held out, tests counted, and what the what-ifs said: all that a choice rests on.

    Parameters
    ----------
    held : HeldBack
    scale : float
        Mean square of a feature, which the default penalties are multiples of; 0 if not known yet.
    """

    # scaled_at: number of examples at which `scale` was looked at last.
    # progress, progress_key: tests counted, and the candidates that were tested.
    # schedule, work: what the what-ifs said, and what they are about to say.
    # plain: number of examples and place of the penalty, when it was last chosen without them.
    # revision: goes up whenever anything was learned or forgotten.
    # chosen: the last choice, with the revision, the candidates and the settings it was made for.
    # tentative: a schedule that only questions needed, with revision and key; never more than a
    #     cache, for what is asked must not change what is answered later.

    def __init__(self, held: HeldBack, scale: float) -> None:
        self.held = held
        self.scale = scale
        self.scaled_at = 0
        self.progress = Progress()
        self.progress_key: Key | None = None
        self.schedule: Schedule | None = None
        self.work: Work | None = None
        self.plain: tuple[int, int] | None = None
        self.revision = 0
        self.chosen: tuple[int, Candidates, SelectionSettings, Choice] | None = None
        self.tentative: tuple[int, Schedule] | None = None

    def penalties(self, settings: SelectionSettings) -> tuple[float, ...]:
        """Return the penalties of the candidates, rising."""
        if settings.penalties != "auto":
            return settings.penalties
        return tuple(np.clip((self.scale or 1.0) * PENALTIES, 1e-100, 1e100).tolist())

    def key(self, settings: SelectionSettings) -> Key:
        """Return what the candidates are."""
        penalties = self.penalties(settings)
        return Key(penalties, settings.recodings, settings.class_weight, settings.fit_intercept)

    def rescale(self, sums: Sums, settings: SelectionSettings) -> bool:
        """Look at the scale of the features whenever there are twice as many examples.

        Returns whether it was off by more than a factor of two, and so the penalties change.
        """
        if settings.penalties != "auto" or sums.total < 2 * self.scaled_at:
            return False
        scale = scale_of(sums, settings.fit_intercept)
        if not scale:
            return False
        self.scaled_at = sums.total
        if self.scale and 0.5 <= scale / self.scale <= 2:
            return False
        self.scale, self.plain = scale, None
        self.revision += 1
        return True

    def reconsider(self, candidates: Candidates, settings: SelectionSettings) -> None:
        """Renew a schedule that is due now, instead of piece by piece."""
        occasion = self._occasion(candidates.sums, settings)
        if occasion is not None and self._is_stale(occasion, settings, RENEW):
            self.schedule = self._worked_out(occasion, candidates, settings)
        self.work = self.chosen = None
        self.revision += 1

    def cap(self, settings: SelectionSettings) -> int:
        """Return how many rows of a class may be held out."""
        if settings.validation == "holdout":
            return settings.holdout_cap
        return min(FEW, settings.holdout_cap) if settings.rule == "what-if" else 0

    def counts(self, sums: Sums) -> Counts:
        """Return how often each class was taught, rows held out included, shape (T,)."""
        return sums.counts + self.held.counts(sums.labels)

    def count_tests(self, settings: SelectionSettings, labels: list[Any], right: Any) -> None:
        """Count what `right_answers` said about rows of these classes, before they were learned."""
        key = self.key(settings)
        if self.progress_key != key:
            self.progress, self.progress_key = Progress(), key
        self.progress.count(labels, right)

    def voting(
        self, candidates: Candidates, settings: SelectionSettings, least: int
    ) -> Voting | None:
        """Return how classes taught at least so often fare under every candidate, if any vote."""
        sums = candidates.sums
        labels, often = sums.labels, self.counts(sums) >= least
        if settings.validation == "progressive":
            counted = self.progress.tests if self.progress_key == self.key(settings) else {}
            tested = np.array([label in counted for label in labels.tolist()])
            classes = np.flatnonzero(often & tested)
            if not len(classes):
                return None
            return Voting(self.progress.accuracies(labels[classes]), classes)
        classes = np.flatnonzero(often & (self.held.counts(labels) > 0))
        if not len(classes):
            return None
        rows, of_class = self.held.stacked(labels[classes], sums.width)
        table, there = [], np.bincount(of_class)
        for solver in candidates.solvers:
            right = right_answers(solver, rows, classes[of_class], settings.recodings)
            table.append([np.bincount(of_class, hits) / there for hits in right])
        return Voting(np.array(table), classes)

    def current_choice(self, candidates: Candidates, settings: SelectionSettings) -> Choice:
        """Return the choice for the present state, made once."""
        if self.chosen is not None:
            revision, chosen_from, chosen_for, choice = self.chosen
            if revision == self.revision and chosen_from is candidates and chosen_for == settings:
                return choice
        choice = self.choose(candidates, settings)
        self.chosen = self.revision, candidates, settings, choice
        return choice

    def choose(self, candidates: Candidates, settings: SelectionSettings) -> Choice:
        """Return what the rule chooses now."""
        sums, recodings = candidates.sums, np.array(settings.recodings)
        schedule = self.current_schedule(candidates, settings)
        if schedule is not None:
            place, rungs = schedule.choose()
            counts = np.log(np.maximum(sums.counts, 1))
            return Choice(place, np.interp(counts, np.log(schedule.ladder), rungs))
        place, level = 0, nearest(recodings, USUAL_RECODING)
        recoding = recodings[level]
        voting = None
        if settings.rule != "what-if" or self._asks_what_if(settings):
            voting = self.voting(candidates, settings, settings.min_class_count)
        if voting is None and settings.rule == "what-if":
            place = self._plain_penalty(candidates, settings)
        elif voting is not None and settings.rule is None:
            place = int(first_best(voting.table[:, level].mean(axis=1), axis=0))
        elif voting is not None:
            place, level = paper_rule(voting.table, settings.tolerance)
            recoding = recodings[level]
            if settings.rule == "what-if":
                # Too few classes are known to pretend anything, and votes are few. Half way to the
                # strongest recoding that does no harm is as safe as it is useful.
                recoding = (recodings[0] + recoding) / 2
        return Choice(place, np.full(sums.n_classes, recoding))

    def rare_counts(self, sums: Sums, settings: SelectionSettings) -> Counts:
        """Return how many examples were learned of each class that is not well known."""
        counts = sums.counts
        return counts[(counts > 0) & ~self._is_known(sums, settings)]

    def advance(self, candidates: Candidates, settings: SelectionSettings) -> None:
        """Renew what is due: a schedule that still serves a piece at a time, all else at once."""
        sums = candidates.sums
        occasion = self._occasion(sums, settings)
        if occasion is None:
            self.work = None
            if settings.rule == "what-if" and self._plain_is_due(sums):
                place = self._voted_penalty(candidates, settings)
                self.plain = (sums.total, place)
                self.revision += 1
            return
        if self._is_stale(occasion, settings, RENEW_NOW):
            self.schedule, self.work = self._worked_out(occasion, candidates, settings), None
            self.revision += 1
            return
        work = self.work
        if work is None or not work.still_fits(sums.labels, self.key(settings)):
            if not self._is_stale(occasion, settings, RENEW):
                self.work = None
                return
            work = self._begin(occasion, candidates, settings)
        self.work = None  # should it fail, it starts anew
        work.advance(candidates)
        if work.is_done:
            self.schedule = work.schedule
            self.revision += 1
        else:
            self.work = work

    def current_schedule(
        self, candidates: Candidates, settings: SelectionSettings
    ) -> Schedule | None:
        """Return the schedule there is, a new one if that is much too old, None if none can be."""
        occasion = self._occasion(candidates.sums, settings)
        if occasion is None:
            return None
        if not self._is_stale(occasion, settings, RENEW_NOW):
            return self.schedule
        if self.tentative is not None:
            revision, schedule = self.tentative
            if revision == self.revision and schedule.key == self.key(settings):
                return schedule
        schedule = self._worked_out(occasion, candidates, settings)
        self.tentative = self.revision, schedule
        return schedule

    def _is_stale(self, occasion: Occasion, settings: SelectionSettings, factor: float) -> bool:
        schedule = self.schedule
        return (
            schedule is None
            or schedule.key != self.key(settings)
            or schedule.occasion.has_changed(occasion, factor)
        )

    def _worked_out(
        self, occasion: Occasion, candidates: Candidates, settings: SelectionSettings
    ) -> Schedule:
        work = self._begin(occasion, candidates, settings)
        while not work.is_done:
            work.advance(candidates)
        return work.schedule

    def _asks_what_if(self, settings: SelectionSettings) -> bool:
        # Where all classes weigh the same, there is nothing to recode.
        return settings.rule == "what-if" and settings.class_weight != "balanced"

    def _is_known(self, sums: Sums, settings: SelectionSettings) -> NDArray[np.bool_]:
        enough = self.counts(sums) >= settings.min_class_count
        return enough & (self.held.counts(sums.labels) > 1)

    def _occasion(self, sums: Sums, settings: SelectionSettings) -> Occasion | None:
        """Return what a schedule would be made for; None where there is nothing to ask what-if."""
        if not self._asks_what_if(settings):
            return None
        known = int(np.count_nonzero(self._is_known(sums, settings)))
        if known < 2:
            return None
        taught = np.count_nonzero(sums.counts)
        # As large a part of the known classes as is rare among all, but never most of them; and not
        # less than a fifth, for each that plays a rare one tells something.
        part = min(max(1 - known / taught, 0.2), 0.5)
        return Occasion(sums.total, known, max(1, int(part * known)))

    def _begin(
        self, occasion: Occasion, candidates: Candidates, settings: SelectionSettings
    ) -> Work:
        sums = candidates.sums
        known = self._is_known(sums, settings)
        labels, count = sums.labels[known].tolist(), np.median(sums.counts[known])
        return Work(self.key(settings), occasion, labels, self.held, int(count))

    def _plain_penalty(self, candidates: Candidates, settings: SelectionSettings) -> int:
        """Return the penalty chosen by all that are held out: they are few as yet."""
        if self.plain is None or self._plain_is_due(candidates.sums):
            return self._voted_penalty(candidates, settings)
        return min(self.plain[1], len(candidates.solvers) - 1)

    def _plain_is_due(self, sums: Sums) -> bool:
        if self.plain is None:
            return True
        return not self.plain[0] / RENEW < sums.total < self.plain[0] * RENEW

    def _voted_penalty(self, candidates: Candidates, settings: SelectionSettings) -> int:
        voting = self.voting(candidates, settings, 1)
        if voting is None:
            return 0
        at = nearest(np.array(settings.recodings), USUAL_RECODING)
        return int(first_best(voting.table[:, at].mean(axis=1), axis=0))


def right_answers(
    solver: Solver,
    X: Rows,
    truth: Index,
    recodings: tuple[float, ...],
) -> list[NDArray[np.bool_]]:
    """Return, for each recoding, which rows are given their true class, shape (m,) each."""
    masses, scores = solver.masses, X @ solver.weights + solver.intercept
    scores = np.where(masses > 0, scores, -np.inf)  # announced, but not taught
    factors = [recoding_factors(masses, recoding) for recoding in recodings]
    return [(scores * factor).argmax(axis=1) == truth for factor in factors]


def scale_of(sums: Sums, fit_intercept: bool) -> float:
    """Return the mean square of a feature, around its mean if an intercept takes that.

    >>> sums = Sums(width=1)
    >>> sums.add(np.array([[1.0], [3.0]]), *sums.locate(np.array(["mug", "mug"])))
    >>> scale_of(sums, fit_intercept=True), scale_of(sums, fit_intercept=False)
    (1.0, 5.0)
    """
    squares = sums.trace / sums.total
    mean = sums.cross.sum(axis=1) / sums.total if fit_intercept else np.zeros(1)
    spread = float(squares - mean @ mean)
    return spread / sums.width if spread > ALL_ALIKE * squares else 0.0
