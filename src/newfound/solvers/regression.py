"""Ridge regression from the sums of rows that end in their targets."""

from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels, Rows
from newfound.common.device import Array, namespace_of
from newfound.common.pieces import at_once
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import factorise, regularised, solve_in_stages
from newfound.sums.blas import diagonal_of
from newfound.sums.device import add_to_diagonal
from newfound.sums.sums import Sums

# Of a leverage, what keeps a row that is left out from being divided by nothing.
TINY = float(np.finfo(np.float64).eps)


class Moments(NamedTuple):
    """Second moments of d features and k targets, around their means if there is an intercept.

    Arrays live where the sums do.
    """

    gram: Array  # of the features, at least in the lower triangle, shape (d, d)
    cross: Array  # of features and targets, shape (d, k)
    mean: Array  # of the features, shape (d,); zeros without an intercept
    target_mean: Array  # shape (k,); zeros without an intercept
    weight_sum: float  # sum of the weights
    fit_intercept: bool

    @property
    def squares(self) -> Array:
        """Sum of the squares of each feature, shape (d,)."""
        return namespace_of(self.gram).linalg.diagonal(self.gram)


@one_thread
def moments(sums: Sums, k: int, fit_intercept: bool) -> Moments:
    """Return the moments of rows whose last `k` numbers are targets, and the others features.

    Examples
    --------
    >>> sums = Sums.of([[0.0, 1.0], [2.0, 5.0]], ["all", "all"])
    >>> around = moments(sums, 1, fit_intercept=True)
    >>> around.gram, around.cross, around.mean, around.target_mean
    (array([[2.]]), array([[4.]]), array([1.]), array([3.]))
    """
    xp, d = namespace_of(sums.cross), sums.width - k
    mean = xp.sum(sums.cross, axis=1) / sums.weight_sum * float(fit_intercept)
    joint = regularised(sums.gram, mean, sums.weight_sum, 0.0, sums.device)
    mean = mean if sums.origin is None else sums.origin + mean
    return Moments(
        joint[:d, :d], joint[d:, :d].T, mean[:d], mean[d:], sums.weight_sum, fit_intercept
    )


def solve(of: Moments, sums: Sums, penalty: float) -> tuple[Array, Array]:
    """Return weights (d, k) and intercepts (k,) of least squares with this penalty.

    Equivalent to scikit-learn's `Ridge`, whose `alpha` is the penalty.

    Examples
    --------
    >>> sums = Sums.of([[0.0, 1.0], [2.0, 5.0]], ["all", "all"])
    >>> weights, intercept = solve(moments(sums, 1, fit_intercept=True), sums, penalty=2.0)
    >>> weights, intercept
    (array([[1.]]), array([2.]))
    """
    if sums.device is not None:
        matrix = of.gram + 0.0
        add_to_diagonal(matrix, penalty, sums.device)
        weights = sums.device.xp.linalg.solve(matrix, of.cross)
    else:
        matrix, weights = np.array(of.gram, order="F"), np.array(of.cross, order="F")
        diagonal_of(matrix)[:] += penalty
        at_once(solve_in_stages(factorise(matrix), weights))
    return weights, of.target_mean - of.mean @ weights


@one_thread
def left_out_errors(
    of: Moments, X: Array, targets: Array, sample_weight: Floats, penalties: Floats
) -> Array:
    """Return by how much models without them miss the targets of rows, exactly: as squares.

    Without row i, of weight w, the error is e / (1 - w h), with e that of the model and h the
    leverage of the row. All penalties share one decomposition, O(d^3 + m d^2).

    Parameters
    ----------
    of : Moments
        Of rows among which are these.
    X : array of shape (m, d)
        Where the moments live, as the targets.
    targets : array of shape (m, k)
    sample_weight : ndarray of shape (m,)
        The weight that leaves with each.
    penalties : ndarray of shape (K,)

    Returns
    -------
    array of shape (K, m)
        Sums of the squared errors of all targets: no more is held, however many targets there are.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 6.0]])
    >>> around = moments(Sums.of(rows, ["all"] * 3), 1, fit_intercept=False)
    >>> left_out_errors(around, rows[:, :1], rows[:, 1:], np.ones(3), np.array([1.0]))
    array([[ 1.  ,  0.16, 16.  ]])
    """
    xp = namespace_of(of.gram)
    values, vectors = xp.linalg.eigh(of.gram)
    values, inside = xp.clip(values, min=0.0), (X - of.mean) @ vectors
    cross, share = vectors.T @ of.cross, float(of.fit_intercept) / of.weight_sum
    weights = xp.asarray(sample_weight, device=inside.device)
    by_penalty = []
    for penalty in penalties.tolist():
        shrunk = inside / (values + penalty)
        leverage = xp.sum(shrunk * inside, axis=1) + share
        errors = targets - of.target_mean - shrunk @ cross
        errors = errors / xp.clip(1 - weights * leverage, min=TINY)[:, None]
        by_penalty.append(xp.sum(errors * errors, axis=1))
    return xp.stack(by_penalty)


class RegressionSolver:
    """Weights of targets, solved for at the first question after something changed: O(d^3 / 3).

    Parameters
    ----------
    sums : Sums
        Of rows that end in their targets, on the host or on a device.
    targets : int
        How many, k.
    penalty : float
    fit_intercept : bool
    """

    # _solution: weights and intercepts for the present sums. None: to be solved for.

    def __init__(self, sums: Sums, targets: int, penalty: float, fit_intercept: bool) -> None:
        self.sums, self.targets = sums, targets
        self.penalty, self.fit_intercept = penalty, fit_intercept
        self._solution: tuple[Array, Array] | None = None

    @property
    def weights(self) -> Array:
        """Weights, shape (d, k); must not be written to."""
        return self._current()[0]

    @property
    def intercept(self) -> Array:
        """Intercepts, shape (k,); must not be written to."""
        return self._current()[1]

    def _current(self) -> tuple[Array, Array]:
        if self._solution is None:
            around = moments(self.sums, self.targets, self.fit_intercept)
            self._solution = solve(around, self.sums, self.penalty)
        return self._solution

    def learn(
        self, X: Rows, index: Index, labels: Labels, sample_weight: Floats | None = None
    ) -> None:
        """Solve anew when somebody asks, here as below."""
        self._solution = None

    def forget(self, X: Rows, index: Index, sample_weight: Floats | None = None) -> None:
        """Solve anew when somebody asks."""
        self._solution = None

    def remove_classes(self, index: Index) -> None:
        """Do nothing: to the sums, all rows are of one class."""

    def foresee(self, penalty: float) -> None:
        """Do nothing: every question solves anew, whatever the penalty."""

    def use(self, penalty: float) -> None:
        """Answer for another penalty from now on."""
        self.penalty, self._solution = penalty, None

    def discard(self) -> None:
        """Solve anew when somebody asks."""
        self._solution = None
