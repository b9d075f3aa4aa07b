"""The algebra of a solver that carries what it derives: on the host, unless told otherwise."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.device import Array
from newfound.common.pieces import at_once
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import Equations, invert, regularised, solve
from newfound.solvers.inverse import Inverse
from newfound.solvers.renewal import Rebuild, derived_in_stages
from newfound.solvers.state import SolverState, identity_over, inverse_in
from newfound.sums.blas import norm
from newfound.sums.device import add_products, is_definite
from newfound.sums.removal import rounding_slack
from newfound.sums.sums import Sums


class Kernel:
    """The normal equations A W = B of sums as they are, and what follows from them.

    A = X'X - n mean mean' + penalty I, and B = X'Y - mean n_t'; without an intercept, the
    mean is zero. Here, inverse and weights are derived by Cholesky, in pieces where that keeps
    steps short, and float32 rows have an inverse in float32.

    Parameters
    ----------
    sums : Sums
    fit_intercept : bool
    """

    # overwrites: whether what was derived last is void once anything else is derived or checked,
    #     because there is memory for one matrix alone.
    # may_be_single: whether float32 has done so far, where the rows are that.

    overwrites = False

    def __init__(self, sums: Sums, fit_intercept: bool) -> None:
        self.sums, self.fit_intercept = sums, fit_intercept
        self.may_be_single = True
        self._probes = np.random.default_rng(0)

    def start(self, X: Rows, penalty: float) -> SolverState | None:
        """Return what follows from no rows at all, in the precision of the first that come.

        None, if it cannot be carried along.
        """
        width, single = self.sums.width, X.dtype == np.float32 and self.may_be_single
        identity = identity_over(penalty, np.empty((width, width), order="F"))
        # The mean of no rows may be anything. A feature that never changes has no weight, to the
        # bit, if it begins there.
        mean = X[0].astype(np.float64) if self.fit_intercept else np.zeros(width)
        nothing = (np.zeros((width, 0)), mean, np.zeros(0))
        return SolverState(inverse_in(identity, 0.0, single=single), *nothing, self.fit_intercept)

    def derive(self, penalty: float) -> SolverState:
        """Derive everything from the sums, O(d^3)."""
        options = (self.sums, penalty, self.fit_intercept)
        stages = derived_in_stages(*options, single=self._is_single())
        return at_once(stages) or self._from_indefinite(penalty)

    def begin(self, penalty: float) -> Rebuild | None:
        """Begin to derive everything in pieces, while rows come and go; None: at once or never."""
        return Rebuild(self.sums, penalty, self.fit_intercept, single=self._is_single())

    def equations(self) -> Equations:
        """Return the sums that the weights solve, on the host; only the gram may be written to."""
        sums = self.sums
        return Equations(sums.gram, sums.cross, sums.weight_sums, sums.origin)

    def norm(self, array: Array) -> float:
        """Return the root of the sum of the squares of all numbers of an array."""
        return norm(array)

    def _is_single(self) -> bool:
        return self.may_be_single and self.sums.dtype == np.float32

    def _from_indefinite(self, penalty: float) -> SolverState:
        """Return what follows from sums whose smallest eigenvalues are lost to rounding."""
        solution = solve(self.equations(), penalty, self.fit_intercept)
        inverse = Inverse(invert(solution.factor), np.float64)
        derived = solution.weights, solution.mean, self.weight_sums
        return SolverState(inverse, *derived, self.fit_intercept)

    def _matrix(self) -> Array:
        """Return X'X in a matrix that may be overwritten."""
        return self.sums.gram

    @property
    def weight_sums(self) -> Floats:
        """What each class weighs in the sums, shape (T,), on the host."""
        return self.sums.weight_sums

    @property
    def weight_sum(self) -> float:
        """What all classes weigh."""
        return self.sums.weight_sum

    @property
    def cross(self) -> Array:
        """X'Y, shape (d, T)."""
        return self.sums.cross

    def gram_times(self, columns: Array) -> Array:
        """Return X'X times `columns`, of shape (d,) or (d, k)."""
        return self.sums.gram_times(columns)

    @property
    def xp(self) -> Any:
        """The functions of the array API."""
        return np if self.sums.device is None else self.sums.device.xp

    def put(self, array: Array) -> Array:
        """Return an array where the sums live, in float64."""
        device = self.sums.device
        return np.asarray(array, dtype=np.float64) if device is None else device.put(array)

    def square(self, X: Rows, sample_weight: Floats | None) -> float:
        """Return the sum of the squares of rows `X` (m, d), each with its weight."""
        rows = self.put(self.sums.around(X, sample_weight))
        return float(self.xp.sum(rows * rows))

    def offset(self) -> Array:
        """Return how far the mean is from the origin, shape (d,); zeros without an intercept."""
        if not self.fit_intercept:
            return self.put(np.zeros(self.sums.width))
        return self.xp.sum(self.cross, axis=1) / self.weight_sum

    def mean(self) -> Array:
        """Return the mean of the rows as they came, shape (d,); zeros without an intercept."""
        offset, origin = self.offset(), self.sums.origin
        return offset if origin is None else origin + offset

    def right(self) -> Array:
        """Return B, shape (d, T)."""
        if not self.fit_intercept:
            return self.cross
        return self.cross - self.offset()[:, None] * self.put(self.weight_sums)[None, :]

    def image(self, columns: Array, penalty: float) -> Array:
        """Return A times `columns`, of shape (d,) or (d, k)."""
        image = self.gram_times(columns) + penalty * columns
        if self.fit_intercept:
            mean = self.offset()
            inner = self.weight_sum * (mean @ columns)
            image -= mean * inner if columns.ndim == 1 else mean[:, None] * inner[None, :]
        return image

    def refine(self, state: SolverState, penalty: float) -> None:
        """Take one step of iterative refinement: W += A^-1 (B - A W)."""
        W = state.weights
        W = W + state.inverse.times(self.right() - self.image(W, penalty))
        state.replace(W, self.mean(), self.weight_sums)

    def drift_of_weights(self, state: SolverState, penalty: float) -> float:
        """Return what a step of refinement would change of a random combination of the classes.

        Relative to the weights.
        """
        W = state.weights
        mix = self._probes.standard_normal((W.shape[1],))
        there = self.put(mix)
        target = self.cross @ there - self.offset() * float(self.weight_sums @ mix)
        correction = state.inverse.times(target - self.image(W @ there, penalty))
        return self.norm(correction) / (self.norm(W) or 1.0)

    def drift_of_inverse(self, state: SolverState, penalty: float) -> float:
        """Return what A^-1 A changes of a random combination of the classes, relative to it."""
        W = state.weights
        direction = W @ self.put(self._probes.standard_normal((W.shape[1],)))
        size = self.norm(direction)
        if not size:  # as long as there is but one class: then any direction will do
            direction = self.put(self._probes.standard_normal((self.sums.width,)))
            size = self.norm(direction)
        error = state.inverse.times(self.image(direction, penalty)) - direction
        return self.norm(error) / size

    @one_thread
    def is_definite_without(
        self, X: Rows, index: Index, sample_weight: Floats | None, penalty: float
    ) -> bool:
        """Tell whether the sums without rows `X` (m, d) of classes `index` (m,) can be of data."""
        sums, mean = self.sums, self.put(np.zeros(self.sums.width))
        rows = sums.around(X, sample_weight)
        weight_sum = sums.weight_sum_without(index, sample_weight)
        if self.fit_intercept:
            weights = np.ones(len(index)) if sample_weight is None else sample_weight
            gone = self.put(weights) @ self.put(sums.around(X))
            mean = (self.xp.sum(sums.cross, axis=1) - gone) / weight_sum
        slack = sum(map(rounding_slack, sums.grams))
        left = self._matrix()
        add_products(left, rows, -1.0, sums.device)
        regularised(left, mean, weight_sum, penalty + slack, sums.device)
        return is_definite(left, sums.device)
