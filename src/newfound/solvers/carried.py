"""What a recursive solver carries along from row to row."""

from functools import partial

import numpy as np
from scipy.linalg import blas

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.pieces import Stages, Task
from newfound.solvers.cholesky import (
    Equations,
    centred,
    factorise_in_stages,
    invert_in_stages,
    solve_in_stages,
)
from newfound.solvers.inverse import Inverse, fits_single
from newfound.sums.blas import add_outer, diagonal_of, times
from newfound.sums.cross import with_room

# Rows that an inverse is changed by at a time.
SOME_ROWS = 32


class Carried:
    """Inverse, weights, intercept and mean of the same rows, changed by every further row.

    Parameters
    ----------
    inverse : Inverse
        Of X'X - n mean mean' + penalty I, for rows X of mass n: so many, if each weighs one.
    weights : ndarray of shape (d, T)
        That inverse times X'Y - n mean target_mean'.
    intercept : ndarray of shape (T,)
        target_mean - W' mean, or zeros without an intercept.
    mean : ndarray of shape (d,)
        Of the rows, or zeros without an intercept.
    mass : float
        What the rows weigh, n.
    fit_intercept : bool
    """

    # _columns[t]: the weights of class t, for each class; zeros follow.

    def __init__(
        self,
        inverse: Inverse,
        weights: Floats,
        intercept: Floats,
        mean: Floats,
        mass: float,
        fit_intercept: bool,
    ) -> None:
        self.inverse = inverse
        self._columns = np.ascontiguousarray(weights.T)
        self.intercept = intercept
        self.mean = mean
        self.mass = float(mass)
        self.fit_intercept = fit_intercept

    @classmethod
    def of_nothing(
        cls, width: int, penalty: float, fit_intercept: bool, *, single: bool
    ) -> "Carried":
        """Return what follows from no rows at all, in float32 if that will do."""
        identity = identity_over(penalty, np.empty((width, width), order="F"))
        inverse = inverse_in(identity, 0.0, single=single)
        return cls(inverse, np.zeros((width, 0)), np.zeros(0), np.zeros(width), 0.0, fit_intercept)

    @property
    def weights(self) -> Floats:
        """Weights, shape (d, T); must not be written to."""
        return self._columns[: len(self.intercept)].T

    @weights.setter
    def weights(self, weights: Floats) -> None:
        self._columns = np.ascontiguousarray(weights.T)

    @property
    def is_writeable(self) -> bool:
        """Whether it may be changed, and is not mapped read-only from a file."""
        return self.inverse.is_writeable and self._columns.flags.writeable

    def add_classes(self, size: int) -> None:
        """Add zero columns for classes that are new, so that there are `size` of them."""
        if size > len(self.intercept):
            self._columns = with_room(self._columns, size)
            self.intercept = np.pad(self.intercept, (0, size - len(self.intercept)))

    def remove_classes(self, index: Index) -> None:
        """Take out the columns of classes that have no examples left."""
        self._columns = np.delete(self._columns, index, axis=0)
        self.intercept = np.delete(self.intercept, index)

    def learn_row(self, X: Rows, label: int, weight: float = 1.0) -> float | None:
        """Take in one row (1, d): what `change` does for many, without its detours.

        Returns the pivot; None, with nothing changed, if that is unsafe.
        """
        before, after = self.mass, self.mass + weight
        columns = self._columns[: len(self.intercept)]
        row = X[0].astype(np.float64, copy=False)
        error = -times(columns, row) - self.intercept
        error[label] += 1
        # Without an intercept the mean is zero and stays so.
        z = row - self.mean
        root = (weight * (before / after) if self.fit_intercept else weight) ** 0.5
        added = self.inverse.add_row(root * z)
        if added is None:
            return None
        gain, pivot = added
        step = (root / pivot) * error
        add_outer(columns, step, gain)
        if self.fit_intercept:
            self.mean = self.mean + (weight / after) * z
            moved = (weight / after) * error
            self.intercept = self.intercept + moved - (self.mean @ gain) * step
        self.mass = after
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
        before, m = self.mass, len(X)
        roots = np.ones(m) if sample_weight is None else np.sqrt(sample_weight)
        coming = float(m if sample_weight is None else sample_weight.sum())
        after, weights = before + sign * coming, self.weights
        errors = -(X @ weights + self.intercept)
        errors[np.arange(m), index] += 1
        Z, E, shift = np.asarray(X, dtype=np.float64), errors, np.zeros(X.shape[1])
        if self.fit_intercept:
            Z = Z - self.mean
        if sample_weight is not None:
            Z, E = roots[:, None] * Z, roots[:, None] * E
        if self.fit_intercept:
            of_rows, of_errors = roots @ Z, roots @ E
            shift, moved = sign * of_rows / after, sign * of_errors / after
            share = (1 - np.sqrt(before / after)) / coming
            Z, E = Z - np.outer(share * roots, of_rows), E - np.outer(share * roots, of_errors)
        changed = self.inverse.change(Z, sign)
        if changed is None:
            return None
        gain, factor = changed
        step = blas.dtrsm(sign, factor, E, lower=1)
        weights += gain @ step
        if self.fit_intercept:
            self.mean = self.mean + shift
            self.intercept = self.intercept + moved - (self.mean @ gain) @ step
        self.mass = after
        return float(max(1.0, factor.diagonal().max() ** 2, factor.diagonal().min() ** -2))


