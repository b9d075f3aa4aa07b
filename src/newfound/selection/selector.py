"""Penalty and recoding, selected inside the stream: the result that counts, and what is pending."""

import copy
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index
from newfound.common.device import on_host
from newfound.common.interrupts import uninterrupted
from newfound.common.pieces import Stages
from newfound.common.threads import one_thread
from newfound.layers.layer import FIRST_ROWS
from newfound.memory.batch import Batch
from newfound.memory.memory import Memory
from newfound.selection.calibration import Calibration, calibrate_by_sums
from newfound.selection.choice import Choice, Parameters
from newfound.selection.pending import SMALLEST_PIECE, PendingSelection
from newfound.selection.result import SelectionResult, expected_result, select
from newfound.selection.snapshot import Snapshot, snapshot_in_stages
from newfound.selection.validation import (
    MOST_ROWS,
    MOST_VOTERS,
    ValidationSet,
    validated_classes,
)
from newfound.solvers.base import Solver, solver_for
from newfound.solvers.renewal import PIECE, pieces_of_renewal
from newfound.solvers.rounding import resolution
from newfound.solvers.settings import SelectionSettings
from newfound.sums.arrays import moved
from newfound.sums.leading import leading
from newfound.sums.sums import Sums

# How often more examples there must be until parameters are selected again: sooner where there may
# be a layer, for which a few hundred examples make a difference.
RENEW, RENEW_LAYER = 2.0, 1.5
# Of two classes, numbers of examples that tell much more of a layer than fewer: in a stream sorted
# by class they come late.
LEVELS = 100, 300
# After forgetting they are selected anew, lest a choice rest on what is no more. But in a stream of
# rows that come and go that happens only after so many of them, or where such a share of all
# squares goes at once, or has gone since the last time.
QUIET_ROWS, SHOCK, FORGOTTEN = 1000, 0.1, 0.5
# A layer is used once witnesses, left out, are likelier behind it by so many standard errors; and
# for as long as they are by so many. No advantage is said to be larger than the third.
BEGIN_ABOVE, STAY_ABOVE, LARGEST = 2.0, 1.0, 1e6
# Of the mean square of a row, what is no spread but rounding: the rows are all alike.
ALL_ALIKE = 1e-13


class Plan(NamedTuple):
    """What becomes of a batch that is about to be learned."""

    rows: int  # how many rows it has
    first: int  # with how many of them a pending selection goes on
    begun: "tuple[PendingSelection | SelectionResult, ...]"  # in their midst, in turn
    is_due: bool  # whether to begin another after the last of them
    defer: bool  # whether to find everything out anew when somebody asks


