"""Products and norms, on the caller's thread, or spread over several where that pays."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from newfound.common.arrays import Floats
from newfound.common.threads import one_thread, spread
from newfound.sums.strips import add_squares

# Entries of a matrix that stays in the cache of one core.
SMALL = 2**18
# Rows of a large batch that are added at a time.
CHUNK_ROWS = 4096
# Rows that are multiplied in one task.
TASK_ROWS = 1024


def times(matrix: Floats, vector: Floats) -> Floats:
    """Return `matrix @ vector`, shapes (m, k) and (k,).

    Examples
    --------
    >>> times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.ones(2))
    array([3., 7.])
    """
    product: Floats
    if matrix.flags.c_contiguous and matrix.size <= SMALL:
        product = np.vecdot(matrix, vector)  # one row at a time: too short for threads of BLAS
        return product
    with one_thread:
        if matrix.flags.c_contiguous:
            product = blas.dgemv(1.0, matrix.T, vector, trans=1)
        else:
            product = blas.dgemv(1.0, matrix, vector)
    return product


def rows_times(rows: NDArray[np.floating], matrix: Floats) -> Floats:
    """Return `rows @ matrix`, shapes (m, k) and (k, n), on all threads if there are many rows.

    Examples
    --------
    >>> rows_times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]]))
    array([[3.],
           [7.]])
    """
    products = np.empty((len(rows), matrix.shape[1]), dtype=np.result_type(rows, matrix))
    parts = [slice(start, start + TASK_ROWS) for start in range(0, len(rows), TASK_ROWS)]
    spread([partial(np.matmul, rows[part], matrix, out=products[part]) for part in parts])
    return products


def affine(rows: NDArray[np.floating], matrix: Floats, offset: Floats) -> Floats:
    """Return `rows @ matrix + offset`, shapes (m, k), (k, n) and (n,).

    Examples
    --------
    >>> affine(np.array([[1.0, 2.0]]), np.array([[1.0], [1.0]]), np.array([5.0]))
    array([[8.]])
    """
    if len(rows) == 1:
        return (times(matrix.T, rows[0].astype(np.float64, copy=False)) + offset)[None]
    return rows_times(rows, matrix) + offset


def add_outer(matrix: Floats, left: Floats, right: Floats) -> None:
    """Overwrite `matrix`, shape (m, k) and in C order, with `matrix + outer(left, right)`.

    Examples
    --------
    >>> matrix = np.zeros((2, 2))
    >>> add_outer(matrix, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> matrix
    array([[3., 4.],
           [6., 8.]])
    """
    blas.dger(1.0, right, left, a=matrix.T, overwrite_a=1)


def norm(array: Floats) -> float:
    """Return the root of the sum of squares of all entries.

    Examples
    --------
    >>> norm(np.array([[3.0], [4.0]]))
    5.0
    """
    return float(blas.dnrm2(array.ravel(order="K"))) if array.size else 0.0


def second_moment(X: NDArray[np.floating]) -> Floats:
    """Return X'X in float64; only its lower triangle is set.

    >>> second_moment(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[10.0, 0.0], [14.0, 20.0]]
    """
    out = np.zeros((X.shape[1], X.shape[1]), order="F")
    add_products(out, X, 1.0, lower=True)
    return out


def add_products(
    target: Floats,
    X: NDArray[np.floating],
    scale: float,
    *,
    lower: bool,
    workspace: Floats | None = None,
    write: Callable[[slice, Floats], None] | None = None,
) -> None:
    """Overwrite one triangle of `target`, in Fortran order, with `target + scale X'X`.

    `workspace`, from `workspace_for(X)`, is where rows of another type are converted, by chunks;
    or where `write(part, out)` puts what is to be multiplied instead of a part of `X`.
    """
    workspace = workspace_for(X) if workspace is None else workspace
    for start in range(0, len(X), CHUNK_ROWS):  # which stay in a cache while all strips are made
        chunk = X[start : start + CHUNK_ROWS]
        if len(workspace):
            part, out = slice(start, start + len(chunk)), workspace[: len(chunk)]
            if write is None:
                out[:] = chunk
            else:
                write(part, out)
            chunk = out
        add_squares(target, chunk, scale, lower=lower)


def workspace_for(X: NDArray[np.floating], ready: bool = True) -> Floats:
    """Return memory to convert rows of `X` to what BLAS takes; empty if they are that already."""
    ready = ready and X.dtype == np.float64 and X.flags.c_contiguous and len(X) > 0
    return np.empty((0 if ready else min(len(X), CHUNK_ROWS), X.shape[1]))


def diagonal_of(matrix: Floats) -> Floats:
    """Return the diagonal of a square matrix; what is written to it is written to the matrix.

    >>> matrix = np.zeros((2, 2))
    >>> diagonal_of(matrix)[:] = 1.0
    >>> matrix.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    diagonal: Floats = np.einsum("ii->i", matrix)
    return diagonal
