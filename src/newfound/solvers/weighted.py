"""Weights of the class-weighted loss: exact at every question, in a time independent of n."""

import numpy as np
from scipy.linalg import blas, lapack

from newfound.common.arrays import Counts, Floats, Index, Labels, Rows
from newfound.common.errors import InvalidInputError
from newfound.solvers.cholesky import Solution, solve
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.settings import ClassWeight, Settings
from newfound.sums.blas import add_products
from newfound.sums.sums import Sums


class RebalancedSolver:
    """Ridge weights when every example counts as much as its class says.

    Solves (sum_t w_t G_t + penalty I) W = B diag(w), centred for the intercept, with G_t the Gram
    of class t. `"balanced"` is w_t = n / (T n_t); a mapping gives w_t by label, 1 where it is
    silent. Learning a row changes the sum of the G_t by one rank-one term and, for "balanced",
    the share of one class, O(d^2); the next question factorises it, O(d^3 / 3 + d^2 T). Neither
    depends on how many examples were seen.

    Equivalent to scikit-learn's `Ridge` on one-hot targets with `sample_weight=w[y]`.
    """

    # _spread: sum_t share_t G_t, in its lower triangle; share_t is 1 / n_t for "balanced" (the
    #     common factor n / T is left out: it changes with every row) and w_t for a mapping.
    #     None: to be added up anew, as it is every `width` changes, lest rounding add up.
    # _solution: of the present sums. None: to be solved for.

    def __init__(
        self,
        sums: Sums,
        penalty: float,
        fit_intercept: bool,
        class_weight: ClassWeight,
    ) -> None:
        self.sums = sums
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self._spread: Floats | None = None
        self._solution: Solution | None = None
        self._changes = 0

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,): w_t n_t."""
        counts = self.sums.counts
        if isinstance(self.class_weight, str):
            # Not counts * shares: rounding would keep equal masses from being exactly equal.
            return np.where(counts > 0, self._scale(), 0.0)
        return counts * self._shares(counts, self.sums.labels)

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""
        return self._current().weights

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        return self._current().intercept

    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        solution = self._current()
        Z = np.asarray(X, dtype=np.float64) - solution.mean
        half = blas.dtrsm(1.0, solution.factor, Z.T, lower=1)
        values: Floats = np.einsum("ij,ij->j", half, half)
        return values + 1 / self.masses.sum() if self.fit_intercept else values

    def inverse_times(self, columns: Floats) -> Floats:
        """Return A^-1 times `columns`, shape (d, k)."""
        product: Floats = lapack.dpotrs(self._current().factor, columns, lower=1)[0]
        return product

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then.
        """
        self._solution = None
        self._changes += 1
        spread = self._spread
        if spread is None or not spread.flags.writeable or self._changes > self.sums.width:
            self._spread = None
            return
        grams = self.sums.grams
        counts = np.zeros(len(labels), dtype=np.int64)
        counts[: len(grams)] = self.sums.counts
        old = self._shares(counts, labels)
        new = self._shares(counts + np.bincount(index, minlength=len(labels)), labels)
        for place in np.unique(index):
            if place < len(grams) and new[place] != old[place]:
                grams[place].add_to(spread, new[place] - old[place])
            add_products(spread, X[index == place], new[place], lower=True)

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        The sum over classes is then added up anew: subtracting would leave the rounding of what
        was there.
        """
        self.discard()

    def remove_classes(self, index: Index) -> None:
        """Do nothing: vanished classes have no share in the sums, and no columns are held."""

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._spread, self._solution = None, None

    def _shares(self, counts: Counts, labels: Labels) -> Floats:
        if isinstance(self.class_weight, str):
            return np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
        weights = [self.class_weight.get(label, 1.0) for label in labels.tolist()]
        return np.array(weights, dtype=np.float64)

    def _scale(self) -> float:
        """Return the common factor between shares and weights."""
        if not isinstance(self.class_weight, str):
            return 1.0
        counts = self.sums.counts
        return float(counts.sum() / np.count_nonzero(counts))

    def _current(self) -> Solution:
        solution, spread, sums = self._solution, self._spread, self.sums
        if solution is not None:
            return solution
        shares = self._shares(sums.counts, sums.labels)
        if spread is None:
            spread = np.zeros((sums.width, sums.width), order="F")
            for gram, share in zip(sums.grams, shares, strict=True):
                gram.add_to(spread, share)
            self._spread, self._changes = spread, 0
        scale = self._scale()
        solution = solve(
            scale * spread,
            sums.cross * (scale * shares),
            self.masses,
            self.penalty,
            self.fit_intercept,
        )
        self._solution = solution
        return solution


def solver_for(sums: Sums, settings: Settings) -> RecursiveSolver | RebalancedSolver:
    """Return the solver that the settings ask for, or raise ValueError if these sums cannot."""
    penalty, _, class_weight, fit_intercept = settings
    if class_weight is not None and not sums.per_class:
        raise InvalidInputError(
            "class_weight needs the sums of each class, but this model was taught with "
            "class_weight=None, which does not hold them: fit it anew"
        )
    if not class_weight:  # none, or a mapping that weighs all alike
        return RecursiveSolver(sums, penalty, fit_intercept)
    return RebalancedSolver(sums, penalty, fit_intercept, class_weight)
