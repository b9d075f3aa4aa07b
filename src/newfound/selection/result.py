"""What leave-one-out scores tell of each candidate, and the choice that follows from it."""

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.pieces import Stages, Task
from newfound.selection.calibration import Calibration, calibrate
from newfound.selection.rules import (
    EXPECTED_RECODING,
    first_best,
    nearest,
    paper_rule,
    prior,
    weighted_recodings,
)
from newfound.selection.validation import COUNTS, ValidationSet
from newfound.selection.what_if import Basis
from newfound.solvers.rounding import resolution
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, SelectionSettings

# Penalties to choose from by default are half decades apart: so many below the expected one, and
# so many above.
BELOW, ABOVE = 24, 6
# Which of them are tried first, in decades from the expected one. From the best of these the search
# goes on to its neighbours.
SCAN = (0.0, 1.5, -1.5, -3.0, -4.5, -6.0)


class Scores(NamedTuple):
    """How each candidate fared, in a model with its layer or without."""

    expected: float  # the penalty that was expected
    penalties: Floats  # those tried, rising, shape (K,)
    counts: Floats  # of examples, rising, shape (M,)
    accuracy: Floats  # of all classes that were scored, shape (M, K, A)
    rare_accuracy: Floats  # of classes simulated to have so many examples, shape (M, K, A)

    @property
    def points(self) -> Floats:
        """Points of accuracy of each penalty, at its best recodings; shape (K,)."""
        points: Floats = 100 * self.accuracy.max(axis=2).mean(axis=0)
        return points


class SelectionResult(NamedTuple):
    """The accuracy of each candidate, and what was chosen.

    Where nothing could be scored there is but the expected penalty, and the tables mean nothing.
    """

    settings: SelectionSettings  # what it was found for
    total: int  # examples taught when it began
    expected: float  # the penalty that was expected
    penalty: float
    recodings: Floats  # chosen for each of the counts, shape (M,)
    penalties: Floats  # those tried, rising, shape (K,)
    counts: Floats  # of examples, rising, shape (M,)
    accuracy: Floats  # of all classes that were scored, shape (M, K, A)
    rare_accuracy: Floats  # of classes simulated to have so many examples, shape (M, K, A)
    rows: int = 0  # how many rows were scored
    delay: int = 0  # after how many further examples it counted
    calibration: Calibration = Calibration()
    uses_layer: bool = False
    # By how many standard errors witnesses, left out, are likelier behind the layer; NaN: not asked
    advantage: float = np.nan
    losses: Floats = np.zeros(0)  # of the rows that were scored, for that; not kept
    rival: Scores | None = None  # of the model without the layer, if it is used; else of that with

    def recoding(self, counts: Floats) -> Floats:
        """Return the recoding for classes of so many examples."""
        counts = np.log(np.maximum(counts, 1))
        recoding: Floats = np.interp(counts, np.log(self.counts), self.recodings)
        return recoding

    def rename(self, old: Any, new: Any) -> "SelectionResult":
        """Return it once class `old` is called `new`."""
        return self._replace(calibration=self.calibration.rename(old, new))

    def only(self, labels: Container[Any]) -> "SelectionResult":
        """Return it without what it says of other classes."""
        return self._replace(calibration=self.calibration.only(labels))

    @property
    def scores(self) -> Scores:
        """How each candidate fared."""
        return Scores(*(getattr(self, name) for name in Scores._fields))

    @property
    def prior(self) -> Floats:
        """Points of accuracy that each penalty had to be better by than the expected one."""
        return prior(self.penalties, self.expected, self.rows)

    @property
    def points(self) -> Floats:
        """Points of accuracy of each penalty, at its best recodings; shape (K,)."""
        return self.scores.points

    def table(self) -> dict[str, Floats]:
        """Return columns of a table with a line for each candidate, also of the rival's."""
        columns = self._columns(self.scores, self.uses_layer)
        if self.rival is None:
            del columns["layer"]
            return columns
        rival = self._columns(self.rival, not self.uses_layer)
        return {name: np.concatenate([each, rival[name]]) for name, each in columns.items()}

    def _columns(self, scores: Scores, layer: bool) -> dict[str, Floats]:
        penalty, recoding = np.meshgrid(scores.penalties, self.settings.recodings, indexing="ij")
        of_penalty = prior(scores.penalties, scores.expected, self.rows)[:, None] / 100
        columns: dict[str, Any] = {"layer": float(layer), "penalty": penalty, "recoding": recoding}
        for name, table in (("accuracy", scores.accuracy), ("rare", scores.rare_accuracy)):
            columns[name] = table.mean(axis=0) if self.rows else np.nan
        columns["prior"] = of_penalty
        return {
            name: np.broadcast_to(column, penalty.shape).ravel() for name, column in columns.items()
        }


def candidates(settings: SelectionSettings, expected: float, total: int) -> Floats:
    """Return the penalties to choose from, rising, for so many rows."""
    auto = settings.penalties == "auto"
    penalties = half_decades(expected) if auto else np.array(settings.penalties)
    return resolved(penalties, resolution(np.array([total * expected])))


def resolved(penalties: Floats, least: float) -> Floats:
    """Return the penalties that sums can tell from their rounding, or else the largest.

    >>> resolved(np.array([1e-9, 1e-3, 1.0]), 1e-6).tolist()
    [0.001, 1.0]
    """
    kept = penalties[penalties >= least]
    return kept if len(kept) else penalties[-1:]


