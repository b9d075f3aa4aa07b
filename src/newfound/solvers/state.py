"""What a recursive solver carries along from row to row."""

from functools import partial

import numpy as np

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.device import Array
from newfound.common.pieces import Stages, Task
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import (
    Equations,
    centred,
    factorise_in_stages,
    invert_in_stages,
    solve_in_stages,
)
from newfound.solvers.inverse import Inverse, fits_single
from newfound.sums.blas import add_outer, affine, diagonal_of, times
from newfound.sums.device import rows_at, solve_factor, with_capacity

# Rows that an inverse is changed by at a time.
SOME_ROWS = 32


class SolverState:
    """Inverse, weights and mean of the same rows, changed by every further row.

    The intercept is not carried: it is what the means of rows and targets make of the weights.

    Parameters
    ----------
    inverse : Inverse
        Of X'X - n mean mean' + penalty I, for rows X that weigh n: so many, if each weighs one.
    weights : array of shape (d, T)
        That inverse times X'Y - n mean target_mean'.
    mean : array of shape (d,)
        Of the rows, or zeros without an intercept; taken over and changed.
    weight_sums : ndarray of shape (T,)
        What the rows of each class weigh, on the host.
    fit_intercept : bool
    """

    # _columns[t]: the weights of class t, for each class; zeros follow.
    # weight_sum: what all rows weigh, n.

    def __init__(
        self,
        inverse: Inverse,
        weights: Array,
        mean: Array,
        weight_sums: Floats,
        fit_intercept: bool,
    ) -> None:
        self.inverse, self.fit_intercept = inverse, fit_intercept
        self.replace(weights, mean, weight_sums)

    def replace(self, weights: Array, mean: Array, weight_sums: Floats) -> None:
        """Take over better weights and mean of the same rows, whose classes weigh so much."""
        is_here = self.inverse.device is None
        self._columns = np.ascontiguousarray(weights.T) if is_here else weights.T
        self.mean, self.weight_sums = mean, weight_sums.copy()
        self.weight_sum = float(weight_sums.sum())

    @property
    def size(self) -> int:
        """Number of classes, T."""
        return len(self.weight_sums)

    @property
    def columns(self) -> Array:
        """The weights of each class, shape (T, d)."""
        return self._columns[: len(self.weight_sums), :]

    @property
    def weights(self) -> Array:
        """Weights, shape (d, T); must not be written to."""
        return self.columns.T

    @property
    def targets(self) -> Floats:
        """The mean of the targets, shape (T,), on the host; zeros without an intercept."""
        return self.weight_sums * (self.fit_intercept / (self.weight_sum or 1.0))

    @property
    @one_thread
    def intercept(self) -> Array:
        """Intercepts, shape (T,)."""
        return self._put(self.targets) - self.columns @ self.mean

    @property
    def is_writeable(self) -> bool:
        """Whether it may be changed, and is not mapped read-only from a file."""
        inverse = self.inverse.matrix.flags.writeable and self.inverse.pending.flags.writeable
        means = self.mean.flags.writeable and self.weight_sums.flags.writeable
        return bool(inverse and means and self._columns.flags.writeable)

    def _put(self, array: Floats) -> Array:
        device = self.inverse.device
        return array if device is None else device.put(array)

    def scores(self, X: Rows, factors: Floats) -> Array:
        """Return the scores of rows `X` (m, d) times `factors` (T,), shape (m, T)."""
        if len(X) == 1:  # seen from the mean, it needs no intercept
            return ((times(self.columns, X[0] - self.mean) + self.targets) * factors)[None]
        return affine(X, self.weights, self.intercept) * factors

    def leverage(self, X: Rows) -> Array:
        """Return z'A^-1 z for each row of `X`, seen from the mean, shape (m,)."""
        return self.inverse.quadratic(X - self.mean)

    def add_classes(self, size: int) -> None:
        """Add zero columns for classes that are new, so that there are `size` of them."""
        new = size - len(self.weight_sums)
        if new > 0:
            self._columns = with_capacity(self._columns, size, self.inverse.device)
            self.weight_sums = np.pad(self.weight_sums, (0, new))

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        kept = np.delete(np.arange(self.size), index)
        self._columns = rows_at(self.columns, kept, self.inverse.device)
        self.weight_sums = self.weight_sums[kept]

    def learn_row(self, X: Rows, label: int, weight: float = 1.0) -> float | None:
        """Take in one row (1, d): what `change` does for many, without its detours.

        Returns the pivot; None, with nothing changed, if that is unsafe.
        """
        before, after = self.weight_sum, self.weight_sum + weight
        columns, z = self.columns, X[0] - self.mean
        error = -times(columns, z)
        error[label] += 1
        root = weight**0.5
        if self.fit_intercept:  # without one the mean is zero and stays so
            error -= self.targets
            root = (weight * (before / after)) ** 0.5
        added = self.inverse.add_row(root * z)
        if added is None:
            return None
        gain, pivot = added
        add_outer(columns, (root / pivot) * error, gain)
        if self.fit_intercept:
            self.mean += (weight / after) * z
        self.weight_sums[label] += weight
        self.weight_sum = after
        return pivot

    def change(
        self, X: Rows, index: Index, sign: int, sample_weight: Floats | None = None
    ) -> float | None:
        """Add (sign 1) or take out (sign -1) rows `X` (m, d) of classes `index` (m,).

        With Z the rows and E the errors of their predictions, the new matrix is A + sign Z'Z, so
        W += sign V R^-1 E, where R R' = I + sign Z A^-1 Z' and V = A^-1 Z' R^-T. With an
        intercept, the mean moves too: then rows are seen from the old mean, and both Z and E
        lose a share of their own mean, which multiplies them by a square root of I - sign 11'/n
        (docs/mathematics.md). Of weighted rows, Z and E are multiplied by the roots of the weights,
        which stand in for the ones.

        Returns the most extreme pivot; None, with nothing changed, if that is unsafe.
        """
        m, coming = len(index), np.ones(len(index)) if sample_weight is None else sample_weight
        targets = np.tile(-self.targets, (m, 1))
        targets[np.arange(m), index] += 1.0
        columns, Z, roots = self.columns, X - self.mean, self._put(np.sqrt(coming))
        E = self._put(targets) - Z @ columns.T
        if sample_weight is not None:
            Z, E = roots[:, None] * Z, roots[:, None] * E
        if self.fit_intercept:
            Z, E, shift = with_mean(Z, E, roots, self.weight_sum, sign * float(coming.sum()))
        changed = self.inverse.change(Z, sign)
        if changed is None:
            return None
        gain, factor, pivot = changed
        step = solve_factor(factor, E, self.inverse.device)
        columns += sign * (step.T @ gain.T)
        if self.fit_intercept:
            self.mean += shift
        self.weight_sums += sign * np.bincount(index, coming, minlength=len(self.weight_sums))
        self.weight_sum += sign * float(coming.sum())
        return pivot


