"""What a solver on a device carries along from row to row: the twins of `Inverse` and `Carried`."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index
from newfound.common.device import Array, Device
from newfound.common.recorded import Recorded
from newfound.solvers.inverse import COMING_MARGIN, GOING_MARGIN, LIMITS
from newfound.sums.device import (
    add_outer,
    add_products,
    add_times,
    add_to_diagonal,
    cholesky,
    rows_at,
)

DOUBLE = LIMITS[np.dtype(np.float64)]
EPS = float(np.finfo(np.float64).eps)
# Rows whose changes of the inverse wait, to be made together.
MOST_PENDING = 64


class DeviceInverse:
    """A^-1 on a device, in float64; one row costs one product with it.

    Parameters
    ----------
    matrix : array of shape (d, d)
        A^-1, both triangles; taken over and changed.
    device : Device
    """

    # matrix - pending' pending is A^-1; all but the first `waiting` rows are zeros.
    # diagonal: of the matrix; not negative, whatever rounding did.

    def __init__(self, matrix: Array, device: Device) -> None:
        self.matrix, self.device = matrix, device
        self.pending, self.waiting = device.zeros(MOST_PENDING, matrix.shape[0]), 0
        self.places = device.put(np.arange(float(MOST_PENDING)))
        self.diagonal = device.xp.abs(device.xp.linalg.diagonal(matrix))

    def times(self, columns: Array) -> Array:
        """Return A^-1 times `columns`, of shape (d,) or (d, k)."""
        product = self.matrix @ columns
        if self.waiting:
            pending = self.pending[: self.waiting, :]
            if columns.ndim == 1:
                add_times(product, pending.T, pending @ columns, -1.0)
            else:
                product -= pending.T @ (pending @ columns)
        return product

    @property
    def trace(self) -> float:
        """The sum of the diagonal of A^-1."""
        pending, xp = self.pending[: self.waiting, :], self.device.xp
        return float(xp.linalg.trace(self.matrix) - xp.sum(pending * pending))

    def change(self, Z: Array, sign: int) -> tuple[Array, Array, float] | None:
        """Add sign Z'Z to A; return V, R and the most extreme pivot, or None if that is unsafe.

        As `Inverse.change` has them: R R' = I + sign Z A^-1 Z' and V = A^-1 Z' R^-T.
        """
        self.flush()
        xp, product = self.device.xp, self.times(Z.T)
        inner = sign * (Z @ product)
        add_to_diagonal(inner, 1.0, self.device)
        factor = cholesky(inner, self.device)
        if factor is None:
            return None
        diagonal = self.device.host(xp.linalg.diagonal(factor))
        least, most, rounding = diagonal.min() ** 2, diagonal.max() ** 2, self._rounding(Z)
        if sign > 0:
            is_safe = COMING_MARGIN * rounding < least and most < DOUBLE.largest_pivot
        else:
            is_safe = least > max(DOUBLE.smallest_pivot, GOING_MARGIN * rounding)
        if not is_safe:
            return None
        gain = xp.linalg.solve(factor, product.T).T
        self._subtract(gain.T, sign)
        return gain, factor, float(max(1.0, most, 1 / least))

    def flush(self) -> None:
        """Make all changes that wait."""
        if self.waiting:
            self._subtract(self.pending[: self.waiting, :], 1)
            self.pending[:, :] = 0.0
            self.waiting = 0

    def _subtract(self, rows: Array, sign: int) -> None:
        """Overwrite the matrix with itself less sign rows' rows."""
        add_products(self.matrix, rows, float(-sign))
        # In place, for what is recorded reads it.
        self.diagonal[...] = self.device.xp.abs(self.device.xp.linalg.diagonal(self.matrix))

    def _rounding(self, Z: Array) -> float:
        """Estimate the rounding error of z'A^-1 z, the largest of several rows; as `Inverse`."""
        return EPS * float(self.device.xp.max((Z * Z) @ self.diagonal))


