"""What the witnesses found, worked out a piece at a time, and the choice that follows from it."""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats
from newfound.selection.panel import Panel, Snapshot
from newfound.selection.rules import (
    USUAL_PENALTY,
    USUAL_RECODING,
    first_best,
    nearest,
    paper_rule,
    prior,
    weighed_recodings,
)
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, SelectionSettings

# Penalties that are tried by default are powers of the root of ten: so many below the usual one at
# most, and so many above.
BELOW, ABOVE = 12, 4
# The search goes on in a direction until so many penalties in a row were worse than the best.
PATIENCE = 2


class Findings(NamedTuple):
    """How the witnesses voted, and what was chosen.

    Without votes there is but the usual penalty, and no rung.
    """

    settings: SelectionSettings  # what it was found for
    total: int  # examples taught when the votes were called for
    usual: float  # the penalty that was expected
    penalties: Floats  # those tried, rising, shape (K,)
    ladder: Floats  # the pretended counts, shape (M,); infinity: nothing was pretended
    table: Floats  # accuracy of known classes, shape (M, K, A)
    rare: Floats  # of those pretended rare, shape (M, K, A)
    voters: int
    pieces: int  # of work that it took
    penalty: float
    rungs: Floats  # the recoding for each pretended count, shape (M,); shape (1,) if there is none

    def recoding(self, counts: Floats) -> Floats:
        """Return the recoding for classes of so many examples."""
        if len(self.ladder) < 2:
            return np.full(len(counts), self.rungs[0])
        rungs = np.log(self.ladder)
        recoding: Floats = np.interp(np.log(np.maximum(counts, 1)), rungs, self.rungs)
        return recoding

    @property
    def prior(self) -> Floats:
        """Points of accuracy that each penalty had to be better by than the usual one."""
        return prior(self.penalties, self.usual, max(1, self.voters))

    @property
    def votes(self) -> Floats:
        """Points of accuracy for each penalty, at its best recodings; shape (K,)."""
        votes: Floats = 100 * self.table.max(axis=2).mean(axis=0)
        return votes


def candidates(settings: SelectionSettings, usual: float) -> Floats:
    """Return the penalties to choose from, rising."""
    if settings.penalties != "auto":
        return np.array(settings.penalties)
    middle = round(2 * np.log10(usual))
    powers: Floats = 10.0 ** (np.arange(middle - BELOW, middle + ABOVE + 1) / 2)
    return np.clip(powers, SMALLEST_NUMBER, LARGEST_NUMBER)


def without_votes(settings: SelectionSettings, total: int, spread: float) -> Findings:
    """Return what is chosen before enough is known to vote: what is expected.

    Parameters
    ----------
    settings : SelectionSettings
    total : int
        Examples taught.
    spread : float
        Mean squared length of a row; 0 if there is nothing to go by.
    """
    usual = float(np.clip(USUAL_PENALTY * (spread or 1.0), SMALLEST_NUMBER, LARGEST_NUMBER))
    penalties, recodings = candidates(settings, usual), np.array(settings.recodings)
    penalty = penalties[nearest(np.log10(penalties), np.log10(usual))]
    nothing = np.zeros((0, 1, len(recodings)))
    rungs = recodings[[nearest(recodings, USUAL_RECODING)]]
    return Findings(
        settings,
        total,
        usual,
        np.array([penalty]),
        np.zeros(0),
        nothing,
        nothing,
        0,
        0,
        float(penalty),
        rungs,
    )


def work_out(snapshot: Snapshot, panel: Panel, start: Findings) -> Generator[None, None, Findings]:
    """Let the witnesses vote, in pieces of bounded size; return what they found.

    Penalties are tried outwards from the usual one, in either direction until they only get
    worse; under the paper's rule, which has no usual one, all of them.

    Parameters
    ----------
    snapshot : Snapshot
    panel : Panel
        Of that snapshot.
    start : Findings
        Without votes.
    """
    settings, recodings = start.settings, np.array(start.settings.recodings)
    grid, pieces = candidates(settings, start.usual), 0
    votes: dict[int, tuple[Floats, Floats]] = {}  # for each penalty tried, shapes (M, A)
    middle = nearest(np.log10(grid), np.log10(start.usual))

    def vote(place: int) -> Generator[None, None, None]:
        nonlocal pieces
        factor = snapshot.factor(float(grid[place]))
        pieces += 1
        yield
        if np.isinf(panel.ladder[0]):
            found = panel.plain_accuracies(factor, recodings)
            votes[place] = (found[None], found[None])
        else:
            basis = panel.basis(factor)
            del factor
            rungs = []
            for rung in panel.ladder:
                pieces += 1
                yield
                rungs.append(panel.accuracies(basis, rung, recodings))
            votes[place] = tuple(map(np.array, zip(*rungs, strict=True)))  # type: ignore[assignment]
        pieces += 1
        yield

    def gathered() -> Findings:
        places = sorted(votes)
        return start._replace(
            penalties=grid[places],
            ladder=panel.ladder,
            table=np.stack([votes[place][0] for place in places], axis=1),
            rare=np.stack([votes[place][1] for place in places], axis=1),
            voters=panel.n_voters,
            pieces=pieces,
        )

    yield from vote(middle)
    for step in (-1, 1):
        place, worse = middle, 0
        while 0 <= place + step < len(grid) and (worse < PATIENCE or settings.rule == "paper"):
            place += step
            yield from vote(place)
            found = gathered()
            worth = found.votes - found.prior
            here = worth[0 if step < 0 else -1]
            worse = worse + 1 if here < worth.max() else 0
    return chosen(gathered())


def chosen(found: Findings) -> Findings:
    """Return findings with the choice that follows from their votes."""
    recodings, table = np.array(found.settings.recodings), found.table
    if found.settings.rule == "paper":
        place, level = paper_rule(table[0], found.settings.tolerance)
        return found._replace(penalty=float(found.penalties[place]), rungs=recodings[[level]])
    place = int(first_best(found.votes - found.prior))
    rungs = weighed_recodings(table[:, place], recodings, found.voters)
    return found._replace(penalty=float(found.penalties[place]), rungs=rungs)