class Selector(Choice):
    """Parameters that leave-one-out scores of the witnesses select.

    Parameters
    ----------
    settings : SelectionSettings
        What to choose from. May be replaced at any time.
    """

    # latest: the result that counts. None: to be found before anything else happens.
    # _pending: the next one, under way.
    # forgotten: share of all squares forgotten since the last selection.
    # _judgements: how often the sums were judged when the penalty was looked at beside them.
    # quiet_rows: that came and went since forgetting last led to a selection; -1: nothing else has
    #     happened since.

    is_fixed = False

    def __init__(self, settings: SelectionSettings) -> None:
        self.settings = settings
        self.latest: SelectionResult | None = None
        self._pending: PendingSelection | None = None
        self.forgotten, self._judgements = 0.0, 0
        self.quiet_rows = QUIET_ROWS

    def result(self, memory: Memory) -> SelectionResult:
        """Return what the choice rests on, found now if it has to be."""
        result = self.latest
        if result is None or result.settings != self.settings:
            return self._select(memory)
        return result

    @one_thread
    def _select(self, memory: Memory) -> SelectionResult:
        begun = self.begin(memory, anew=True)
        result = begun.finish() if isinstance(begun, PendingSelection) else begun
        self._adopt(result, memory)
        return result

    def penalty(self, memory: Memory) -> float:
        """Return the penalty that is used."""
        return self.result(memory).penalty

    def uses_layer(self, memory: Memory) -> bool:
        """Return whether answers are those behind the layer, if there is one."""
        return self.settings.layer != "auto" or self.result(memory).uses_layer

    def coming(self) -> tuple[float, bool] | None:
        """Return the penalty that is to come, and whether the layer is used then, if known."""
        pending = None if self.pending is None else self.pending.result
        return None if pending is None else (pending.penalty, pending.uses_layer)

    def parameters(self, memory: Memory) -> Parameters:
        """Return all that is used, with a recoding for each class."""
        result = self.result(memory)
        recoding = result.recoding(memory.sums.sizes)
        return Parameters(result.penalty, recoding, result.calibration.sharpness)

    def calibration(self, memory: Memory, solver: Solver) -> Calibration:
        """Return how sure answers may be."""
        return self.result(memory).calibration

    @property
    def pending(self) -> PendingSelection | None:
        """The selection under way, if there is one that can go on."""
        return None if self._pending is None or self._pending.has_failed else self._pending

    @pending.setter
    def pending(self, pending: PendingSelection | None) -> None:
        self._pending = pending

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pending": self.pending}

    def copy(self) -> "Selector":
        """Return another that knows the same."""
        # Only what is pending changes in place: results are replaced.
        other = copy.copy(self)
        other.pending = copy.copy(other.pending)
        return other

    def _adopt(self, result: SelectionResult | None, memory: Memory | None = None) -> None:
        """Let a result count; drop what is pending."""
        if result is not None and memory is not None:
            result = result.only(memory.witnesses.of_class)
        with uninterrupted():
            self.latest, self.pending, self.forgotten = result, None, 0.0

    def _drop_vanished(self, memory: Memory) -> None:
        """Know nothing of classes that are no more."""
        if self.latest is not None:
            self.latest = self.latest.only(memory.witnesses.of_class)

    def rename(self, old: Any, new: Any) -> None:
        """Know class `old` by its new label."""
        if self.latest is not None:
            self.latest = self.latest.rename(old, new)
        if self.pending is not None:
            self.pending.rename(old, new)

    def discard(self) -> None:
        """Select anew before anything else happens."""
        self._adopt(None)

    def reconsider(self, memory: Memory) -> None:
        """Select now, from all there is."""
        self._select(memory)

    def finish_piece(self) -> bool:
        """Do a piece of what is pending; return whether nothing is left of it."""
        pending = self.pending
        if pending is None or pending.result is not None:
            return True
        pending.step()
        return False

    def points(self, before: int, after: int, firsts: list[int]) -> list[int]:
        """Return at which numbers of examples to begin a selection.

        That is where examples have doubled once more since the last time (with a layer, half as
        many are enough), and at any of `firsts`, after `before` and up to `after`.

        >>> settings = SelectionSettings("auto", (0.7,), None, 40, 30, 0.0, None, True, 0)
        >>> selector = Selector(settings)
        >>> selector.points(0, 9, []), selector.points(64, 100, [70]), selector.points(64, 128, [])
        ([1, 2, 4, 8], [70], [128])
        """
        latest, more = self.pending or self.latest, RENEW
        if self.settings.layer is not None:
            more = RENEW_LAYER
        point, points = latest.total if latest is not None else 1, []
        while point <= after:
            if point > before:
                points.append(point)
            point = min([first for first in firsts if first > point] + [math.ceil(more * point)])
        return points

    def begin(self, memory: Memory, anew: bool = False) -> PendingSelection | SelectionResult:
        """Begin a selection; where nothing can be scored, return what is expected.

        Where the layer is in question, all is asked twice: of the part of the sums that is linear
        in rows, and of all. `anew` forgets whether it is used now.
        """
        settings, sums = self.settings, memory.sums
        witnesses = memory.witnesses.first(memory.cap)
        if sums.device is not None:  # witnesses are on the host
            sums = moved(sums, None)
        is_asked = settings.layer == "auto" and memory.layer is not None
        parts = [(sums, memory.layer)]
        if is_asked:
            parts = [(leading(sums, memory.width), None), *parts]
        solvers = [solver_for(part, settings) for part, _ in parts]
        starts = [_expected(solver, settings) for solver in solvers]
        start, solver = starts[0], solvers[0]
        used = is_asked and not anew and self.latest is not None and self.latest.uses_layer
        if used:
            start, solver = starts[-1], solvers[-1]
        start = start._replace(uses_layer=used)
        least = settings.min_class_count
        classes = validated_classes(sums.sizes, sums.labels, witnesses, least)
        if classes.scored.sum() < 2:
            if np.count_nonzero(sums.sizes > 1) < 2:
                return start
            # Examples that are all equal cannot be left out, but they have an average.
            calibration = calibrate_by_sums(solver_for(solver.sums, settings, start.penalty))
            return start._replace(calibration=calibration)
        questions = [
            (snapshot_in_stages(one, witnesses, memory.cap, layer), begin)
            for one, (_, layer), begin in zip(solvers, parts, starts, strict=True)
        ]
        width, stages = sums.width, _select_in_stages(questions, start)
        more = pieces_of_renewal(width, sums.total, sums.n_classes)
        return PendingSelection(start, stages, max(SMALLEST_PIECE, float(PIECE * width**2)), more)

    def _firsts(self, memory: Memory, batch: Batch) -> list[int]:
        """Return at which numbers of examples to begin, beside the usual ones, for this batch."""
        levels = (2, max(2, self.settings.min_class_count))
        if self.settings.layer is None:
            return firsts_of(memory.sums.counts, batch.of_class, levels)
        # From the first hundred on there is a layer to ask about.
        firsts = firsts_of(memory.sums.counts, batch.of_class, (*levels, *LEVELS))
        return [FIRST_ROWS + 1, *firsts]

    def plan(self, memory: Memory, batch: Batch, defer: bool) -> Plan:
        """Return what is to be done once a batch is learned, which is about to be.

        A selection begins at the same number of examples however these come, be it in the midst of
        a batch.
        """
        total, size = memory.sums.total, batch.size
        if defer:
            return Plan(size, 0, (), False, True)
        if total:
            self.result(memory)  # what is to begin goes on from what is known now
        end = size
        begun = list[PendingSelection | SelectionResult]()
        points = self.points(total, total + size, self._firsts(memory, batch))
        # From the last on: its result is all that counts, unless it does not count yet.
        for early in (point - total for point in reversed(points)):
            if early < size:
                then = memory.copy()
                then.add(batch.first(early))
                latest = self.begin(then)
                begun.insert(0, latest)
                if isinstance(latest, PendingSelection):
                    latest.advance(end - early)
                if isinstance(latest, SelectionResult) or latest.counts:
                    end = 0
                    break
            end = early
        is_due = points[-1:] == [total + size]
        return Plan(size, end, tuple(begun), is_due, False)

    def follow(self, plan: Plan, memory: Memory) -> None:
        """Go on with what is pending, once the rows of a plan are in the memory."""
        self.quiet_rows = max(0, self.quiet_rows) + plan.rows
        if plan.defer:
            self.discard()
            return
        try:
            self._advance(plan.first, memory)
            for begun in plan.begun:
                self._take_up(begun, memory)
            if plan.is_due:
                self._take_up(self.begin(memory), memory)
        except MemoryError:  # the rows are learned; this can wait until there are twice as many
            self.pending = None
        sums = memory.sums
        if sums.judgements != self._judgements:
            self._judgements = sums.judgements
            if self.latest is not None and self.latest.penalty < resolution(sums.squares):
                self.discard()  # the penalty was selected before rows came that are far larger

    def guide(self, solver: Solver) -> None:
        """Have the solver prepare for a penalty that is to come, or use one that has."""
        latest, pending = self.latest, self.pending
        if latest is None or latest.settings != self.settings:
            return
        if pending is not None and pending.result is not None:
            if pending.result.uses_layer == latest.uses_layer:
                solver.foresee(pending.result.penalty)
        elif solver.penalty != latest.penalty:
            solver.use(latest.penalty)

    def forgot(self, batch: Batch, vanished: Index, memory: Memory) -> None:
        """Select anew, now that rows are no longer in the memory, if they were part of much."""
        sums, fit_intercept = memory.sums, self.settings.fit_intercept
        if not sums.total:
            return
        if len(vanished):
            self._drop_vanished(memory)
        mean = on_host(sums.cross).sum(axis=1) / sums.weight_sum * fit_intercept
        squares = np.square(on_host(sums.around(batch.features)) - mean, dtype=np.float64).sum(
            axis=1
        )
        gone = float(squares.sum() if batch.weights is None else batch.weights @ squares)
        left = spread_of(sums, fit_intercept) * sums.weight_sum
        share = gone / left if left else np.inf
        self.forgotten += share
        was_scored = self.latest is not None and self.latest.rows > 0
        is_quiet = 0 <= self.quiet_rows < QUIET_ROWS
        if is_quiet and was_scored and share < SHOCK and self.forgotten < FORGOTTEN:
            self.quiet_rows += batch.size
        else:
            self.discard()
            self.quiet_rows = -1

    def _take_up(self, begun: PendingSelection | SelectionResult, memory: Memory) -> None:
        if isinstance(begun, SelectionResult):
            self._adopt(begun, memory)
            return
        if self.latest is None:
            self.latest = begun.start
        elif not self.latest.rows:  # what is expected goes by the latest rows
            self.latest = begun.start._replace(calibration=self.latest.calibration)
        self.pending, self.forgotten = begun, 0.0
        self._advance(0, memory)

    def _advance(self, rows: int, memory: Memory) -> None:
        pending, self.pending = self.pending, None  # should it fail, it is gone
        if pending is not None:
            pending.advance(rows)
            if pending.counts:
                self._adopt(pending.result, memory)
            else:
                self.pending = pending