class DeviceCarried:
    """Inverse, weights and mean of the same rows, changed by every further row.

    The intercept is not carried: it is what the means of rows and targets make of the weights.

    Parameters
    ----------
    inverse : DeviceInverse
    columns : array of shape (T, d)
        The weights of each class.
    mean : array of shape (d,)
        Of the rows, or zeros without an intercept.
    """

    # _columns[:size]: the weights of each class; zeros follow.
    # _recorded: what a row does to the arrays in _held.

    def __init__(self, inverse: DeviceInverse, columns: Array, mean: Array) -> None:
        self.inverse, self.device = inverse, inverse.device
        self.columns, self.mean = columns, mean
        self._recorded: Recorded | None = None
        self._held: tuple[Array, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recorded": None, "_held": ()}

    @property
    def columns(self) -> Array:
        """The weights of each class, shape (T, d)."""
        return self._columns[: self.size, :]

    @columns.setter
    def columns(self, columns: Array) -> None:
        self._columns, self.size = columns, columns.shape[0]

    def add_classes(self, size: int) -> None:
        """Add zeros for classes that are new, so that there are `size` of them."""
        capacity, width = self._columns.shape
        if size > capacity:
            grown = self.device.zeros(max(size, 2 * capacity), width)
            grown[: self.size, :] = self.columns
            self._columns = grown
        self.size = max(size, self.size)

    def remove_classes(self, index: Index) -> None:
        """Take out classes that have no examples left."""
        kept = np.delete(np.arange(self.size), index)
        self.columns = rows_at(self.columns, kept, self.device)

    def learn_row(
        self, row: Array, label: int, masses: Floats | None, weight: float = 1.0
    ) -> float | None:
        """Take in one row (d,); return the pivot, or None, with nothing changed, if unsafe.

        Parameters
        ----------
        row : array of shape (d,)
        label : int
            Its class.
        masses : ndarray of shape (T,) or None
            What the rows of each class weigh so far; None without an intercept.
        weight : float, default=1.0
            What this one weighs.
        """
        inverse = self.inverse
        if inverse.waiting == MOST_PENDING:
            inverse.flush()
        given, share, rate = np.zeros(3 + self._columns.shape[0]), weight, 0.0
        if masses is not None:  # without an intercept the mean is zero and stays so
            before = float(masses.sum())
            share, rate = weight * (before / (before + weight)), weight / (before + weight)
            given[3 : 3 + len(masses)] = masses * (-1.0 / (before or 1.0))
        given[0], given[1], given[2] = share, rate, inverse.waiting
        given[3 + label] += 1.0
        found = self._recording()(self._take_in, row, self.device.put(given))
        leverage, is_safe = self.device.host(found).tolist()
        if not is_safe:
            return None
        inverse.waiting += 1
        return 1.0 + float(share * leverage)

    def _recording(self) -> Recorded:
        """Return what has recorded `_take_in`, for the arrays that are held now."""
        held = (self._columns, self.mean, self.inverse.matrix)
        if self._recorded is None or any(a is not b for a, b in zip(self._held, held, strict=True)):
            self._recorded, self._held = Recorded(self.device), held
        return self._recorded

    def _take_in(self, row: Array, given: Array) -> Array:
        """Take in one row (d,), unless that is unsafe; return its leverage, and 1.0 if it was safe.

        `given` are what the row weighs, by how much it moves the mean, the first place that is
        free among pending changes, and the target. Nothing waits for the host here.
        """
        xp, inverse = self.device.xp, self.inverse
        share, rate, place, target = given[0], given[1], given[2], given[3:]
        z = row - self.mean
        product = inverse.matrix @ z
        add_times(product, inverse.pending.T, inverse.pending @ z, -1.0)
        leverage = z @ product
        pivot, rounding = 1.0 + share * leverage, (EPS * COMING_MARGIN) * share
        is_safe = (rounding * ((z * z) @ inverse.diagonal) < pivot) & (pivot < DOUBLE.largest_pivot)
        nothing = xp.zeros_like(z)
        z, product = xp.where(is_safe, z, nothing), xp.where(is_safe, product, nothing)
        weight = xp.where(is_safe, share / pivot, nothing[0])
        here = xp.astype(inverse.places == place, xp.float64) * xp.sqrt(weight)
        add_outer(inverse.pending, here, product, 1.0)
        error = target * weight
        add_times(error, self._columns, z * weight, -1.0)
        add_outer(self._columns, error, product, 1.0)
        self.mean += rate * z
        return xp.stack((leverage, xp.astype(is_safe, xp.float64)))

    def change(
        self,
        X: Array,
        targets: Floats,
        sign: int,
        before: float | None,
        sample_weight: Floats | None = None,
    ) -> float | None:
        """Add (sign 1) or take out (sign -1) rows `X` (m, d).

        As `Carried.change`. `targets` (m, T) are theirs, less the mean of the targets so far, and
        `before` is what all rows weighed that came before; None without an intercept.
        Returns the most extreme pivot; None, with nothing changed, if that is unsafe.
        """
        Z, shift = X, None
        given = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        if before is not None:
            Z = X - self.mean
        errors = self.device.put(targets) - Z @ self.columns.T
        roots = self.device.put(np.sqrt(given))
        if sample_weight is not None:
            Z, errors = roots[:, None] * Z, roots[:, None] * errors
        if before is not None:
            coming = float(given.sum())
            after = before + sign * coming
            shift = sign * (roots @ Z) / after
            lost = (1 - (before / after) ** 0.5) / coming * roots
            Z, errors = (each - lost[:, None] * (roots @ each)[None, :] for each in (Z, errors))
        changed = self.inverse.change(Z, sign)
        if changed is None:
            return None
        gain, factor, pivot = changed
        step = sign * self.device.xp.linalg.solve(factor, errors)
        columns = self.columns
        columns += step.T @ gain.T
        if shift is not None:
            self.mean += shift
        return pivot
