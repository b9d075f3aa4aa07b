"""Ridge regression from the sums of rows that end in their targets."""

from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.pieces import at_once
from newfound.common.threads import one_thread
from newfound.solvers.cholesky import factorise, regularised, solve_in_stages
from newfound.sums.blas import diagonal_of
from newfound.sums.sums import Sums

# Of a leverage, what keeps a row that is left out from being divided by nothing.
TINY = float(np.finfo(np.float64).eps)


class Moments(NamedTuple):
    """Second moments of d features and k targets, around their means if there is an intercept."""

    gram: Floats  # of the features, in the lower triangle, shape (d, d), Fortran order
    cross: Floats  # of features and targets, shape (d, k), Fortran order
    mean: Floats  # of the features, shape (d,); zeros without an intercept
    target_mean: Floats  # shape (k,); zeros without an intercept
    mass: float  # sum of the weights
    fit_intercept: bool


@one_thread
def moments(sums: Sums, d: int, fit_intercept: bool) -> Moments:
    """Return the moments of rows whose first `d` numbers are features, and the others targets.

    Examples
    --------
    >>> sums = Sums.of([[0.0, 1.0], [2.0, 5.0]], ["all", "all"])
    >>> found = moments(sums, 1, fit_intercept=True)
    >>> found.gram, found.cross, found.mean, found.target_mean
    (array([[2.]]), array([[4.]]), array([1.]), array([3.]))
    """
    mean = sums.cross.sum(axis=1) / sums.mass * fit_intercept
    joint = regularised(sums.gram, mean, sums.mass, 0.0)
    gram, cross = np.asfortranarray(joint[:d, :d]), np.asfortranarray(joint[d:, :d].T)
    return Moments(gram, cross, mean[:d], mean[d:], sums.mass, fit_intercept)


def solve(of: Moments, penalty: float) -> tuple[Floats, Floats]:
    """Return weights (d, k) and intercepts (k,) of least squares with this penalty.

    Equivalent to scikit-learn's `Ridge`, whose `alpha` is the penalty.

    Examples
    --------
    >>> sums = Sums.of([[0.0, 1.0], [2.0, 5.0]], ["all", "all"])
    >>> weights, intercept = solve(moments(sums, 1, fit_intercept=True), penalty=2.0)
    >>> weights, intercept
    (array([[1.]]), array([2.]))
    """
    matrix, weights = of.gram.copy(order="F"), of.cross.copy(order="F")
    diagonal_of(matrix)[:] += penalty
    at_once(solve_in_stages(factorise(matrix), weights))
    return weights, of.target_mean - of.mean @ weights


@one_thread
def left_out_errors(
    of: Moments, X: Floats, targets: Floats, sample_weight: Floats, penalties: Floats
) -> Floats:
    """Return by how much models without them miss the targets of rows, exactly.

    Without row i, of weight w, the error is e / (1 - w h), with e that of the model and h the
    leverage of the row. All penalties share one decomposition, O(d^3 + m d^2).

    Parameters
    ----------
    of : Moments
        Of rows among which are these.
    X : ndarray of shape (m, d)
    targets : ndarray of shape (m, k)
    sample_weight : ndarray of shape (m,)
        The weight that leaves with each.
    penalties : ndarray of shape (K,)

    Returns
    -------
    ndarray of shape (K, m, k)

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 6.0]])
    >>> found = moments(Sums.of(rows, ["all"] * 3), 1, fit_intercept=False)
    >>> left_out_errors(found, rows[:, :1], rows[:, 1:], np.ones(3), np.array([1.0]))[0].ravel()
    array([ 1. , -0.4,  4. ])
    """
    values, vectors = np.linalg.eigh(of.gram, UPLO="L")
    values, inside = np.maximum(values, 0.0), (X - of.mean) @ vectors
    cross, share = vectors.T @ of.cross, of.fit_intercept / of.mass
    found = np.empty((len(penalties), *targets.shape))
    for errors, penalty in zip(found, penalties, strict=True):
        shrunk = inside / (values + penalty)
        leverage = np.einsum("ij,ij->i", shrunk, inside) + share
        errors[:] = targets - of.target_mean - shrunk @ cross
        errors /= np.maximum(1 - sample_weight * leverage, TINY)[:, None]
    return found
