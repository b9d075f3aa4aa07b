"""The signed square root of vectors, at unit length: few large features no longer decide."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.common.errors import InputError


def take_root(rows: ArrayLike) -> NDArray[np.floating[Any]]:
    """Return sign(x) sqrt(|x|) of every feature x, each row scaled to unit Euclidean length.

    The field calls it power normalisation. Scaling a row by a positive number changes nothing.

    Parameters
    ----------
    rows : array-like of shape (m, d)

    Returns
    -------
    ndarray of shape (m, d)
        float32 of float32, else float64. A row of zeros stays as it is; one with NaN or an
        infinity is NaN throughout.

    Examples
    --------
    >>> take_root([[9.0, -16.0], [0.0, 0.0]])
    array([[ 0.6, -0.8],
           [ 0. ,  0. ]])
    """
    X = np.asarray(rows)
    X = X if X.dtype == np.float32 else X.astype(np.float64)
    # The root comes first: it brings any number into a range whose ratios can be written.
    roots = np.sqrt(np.abs(X))
    with np.errstate(invalid="ignore", under="ignore"):  # what is refused later is not warned of
        roots /= _or_one(roots.max(axis=1, keepdims=True, initial=0.0))
        roots /= _or_one(np.sqrt(np.square(roots).sum(axis=1, keepdims=True)))
    signed: NDArray[np.floating[Any]] = np.copysign(roots, X)
    return signed


def root_in_identity(root: bool) -> dict[str, bool]:
    """Return what an extractor's identity says of roots, or raise InputError if it is no boolean.

    Where there are none nothing is said, as in files from before there were any.

    Examples
    --------
    >>> root_in_identity(True), root_in_identity(False)
    ({'root': True}, {})
    """
    if not isinstance(root, bool):
        raise InputError(f"root must be True or False, got {root!r}")
    return {"root": True} if root else {}


def _or_one(lengths: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return lengths by which rows can be divided."""
    return np.where(lengths == 0, lengths.dtype.type(1), lengths)
