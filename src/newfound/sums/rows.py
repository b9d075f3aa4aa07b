"""Rows of numbers: what may be added up."""

from typing import Any

import numpy as np

from newfound.common.arrays import Rows, check_unmasked
from newfound.common.device import detached
from newfound.common.errors import InputError
from newfound.sums.sparse import dense, is_sparse

# Sum of squares from which sums would soon leave the range of float64.
LARGEST_SQUARE = 1e290


def as_rows(X: Any) -> Rows:
    """Return `X` as a finite array of shape (m, d), float32 if it is that, else float64.

    >>> as_rows([[1, 2]])
    array([[1., 2.]])
    >>> as_rows([1.0, 2.0])
    Traceback (most recent call last):
    newfound.InputError: X should have two dimensions, rows and features; its shape is (2,)
    """
    check_unmasked(X, "X")
    try:
        rows = dense(X) if is_sparse(X) else np.asarray(detached(X))
    except ValueError as error:
        raise InputError(
            "X should have two dimensions: its rows are of different lengths"
        ) from error
    if rows.dtype.kind not in "fiu":
        raise InputError(f"X must hold numbers only, got an array of {rows.dtype}")
    if rows.ndim != 2 or not rows.shape[1]:
        raise InputError(
            f"X should have two dimensions, rows and features; its shape is {rows.shape}"
        )
    rows = rows if rows.dtype == np.float32 else rows.astype(np.float64, copy=False)
    if not np.vdot(rows, rows.astype(np.float64, copy=False)) < LARGEST_SQUARE:
        raise InputError(_trouble(rows))
    return rows


def _trouble(rows: Rows) -> str:
    if np.isfinite(rows).all():
        return f"X holds values up to {np.abs(rows).max():.1e}, whose squares overflow"
    return f"Input X contains {'NaN' if np.isnan(rows).any() else 'infinity'}"
