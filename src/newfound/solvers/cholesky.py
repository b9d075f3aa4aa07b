"""The normal equations of ridge regression on one-hot targets, and their direct solution."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from newfound.common.arrays import Floats
from newfound.sums.blas import diagonal_of


class Equations(NamedTuple):
    """The sums that the normal equations are made of, each row with its weight w_i."""

    gram: Floats  # sum of w_i x_i x_i', in the lower triangle of a (d, d) matrix, Fortran order
    cross: Floats  # sum of w_i x_i over each class, shape (d, T)
    masses: Floats  # sum of w_i over each class, shape (T,)


class Solution(NamedTuple):
    """What follows from the normal equations of T classes and d features."""

    factor: Floats  # lower Cholesky factor of the regularised gram, shape (d, d)
    weights: Floats  # shape (d, T)
    intercept: Floats  # shape (T,); zeros without an intercept
    mean: Floats  # weighted mean of the rows, shape (d,); zeros without an intercept


def solve(equations: Equations, penalty: float, fit_intercept: bool) -> Solution:
    """Solve min_W,b sum_i w_i |y_i - W'x_i - b|^2 + penalty |W|^2 from its sums.

    Parameters
    ----------
    equations : Equations
        Its gram is overwritten.
    penalty : float
        Not applied to the intercept.
    fit_intercept : bool
        Without it, b = 0.

    Examples
    --------
    >>> equations = Equations(np.array([[2.0]]), np.array([[1.0, -1.0]]), np.ones(2))
    >>> solution = solve(equations, penalty=1.0, fit_intercept=True)
    >>> solution.weights, solution.intercept
    (array([[ 0.33333333, -0.33333333]]), array([0.5, 0.5]))
    """
    gram, cross, masses = equations
    mean, targets, right = np.zeros(len(gram)), np.zeros(len(masses)), cross
    if fit_intercept:
        mean, targets = cross.sum(axis=1) / masses.sum(), masses / masses.sum()
        right = cross - np.outer(mean, masses)
    factor = factorise(regularised(gram, mean, masses.sum(), penalty))
    weights, _ = lapack.dpotrs(factor, right, lower=1)
    return Solution(factor, weights, targets - mean @ weights, mean)


def regularised(gram: Floats, mean: Floats, mass: float, penalty: float) -> Floats:
    """Overwrite the lower triangle of `gram` with gram - mass mean mean' + penalty I; return it."""
    changed: Floats = blas.dsyr(-float(mass), mean, a=gram, lower=1, overwrite_a=1)
    # Last, so that it is not lost beside large means.
    diagonal_of(changed)[:] += penalty
    return changed


def factorise(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor of a matrix given by its lower triangle.

    Where rounding has made the matrix indefinite, which happens once the penalty is lost beside
    the largest features (a condition number beyond 1e15), its smallest eigenvalues are raised to
    what float64 can tell from zero.

    Raises LinAlgError if there are infinities in it.
    """
    factor: Floats
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if not failed:
        return factor
    values, vectors = np.linalg.eigh(matrix, UPLO="L")
    floor = 10 * len(values) * np.finfo(np.float64).eps * abs(values).max()
    raised = (vectors * np.maximum(values, floor)) @ vectors.T
    factor, failed = lapack.dpotrf(raised, lower=1)
    if failed:
        raise np.linalg.LinAlgError("the sums cannot be factorised: penalty or weights are extreme")
    return factor