def half_decades(expected: float, above: int = ABOVE) -> Floats:
    """Return penalties half decades apart around the expected one, rising; so many above it.

    >>> half_decades(1.0)[[0, 24, -1]]
    array([1.e-12, 1.e+00, 1.e+03])
    """
    penalties = expected * 10.0 ** (np.arange(-BELOW, above + 1) / 2)
    rising: Floats = np.unique(np.clip(penalties, SMALLEST_NUMBER, LARGEST_NUMBER))
    return rising


def expected_result(settings: SelectionSettings, total: int, spread: float) -> SelectionResult:
    """Return what is chosen before anything can be scored.

    Parameters
    ----------
    settings : SelectionSettings
    total : int
        Examples taught.
    spread : float
        Mean squared length of a row; 0 if all are zero.
    """
    expected = float(np.clip(spread or 1.0, SMALLEST_NUMBER, LARGEST_NUMBER))
    penalties, levels = candidates(settings, expected, total), np.array(settings.recodings)
    tried = penalties[[nearest(np.log10(penalties), np.log10(expected))]]
    table = np.zeros((len(COUNTS), 1, len(levels)))
    recodings = weighted_recodings(table[:, 0], COUNTS, levels, rows=0)
    if settings.rule == "paper":  # which takes one of them, for all classes
        recodings = np.full(len(COUNTS), levels[nearest(levels, EXPECTED_RECODING)])
    choice = expected, float(tried[0]), recodings
    return SelectionResult(settings, total, *choice, tried, COUNTS, table, table)


def select(validation: ValidationSet, start: SelectionResult) -> Stages[SelectionResult]:
    """Score candidates, in stages; return what was found.

    A few penalties far apart are tried first, but for those that could not even win with every row
    right, then the neighbours of the best until it is better than both. Under the paper's rule,
    which expects nothing, all are tried. What is chosen is calibrated.

    Parameters
    ----------
    validation : ValidationSet
    start : SelectionResult
        The expected one.
    """
    grid = candidates(start.settings, start.expected, start.total)
    scores: dict[int, Floats] = {}
    bases: dict[int, Basis] = {}

    def try_out(place: int) -> Stages[SelectionResult]:
        basis = yield from validation.basis_for(float(grid[place]))
        bases[place] = basis.of_first(len(validation.classes) + 1)
        scores[place] = yield from score(validation, start.settings, basis)
        tried = sorted(scores)
        accuracy, rare = np.stack([scores[place] for place in tried], axis=2)
        tables = {"penalties": grid[tried], "accuracy": accuracy, "rare_accuracy": rare}
        return start._replace(counts=validation.counts, rows=len(validation.rows), **tables)

    decades, tries_all = np.log10(grid / start.expected), start.settings.rule == "paper"
    if tries_all and not validation.frequent.any():  # nothing to choose by, but to calibrate with
        basis = yield from validation.basis_for(start.penalty)
        return (yield from calibrated(start, validation, basis))
    queue = list(range(len(grid))) if tries_all else [nearest(decades, at) for at in SCAN]
    highest, most = 100 - prior(grid, start.expected, len(validation.rows)), -np.inf
    while queue:
        for place in queue:
            if place not in scores and (tries_all or highest[place] > most):
                result = yield from try_out(place)
                most = float((result.points - result.prior).max())
        best = sorted(scores)[int(first_best(result.points - result.prior))]
        around = [place for place in (best - 1, best + 1) if 0 <= place < len(grid)]
        queue = [place for place in around if place not in scores and highest[place] > most]
    result = chosen(result)
    basis = bases[int(np.searchsorted(grid, result.penalty))]
    return (yield from calibrated(result, validation, basis))


def calibrated(
    result: SelectionResult, validation: ValidationSet, basis: Basis
) -> Stages[SelectionResult]:
    """Return a result with what the witnesses say of how sure a model may be."""
    recoding = result.recoding(validation.snapshot.sizes)
    calibration, losses = yield from calibrate(validation, basis, recoding)
    return result._replace(calibration=calibration, losses=losses)


def score(validation: ValidationSet, settings: SelectionSettings, basis: Basis) -> Stages[Floats]:
    """Score all recodings under the penalty that a basis is for.

    Scenarios weigh the more the more classes are frequent: with C of them, (C - 1) / C, and the
    model as it is the rest.

    Returns accuracies by simulated count and recoding, of all classes that are scored and of those
    that are made rare, shape (2, M, A).
    """
    recodings, as_is = np.array(settings.recodings), list[Floats]()

    def score_as_is() -> None:
        of_frequent = settings.rule == "paper"
        as_is.append(validation.accuracy_as_is(basis, recodings, of_frequent))

    yield [Task(validation.cost(recodings), score_as_is)]
    if not validation.scenarios:
        return np.tile(as_is[0], (2, len(validation.counts), 1))
    share, by_count = 1 - 1 / np.count_nonzero(validation.frequent), []
    for count in validation.counts:
        frequent, rare = yield from validation.accuracy_if_rare(basis, count, recodings)
        by_count.append([share * frequent + (1 - share) * as_is[0], rare])
    return np.array(by_count).swapaxes(0, 1)


def chosen(result: SelectionResult) -> SelectionResult:
    """Return a result with the choice that follows from its tables."""
    levels, accuracy = np.array(result.settings.recodings), result.accuracy
    if result.settings.rule == "paper":
        place, level = paper_rule(accuracy[0], result.settings.tolerance)
        recodings = np.full(len(result.counts), levels[level])
    else:
        place = int(first_best(result.points - result.prior))
        recodings = weighted_recodings(accuracy[:, place], result.counts, levels, result.rows)
    return result._replace(penalty=float(result.penalties[place]), recodings=recodings)
