"""What comes in from outside, checked once: rows of numbers and their labels."""

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from newfound.common.arrays import Labels, Rows
from newfound.common.device import Device, device_of, on_host
from newfound.common.errors import InputError
from newfound.sums.device import square_of
from newfound.sums.labels import as_labels
from newfound.sums.rows import LARGEST_SQUARE
from newfound.sums.sparse import dense, is_sparse


def checked_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> Rows:
    """Return `X` as a finite (m, d) array of float32 or float64, or raise ValueError.

    With `reset`, the estimator remembers width and feature names; otherwise these must agree.
    """
    if _is_plain(estimator, X, reset):
        if reset:
            estimator.n_features_in_ = X.shape[1]
        rows: Rows = X
        return rows
    device = device_of(X)
    if device is not None:
        if get_config()["array_api_dispatch"]:
            return _rows_there(estimator, X, device, reset)
        _check_on_host(X, device)
    try:
        rows = validate_data(
            estimator, X, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr"
        )
    except TypeError as error:
        if "sparse" in str(error).lower():
            raise
        raise TypeError(f"X must hold numbers only: {error}") from error
    rows = dense(rows) if is_sparse(rows) else rows  # also of a table of sparse columns
    if not np.vdot(rows, np.asarray(rows, dtype=np.float64)) < LARGEST_SQUARE:
        raise _too_large(float(np.abs(rows).max()))
    return rows


def _too_large(value: float) -> InputError:
    return InputError(
        f"X holds values up to {value:.1e}, whose squares overflow; scale the features first"
    )


def _rows_there(estimator: BaseEstimator, X: Any, device: Device, reset: bool) -> Rows:
    """Return rows on a device, checked: of all their numbers, the sum of squares comes here."""
    xp, X = device.xp, device.put(X, double=False)
    _check_kind(X, xp)
    is_plain = (
        X.ndim == 2
        and X.dtype in (xp.float64, xp.float32)
        and X.shape[0] * X.shape[1] > 0
        and not hasattr(estimator, "feature_names_in_")
        and (reset or X.shape[1] == estimator.n_features_in_)
    )
    if is_plain and square_of(X, device) < LARGEST_SQUARE:
        if reset:
            estimator.n_features_in_ = X.shape[1]
        there: Rows = X
        return there
    rows: Rows = validate_data(estimator, X, reset=reset, dtype=[xp.float64, xp.float32])
    if not square_of(rows, device) < LARGEST_SQUARE:
        raise _too_large(float(xp.max(xp.abs(rows))))
    return rows


def _check_kind(X: Any, xp: Any) -> None:
    """Raise what scikit-learn raises of numpy's arrays, but not of those of a device."""
    if xp.isdtype(X.dtype, "complex floating"):
        raise InputError("Complex data not supported: X holds complex numbers")
    if not str(getattr(X, "layout", "strided")).endswith("strided"):
        raise TypeError("X is sparse, but dense rows are needed: pass X.to_dense()")


def _check_on_host(X: Any, device: Device) -> None:
    """Raise InputError if scikit-learn could not take these rows for numpy's."""
    if getattr(getattr(X, "device", None), "type", "cpu") != "cpu":
        raise InputError(
            f"X is on {device.device}: to learn and ask there, call "
            "sklearn.set_config(array_api_dispatch=True), with SCIPY_ARRAY_API=1 in the "
            "environment before scipy is imported; or pass X.cpu()"
        )


def checked_labels(X: Any, y: Any) -> Labels:
    """Return `y` as labels, one for each row of `X`, or raise ValueError."""
    if device_of(y) is not None:
        y = on_host(y)
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    labels = as_labels(y)
    is_array = type(X) is np.ndarray or device_of(X) is not None
    same = is_array and X.ndim and X.shape[0] == len(labels)
    if not same and (hasattr(X, "__len__") or hasattr(X, "shape")):
        check_consistent_length(X, labels)
    return labels


def _is_plain(estimator: BaseEstimator, X: Any, reset: bool) -> bool:
    """Tell, cheaply, whether `X` needs none of scikit-learn's conversions and complaints."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.size > 0
        and not hasattr(estimator, "feature_names_in_")
        and (reset or X.shape[1] == estimator.n_features_in_)
        and bool(np.vdot(X, X) < (LARGEST_SQUARE if X.dtype == np.float64 else np.inf))
    )
