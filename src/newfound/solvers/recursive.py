"""Weights and leverage, derived from the sums and kept current in fixed time."""

import numpy as np
from scipy.linalg import blas, lapack

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.errors import NotTaughtError
from newfound.solvers.cholesky import Equations, regularised, solve
from newfound.solvers.inverse import LIMITS, Inverse, fits_single
from newfound.solvers.watch import Watch
from newfound.sums.blas import add_outer, norm, second_moment, times
from newfound.sums.cross import with_room
from newfound.sums.removal import OF_NO_DATA, ROUNDING_SLACK, is_definite
from newfound.sums.sums import Sums


class RecursiveSolver:
    """Ridge weights by the inverse form of recursive least squares.

    Carries A^-1 and the weights W, with A the (centred) gram plus penalty. A row costs one
    product with A^-1, one rank-one change of it and one of W: O(d^2 + dT), whatever was seen
    before. A batch of m rows is one rank-m change, through level-3 BLAS. With an intercept, rows
    are centred as they come, which keeps it exact and out of the penalty.

    Everything here is derived. It is rebuilt from the sums when it is first needed after a large
    batch, when the penalty changes, and when the measured `drift` passes its limit. The inverse of
    a model of float32 rows is carried in float32 until that drifts too far; from then on in
    float64.

    Equivalent to `scipy.linalg.solve(A, B, assume_a="pos")`, and to scikit-learn's `Ridge` on
    one-hot targets.
    """

    # _inverse: of X'X - n mean mean' + penalty I. None: all is to be rebuilt.
    # _weights[t]: column t of that inverse times X'Y - n mean target_mean', for each class.
    # _intercept: target_mean - W' mean, or zeros without an intercept.
    # _mean: of the rows, or zeros without an intercept.
    # All four belong to the same rows as the sums do, except inside `learn` and `forget`.
    # _watch: says when they are no longer good enough.
    # _single_failed: whether float32 has drifted too far, so that all is carried in float64.

    def __init__(self, sums: Sums, penalty: float, fit_intercept: bool) -> None:
        self.sums = sums
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.rebuilds = 0
        self._inverse: Inverse | None = None
        self._weights = np.zeros((0, 0))
        self._intercept = np.zeros(0)
        self._mean = np.zeros(0)
        self._watch = Watch(sums.width, LIMITS[np.dtype(np.float64)])
        self._single_failed = False
        self._probes = np.random.default_rng(0)

    @property
    def masses(self) -> Floats:
        """What each class weighs in the sums, shape (T,): here its count."""
        return self.sums.counts.astype(np.float64)

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T), not recoded; must not be written to."""
        self._current()
        return self._weights[: len(self._intercept)].T

    @property
    def intercept(self) -> Floats:
        """Intercepts, shape (T,), not recoded; must not be written to."""
        self._current()
        return self._intercept

    def leverage(self, X: Rows) -> Floats:
        """Return x'A^-1 x for each row of `X`, shape (m,); with an intercept, 1/n is part of it."""
        inverse = self._current()
        values = inverse.quadratic(X - self._mean)
        return values + 1 / self.sums.total if self.fit_intercept else values

    def equations(self) -> Equations:
        """Return the sums that the weights solve; only the gram may be written to."""
        return Equations(self.sums.gram, self.sums.cross, self.masses)

    def learn(self, X: Rows, index: Index, labels: Labels) -> None:
        """Take in rows `X` (m, d) of classes `index` (m,), before the sums do.

        `labels` are all classes there will be then.
        """
        if not self.sums.total:
            self._start(X)
        inverse = self._inverse
        if inverse is None or self._rebuild_is_cheaper(X) or not self._is_writeable():
            self.discard()
            return
        if not inverse.suits(X):
            self.rebuild(single=False)
        if self.sums.total:
            self._mend_drift(len(X))
        self._add_classes(len(labels))
        one = len(X) == 1
        if not (self._learn_row(X, int(index[0])) if one else self._change(X, index, sign=1)):
            self._fail()

    def forget(self, X: Rows, index: Index) -> None:
        """Take out rows `X` (m, d) of classes `index` (m,), before the sums do.

        Raises NotTaughtError, and changes nothing that matters, if that cannot be.
        """
        remaining = self.sums.total - len(X)
        small = self._is_writeable() and not self._rebuild_is_cheaper(X)
        if remaining and small and not self._leaves_little(X):
            self._mend_drift(len(X))
            if self._change(X, index, sign=-1):
                return
        if remaining:
            self._check_definite(X, remaining)
        self.discard()

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        if self._inverse is not None and len(index):
            self._weights = np.delete(self._weights, index, axis=0)
            self._intercept = np.delete(self._intercept, index)

    def discard(self) -> None:
        """Throw away all that is derived; the next question rebuilds it from the sums."""
        self._inverse = None

    def drift(self) -> float:
        """Measure how far the carried weights and inverse are from what the sums say.

        The larger of two relative errors along a random combination of the classes' weights: the
        correction that one step of iterative refinement would make to it, and, in float64, what
        the inverse of A times A would make of it. Each takes three products with a d x d matrix.
        """
        errors = [self._drift_of_weights()]
        if not self._current().is_single:
            errors.append(self._drift_of_inverse())
        return max(errors)

    def _drift_of_weights(self) -> float:
        W, cross = self.weights, self.sums.cross
        mix: Floats = self._probes.standard_normal((W.shape[1],))
        target = times(cross, mix) - self._sums_mean() * (self.sums.counts @ mix)
        correction = self._current().times(target - self._image(times(W, mix)))
        return norm(correction) / (norm(W) or 1.0)

    def _drift_of_inverse(self) -> float:
        W = self.weights
        direction = times(W, self._probes.standard_normal((W.shape[1],)))
        if not direction.any():  # as long as there is but one class: then any direction will do
            direction = self._probes.standard_normal(direction.shape)
        error = self._current().times(self._image(direction)) - direction
        return norm(error) / norm(direction)

    def rebuild(self, single: bool | None = None) -> Inverse:
        """Derive everything from the sums, O(d^3); return the inverse.

        In float32 if all rows were, unless that has failed before or `single` says otherwise.
        """
        sums = self.sums
        matrix = self._inverse_of_few() if 3 * sums.total <= sums.width else None
        if matrix is not None:
            self._mean = self._sums_mean()
            weights = blas.dsymm(1.0, matrix, self._right(), lower=1)
            self._weights = np.ascontiguousarray(weights.T)
            self._intercept = sums.counts / sums.total * self.fit_intercept - self._mean @ weights
        else:
            solution = solve(self.equations(), self.penalty, self.fit_intercept)
            matrix, _ = lapack.dpotri(solution.factor, lower=1, overwrite_c=1)
            self._weights = np.ascontiguousarray(solution.weights.T)
            self._intercept, self._mean = solution.intercept, solution.mean
        if single is None:
            single = sums.dtype == np.float32 and not self._single_failed
            single = single and fits_single(matrix.diagonal(), sums.squares / sums.total)
        inverse = self._carry(matrix, single)
        self.rebuilds += 1
        self._watch.floor = self.drift()
        return inverse

    def _inverse_of_few(self) -> Floats | None:
        """Return the inverse from the rows themselves, O(n d^2), if they are there and tame."""
        rows = self.sums.held_rows
        if rows is None:
            return None
        identity = np.asfortranarray(np.eye(self.sums.width) / self.penalty)
        inverse = Inverse(identity, np.float64)
        changed = inverse.change(rows - self._sums_mean(), 1)
        return None if changed is None else inverse.matrix

    def _start(self, X: Rows) -> None:
        """Derive everything from no rows at all, in the precision of the first that come."""
        width = self.sums.width
        identity = np.asfortranarray(np.eye(width) / self.penalty)
        single = X.dtype == np.float32 and not self._single_failed
        self._weights, self._intercept = np.zeros((0, width)), np.zeros(0)
        self._mean = np.zeros(width)
        self._carry(identity, single and fits_single(identity.diagonal()))

    def _carry(self, matrix: Floats, single: bool) -> Inverse:
        """Take over a new inverse, for which all else is in place already."""
        inverse = Inverse(matrix, np.float32 if single else np.float64)
        self._watch.restart(inverse.limits)
        self._inverse = inverse  # last, for it says that the rest is there
        return inverse

    def _current(self) -> Inverse:
        """Return the inverse, with weights that are as good as the sums."""
        if self._inverse is None:
            return self.rebuild()
        if self._watch.is_rough:
            self._refine()
        return self._inverse

    def _refine(self) -> None:
        """Take one step of iterative refinement: W += A^-1 (right-hand side - A W)."""
        assert self._inverse is not None
        W, sums = self._weights[: len(self._intercept)].T, self.sums
        W = W + self._inverse.times(self._right() - self._image(W))
        self._weights = np.ascontiguousarray(W.T)
        self._mean = self._sums_mean()
        if self.fit_intercept:
            self._intercept = sums.counts / sums.total - self._mean @ W
        self._watch.is_rough = False

    def _add_classes(self, size: int) -> None:
        """Add zero columns for classes that are new, so that there are `size` of them."""
        if size > len(self._intercept):
            self._weights = with_room(self._weights, size)
            self._intercept = np.pad(self._intercept, (0, size - len(self._intercept)))

    def _sums_mean(self) -> Floats:
        if not self.fit_intercept:
            return np.zeros(self.sums.width)
        mean: Floats = self.sums.cross.sum(axis=1) / self.sums.total
        return mean

    def _right(self) -> Floats:
        """Return the right-hand side of the normal equations, shape (d, T)."""
        return self.sums.cross - np.outer(self._sums_mean(), self.sums.counts)

    def _image(self, columns: Floats) -> Floats:
        """Return A times `columns`, of shape (d,) or (d, k), from the sums."""
        mean, n = self._sums_mean(), self.sums.total
        image = self.sums.gram_times(columns) + self.penalty * columns
        image -= np.multiply.outer(n * mean, mean @ columns)
        return image

    def _is_writeable(self) -> bool:
        return bool(
            self._inverse is not None
            and self._inverse.is_writeable
            and self._weights.flags.writeable
        )

    def _rebuild_is_cheaper(self, X: Rows) -> bool:
        # A rank-m change takes about 3 d^2 m operations, an inversion d^3.
        return len(X) > 1 and 3 * len(X) > self.sums.width

    def _leaves_little(self, X: Rows) -> bool:
        held = self.sums.trace
        squares = np.einsum("ij,ij->", X, X, dtype=np.float64)
        return self._watch.leaves_little(held, float(squares))

    def _mend_drift(self, coming: int) -> None:
        """Before rows come or go: rebuild if what is carried is no longer good enough."""
        inverse, watch = self._current(), self._watch
        watch.count(coming)
        if watch.is_recovered:
            self.rebuild()
        elif watch.is_due:
            of_inverse = watch.turn and not inverse.is_single
            drift = self._drift_of_inverse() if of_inverse else self._drift_of_weights()
            if watch.asks_for_rebuild(drift):
                self._fail()
                self.rebuild()

    def _fail(self) -> None:
        """Discard all, for it is no good; if float32 was, it is not tried again."""
        self._single_failed |= self._inverse is not None and self._inverse.is_single
        self.discard()

    def _check_definite(self, X: Rows, remaining: int) -> None:
        gram = self.sums.gram
        slack = ROUNDING_SLACK * gram.trace() + self.sums.rounding
        gram -= second_moment(X)
        mean = np.zeros(len(gram))
        if self.fit_intercept:
            gone = X.sum(axis=0, dtype=np.float64)
            mean = (self.sums.cross.sum(axis=1) - gone) / remaining
        if not is_definite(regularised(gram, mean, remaining, self.penalty + slack)):
            raise NotTaughtError(OF_NO_DATA)

    def _learn_row(self, X: Rows, label: int) -> bool:
        """Take in one row: what `_change` does for many, without its detours."""
        assert self._inverse is not None
        before = self.sums.total
        after = before + 1
        weights = self._weights[: len(self._intercept)]
        row = X[0].astype(np.float64, copy=False)
        error = -times(weights, row) - self._intercept
        error[label] += 1
        # Without an intercept the mean is zero and stays so.
        z = row - self._mean
        root = (before / after) ** 0.5 if self.fit_intercept else 1.0
        added = self._inverse.add_row(root * z)
        if added is None:
            return False
        gain, pivot = added
        step = (root / pivot) * error
        add_outer(weights, step, gain)
        if self.fit_intercept:
            self._mean = self._mean + z / after
            self._intercept = self._intercept + error / after - (self._mean @ gain) * step
        self._watch.note(pivot)
        return True

    def _change(self, X: Rows, index: Index, sign: int) -> bool:
        """Add (sign 1) or take out (sign -1) rows; False, with nothing changed, if that is unsafe.

        With Z the rows and E the errors of their predictions, the new matrix is A + sign Z'Z, so
        W += sign V R^-1 E, where R R' = I + sign Z A^-1 Z' and V = A^-1 Z' R^-T. With an
        intercept, the mean moves too: then rows are seen from the old mean, and both Z and E
        lose a share of their own mean, which multiplies them by a square root of I - sign 11'/n
        (docs/mathematics.md).
        """
        assert self._inverse is not None
        before, m = self.sums.total, len(X)
        after = before + sign * m
        weights = self._weights[: len(self._intercept)].T
        errors = -(X @ weights + self._intercept)
        errors[np.arange(m), index] += 1
        Z, E, shift = np.asarray(X, dtype=np.float64), errors, np.zeros(self.sums.width)
        if self.fit_intercept:
            Z = Z - self._mean
            shift = sign * Z.sum(axis=0) / after
            share = 1 - np.sqrt(before / after)
            Z, E = Z - share * Z.mean(axis=0), E - share * E.mean(axis=0)
        changed = self._inverse.change(Z, sign)
        if changed is None:
            return False
        gain, factor = changed
        pivot = float(max(1.0, factor.diagonal().max() ** 2, factor.diagonal().min() ** -2))
        self._watch.note(pivot)
        step = blas.dtrsm(sign, factor, E, lower=1)
        weights += gain @ step
        if self.fit_intercept:
            self._mean = self._mean + shift
            self._intercept = (
                self._intercept + sign * errors.sum(axis=0) / after - (self._mean @ gain) @ step
            )
        return True