def identity_over(penalty: float, room: Floats) -> Floats:
    """Overwrite a square matrix with the identity divided by `penalty`; return it."""
    room[:] = 0.0
    diagonal_of(room)[:] = 1 / penalty
    return room


def inverse_in(matrix: Floats, squares: Floats | float, *, single: bool) -> Inverse:
    """Carry an inverse in float32, if that will do for rows whose features have these squares."""
    single = single and fits_single(matrix.diagonal(), squares)
    return Inverse(matrix, np.float32 if single else np.float64)


def carried_in_stages(
    equations: Equations, penalty: float, fit_intercept: bool, *, single: bool
) -> Stages[Carried | None]:
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
    Carried or None
        None if rounding has made the matrix indefinite.
    """
    mass = float(equations.masses.sum())
    squares = equations.gram.diagonal() / (mass or 1.0)
    matrix, weights, mean, targets = centred(equations, penalty, fit_intercept)
    if not (yield from factorise_in_stages(matrix)):
        return None
    yield from solve_in_stages(matrix, weights)
    found = np.zeros(matrix.shape, order="F")  # for the other triangle is converted, too
    yield from invert_in_stages(matrix, found)
    inverse = inverse_in(found, squares, single=single)
    intercept = targets - mean @ weights
    return Carried(inverse, weights, intercept, mean, mass, fit_intercept)


def carried_from_rows_in_stages(
    rows: Floats, equations: Equations, penalty: float, fit_intercept: bool, *, single: bool
) -> Stages[Carried | None]:
    """Derive everything from a few rows themselves, O(n d^2).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        All rows there are.
    equations : Equations
        Their sums; the gram is only room to work in.
    penalty, fit_intercept, single
        As above.

    Returns
    -------
    Carried or None
        None if the rows are so large that digits would be lost.
    """
    cross, masses, (n, d) = equations.cross, equations.masses, rows.shape
    mean, targets = cross.sum(axis=1) / n * fit_intercept, masses / n * fit_intercept
    inverse, is_safe = Inverse(identity_over(penalty, equations.gram), np.float64), [True]

    def add(some: Floats) -> None:
        is_safe[0] = is_safe[0] and inverse.change(some - mean, 1) is not None

    for start in range(0, n, SOME_ROWS):
        yield [Task(3.0 * d * d * SOME_ROWS, partial(add, rows[start : start + SOME_ROWS]))]
    if not is_safe[0]:
        return None
    weights = inverse.times(cross - np.outer(mean, masses))
    inverse = inverse_in(inverse.matrix, np.einsum("ij,ij->j", rows, rows) / n, single=single)
    return Carried(inverse, weights, targets - mean @ weights, mean, n, fit_intercept)