def with_mean(
    Z: Array, E: Array, roots: Array, weight_sum: float, change: float
) -> tuple[Array, Array, Array]:
    """Return rows and errors less their share of a mean that moves; and how it moves.

    Parameters
    ----------
    Z, E : arrays of shape (m, d) and (m, T)
        Times the roots of their weights; rows are seen from the old mean.
    roots : array of shape (m,)
    weight_sum : float
        What all rows weighed before.
    change : float
        What these weigh; less than zero, if they go.
    """
    after, of_rows, of_errors = weight_sum + change, roots @ Z, roots @ E
    share = float((1 - np.sqrt(weight_sum / after)) / abs(change)) * roots[:, None]
    rate = float(np.sign(change) / after)
    return Z - share * of_rows[None, :], E - share * of_errors[None, :], rate * of_rows


def identity_over(penalty: float, workspace: Floats) -> Floats:
    """Overwrite a square matrix with the identity divided by `penalty`; return it."""
    workspace[:] = 0.0
    diagonal_of(workspace)[:] = 1 / penalty
    return workspace


def inverse_in(matrix: Floats, squares: Floats | float, *, single: bool) -> Inverse:
    """Carry an inverse in float32, if that will do for rows whose features have these squares."""
    single = single and fits_single(matrix.diagonal(), squares)
    return Inverse(matrix, np.float32 if single else np.float64)


def state_in_stages(
    equations: Equations, penalty: float, fit_intercept: bool, *, single: bool
) -> Stages[SolverState | None]:
    """Derive everything from the sums, O(d^3).

    Parameters
    ----------
    equations : Equations
        All of it is taken over.
    penalty : float
    fit_intercept : bool
    single : bool
        Whether to carry the inverse in float32, if that will do.

    Returns
    -------
    SolverState or None
        None if rounding has made the matrix indefinite.
    """
    weight_sum = float(equations.weight_sums.sum())
    squares = equations.gram.diagonal() / (weight_sum or 1.0)
    matrix, weights, mean, _ = centred(equations, penalty, fit_intercept)
    if not (yield from factorise_in_stages(matrix)):
        return None
    yield from solve_in_stages(matrix, weights)
    inverted = np.zeros(matrix.shape, order="F")  # for the other triangle is converted, too
    yield from invert_in_stages(matrix, inverted)
    inverse = inverse_in(inverted, squares, single=single)
    return SolverState(inverse, weights, mean, equations.weight_sums, fit_intercept)


def state_from_rows_in_stages(
    rows: Floats, equations: Equations, penalty: float, fit_intercept: bool, *, single: bool
) -> Stages[SolverState | None]:
    """Derive everything from a few rows themselves, O(n d^2).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        All rows there are.
    equations : Equations
        Their sums; the gram is only workspace.
    penalty, fit_intercept, single
        As above.

    Returns
    -------
    SolverState or None
        None if the rows are so large that digits would be lost.
    """
    cross, weight_sums, (n, d) = equations.cross, equations.weight_sums, rows.shape
    offset = cross.sum(axis=1) / n * fit_intercept
    mean = offset if equations.origin is None else equations.origin + offset
    inverse, is_safe = Inverse(identity_over(penalty, equations.gram), np.float64), [True]

    def add(some: Floats) -> None:
        is_safe[0] = is_safe[0] and inverse.change(some - mean, 1) is not None

    for start in range(0, n, SOME_ROWS):
        yield [Task(3.0 * d * d * SOME_ROWS, partial(add, rows[start : start + SOME_ROWS]))]
    if not is_safe[0]:
        return None
    weights = inverse.times(cross - np.outer(offset, weight_sums))
    around = rows - mean
    inverse = inverse_in(inverse.matrix, np.einsum("ij,ij->j", around, around) / n, single=single)
    return SolverState(inverse, weights, mean, weight_sums, fit_intercept)
