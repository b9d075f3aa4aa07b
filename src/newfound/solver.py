"""Weights and leverage, derived from the sums and kept current in fixed time."""

import numpy as np
from scipy.linalg import blas, lapack

from newfound.gram import Floats, second_moment
from newfound.labels import Labels
from newfound.normal_equations import is_definite, regularised, solve
from newfound.statistics import Index, Rows, Statistics, with_room

# Rows learned or forgotten between two measurements of the drift.
CHECK_EVERY = 64
# Drift that is always left alone, and how often the drift right after a rebuild it may be else.
DRIFT_TOLERANCE = 1e-10
DRIFT_GROWTH = 10.0
# Smallest pivot of a downdate (1 - leverage) that keeps enough digits, and how far beyond the
# rounding error of the leverage it must be; else, start anew.
SAFE_PIVOT = 1e-6
SAFE_MARGIN = 1e6
# Share of the sum of squares by which sums may miss being positive definite when rows are taken
# out: what rounding cost them, when they were larger, is not held against the rows.
ROUNDING_SLACK = 1e-8


class NotTaughtError(ValueError):
    """What is to be forgotten cannot have been taught."""

    def __init__(self) -> None:
        super().__init__(
            "cannot forget these rows: without them the sums would be those of no data at all "
            "(not positive definite), so they were not all taught; the model is left as it was"
        )


