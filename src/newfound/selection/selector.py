"""What choosing inside the stream keeps: witnesses, what they found, and votes under way."""

import copy
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.device import on_host
from newfound.common.pieces import Pieces, Stages
from newfound.selection.calibration import calibrated_by_sums
from newfound.selection.findings import Findings, without_votes, work_out
from newfound.selection.panel import Panel, roster
from newfound.selection.snapshot import Snapshot, snapshot_in_stages
from newfound.selection.witnesses import Witnesses
from newfound.solvers.base import solver_for
from newfound.solvers.renewal import PIECE, pieces_of_renewal
from newfound.solvers.settings import SelectionSettings
from newfound.sums.arrays import moved
from newfound.sums.sums import Sums

# How often more examples there must be until votes are called for again.
RENEW = 2
# Of n < 256 examples, 256 // n pieces of work are done with each; later, one.
YOUNG = 256
# Operations of a piece at least, where there are few features: some milliseconds.
SMALLEST_PIECE = 1e8
# Examples that come at once beyond which votes under way are finished at once, too.
MANY_ROWS = 64
# Forgetting calls for votes, lest a choice rest on what is no more. But in a stream of rows that
# come and go it does so only after so many of them, or where such a share of all squares goes at
# once, or has gone since the last votes.
CALM, SHOCK, FORGOTTEN = 1000, 0.1, 0.5
# Of the mean square of a row, what is no spread but rounding: the rows are all alike.
ALL_ALIKE = 1e-13


