"""What the witnesses found, worked out in stages, and the choice that follows from it."""

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.pieces import Stages, Task
from newfound.selection.calibration import Calibration, calibrate
from newfound.selection.panel import LADDER, Panel
from newfound.selection.rules import (
    USUAL_RECODING,
    first_best,
    nearest,
    paper_rule,
    prior,
    weighed_recodings,
)
from newfound.selection.what_if import Basis
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, SelectionSettings

# Penalties to choose from by default are half decades apart: so many below the usual one, and so
# many above.
BELOW, ABOVE = 24, 6
# Which of them are tried first, in decades from the usual one. From the best of these the search
# goes on to its neighbours.
SCAN = (0.0, 1.5, -1.5, -3.0, -4.5, -6.0)


class Findings(NamedTuple):
    """How the witnesses voted, and what was chosen.

    Without votes there is but the usual penalty, and the tables mean nothing.
    """

    settings: SelectionSettings  # what it was found for
    total: int  # examples taught when the votes were called for
    usual: float  # the penalty that was expected
    penalty: float
    rungs: Floats  # the recoding for each count of the ladder, shape (M,)
    penalties: Floats  # those tried, rising, shape (K,)
    ladder: Floats  # counts of examples, rising, shape (M,)
    table: Floats  # accuracy of all that vote, shape (M, K, A)
    rare: Floats  # of classes pretended to have so many examples, shape (M, K, A)
    voters: int = 0
    delay: int = 0  # after how many further examples it counted
    calibration: Calibration | None = None  # None: nobody asked, in versions from before

    def recoding(self, counts: Floats) -> Floats:
        """Return the recoding for classes of so many examples."""
        counts = np.log(np.maximum(counts, 1))
        recoding: Floats = np.interp(counts, np.log(self.ladder), self.rungs)
        return recoding

    def renamed(self, old: Any, new: Any) -> "Findings":
        """Return them once class `old` is called `new`."""
        calibration = self.calibration
        return self._replace(calibration=calibration and calibration.renamed(old, new))

    def only(self, labels: Container[Any]) -> "Findings":
        """Return them without what they say of other classes."""
        calibration = self.calibration
        return self._replace(calibration=calibration and calibration.only(labels))

    @property
    def prior(self) -> Floats:
        """Points of accuracy that each penalty had to be better by than the usual one."""
        return prior(self.penalties, self.usual, self.voters)

    @property
    def votes(self) -> Floats:
        """Points of accuracy for each penalty, at its best recodings; shape (K,)."""
        votes: Floats = 100 * self.table.max(axis=2).mean(axis=0)
        return votes


def candidates(settings: SelectionSettings, usual: float) -> Floats:
    """Return the penalties to choose from, rising."""
    if settings.penalties != "auto":
        return np.array(settings.penalties)
    return half_decades(usual)


def half_decades(usual: float, above: int = ABOVE) -> Floats:
    """Return penalties half decades apart around the usual one, rising; so many above it.

    >>> half_decades(1.0)[[0, 24, -1]]
    array([1.e-12, 1.e+00, 1.e+03])
    """
    penalties = usual * 10.0 ** (np.arange(-BELOW, above + 1) / 2)
    rising: Floats = np.unique(np.clip(penalties, SMALLEST_NUMBER, LARGEST_NUMBER))
    return rising


def without_votes(settings: SelectionSettings, total: int, spread: float) -> Findings:
    """Return what is chosen before enough is known to vote: what is expected.

    Parameters
    ----------
    settings : SelectionSettings
    total : int
        Examples taught.
    spread : float
        Mean squared length of a row; 0 if all are zero.
    """
    usual = float(np.clip(spread or 1.0, SMALLEST_NUMBER, LARGEST_NUMBER))
    penalties, recodings = candidates(settings, usual), np.array(settings.recodings)
    tried = penalties[[nearest(np.log10(penalties), np.log10(usual))]]
    table = np.zeros((len(LADDER), 1, len(recodings)))
    rungs = weighed_recodings(table[:, 0], LADDER, recodings, voters=0)
    if settings.rule == "paper":  # which takes one of them, for all classes
        rungs = np.full(len(LADDER), recodings[nearest(recodings, USUAL_RECODING)])
    tables = (tried, LADDER, table, table)
    calibration = Calibration()
    return Findings(
        settings, total, usual, float(tried[0]), rungs, *tables, calibration=calibration
    )


