"""Weights of the class-weighted loss: exact at every question, in a time independent of n."""

import numpy as np
from scipy.linalg import blas, lapack

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import Equations, Solution, solve
from newfound.solvers.settings import ClassWeight
from newfound.sums.blas import add_products, affine
from newfound.sums.sums import Sums


class RebalancedSolver:
    """Ridge weights when every example counts as much as its class says.

    Solves (sum_t w_t G_t + penalty I) W = B diag(w), centred for the intercept, with G_t the Gram
    of class t. `"balanced"` is w_t = n / (T n_t), with n_t what the examples of the class weigh; a
    mapping gives w_t by label, 1 where it is silent. Learning a row changes the sum of the G_t by
    one rank-one term and, for "balanced", the weight of one class, O(d^2); the next question
    factorises it, O(d^3 / 3 + d^2 T). Neither depends on how many examples were seen.

    Equivalent to scikit-learn's `Ridge` on one-hot targets with `sample_weight=w[y]`.
    """

    # _weighted_gram: sum_t c_t G_t, in its lower triangle; c_t is 1 / n_t for "balanced" (the
    #     common factor n / T is left out: it changes with every row) and w_t for a mapping.
    #     None: to be added up anew, as it is every `width` changes, lest rounding add up.
    # _origin: where rows are seen from in it.
    # _solution: of the present sums. None: to be solved for.

    def __init__(
        self, sums: Sums, penalty: float, fit_intercept: bool, class_weight: ClassWeight
    ) -> None:
        self.sums, self.penalty, self.fit_intercept = sums, penalty, fit_intercept
        self.class_weight = class_weight
        self._weighted_gram: Floats | None = None
        self._origin: Floats | None = None
        self._solution: Solution | None = None
        self._changes = 0

    @property
    def weight_sums(self) -> Floats:
        """What each class weighs in the sums, shape (T,): w_t n_t."""
        weight_sums = self.sums.weight_sums
        if isinstance(self.class_weight, str):
            # Not sums times weights: rounding would keep equal ones from being exactly equal.
            return np.where(weight_sums > 0, self._scale(), 0.0)
        return weight_sums * self._class_weights(weight_sums, self.sums.labels)

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""
        return self._current().weights

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        return self._current().intercept

    def scores(self, X: Rows, factors: Floats) -> Floats:
        """Return the scores of rows `X` (m, d) times `factors` (T,), shape (m, T)."""
        return affine(X, self.weights, self.intercept) * factors

    @one_thread
    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        solution = self._current()
        Z = np.asarray(X, dtype=np.float64) - solution.mean
        half = blas.dtrsm(1.0, solution.factor, Z.T, lower=1)
        values: Floats = np.einsum("ij,ij->j", half, half)
        return values + 1 / self.weight_sums.sum() if self.fit_intercept else values

    @property
    @one_thread
    def mean_leverage(self) -> float:
        """The mean leverage of all rows taught, each with its weight, but for 1/n."""
        half, _ = lapack.dtrtri(self._current().factor, lower=1)
        trace = self.sums.width - self.penalty * float(np.square(np.tril(half)).sum())
        return max(0.0, trace) / float(self.weight_sums.sum())

    @one_thread
    def equations(self) -> Equations:
        """Return the sums that the weights solve; only the gram may be written to."""
        sums, scale = self.sums, self._scale()
        class_weights = self._class_weights(sums.weight_sums, sums.labels)
        weighted = self._weighted_gram
        if weighted is None or self._origin is not sums.origin:
            weighted = np.zeros((sums.width, sums.width), order="F")
            for gram, weight in zip(sums.grams, class_weights, strict=True):
                gram.add_to(weighted, weight)
            self._weighted_gram, self._changes, self._origin = weighted, 0, sums.origin
        cross = sums.cross * (scale * class_weights)
        return Equations(scale * weighted, cross, self.weight_sums, sums.origin)

    @one_thread
    def learn(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then. Each row counts as often as its weight says.
        """
        self._solution = None
        self._changes += 1
        weighted, grams = self._weighted_gram, self.sums.grams
        is_old = self._changes > self.sums.width or self._origin is not self.sums.origin
        if weighted is None or not weighted.flags.writeable or is_old:
            self._weighted_gram = None
            return
        weight_sums, rows = np.zeros(len(labels)), self.sums.around(X, sample_weight)
        weight_sums[: len(grams)] = self.sums.weight_sums
        old = self._class_weights(weight_sums, labels)
        coming = np.bincount(index, sample_weight, minlength=len(labels))
        new = self._class_weights(weight_sums + coming, labels)
        for place in np.unique(index):
            if place < len(grams) and new[place] != old[place]:
                grams[place].add_to(weighted, new[place] - old[place])
            add_products(weighted, rows[index == place], new[place], lower=True)

    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        The sum over classes is then added up anew: subtracting would leave the rounding of what
        was there.
        """
        self.discard()

    def remove_classes(self, index: Index) -> None:
        """Do nothing: vanished classes have no part in the sums, and no columns are held."""

    def begin(self) -> None:
        """Do nothing: every question solves anew."""

    def foresee(self, penalty: float) -> None:
        """Do nothing: every question solves anew, whatever the penalty."""

    def use(self, penalty: float) -> None:
        """Answer for another penalty from now on."""
        self.penalty, self._solution = penalty, None

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._weighted_gram, self._solution = None, None

    def _class_weights(self, weight_sums: Floats, labels: Labels) -> Floats:
        if isinstance(self.class_weight, str):
            return np.where(weight_sums > 0, 1 / np.where(weight_sums > 0, weight_sums, 1.0), 0.0)
        weights = [self.class_weight.get(label, 1.0) for label in labels.tolist()]
        return np.array(weights, dtype=np.float64)

    def _scale(self) -> float:
        """Return the common factor that `_class_weights` leaves out."""
        if not isinstance(self.class_weight, str):
            return 1.0
        weight_sums = self.sums.weight_sums
        return float(weight_sums.sum() / np.count_nonzero(weight_sums))

    def _current(self) -> Solution:
        if self._solution is None:
            self._solution = solve(self.equations(), self.penalty, self.fit_intercept)
        return self._solution
