"""Rows and matrices wherever they live: on the host, or on a device of the array API.

On a device, matrices are changed a block of columns at a time: the standard has no product that
adds, and another d x d matrix is dear.
"""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import blas, lapack

from newfound.common.arrays import Floats, Index
from newfound.common.device import Array, Device
from newfound.sums import blas as host

# Columns of a matrix that are changed at a time, as a share of all.
COLUMN_SHARE, LEAST_COLUMNS = 16, 64
# Numbers of a batch that are converted, or squared, at a time.
CHUNK = 2**24


def blocks(width: int) -> Iterator[slice]:
    """Yield the columns of a matrix, a block at a time.

    >>> list(blocks(100))
    [slice(0, 64, None), slice(64, 100, None)]
    """
    size = max(LEAST_COLUMNS, -(-width // COLUMN_SHARE))
    for left in range(0, width, size):
        yield slice(left, min(left + size, width))


def zeros(shape: tuple[int, ...], device: Device | None) -> Array:
    """Return zeros in float64."""
    return np.zeros(shape) if device is None else device.zeros(*shape)


def with_capacity(columns: Array, needed: int, device: Device | None = None) -> Array:
    """Return `columns`, shape (capacity, width), or a copy at least `needed` long, zeros added.

    The capacity doubles, so that adding a class costs O(width) on average.
    """
    capacity, width = columns.shape
    if needed <= capacity:
        return columns
    grown = zeros((max(needed, 2 * capacity), width), device)
    grown[:capacity, :] = columns
    return grown


def add_products(matrix: Array, rows: Array, scale: float, device: Device | None) -> None:
    """Overwrite `matrix` (d, d) with `matrix + scale rows' rows`, `rows` being (m, d).

    On the host it is its lower triangle, in Fortran order; on a device, both.
    """
    if device is None:
        host.add_products(matrix, rows, scale, lower=True)
        return
    rows = device.double(rows)
    scaled = rows if scale == 1.0 else scale * rows
    for columns in blocks(matrix.shape[0]):
        matrix[:, columns] += rows.T @ scaled[:, columns]


def both_triangles(lower: Floats) -> Floats:
    """Return a symmetric matrix (d, d) on the host that is given by its lower triangle.

    >>> both_triangles(np.array([[1.0, 0.0], [2.0, 3.0]])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return lower + np.tril(lower, -1).T


def add_to_diagonal(matrix: Array, value: float, device: Device | None) -> None:
    """Overwrite a matrix (d, d) with itself plus `value` times I."""
    if device is None:
        host.diagonal_of(matrix)[:] += value
        return
    xp = device.xp
    for columns in blocks(matrix.shape[0]):
        size = columns.stop - columns.start
        identity = xp.eye(size, dtype=xp.float64, device=device.device)
        matrix[columns, columns] += value * identity


def cholesky(matrix: Array, device: Device | None) -> Array | None:
    """Return the lower Cholesky factor of a matrix, or None if it is not positive definite."""
    if device is None:
        factor, failed = lapack.dpotrf(matrix, lower=1)
        return None if failed else factor
    failures = (np.linalg.LinAlgError, getattr(device.xp.linalg, "LinAlgError", RuntimeError))
    try:
        factor = device.xp.linalg.cholesky(matrix)
    except failures:
        return None
    # Not every library says so of NaN, which reaches the last pivot from wherever it is.
    return factor if float(factor[-1, -1]) > 0 else None


def is_definite(matrix: Array, device: Device | None = None) -> bool:
    """Tell whether a matrix, given by its lower triangle, is positive definite; overwrites it.

    >>> is_definite(np.eye(2)), is_definite(-np.eye(2))
    (True, False)
    """
    if device is None:
        return bool(lapack.dpotrf(matrix, lower=1, overwrite_a=1)[1] == 0)
    return factorise_in_place(matrix, device)


def factorise_in_place(matrix: Array, device: Device) -> bool:
    """Overwrite a matrix with its Cholesky factor, blocks on the diagonal with their inverses.

    It takes no other matrix. False, if it is not positive definite.
    """
    xp = device.xp
    for at in blocks(matrix.shape[0]):
        done, below = slice(0, at.start), slice(at.stop, None)
        if at.start:
            matrix[at.start :, at] -= matrix[at.start :, done] @ matrix[at, done].T
        factor = cholesky(matrix[at, at], device)
        if factor is None:
            return False
        inverse = xp.linalg.inv(factor)
        matrix[at, at] = inverse
        matrix[below, at] = matrix[below, at] @ inverse.T
        matrix[at, below] = 0.0
    return True


def invert_in_place(matrix: Array, device: Device) -> bool:
    """Overwrite a symmetric matrix (d, d) with its inverse; False if it is not positive definite.

    Then there is nothing of use left in it. Blocks of columns at a time, so that all it takes
    beside is an eighth of that memory; it is products of blocks for nearly all of its time.

    Examples
    --------
    >>> import array_api_strict as xp
    >>> matrix = xp.asarray([[2.0, 1.0], [1.0, 2.0]])
    >>> invert_in_place(matrix, Device("array_api_strict", matrix.device))
    True
    >>> print(matrix * 3)
    Array([[ 2., -1.],
           [-1.,  2.]], dtype=array_api_strict.float64)
    """
    if not factorise_in_place(matrix, device):
        return False
    _invert_factor(matrix)
    _multiply(matrix)
    return True


def _invert_factor(matrix: Array) -> None:
    """Overwrite L, whose blocks on the diagonal are inverted already, with L^-1."""
    for at in reversed(list(blocks(matrix.shape[0]))):
        below = slice(at.stop, None)
        matrix[below, at] = -1.0 * (matrix[below, below] @ (matrix[below, at] @ matrix[at, at]))


def _multiply(matrix: Array) -> None:
    """Overwrite L^-1 with L^-T L^-1."""
    for at in blocks(matrix.shape[0]):
        below, before = slice(at.start, None), slice(0, at.start)
        row = matrix[below, at].T @ matrix[below, : at.stop]
        matrix[at, : at.stop] = row
        matrix[before, at] = row[:, before].T


def solve_factor(factor: Array, columns: Array, device: Device | None) -> Array:
    """Return L^-1 columns, where L is a lower Cholesky factor (m, m)."""
    if device is None:
        return blas.dtrsm(1.0, factor, columns, lower=1)
    return device.xp.linalg.solve(factor, columns)


def add_outer(matrix: Array, left: Array, right: Array, scale: float) -> None:
    """Overwrite `matrix` (m, k) with `matrix + scale outer(left, right)`.

    Here as below: torch has one call for what takes the array API several, and each call takes a
    GPU's host as long as small arrays take the GPU.
    """
    if hasattr(matrix, "addr_"):
        matrix.addr_(left, right, alpha=scale)
    else:
        matrix += (scale * left)[:, None] * right[None, :]


def add_times(vector: Array, matrix: Array, factors: Array, scale: float) -> None:
    """Overwrite `vector` (m,) with `vector + scale matrix @ factors`."""
    if hasattr(vector, "addmv_"):
        vector.addmv_(matrix, factors, alpha=scale)
    else:
        vector += scale * (matrix @ factors)


def chunks(X: Array, width: int = 1) -> Iterator[slice]:
    """Yield the rows of a batch, a chunk at a time, small enough for `width` numbers a row, too."""
    size = max(1, CHUNK // max(width, X.shape[1], 1))
    for start in range(0, X.shape[0], size):
        yield slice(start, min(start + size, X.shape[0]))


def square_of(X: Array, device: Device) -> float:
    """Return the sum of the squares of all numbers of `X`, (m, d), in float64; NaN if one is.

    It is all of a batch that comes to the host.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # which some namespaces are made of
        if X.shape[0] == 1:  # the usual case, without detours
            row = device.double(X)[0, :]
            return float(row @ row)
        total = device.zeros(1)[0]
        for part in chunks(X):
            flat = device.xp.reshape(device.double(X[part, :]), (-1,))
            total = total + flat @ flat
        return float(total)


def rows_at(X: Array, where: Index, device: Device | None) -> Array:
    """Return the rows of `X`, (m, d), at indices `where`, (k,)."""
    if device is None:
        return X[where]
    return device.xp.take(X, device.put(where, double=False), axis=0)


def rows_by_gram(
    X: Array, index: Index, weights: Floats | None, per_class: bool, device: Device | None
) -> list[tuple[int, Array, Floats | None]]:
    """Return rows `X` (m, d) and their weights (m,) by the Gram they are of: one, or the class's.

    >>> rows_by_gram(np.array([[1.0], [2.0], [3.0]]), np.array([1, 0, 1]), None, True, None)
    [(0, array([[2.]]), None), (1, array([[1.], [3.]]), None)]
    """
    if not per_class:
        return [(0, X, weights)]
    parts = []
    for place in np.unique(index).tolist():
        where = np.flatnonzero(index == place)
        own = None if weights is None else weights[where]
        parts.append((place, rows_at(X, where, device), own))
    return parts


def column_products(left: Array, right: Array, device: Device | None) -> Array:
    """Return the product of each column of two matrices (m, k) with its twin, shape (k,), here."""
    if device is not None:
        return device.host(device.xp.sum(left * right, axis=0))
    return np.einsum("ij,ij->j", left, right)


def weighted(X: Array, sample_weight: Floats | None, device: Device | None) -> Array:
    """Return rows `X` (m, d), each times the root of its weight: what X'X is made of.

    Without weights, they are the rows themselves.

    >>> weighted(np.array([[1.0, 2.0]]), np.array([4.0]), None)
    array([[2., 4.]])
    """
    if sample_weight is None:
        return X
    roots = np.sqrt(sample_weight)[:, None]
    if device is None:
        return roots * X
    return device.put(roots) * device.double(X)