def work_out(panel: Panel, start: Findings) -> Stages[Findings]:
    """Let the witnesses vote, in stages; return what they found.

    A few penalties far apart are tried first, but for those that could not even win with all
    votes, then the neighbours of the best until it is better than both. Under the paper's rule,
    which expects nothing, all are tried. For what is chosen, they say how sure answers may be.

    Parameters
    ----------
    panel : Panel
    start : Findings
        Without votes.
    """
    grid = candidates(start.settings, start.usual)
    votes: dict[int, Floats] = {}
    bases: dict[int, Basis] = {}

    def try_out(place: int) -> Stages[Findings]:
        basis = yield from panel.basis_for(float(grid[place]))
        bases[place] = basis.of_first(len(panel.classes) + 1)
        votes[place] = yield from vote(panel, start.settings, basis)
        tried = sorted(votes)
        table, rare = np.stack([votes[each] for each in tried], axis=2)
        found = start._replace(penalties=grid[tried], ladder=panel.ladder, voters=len(panel.voters))
        return found._replace(table=table, rare=rare)

    decades, tries_all = np.log10(grid / start.usual), start.settings.rule == "paper"
    if tries_all and not panel.known.any():  # nobody may vote, but they can be asked
        basis = yield from panel.basis_for(start.penalty)
        return (yield from calibrated(start, panel, basis))
    queue = list(range(len(grid))) if tries_all else [nearest(decades, each) for each in SCAN]
    highest, most = 100 - prior(grid, start.usual, len(panel.voters)), -np.inf
    while queue:
        for place in queue:
            if place not in votes and (tries_all or highest[place] > most):
                found = yield from try_out(place)
                most = float((found.votes - found.prior).max())
        best = sorted(votes)[int(first_best(found.votes - found.prior))]
        around = [each for each in (best - 1, best + 1) if 0 <= each < len(grid)]
        queue = [each for each in around if each not in votes and highest[each] > most]
    found = chosen(found)
    return (yield from calibrated(found, panel, bases[int(np.searchsorted(grid, found.penalty))]))


def calibrated(found: Findings, panel: Panel, basis: Basis) -> Stages[Findings]:
    """Return findings with what the witnesses say of how sure a model may be."""
    recoding = found.recoding(panel.snapshot.sizes)
    return found._replace(calibration=(yield from calibrate(panel, basis, recoding)))


def vote(panel: Panel, settings: SelectionSettings, basis: Basis) -> Stages[Floats]:
    """Let the witnesses vote on the penalty that a basis is for.

    What-ifs weigh the more the more classes are known well: with C of them, (C - 1) / C, and the
    votes on the model as it is the rest.

    Returns accuracies by pretended count and recoding, of all that vote and of classes pretended
    rare, shape (2, M, A).
    """
    recodings, real = np.array(settings.recodings), list[Floats]()

    def vote_on_reality() -> None:
        real.append(panel.as_it_is(basis, recodings, of_known=settings.rule == "paper"))

    yield [Task(panel.cost(recodings), vote_on_reality)]
    if not panel.scenes:
        return np.tile(real[0], (2, len(panel.ladder), 1))
    share, rungs = 1 - 1 / np.count_nonzero(panel.known), []
    for rung in panel.ladder:
        known, rare = yield from panel.what_if_in_stages(basis, rung, recodings)
        rungs.append([share * known + (1 - share) * real[0], rare])
    return np.array(rungs).swapaxes(0, 1)


def chosen(found: Findings) -> Findings:
    """Return findings with the choice that follows from their votes."""
    recodings, table = np.array(found.settings.recodings), found.table
    if found.settings.rule == "paper":
        place, level = paper_rule(table[0], found.settings.tolerance)
        rungs = np.full(len(found.ladder), recodings[level])
    else:
        place = int(first_best(found.votes - found.prior))
        rungs = weighed_recodings(table[:, place], found.ladder, recodings, found.voters)
    return found._replace(penalty=float(found.penalties[place]), rungs=rungs)