class RecursiveSolver:
    """Ridge weights by the inverse form of recursive least squares.

    Carries A^-1 and the weights W, with A the (centred) gram plus penalty. A row costs one
    product with A^-1, one rank-one change of it and one of W: O(d^2 + dT), whatever was seen
    before. A batch of m rows is one rank-m change, through level-3 BLAS. With an intercept, rows
    are centred as they come, which keeps it exact and out of the penalty.

    Everything here is derived. It is rebuilt from the sums when it is first needed after a large
    batch, when the penalty changes, and when the measured `drift` passes its limit.

    Equivalent to `scipy.linalg.solve(A, B, assume_a="pos")`, and to scikit-learn's `Ridge` on
    one-hot targets.
    """

    # inverse: lower triangle of (X'X - n mean mean' + penalty I)^-1. None: to be rebuilt.
    # _weights[t]: column t of inverse (X'Y - n mean target_mean'), for each class.
    # intercept: target_mean - W' mean, or zeros without an intercept.
    # mean: of the rows, or zeros without an intercept.
    # All four belong to the same rows as the statistics do, except inside `learn` and `forget`.

    def __init__(self, statistics: Statistics, penalty: float, fit_intercept: bool) -> None:
        self.statistics = statistics
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.rebuilds = 0
        self._inverse: Floats | None = None
        self._weights = np.zeros((0, 0))
        self._intercept = np.zeros(0)
        self._mean = np.zeros(0)
        self._unchecked = 0
        self._drift_floor = 0.0
        self._probes = np.random.default_rng(0)

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,): here its count."""
        return self.statistics.counts.astype(np.float64)

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""
        self._current()
        return self._weights[: self.statistics.n_classes].T

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        self._current()
        return self._intercept

    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        inverse = self._current()
        Z = np.asarray(X, dtype=np.float64) - self._mean
        values: Floats = np.einsum("ij,ij->j", blas.dsymm(1.0, inverse, Z.T, lower=1), Z.T)
        return values + 1 / self.statistics.total if self.fit_intercept else values

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the statistics do.

        `labels` are all classes there will be then.
        """
        if not self.statistics.total:
            self._start()
        if self._inverse is None or self._rebuild_is_cheaper(X):
            self.discard()
            return
        self._check_drift(len(X))
        self._weights = with_room(self._weights, len(labels))
        self._intercept = np.pad(self._intercept, (0, len(labels) - len(self._intercept)))
        if not self._change(X, index, sign=1):
            self.discard()

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the statistics do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        remaining = self.statistics.total - len(X)
        small = self._inverse is not None and not self._rebuild_is_cheaper(X)
        if remaining and small:
            self._check_drift(len(X))
            if self._change(X, index, sign=-1):
                return
        if remaining:
            self._check_definite(X, remaining)
        self.discard()

    def drop(self, places: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        if self._inverse is not None:
            self._weights = np.delete(self._weights, places, axis=0)
            self._intercept = np.delete(self._intercept, places)

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._inverse = None

    def drift(self) -> float:
        """Measure how far the carried inverse and weights are from what the sums say.

        For a random combination of classes, the relative size of the correction that one step of
        iterative refinement would make to the weights, or of the error of inverse times matrix if
        that is larger. Three products with a d x d matrix.
        """
        inverse, statistics = self._current(), self.statistics
        mix = self._probes.standard_normal(statistics.n_classes)
        direction = self.weights @ mix
        size = float(np.linalg.norm(self.weights))
        mean, n = self._sums_mean(), statistics.total
        target = statistics.cross @ mix - mean * (statistics.counts @ mix)
        image = statistics.gram_times(direction)
        image += self.penalty * direction - mean * (n * (mean @ direction))
        correction = blas.dsymv(1.0, inverse, target - image, lower=1)
        echo = blas.dsymv(1.0, inverse, image, lower=1) - direction
        return max(float(np.linalg.norm(correction)), float(np.linalg.norm(echo))) / (size or 1.0)

    def rebuild(self) -> Floats:
        """Derive everything from the sums, O(d^3); return the inverse."""
        statistics = self.statistics
        solution = solve(
            statistics.gram, statistics.cross, self.masses, self.penalty, self.fit_intercept
        )
        inverse: Floats
        inverse, _ = lapack.dpotri(solution.factor, lower=1, overwrite_c=1)
        self._weights = np.ascontiguousarray(solution.weights.T)
        self._intercept, self._mean = solution.intercept, solution.mean
        self._inverse = inverse
        self.rebuilds += 1
        self._unchecked = 0
        self._drift_floor = self.drift()
        return inverse

    def _start(self) -> None:
        """Derive everything from no rows at all."""
        width = self.statistics.width
        self._inverse = np.asfortranarray(np.eye(width) / self.penalty)
        self._weights, self._intercept, self._mean = (
            np.zeros((0, width)),
            np.zeros(0),
            np.zeros(width),
        )
        self._unchecked, self._drift_floor = 0, 0.0

    def _current(self) -> Floats:
        return self.rebuild() if self._inverse is None else self._inverse

    def _rebuild_is_cheaper(self, X: Rows) -> bool:
        # A rank-m change takes about 3 d^2 m operations, an inversion d^3.
        return len(X) > 1 and 3 * len(X) > self.statistics.width

    def _sums_mean(self) -> Floats:
        if not self.fit_intercept:
            return np.zeros(self.statistics.width)
        mean: Floats = self.statistics.cross.sum(axis=1) / self.statistics.total
        return mean

    def _check_drift(self, coming: int) -> None:
        self._unchecked += coming
        if self._unchecked < CHECK_EVERY or not self.statistics.total:
            return
        self._unchecked = 0
        if self.drift() > max(DRIFT_TOLERANCE, DRIFT_GROWTH * self._drift_floor):
            self.rebuild()

    def _check_definite(self, X: Rows, remaining: int) -> None:
        gram = self.statistics.gram
        slack = ROUNDING_SLACK * gram.trace()
        gram -= second_moment(X)
        mean = np.zeros(len(gram))
        if self.fit_intercept:
            mean = (self.statistics.cross.sum(axis=1) - X.sum(axis=0)) / remaining
        if not is_definite(regularised(gram, mean, remaining, self.penalty + slack)):
            raise NotTaughtError

    def _change(self, X: Rows, index: Index, sign: int) -> bool:
        """Add (sign 1) or take out (sign -1) rows; False, with nothing changed, if that is unsafe.

        With Z the rows and E the errors of their predictions, the new matrix is A + sign Z'Z, so
        inverse -= sign (inverse Z') H^-1 (inverse Z')' and W += sign (inverse Z') H^-1 E,
        where H = I + sign Z inverse Z'. With an intercept, the mean moves too: then rows are seen
        from the old mean, and both Z and E lose a share of their own mean, which multiplies them
        by a square root of I - sign 11'/n (docs/mathematics.md).
        """
        assert self._inverse is not None
        before, m = self.statistics.total, len(X)
        after = before + sign * m
        T = len(self._intercept)
        weights = self._weights[:T].T
        errors = -(X @ weights + self._intercept)
        errors[np.arange(m), index] += 1
        Z, E, shift = np.asarray(X, dtype=np.float64), errors, np.zeros(self.statistics.width)
        if self.fit_intercept:
            Z = Z - self._mean
            shift = sign * Z.sum(axis=0) / after
            share = 1 - np.sqrt(before / after)
            Z, E = Z - share * Z.mean(axis=0), E - share * E.mean(axis=0)

        gain = blas.dsymm(1.0, self._inverse, Z.T, lower=1)
        factor, failed = lapack.dpotrf(np.eye(m) + sign * (Z @ gain), lower=1)
        if failed or (sign < 0 and not self._is_safe(Z, factor)):
            return False
        gain = blas.dtrsm(1.0, factor, gain, side=1, lower=1, trans_a=1)
        step = blas.dtrsm(sign, factor, E, lower=1)
        self._inverse = blas.dsyrk(-sign, gain, beta=1.0, c=self._inverse, lower=1, overwrite_c=1)
        weights += gain @ step
        if self.fit_intercept:
            self._mean = self._mean + shift
            self._intercept = (
                self._intercept + sign * errors.sum(axis=0) / after - (self._mean @ gain) @ step
            )
        return True

    def _is_safe(self, Z: Floats, factor: Floats) -> bool:
        """Tell whether the pivots of a downdate are neither small nor made of rounding errors."""
        assert self._inverse is not None
        pivot = float(factor.diagonal().min() ** 2)
        # |z|'|P||z| <= (|z| . root of the diagonal of P)^2, since P is positive definite.
        bound = float((np.abs(Z) @ np.sqrt(np.abs(self._inverse.diagonal()))).max() ** 2)
        return pivot > max(SAFE_PIVOT, SAFE_MARGIN * np.finfo(np.float64).eps * bound)
