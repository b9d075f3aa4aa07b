"""The penalty of a regression, selected by what rows are missed by that are left out."""

import numpy as np

from newfound.common.arrays import Floats, Index
from newfound.common.device import on_host
from newfound.memory.batch import Batch
from newfound.memory.memory import EVERYTHING, Memory
from newfound.selection.choice import Choice
from newfound.selection.result import half_decades, resolved
from newfound.selection.rules import nearest
from newfound.selection.selector import ALL_ALIKE
from newfound.solvers.regression import Moments, left_out_errors, moments
from newfound.solvers.rounding import resolution
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, RegressionSettings

# Half decades above the expected penalty that are tried: to try one more costs next to nothing.
ABOVE = 24


class PenaltySelector(Choice):
    """The penalty under which rows that are left out are missed least, in squared error.

    Parameters
    ----------
    settings : RegressionSettings
        Of several penalties, or of those around the expected one.
    """

    # _selected: for the present memory. None: to be selected.

    is_fixed = False

    def __init__(self, settings: RegressionSettings) -> None:
        self.settings = settings
        self._selected: float | None = None

    def penalty(self, memory: Memory) -> float:
        """Return the penalty that is used."""
        if self._selected is None:
            self._selected = self._select(memory)
        return self._selected

    def plan(self, memory: Memory, batch: Batch, defer: bool) -> None:
        """Select anew when somebody asks, here as below, also if learning is interrupted."""
        self._selected = None

    def forgot(self, batch: Batch, vanished: Index, memory: Memory) -> None:
        """Select anew when somebody asks."""
        self._selected = None

    def copy(self) -> "PenaltySelector":
        """Return another that has selected nothing yet."""
        return PenaltySelector(self.settings)

    def _select(self, memory: Memory) -> float:
        settings, k = self.settings, memory.targets
        around = moments(memory.sums, k, settings.fit_intercept)
        expected = _expected(around, memory)
        penalties = half_decades(expected, ABOVE)
        if settings.penalty != "auto":
            penalties = np.array(settings.penalty)
        least = resolution(memory.sums.squares[:-k])
        penalties = resolved(penalties, least)
        sample = memory.witnesses[EVERYTHING].first(settings.witnesses)
        if sample.size < 2:
            return float(penalties[nearest(np.log(penalties), np.log(expected))])
        rows = memory.features(memory.place(np.array(sample.rows, dtype=np.float64)))
        errors = left_out_errors(around, rows[:, :-k], rows[:, -k:], sample.weights, penalties)
        squares: Floats = on_host(errors)
        lost = squares @ sample.adjusted_weights(settings.witnesses)
        # Rounding may have taken that share from it; or penalties that differ in nothing else,
        # because rows are fewer than features, would be chosen by rounding.
        lost *= 1 + least / penalties
        return float(penalties[int(lost.argmin())])


def _expected(around: Moments, memory: Memory) -> float:
    """Return the penalty that is expected: the mean squared length of a row, with its weight.

    Around the mean, if there is an intercept and rows are not all alike.
    """
    sums, mean = memory.sums, on_host(around.mean)
    spread = float(on_host(around.squares).sum() / around.weight_sum)
    squares = float(sums.squares[: len(mean)].sum() / around.weight_sum)  # from the origin
    if spread <= ALL_ALIKE * squares:
        spread = spread + float(mean @ mean) or 1.0
    weight = around.weight_sum / float(memory.sums.sizes.sum())
    return float(np.clip(weight * spread, SMALLEST_NUMBER, LARGEST_NUMBER))