class Work:
    """Votes under way: a piece for every example that is learned meanwhile.

    The pieces are all about the moment at which the votes were called for, and what they find
    counts after as many examples as there are pieces, and a few more, with which a solver for the
    penalty that was chosen is made. So it does not matter how examples come, or when the work is
    really done. Of young models several pieces are done with an example.

    Parameters
    ----------
    start : Findings
        What is expected without votes.
    stages : generator of lists of Task, optional
        What is to be done; it returns what was found.
    size : float, optional
        Operations in a piece.
    more : int, optional
        Examples with which other work is done, before what was found counts.
    """

    # rows: examples learned since. done: pieces done. _renamed: classes that were, since.
    # found: what was found, once all pieces are done.

    def __init__(
        self,
        start: Findings,
        stages: Stages[Findings] | None = None,
        size: float = SMALLEST_PIECE,
        more: int = 0,
    ) -> None:
        self.start, self.total = start, start.total
        self.speed = max(1, YOUNG // start.total)
        self.rows = self.done = 0
        self.found: Findings | None = None
        self._pieces = None if stages is None else Pieces(stages, size)
        self._more = more
        self._renamed: list[tuple[Any, Any]] = []

    @classmethod
    def finished(cls, found: Findings, rows: int) -> "Work":
        """Return votes that are done, so many examples after they were called for."""
        work = cls(found)
        work.rows, work.found = rows, found
        return work

    @property
    def has_failed(self) -> bool:
        """Whether a piece has failed or was interrupted, so that nothing can come of it."""
        return self._pieces is not None and self._pieces.has_failed

    @property
    def counts(self) -> bool:
        """Whether so many examples came that what was found counts."""
        return self.found is not None and self.rows >= self.found.delay

    def advance(self, rows: int) -> None:
        """Do as many pieces as examples were learned."""
        self.rows += rows
        if rows > MANY_ROWS:
            self.finish()
        while self.found is None and self.done < self.speed * self.rows:
            self.step()

    def finish(self) -> Findings:
        """Do all pieces; return what was found."""
        if self.found is None:
            assert self._pieces is not None
            found = self._pieces.finish()
            self.done = self._pieces.number
            self._note(found)
        assert self.found is not None
        return self.found

    def rename(self, old: Any, new: Any) -> None:
        """Know a class by another label in what is found."""
        if self.found is None:
            self._renamed.append((old, new))
        else:
            self.found = self.found.renamed(old, new)

    def step(self) -> None:
        """Do the next piece."""
        assert self._pieces is not None
        self._pieces.step()
        self.done = self._pieces.number
        if self._pieces.is_done:
            assert self._pieces.result is not None
            self._note(self._pieces.result)

    def _note(self, found: Findings) -> None:
        self.found = found._replace(delay=-(-self.done // self.speed) + self._more)
        for old, new in self._renamed:
            self.found = self.found.renamed(old, new)
        self._pieces = None

    def __getstate__(self) -> dict[str, Any]:
        self.finish()  # work half done cannot be copied, and it makes no difference
        return self.__dict__


class Plan(NamedTuple):
    """What becomes of rows that are about to be learned."""

    witnesses: Witnesses  # once they are
    rows: int  # how many they are
    first: int  # how many of them go to votes that are under way
    called: "tuple[Work | Findings, ...]"  # votes that were called for in their midst, in turn
    is_due: bool  # whether votes are to be called for after the last of them


class Selector:
    """All that a choice rests on, beside the sums.

    Parameters
    ----------
    witnesses : Witnesses
    """

    # findings: what was found last. None: votes are to be called for before anything else happens.
    # forgotten: share of all squares forgotten since the last votes.
    # calm: rows that came and went since forgetting last called for votes; -1: nothing else has
    #     happened since.

    def __init__(self, witnesses: Witnesses) -> None:
        self.witnesses = witnesses
        self.findings: Findings | None = None
        self._work: Work | None = None
        self.forgotten = 0.0
        self.calm = CALM

    def adopt(self, findings: Findings | None) -> None:
        """Take over what was found; drop votes that are under way."""
        self.findings, self.work, self.forgotten = findings, None, 0.0
        self.drop_vanished()

    def drop_vanished(self) -> None:
        """Know nothing of classes that are no more."""
        if self.findings is not None:
            self.findings = self.findings.only(self.witnesses.samples)

    def rename(self, old: Any, new: Any, cap: int) -> None:
        """Know class `old` by its new label; at most `cap` witnesses of it stay."""
        self.witnesses = self.witnesses.renamed(old, new, cap)
        if self.findings is not None:
            self.findings = self.findings.renamed(old, new)
        if self.work is not None:
            self.work.rename(old, new)

    @property
    def work(self) -> Work | None:
        """Votes under way, if there are any that can go on."""
        return None if self._work is None or self._work.has_failed else self._work

    @work.setter
    def work(self, work: Work | None) -> None:
        self._work = work

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_work": self.work}

    @property
    def foreseen(self) -> float | None:
        """The penalty that will be used once the votes under way count, if that is known yet."""
        return None if self.work is None or self.work.found is None else self.work.found.penalty

    def points(self, before: int, after: int, firsts: list[int]) -> list[int]:
        """Return at which numbers of examples votes are to be called for.

        That is where examples have doubled once more since the last time, and at any of `firsts`,
        after `before` and up to `after`.

        >>> selector = Selector(Witnesses(seed=0))
        >>> selector.points(0, 9, []), selector.points(64, 100, [70]), selector.points(64, 128, [])
        ([1, 2, 4, 8], [70], [128])
        """
        latest = self.work or self.findings
        point, found = latest.total if latest is not None else 1, []
        while point <= after:
            if point > before:
                found.append(point)
            point = min([first for first in firsts if first > point] + [RENEW * point])
        return found

    def call(
        self, sums: Sums, witnesses: Witnesses, settings: SelectionSettings
    ) -> Work | Findings:
        """Call for votes on these sums; where nobody can vote, return what is expected."""
        witnesses = witnesses.capped(settings.witnesses)
        if sums.device is not None:  # witnesses vote on the host
            sums = moved(sums, None)
        solver = solver_for(sums, settings)
        weight = float(solver.masses.sum() / sums.sizes.sum())  # of an example
        spread = weight * spread_of(sums, settings.fit_intercept)
        start = without_votes(settings, sums.total, spread)
        known_from, seed = settings.min_class_count, (witnesses.seed, sums.size)
        rng = np.random.default_rng(seed)
        voting = roster(sums.sizes, sums.labels, witnesses, known_from, rng)
        if voting.votes.sum() < 2:
            if np.count_nonzero(sums.sizes > 1) < 2:
                return start
            # Examples that are all equal cannot be left out, but they have an average.
            known = calibrated_by_sums(solver_for(sums, settings, start.penalty))
            return start._replace(calibration=known)
        snapshots, width = snapshot_in_stages(solver, witnesses, settings.witnesses), sums.width
        stages = votes_in_stages(snapshots, start)
        more = pieces_of_renewal(width, sums.total, sums.n_classes)
        return Work(start, stages, max(SMALLEST_PIECE, float(PIECE * width**2)), more)

    def plan(
        self,
        sums: Sums,
        X: Rows,
        index: Index,
        labels: Labels,
        settings: SelectionSettings,
        put_off: bool,
        sample_weight: Floats | None = None,
    ) -> Plan:
        """Prepare to learn rows `X` (m, d) of classes `index` (m,), `labels` being all classes.

        Changes nothing. Votes are called for at the same number of examples however these come,
        be it in the midst of a batch.
        """
        y, cap, end, there = labels[index], settings.witnesses, len(index), on_host(X)
        witnesses = Witnesses(settings.random_state, self.witnesses.samples)
        called: list[Work | Findings] = []
        firsts = firsts_of(sums.counts, index, settings.min_class_count)
        points = [] if put_off else self.points(sums.total, sums.total + len(y), firsts)
        # From the last on: what was found there is all that counts, unless it does not count yet.
        for early in (point - sums.total for point in reversed(points)):
            if early < len(y):
                then = copy.deepcopy(sums)
                weights = None if sample_weight is None else sample_weight[:early]
                then.add(X[:early, :], index[:early], labels, weights)
                voting = witnesses.after(there[:early], y[:early], cap, weights)
                votes = self.call(then, voting, settings)
                called.insert(0, votes)
                if isinstance(votes, Work):
                    votes.advance(end - early)
                if isinstance(votes, Findings) or votes.counts:
                    end = 0
                    break
            end = early
        is_due = points[-1:] == [sums.total + len(y)]
        after = witnesses.after(there, y, cap, sample_weight)
        return Plan(after, len(y), end, tuple(called), is_due)

    def follow(self, plan: Plan, sums: Sums, settings: SelectionSettings) -> None:
        """Go on with votes, once the rows of a plan are in the sums."""
        self.calm = max(0, self.calm) + plan.rows
        try:
            self._advance(plan.first)
            for called in plan.called:
                self._take_up(called)
            if plan.is_due:
                self._take_up(self.call(sums, self.witnesses, settings))
        except MemoryError:  # the rows are learned; votes can wait until there are twice as many
            self.work = None

    def note_forgotten(
        self, X: Rows, sums: Sums, fit_intercept: bool, sample_weight: Floats | None = None
    ) -> None:
        """Have votes called for anew, now that rows `X` (m, d) are no longer in the sums."""
        mean = on_host(sums.cross).sum(axis=1) / sums.mass * fit_intercept
        squares = np.square(X - mean, dtype=np.float64).sum(axis=1)
        gone = float(squares.sum() if sample_weight is None else sample_weight @ squares)
        left = spread_of(sums, fit_intercept) * sums.mass
        share = gone / left if left else np.inf
        self.forgotten += share
        has_voted = self.findings is not None and self.findings.voters > 0
        is_calm = 0 <= self.calm < CALM
        if is_calm and has_voted and share < SHOCK and self.forgotten < FORGOTTEN:
            self.calm += len(X)
        else:
            self.adopt(None)
            self.calm = -1

    def _take_up(self, called: Work | Findings) -> None:
        if isinstance(called, Findings):
            self.adopt(called)
            return
        if self.findings is None:
            self.findings = called.start
        elif not self.findings.voters:  # what is expected goes by the latest rows
            self.findings = called.start._replace(calibration=self.findings.calibration)
        self.work, self.forgotten = called, 0.0
        self._advance(0)

    def _advance(self, rows: int) -> None:
        work, self.work = self.work, None  # should it fail, it is gone
        if work is not None:
            work.advance(rows)
            if work.counts:
                self.adopt(work.found)
            else:
                self.work = work


def votes_in_stages(snapshots: Stages[Snapshot], start: Findings) -> Stages[Findings]:
    """Let the witnesses vote on what there was at one moment; return what they found."""
    settings = start.settings
    # Where all classes weigh the same, there is nothing to recode.
    what_if = settings.rule == "what-if" and settings.class_weight != "balanced"
    panel = Panel((yield from snapshots), settings.min_class_count, what_if)
    yield panel.gather()
    return (yield from work_out(panel, start))


def firsts_of(counts: Counts, index: Index, min_class_count: int) -> list[int]:
    """Return at which numbers of examples two classes can vote, or are known, for the first time.

    `counts` (T,) are those of before, `index` (m,) the classes of the examples that come.

    >>> firsts_of(np.array([9, 1]), np.array([0, 0, 1, 1, 1]), min_class_count=3)
    [13, 14]
    """
    firsts = []
    for level in (2, max(2, min_class_count)):
        missing = 2 - np.count_nonzero(counts >= level)
        if missing > 0:
            reached = []
            for each in np.unique(index).tolist():
                had = int(counts[each]) if each < len(counts) else 0
                places = np.flatnonzero(index == each)
                if had < level <= had + len(places):
                    reached.append(int(places[level - had - 1]) + 1)
            firsts += [
                int(counts.sum()) + place for place in sorted(reached)[missing - 1 : missing]
            ]
    return firsts


def spread_of(sums: Sums, fit_intercept: bool) -> float:
    """Return the mean squared length of a row, around the mean if an intercept takes that.

    Where rows are all alike, it is that around the origin.

    >>> sums = Sums.of([[1.0], [3.0]], ["mug", "mug"])
    >>> spread_of(sums, fit_intercept=True), spread_of(sums, fit_intercept=False)
    (1.0, 5.0)
    """
    squares = sums.trace / sums.mass
    mean = on_host(sums.cross).sum(axis=1) / sums.mass * fit_intercept
    spread = float(squares - mean @ mean)
    # Digits behind the twelfth tell how rows were added up, and where in memory.
    return float(f"{spread if spread > ALL_ALIKE * squares else squares:.12g}")
