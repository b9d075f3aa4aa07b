"""What a solver carries along on a device: an `Inverse` and a `SolverState` of its arrays."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.device import Array, Device
from newfound.common.recorded import Recorded
from newfound.solvers.inverse import COMING_MARGIN, LIMITS, Inverse
from newfound.solvers.state import SolverState
from newfound.sums.device import add_outer, add_products, add_times, chunks

DOUBLE = LIMITS[np.dtype(np.float64)]
EPS = float(np.finfo(np.float64).eps)
# Rows whose changes of the inverse wait, to be made together.
MOST_PENDING = 64


class DeviceInverse(Inverse):
    """A^-1 on a device, in float64; one row costs one product with it.

    Parameters
    ----------
    matrix : array of shape (d, d)
        A^-1, both triangles; taken over and changed.
    device : Device
    """

    # matrix - pending' pending is A^-1; all but the first `waiting` rows are zeros.
    # places: of rows of pending, for what is recorded to find the one that is free.

    is_single, limits, eps = False, DOUBLE, EPS
    device: Device

    def __init__(self, matrix: Array, device: Device) -> None:
        self.matrix, self.device = matrix, device
        self.pending, self.waiting = device.zeros(MOST_PENDING, matrix.shape[0]), 0
        self.places = device.put(np.arange(float(MOST_PENDING)))
        self.diagonal = device.xp.abs(device.xp.linalg.diagonal(matrix))

    @property
    def xp(self) -> Any:
        """The functions of the array API."""
        return self.device.xp

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
        pending, xp = self.pending[: self.waiting, :], self.xp
        return float(xp.linalg.trace(self.matrix) - xp.sum(pending * pending))

    def quadratic(self, Z: Array) -> Array:
        """Return z'A^-1 z for each row of `Z`, shape (m,)."""
        return self.xp.sum(Z.T * self.times(Z.T), axis=0)

    def flush(self) -> None:
        """Make all changes that wait."""
        if self.waiting:
            super().flush()
            self.pending[:, :] = 0.0

    def _subtract(self, rows: Array, sign: int) -> None:
        """Overwrite the matrix with itself less sign rows' rows."""
        add_products(self.matrix, rows, float(-sign), self.device)
        # In place, for what is recorded reads it.
        self.diagonal[...] = self.xp.abs(self.xp.linalg.diagonal(self.matrix))


class DeviceState(SolverState):
    """Inverse, weights and mean of the same rows on a device, changed by every further row.

    Parameters
    ----------
    inverse : DeviceInverse
    weights, mean, weight_sums, fit_intercept
        As in `SolverState`.
    """

    # is_writeable: whether it may be changed by further rows.
    # _recorded: what a row does to the arrays in _arrays.

    inverse: DeviceInverse
    is_writeable = True
    _recorded: Recorded | None = None
    _arrays: tuple[Array, ...] = ()

    @property
    def device(self) -> Device:
        """Where it lives."""
        return self.inverse.device

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_recorded": None, "_arrays": ()}

    def scores(self, X: Array, factors: Floats) -> Array:
        """Return the scores of rows `X` (m, d) times `factors` (T,), shape (m, T)."""
        Z = self.device.double(X)
        if self.fit_intercept:
            Z = Z - self.mean
        both = self.device.put(np.stack((factors, self.targets * factors)))
        return (Z @ self.weights) * both[0, :] + both[1, :]

    def leverage(self, X: Array) -> Array:
        """Return z'A^-1 z for each row of `X`, seen from the mean, shape (m,)."""
        X = self.device.put(X, double=False)
        parts = [self.inverse.quadratic(X[part, :] - self.mean) for part in chunks(X)]
        return self.device.xp.concat(parts)

    def learn_row(self, X: Array, label: int, weight: float = 1.0) -> float | None:
        """Take in one row (1, d); return the pivot, or None, with nothing changed, if unsafe."""
        inverse, before = self.inverse, self.weight_sum
        if inverse.waiting == MOST_PENDING:
            inverse.flush()
        share, rate = weight, 0.0
        if self.fit_intercept:  # without one the mean is zero and stays so
            share, rate = weight * (before / (before + weight)), weight / (before + weight)
        arguments = np.zeros(3 + self._columns.shape[0])
        arguments[:3] = share, rate, inverse.waiting
        arguments[3 : 3 + self.size] = -self.targets
        arguments[3 + label] += 1.0
        row = self.device.double(X)[0, :]
        verdict = self._recording()(self._take_in, row, self.device.put(arguments))
        leverage, is_safe = self.device.host(verdict).tolist()
        if not is_safe:
            return None
        inverse.waiting += 1
        self.weight_sums[label] += weight
        self.weight_sum += weight
        return 1.0 + float(share * leverage)

    def _recording(self) -> Recorded:
        """Return what has recorded `_take_in`, for the arrays that are held now."""
        arrays = (self._columns, self.mean, self.inverse.matrix)
        known = zip(self._arrays, arrays, strict=True)
        if self._recorded is None or any(a is not b for a, b in known):
            self._recorded, self._arrays = Recorded(self.device), arrays
        return self._recorded

    def _take_in(self, row: Array, arguments: Array) -> Array:
        """Take in one row (d,), unless that is unsafe; return its leverage, and 1.0 if it was safe.

        `arguments` are what the row weighs, by how much it moves the mean, the first place that is
        free among pending changes, and the target. Nothing waits for the host here.
        """
        xp, inverse = self.device.xp, self.inverse
        share, rate, place, target = arguments[0], arguments[1], arguments[2], arguments[3:]
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
