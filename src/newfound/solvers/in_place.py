"""The inverse of a positive definite matrix, in the room of the matrix itself.

Blocks of columns at a time, so that all it takes beside is an eighth of that room. It is products
of blocks for nearly all of its time, which is what GPUs are good at.
"""

from newfound.common.device import Array, Device
from newfound.sums.device import blocks, cholesky


def invert_in_place(matrix: Array, device: Device) -> bool:
    """Overwrite a symmetric matrix (d, d) with its inverse; False if it is not positive definite.

    Then there is nothing of use left in it.

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
    if not _factorise(matrix, device):
        return False
    _invert_factor(matrix)
    _multiply(matrix)
    return True


def _factorise(matrix: Array, device: Device) -> bool:
    """Overwrite it with its Cholesky factor L, blocks on the diagonal with their inverses."""
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
