"""A regressor without a face: sums of rows that end in their targets, and a few of these rows."""

import copy
from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index
from newfound.common.errors import InputError
from newfound.selection.findings import half_decades
from newfound.selection.rules import nearest
from newfound.selection.selector import ALL_ALIKE
from newfound.selection.witnesses import Sample, Witnesses
from newfound.solvers.regression import Moments, left_out_errors, moments, solve
from newfound.solvers.rounding import rounding_left_by
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, RegressionSettings
from newfound.sums.sums import Sums

# To the sums, all rows are of one class.
LABEL = "everything"
# Half decades above the usual penalty that are tried: to try one more costs next to nothing.
ABOVE = 24


class Answer(NamedTuple):
    """What follows from everything taught."""

    penalty: float
    weights: Floats  # shape (d, k)
    intercept: Floats  # shape (k,)


class RegressionEngine:
    """Learns rows with their targets, forgets them, and says with which weights to predict others.

    It takes rows that were checked, and knows neither scikit-learn nor files.

    Parameters
    ----------
    sums : Sums
        Of rows that end in their targets; taken over.
    witnesses : Witnesses
        Copies of some of these rows.
    d : int
        Number of features; the rest of a row are targets.

    Examples
    --------
    >>> from newfound.solvers.settings import checked_regression_settings
    >>> engine = RegressionEngine.blank(1, 1, seed=0)
    >>> engine.learn(np.array([[-1.0, 0.0], [1.0, 6.0]]), cap=500)
    >>> engine.answer(checked_regression_settings(1.0, True, 500)).weights
    array([[2.]])
    """

    # _answers: what follows from the sums as they are, by parameters.

    def __init__(self, sums: Sums, witnesses: Witnesses, d: int) -> None:
        self.sums, self.witnesses, self.d = sums, witnesses, d
        self._answers: dict[RegressionSettings, Answer] = {}

    @classmethod
    def blank(cls, d: int, k: int, seed: int) -> "RegressionEngine":
        """Return one that was taught nothing, for d features and k targets."""
        return cls(Sums(d + k, per_class=True), Witnesses(seed), d)

    @property
    def k(self) -> int:
        """Number of targets."""
        return self.sums.width - self.d

    @property
    def sample(self) -> Sample:
        """Copies of some rows."""
        return self.witnesses.samples.get(LABEL, Sample())

    def learn(self, rows: Floats, cap: int, sample_weight: Floats | None = None) -> None:
        """Learn rows (m, d + k), all or none; at most `cap` of all are kept."""
        labels = np.full(len(rows), LABEL)
        seen = self.witnesses.after(rows, labels, cap, sample_weight)
        self.sums.add(rows, _zeros(rows), labels[:1], sample_weight)
        self.witnesses, self._answers = seen, {}

    def forget(self, rows: Floats, sample_weight: Floats | None = None) -> None:
        """Forget rows (m, d + k), all or none, or raise NotTaughtError."""
        left = self.witnesses.without(rows, np.full(len(rows), LABEL), sample_weight)
        self.sums.prepare_removal(rows, _zeros(rows), sample_weight)()
        self.witnesses, self._answers = left, {}

    def merged(self, other: "RegressionEngine", cap: int) -> "RegressionEngine":
        """Return one that was taught what both were, or raise ValueError."""
        if (other.d, other.k) != (self.d, self.k):
            raise InputError(
                f"cannot merge: {other.d} features and {other.k} targets there, {self.d} and "
                f"{self.k} here"
            )
        sums = copy.deepcopy(self.sums)
        sums.merge(other.sums)
        return RegressionEngine(sums, self.witnesses.merged(other.witnesses, cap), self.d)

    def answer(self, settings: RegressionSettings) -> Answer:
        """Return what follows from everything taught, worked out now if it has to be."""
        if settings not in self._answers:
            found = moments(self.sums, self.d, settings.fit_intercept)
            penalty = self._chosen(found, settings)
            self._answers = {settings: Answer(penalty, *solve(found, penalty))}
        return self._answers[settings]

    def _chosen(self, found: Moments, settings: RegressionSettings) -> float:
        """Return the penalty under which rows that are left out are missed least."""
        usual, given = self._usual(found), settings.penalties
        penalties = half_decades(usual, ABOVE) if given is None else np.array(given)
        sample = self.sample.joined(Sample(), settings.witnesses)
        if len(penalties) == 1 or len(sample.held) < 2:
            return float(penalties[nearest(np.log(penalties), np.log(usual))])
        rows, weights = np.array(sample.rows, dtype=np.float64), np.array(sample.weights)
        X, targets = rows[:, : self.d], rows[:, self.d :]
        errors = left_out_errors(found, X, targets, weights, penalties)
        lost = np.square(errors).sum(axis=2) @ np.array(sample.votes(settings.witnesses))
        return float(penalties[int(lost.argmin())])

    def _usual(self, found: Moments) -> float:
        """Return the penalty that is expected: the mean squared length of a row, with its weight.

        Around the mean, if there is an intercept and rows are not all alike.
        """
        spread = float(found.gram.diagonal().sum() / found.mass)
        squares = spread + float(found.mean @ found.mean)
        spread = (spread if spread > ALL_ALIKE * squares else squares) or 1.0
        weight = found.mass / float(self.sums.sizes.sum())
        return float(np.clip(weight * spread, SMALLEST_NUMBER, LARGEST_NUMBER))

    def rounding_left_by(self, rows: Floats, settings: RegressionSettings) -> float:
        """Estimate the relative error of the weights that forgotten rows left in the sums."""
        penalty = SMALLEST_NUMBER if settings.penalties is None else settings.penalties[0]
        return rounding_left_by(rows, self.sums, penalty, settings.fit_intercept)


def _zeros(rows: Floats) -> Index:
    return np.zeros(len(rows), dtype=np.intp)