def _expected(solver: Solver, settings: SelectionSettings) -> SelectionResult:
    """Return what is chosen before anything can be scored."""
    sums = solver.sums
    weight = float(solver.weight_sums.sum() / sums.sizes.sum())  # of an example
    spread = weight * spread_of(sums, settings.fit_intercept)
    return expected_result(settings, sums.total, spread)


def _select_in_stages(
    questions: list[tuple[Stages[Snapshot], SelectionResult]], start: SelectionResult
) -> Stages[SelectionResult]:
    """Select by what there was at one moment; of the model without and with a layer, if asked."""
    settings, is_asked = start.settings, len(questions) > 1
    # Where all classes weigh the same, there is nothing to recode.
    what_if = settings.rule == "what-if" and settings.class_weight != "balanced"
    results, most = list[SelectionResult](), MOST_ROWS if settings.layer is None else MOST_VOTERS
    for snapshots, begin in questions:
        snapshot = yield from snapshots
        validation = ValidationSet(snapshot, settings.min_class_count, what_if, most)
        yield validation.gather()
        results.append((yield from select(validation, begin)))
    result = results[0]
    if is_asked:
        better = results[0].losses - results[1].losses
        advantage = standard_errors(better, validation.of_class, validation.weights)
        uses_layer = advantage > (STAY_ABOVE if start.uses_layer else BEGIN_ABOVE)
        rival = results[not uses_layer].scores
        result = results[uses_layer]
        result = result._replace(uses_layer=uses_layer, advantage=advantage, rival=rival)
    return result._replace(losses=np.zeros(0))


