"""The normal equations of ridge regression on one-hot targets, and their direct solution."""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas

from newfound.common.arrays import Floats
from newfound.common.device import Array, Device
from newfound.common.pieces import Stages, Task, at_once
from newfound.common.threads import one_thread
from newfound.sums.blas import diagonal_of
from newfound.sums.device import add_to_diagonal, blocks
from newfound.sums.strips import add_strip, strips
from newfound.sums.tiles import factorise_block, solve_lower

# Columns that are eliminated at a time, and columns that are solved for at a time.
BLOCK, COLUMNS = 128, 64


class Equations(NamedTuple):
    """The sums that the normal equations are made of, each row with its weight w_i.

    Rows are seen from an origin, which may be other than zero where there is an intercept.
    """

    gram: Floats  # sum of w_i x_i x_i', in the lower triangle of a (d, d) matrix, Fortran order
    cross: Floats  # sum of w_i x_i over each class, shape (d, T)
    weight_sums: Floats  # sum of w_i over each class, shape (T,)
    origin: Floats | None = None  # shape (d,); None: zero


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
    matrix, right, mean, targets = centred(equations, penalty, fit_intercept)
    factor = factorise(matrix)
    at_once(solve_in_stages(factor, right))
    return Solution(factor, right, targets - mean @ right, mean)


class Centred(NamedTuple):
    """The normal equations without the intercept, which follows from the means."""

    matrix: Floats  # in the lower triangle, shape (d, d)
    right: Floats  # shape (d, T), Fortran order
    mean: Floats  # of the rows as they came, shape (d,); zeros without an intercept
    targets: Floats  # mean of the targets, shape (T,); zeros without an intercept


def centred(equations: Equations, penalty: float, fit_intercept: bool) -> Centred:
    """Return what is to be solved: matrix W = right; the gram is overwritten."""
    gram, cross, weight_sums, origin = equations
    mean, targets = np.zeros(len(gram)), np.zeros(len(weight_sums))
    right = np.array(cross, order="F")
    if fit_intercept:
        mean, targets = cross.sum(axis=1) / weight_sums.sum(), weight_sums / weight_sums.sum()
        right -= np.outer(mean, weight_sums)
    matrix = regularised(gram, mean, weight_sums.sum(), penalty)
    return Centred(matrix, right, mean if origin is None else origin + mean, targets)


@one_thread
def regularised(
    gram: Array, mean: Array, weight_sum: float, penalty: float, device: Device | None = None
) -> Array:
    """Overwrite the lower triangle of `gram` with gram - n mean mean' + penalty I; return it.

    n is the weight of all rows. On a device, both triangles are overwritten.
    """
    if device is None:
        gram = blas.dsyr(-float(weight_sum), mean, a=gram, lower=1, overwrite_a=1)
    else:
        for columns in blocks(gram.shape[0]):
            gram[:, columns] -= (weight_sum * mean)[:, None] * mean[None, columns]
    # Last, so that it is not lost beside large means.
    add_to_diagonal(gram, penalty, device)
    return gram


def factorise(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor of a matrix given by its lower triangle.

    Where it has none, it is that of `factorise_indefinite`.

    Raises LinAlgError if there are infinities in it.
    """
    factor = matrix.copy(order="F")
    return factor if at_once(factorise_in_stages(factor)) else factorise_indefinite(matrix)


def factorise_indefinite(matrix: Floats) -> Floats:
    """Return a lower Cholesky factor for a matrix that rounding has made indefinite.

    That happens once the penalty is lost beside the largest features (a condition number beyond
    1e15). Its smallest eigenvalues are raised to what float64 can tell from zero.

    Raises LinAlgError if there are infinities in it.
    """
    with one_thread:
        values, vectors = np.linalg.eigh(matrix, UPLO="L")
        floor = 10 * len(values) * np.finfo(np.float64).eps * abs(values).max()
        raised = np.asfortranarray((vectors * np.maximum(values, floor)) @ vectors.T)
    # Of equal eigenvalues, vectors are mixed: a feature that is zero in every row is not.
    lower = np.tril(matrix, -1)
    alone = np.flatnonzero(~(lower.any(axis=0) | lower.any(axis=1)))
    raised[alone], raised[:, alone] = 0.0, 0.0
    raised[alone, alone] = np.maximum(matrix[alone, alone], floor)
    if not at_once(factorise_in_stages(raised)):
        raise np.linalg.LinAlgError("the sums cannot be factorised: penalty or weights are extreme")
    return raised


def factorise_in_stages(matrix: Floats) -> Stages[bool]:
    """Overwrite the lower triangle of a matrix with its Cholesky factor; False if it has none."""
    d, is_definite = len(matrix), [True]

    def eliminate(block: Floats, panel: Floats) -> None:
        is_definite[0] = factorise_block(block)
        if is_definite[0]:
            solve_lower(block, panel, transposed=True, from_right=True)

    for left in range(0, d, BLOCK):
        right = min(left + BLOCK, d)
        block, panel = matrix[left:right, left:right], matrix[right:, left:right]
        yield [Task((d - left) * BLOCK**2, partial(eliminate, block, panel))]
        if not is_definite[0]:
            return False
        if right == d:
            break
        rest, number = matrix[right:, right:], max(1, -(-(d - right) // (2 * BLOCK)))
        change, cost = partial(add_strip, rest, panel.T, -1.0, lower=True), len(rest) ** 2 * BLOCK
        yield [
            Task(cost / number, partial(change, strip=strip))
            for strip in strips(len(rest), number, lower=True)
        ]
    return True


def solve_in_stages(factor: Floats, columns: Floats) -> Stages[None]:
    """Overwrite `columns` (d, k), in Fortran order, with what L L' maps to them, given L."""
    d, k = columns.shape

    def solve(part: Floats) -> None:
        solve_lower(factor, part)
        solve_lower(factor, part, transposed=True)

    parts = [columns[:, left : left + COLUMNS] for left in range(0, k, COLUMNS)]
    yield [Task(2.0 * d * d * part.shape[1], partial(solve, part)) for part in parts]


def invert_in_stages(factor: Floats, inverse: Floats) -> Stages[None]:
    """Overwrite the lower triangle of `inverse`, in Fortran order, with (L L')^-1, given L."""
    d = len(factor)

    def invert(left: int) -> None:
        part, rest = inverse[left:, left : left + COLUMNS], factor[left:, left:]
        part[:] = 0.0
        diagonal_of(part[: part.shape[1]])[:] = 1.0
        solve_lower(rest, part)
        solve_lower(rest, part, transposed=True)  # of which columns before it have no part

    yield [
        Task(2.0 * (d - left) ** 2 * COLUMNS, partial(invert, left))
        for left in range(0, d, COLUMNS)
    ]


def invert(factor: Floats) -> Floats:
    """Return (L L')^-1 in the lower triangle of a new matrix, given L."""
    inverse = np.zeros(factor.shape, order="F")
    at_once(invert_in_stages(factor, inverse))
    return inverse
