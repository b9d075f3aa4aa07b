"""Whether rows that are to be forgotten can have been taught."""

import numpy as np
from scipy.linalg import lapack

from newfound.common.arrays import Floats, Rows
from newfound.common.errors import NotTaughtError
from newfound.sums.blas import diagonal_of, second_moment
from newfound.sums.device import DeviceGram
from newfound.sums.gram import Gram

# Share of the sum of squares by which sums may miss being positive definite when rows are taken
# out. What rounding cost them when they were larger comes on top: it is not held against the rows.
ROUNDING_SLACK = 1e-8

OF_NO_DATA = (
    "cannot forget these rows: without them the sums would be those of no data at all "
    "(not positive definite), so they were not all taught; the model is left as it was"
)


def is_definite(matrix: Floats) -> bool:
    """Tell whether a matrix, given by its lower triangle, is positive definite; overwrites it.

    >>> is_definite(np.eye(2)), is_definite(-np.eye(2))
    (True, False)
    """
    return bool(lapack.dpotrf(matrix, lower=1, overwrite_a=1)[1] == 0)


def check_removal(gram: Gram | DeviceGram, X: Rows) -> None:
    """Raise NotTaughtError if X'X of what would be left is that of no data.

    A Gram that holds rows is not asked: it compares them one by one.
    """
    if gram.holds_rows:
        return
    slack = ROUNDING_SLACK * gram.trace + gram.rounding
    slack = max(slack, float(np.finfo(np.float64).tiny))
    if isinstance(gram, DeviceGram):
        is_left = gram.is_definite_without(X, slack)
    else:
        left = -second_moment(X)
        gram.add_to(left, 1.0)
        diagonal_of(left)[:] += slack
        is_left = is_definite(left)
    if not is_left:
        raise NotTaughtError(OF_NO_DATA)