def standard_errors(values: Floats, of_class: Index, weights: Floats) -> float:
    """Return the mean of values (V,) in its own standard errors, classes counting the same.

    What is not finite is left out; 0, if nothing else is there.

    >>> values, of_class = np.array([0.5, 1.5, 1.0, 1.0]), np.array([0, 0, 1, 1])
    >>> round(standard_errors(values, of_class, np.ones(4)), 3)
    5.657
    """
    finite = np.isfinite(values)
    values, of_class, weights = values[finite], of_class[finite], weights[finite]
    if not len(values):
        return 0.0
    of_each = np.bincount(of_class, weights)
    shares = weights / of_each[of_class] / np.count_nonzero(of_each)
    mean = float(shares @ values)
    error = float(np.sqrt(np.square(shares) @ np.square(values - mean)))
    return float(np.clip(mean / (error or np.finfo(np.float64).tiny), -LARGEST, LARGEST))


def firsts_of(counts: Counts, index: Index, levels: Sequence[int]) -> list[int]:
    """Return at which numbers of examples two classes have so many examples each, first.

    `counts` (T,) are those of before, `index` (m,) the classes of the examples that come.

    >>> firsts_of(np.array([9, 1]), np.array([0, 0, 1, 1, 1]), [2, 3])
    [13, 14]
    """
    firsts = list[int]()
    if np.count_nonzero(counts >= max(levels)) > 1:  # nearly always, so without a detour
        return firsts
    for level in levels:
        missing = 2 - np.count_nonzero(counts >= level)
        if missing > 0:
            reached = []
            for place in np.unique(index).tolist():
                had = int(counts[place]) if place < len(counts) else 0
                rows = np.flatnonzero(index == place)
                if had < level <= had + len(rows):
                    reached.append(int(rows[level - had - 1]) + 1)
            firsts += [int(counts.sum()) + row for row in sorted(reached)[missing - 1 : missing]]
    return firsts


def spread_of(sums: Sums, fit_intercept: bool) -> float:
    """Return the mean squared length of a row, around the mean if an intercept takes that.

    Where rows are all alike, it is that around zero.

    >>> sums = Sums.of([[1.0], [3.0]], ["mug", "mug"])
    >>> spread_of(sums, fit_intercept=True), spread_of(sums, fit_intercept=False)
    (1.0, 5.0)
    """
    squares = sums.trace / sums.weight_sum
    mean = on_host(sums.cross).sum(axis=1) / sums.weight_sum * fit_intercept
    spread = float(squares - mean @ mean)
    if spread <= ALL_ALIKE * squares:
        mean = mean if sums.origin is None else mean + on_host(sums.origin)
        spread = squares if sums.origin is None else float(mean @ mean)
    # Digits behind the twelfth tell how rows were added up, and where in memory.
    return float(f"{spread:.12g}")
