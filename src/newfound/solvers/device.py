"""The kernels of a device: all of it happens there.

Whatever the host does in pieces, so that no step is slow, is done here at once: to invert a matrix
of 4,096 features takes a GPU 25 ms, and is rare.
"""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.device import Array, Device
from newfound.solvers.cholesky import Equations, invert, regularised, solve
from newfound.solvers.device_state import DeviceInverse, DeviceState
from newfound.solvers.kernel import Kernel
from newfound.solvers.settings import ClassWeight
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.arrays import moved
from newfound.sums.device import add_to_diagonal, both_triangles, invert_in_place
from newfound.sums.sums import Sums


class DeviceKernel(Kernel):
    """Derives inverse and weights in the memory of one matrix.

    Parameters
    ----------
    sums : Sums
        On the device.
    fit_intercept : bool
    device : Device
    """

    # _workspace: where the last inverse was made, and where the next will be. None: nowhere yet.

    overwrites = True

    def __init__(self, sums: Sums, fit_intercept: bool, device: Device) -> None:
        super().__init__(sums, fit_intercept)
        self.device = device
        self._workspace: Array | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workspace": None}

    def start(self, X: Array, penalty: float) -> DeviceState | None:
        """Return what follows from no rows at all."""
        width, workspace = self.sums.width, self._memory()
        workspace[:, :] = 0.0
        add_to_diagonal(workspace, 1 / penalty, self.device)
        inverse, zeros = DeviceInverse(workspace, self.device), self.device.zeros
        # A copy, for the mean is changed.
        mean = self.device.double(X[0, :]) + 0.0 if self.fit_intercept else zeros(width)
        nothing = (zeros(width, 0), mean, np.zeros(0))
        return DeviceState(inverse, *nothing, self.fit_intercept)

    def derive(self, penalty: float) -> DeviceState:
        """Derive everything from the sums, O(d^3), where the last inverse was."""
        workspace, mean = self._matrix(), self.mean()
        regularised(workspace, self.offset(), self.weight_sum, penalty, self.device)
        if not invert_in_place(workspace, self.device):
            del workspace
            return self._from_indefinite(penalty)
        inverse, right = DeviceInverse(workspace, self.device), self.right()
        weights = inverse.times(right)
        # One step of iterative refinement, for the inverse is the inverse of a rounded matrix.
        weights = weights + inverse.times(right - self.image(weights, penalty))
        return DeviceState(inverse, weights, mean, self.weight_sums, self.fit_intercept)

    def begin(self, penalty: float) -> None:
        """Begin nothing: all is derived at once when the time has come."""

    def equations(self) -> Equations:
        """Return the sums that the weights solve, on the host."""
        there = moved(self.sums, None)
        return Equations(there.gram, there.cross, self.weight_sums, there.origin)

    def norm(self, array: Array) -> float:
        """Return the root of the sum of the squares of all numbers of an array."""
        return float(self.device.xp.linalg.vector_norm(array))

    def _memory(self) -> Array:
        """Return memory for a matrix (d, d): that of the last inverse, which is void then."""
        if self._workspace is None:
            self._workspace = self.device.zeros(self.sums.width, self.sums.width)
        return self._workspace

    def _matrix(self) -> Array:
        """Return X'X in memory that may be overwritten."""
        return self.sums.gram_in(self._memory())

    def _from_indefinite(self, penalty: float) -> DeviceState:
        """Return what follows from sums that rounding has made indefinite: rare, so on the host."""
        self._workspace = None
        solution = solve(self.equations(), penalty, self.fit_intercept)
        self._workspace = self.device.put(both_triangles(invert(solution.factor)))
        inverse = DeviceInverse(self._workspace, self.device)
        derived = self.device.put(solution.weights), self.mean(), self.weight_sums
        return DeviceState(inverse, *derived, self.fit_intercept)


class ClassWeightedKernel(DeviceKernel):
    """The same for examples that count as much as their class says: nothing is carried along.

    Parameters
    ----------
    sums : Sums
        On the device, held per class.
    fit_intercept : bool
    device : Device
    class_weight : "balanced" or mapping
    """

    def __init__(
        self, sums: Sums, fit_intercept: bool, device: Device, class_weight: ClassWeight
    ) -> None:
        super().__init__(sums, fit_intercept, device)
        self.class_weight = class_weight
        self._weighing = RebalancedSolver(sums, 1.0, fit_intercept, class_weight)

    @property
    def weight_sums(self) -> Floats:
        """What each class weighs, shape (T,), on the host."""
        return self._weighing.weight_sums

    @property
    def weight_sum(self) -> float:
        """What all classes weigh."""
        return float(self.weight_sums.sum())

    @property
    def cross(self) -> Array:
        """X'Y, each class with its weight, shape (d, T)."""
        return self.sums.cross * self.device.put(self._class_weights())[None, :]

    def _class_weights(self) -> Floats:
        """Return what an example of each class weighs, shape (T,)."""
        weight_sums, plain = self.weight_sums, self.sums.weight_sums
        return np.where(plain > 0, weight_sums / np.where(plain > 0, plain, 1.0), 0.0)

    def gram_times(self, columns: Array) -> Array:
        """Return the weighted X'X times `columns`, of shape (d,) or (d, k)."""
        product = 0.0 * columns
        for gram, weight in zip(self.sums.grams, self._class_weights().tolist(), strict=True):
            product += weight * gram.times(columns)
        return product

    def _matrix(self) -> Array:
        workspace = self._memory()
        workspace[:, :] = 0.0
        for gram, weight in zip(self.sums.grams, self._class_weights().tolist(), strict=True):
            gram.add_to(workspace, weight)
        return workspace

    def start(self, X: Array, penalty: float) -> None:
        """Start nothing: a row changes what all others of its class weigh."""

    def derive(self, penalty: float) -> DeviceState:
        """Derive everything from the sums, O(d^3); it is not changed by further rows."""
        state = super().derive(penalty)
        state.is_writeable = False
        return state

    def equations(self) -> Equations:
        """Return the sums that the weights solve, on the host."""
        there = moved(self.sums, None)
        return RebalancedSolver(there, 1.0, self.fit_intercept, self.class_weight).equations()

    def is_definite_without(self, *_: Any) -> bool:
        """Trust the sums, which are checked class by class."""
        return True
