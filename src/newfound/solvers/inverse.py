"""A^-1 carried along while rows are added to A and taken out."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from newfound.common.arrays import Floats, Rows
from newfound.common.device import Array, Device, on_host
from newfound.sums.device import add_to_diagonal, cholesky, solve_factor
from newfound.sums.strips import add_squares, block_rows

# How far beyond its own rounding error a pivot must be when a row comes, and when it goes.
COMING_MARGIN = 1e4
GOING_MARGIN = 1e7
# Diagonals of inverses that float32 can carry: its range is 1e-38 to 3e38, and entries beside the
# diagonal, a million times smaller, count, too.
SINGLE_RANGE = 1e-30, 1e30


# Products of a symmetric matrix, by the dimension of what it is multiplied with.
_DOUBLE = {1: blas.dsymv, 2: blas.dsymm}
_SINGLE = {1: blas.ssymv, 2: blas.ssymm}


class Limits(NamedTuple):
    """What a precision can bear.

    A pivot is 1 + leverage when a row comes, 1 - leverage when it goes. A change costs as many
    digits as its pivot has zeros, before or behind the point.
    """

    largest_pivot: float  # beyond, so many digits would go that the change is refused
    stiff_pivot: float  # beyond, what is derived from the inverse needs refining
    smallest_pivot: float  # below, taking a row out is refused
    drift: float  # that is always left alone
    drift_growth: float  # how often the drift right after a rebuild may grow before the next

    def allow(self, pivots: Floats, rounding: float, sign: int) -> bool:
        """Tell whether pivots of rows that come (1) or go (-1) are neither extreme nor rounding."""
        least, most = float(pivots.min()), float(pivots.max())
        if sign > 0:
            return COMING_MARGIN * rounding < least and most < self.largest_pivot
        return least > max(self.smallest_pivot, GOING_MARGIN * rounding)


LIMITS = {
    np.dtype(np.float64): Limits(1e10, 1e5, 1e-3, 1e-10, 10.0),
    np.dtype(np.float32): Limits(1e5, 1e4, 1e-1, 1e-4, 0.0),
}


def fits_single(diagonal: Floats, squares: Floats | float = 0.0) -> bool:
    """Tell whether an inverse with such a diagonal, shape (d,), can be carried in float32.

    It cannot where the leverage of a usual row, whose features have these `squares`, shape (d,),
    would be made of rounding errors.

    >>> fits_single(np.array([1.0, 1e-3])), fits_single(np.array([1.0, 1e-44]))
    (True, False)
    """
    least, most = SINGLE_RANGE
    rounding = float(np.finfo(np.float32).eps) * float(np.sum(squares * diagonal))
    return bool(least < diagonal.min() and diagonal.max() < most and COMING_MARGIN * rounding < 1)


# BLAS multiplies so few vectors faster one by one than together, which has it copy the matrix.
FEW = 4


class Inverse:
    """The inverse of a positive definite matrix A, in float64 or in float32, on the host.

    Adding one row z to A costs one product with the matrix; the rank-one change of it waits until
    there are sixteen or thirty-two, which are then made together.

    Parameters
    ----------
    matrix : ndarray of shape (d, d), Fortran order
        A^-1 in its lower triangle; taken over and changed.
    dtype : float64 or float32

    Examples
    --------
    >>> inverse = Inverse(np.asfortranarray(np.eye(2)), np.float64)
    >>> inverse.add_row(np.array([1.0, 0.0]))
    (array([1., 0.]), 2.0)
    >>> inverse.times(np.ones(2))
    array([0.5, 1. ])
    """

    # matrix - pending[:waiting]' pending[:waiting] is A^-1, in the lower triangle.
    # diagonal: of matrix, at hand; not negative, whatever rounding did. largest: in it.
    # is_in_range: whether its numbers are within the range of its precision.

    device: Device | None = None
    xp: Any = np

    def __init__(self, matrix: NDArray[np.floating], dtype: type[np.floating]) -> None:
        self.matrix = np.asfortranarray(matrix, dtype=dtype)
        self.is_single = self.matrix.dtype == np.float32
        most = 32 if self.is_single else block_rows(len(matrix))
        self.pending = np.zeros((most, len(matrix)), dtype=dtype)
        self.waiting = 0
        self.limits = LIMITS[self.matrix.dtype]
        self.eps = float(np.finfo(self.matrix.dtype).eps)
        self._note_diagonal()

    def suits(self, X: Rows) -> bool:
        """Tell whether its precision will do for rows such as `X`."""
        return not self.is_single or (X.dtype == np.float32 and self.is_in_range)

    def times(self, columns: Floats) -> Floats:
        """Return A^-1 times `columns`, of shape (d,) or (d, k)."""
        columns = columns.astype(self.matrix.dtype, copy=False)
        routines = _SINGLE if self.is_single else _DOUBLE
        product: NDArray[np.floating] = routines[columns.ndim](1.0, self.matrix, columns, lower=1)
        if self.waiting:
            pending = self.pending[: self.waiting]
            if columns.ndim == 1:
                gemv = blas.sgemv if self.is_single else blas.dgemv
                factors = gemv(-1.0, pending.T, columns, trans=1)
                product = gemv(1.0, pending.T, factors, beta=1.0, y=product, overwrite_y=1)
            else:
                product -= pending.T @ (pending @ columns)
        return product.astype(np.float64, copy=False)

    @property
    def trace(self) -> float:
        """The sum of the diagonal of A^-1."""
        made = float(self.matrix.diagonal().sum(dtype=np.float64))
        waiting = float(np.square(self.pending[: self.waiting], dtype=np.float64).sum())
        return made - waiting

    def quadratic(self, Z: Array) -> Array:
        """Return z'A^-1 z for each row of `Z`, shape (m,)."""
        if len(Z) <= FEW:
            return np.array([z @ self.times(z) for z in Z], dtype=np.float64)
        return np.einsum("ij,ji->i", Z, self.times(Z.T))

    def add_row(self, z: Floats) -> tuple[Floats, float] | None:
        """Add z z' to A; return the old A^-1 z and the pivot 1 + z'A^-1 z.

        Returns None, with nothing changed, if the pivot is so large that the change would cancel
        most digits.
        """
        product = self.times(z)
        pivot = 1.0 + float(z @ product)
        # First a bound that is cheap, for it is hardly ever passed.
        rounding = self.eps * self.largest * float(z @ z)
        if COMING_MARGIN * rounding >= pivot:
            rounding = float(self._rounding(z))
        if not COMING_MARGIN * rounding < pivot < self.limits.largest_pivot:
            return None
        np.multiply(product, pivot**-0.5, out=self.pending[self.waiting], casting="same_kind")
        self.waiting += 1
        if self.waiting == len(self.pending):
            self.flush()
        return product, pivot

    def change(self, Z: Array, sign: int) -> tuple[Array, Array, float] | None:
        """Add sign Z'Z to A; return V, R and the most extreme pivot.

        R R' = I + sign Z A^-1 Z' and V = A^-1 Z' R^-T, of the old A^-1; the new one is
        A^-1 - sign V V'. Returns None, with nothing changed, if that is unsafe.
        """
        self.flush()
        xp, product = self.xp, self.times(Z.T)
        inner = sign * (Z @ product)
        add_to_diagonal(inner, 1.0, self.device)
        factor = cholesky(inner, self.device)
        if factor is None:
            return None
        pivots = on_host(xp.linalg.diagonal(factor)) ** 2
        if not self.limits.allow(pivots, float(xp.max(self._rounding(Z))), sign):
            return None
        gain = solve_factor(factor, product.T, self.device).T
        self._subtract(gain.T, sign)
        return gain, factor, float(max(1.0, pivots.max(), 1 / pivots.min()))

    def flush(self) -> None:
        """Make all changes that wait."""
        if self.waiting:
            self._subtract(self.pending[: self.waiting, :], 1)
            self.waiting = 0

    def _subtract(self, rows: NDArray[np.floating], sign: int) -> None:
        add_squares(self.matrix, rows.astype(self.matrix.dtype, copy=False), -sign, lower=True)
        self._note_diagonal()

    def _note_diagonal(self) -> None:
        self.diagonal = np.abs(self.matrix.diagonal().astype(np.float64))
        self.largest = float(self.diagonal.max())
        self.is_in_range = not self.is_single or fits_single(self.diagonal)

    def _rounding(self, Z: Array) -> Array:
        """Estimate the rounding error of z'A^-1 z, for one row or several.

        As for errors that are independent: eps times the root of the sum of (P_ij z_i z_j)^2,
        which is at most eps times the sum of P_ii z_i^2, P being positive definite.
        """
        return self.eps * ((Z * Z) @ self.diagonal)
