"""What comes in from outside, checked as scikit-learn checks it."""

from collections.abc import Callable
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from newfound.common.arrays import Labels, Rows, check_unmasked
from newfound.common.device import Array, Device, detached, device_of, on_host
from newfound.common.errors import InputError
from newfound.distributed.collections import in_memory, is_collection
from newfound.learner.schema import Checked, Schema
from newfound.memory.memory import EVERYTHING
from newfound.solvers.settings import AnySettings
from newfound.sums.device import square_of
from newfound.sums.labels import as_labels
from newfound.sums.rows import LARGEST_SQUARE
from newfound.sums.sparse import dense, is_sparse

# What rows may be.
DTYPES = [np.dtype(np.float64), np.dtype(np.float32)]


@cache
def features_of(kind: str) -> type[BaseEstimator]:
    """Return a class of that name, to be told of features: scikit-learn's errors name it."""
    return type(kind, (BaseEstimator,), {})


class EstimatorSchema(Schema):
    """Rows as scikit-learn takes them: DataFrames, sparse ones, and arrays of devices.

    Parameters
    ----------
    kind : str
        The name of the estimator, which errors tell.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def blank(self, begin: Callable[[], AnySettings] | None = None) -> Self:
        """Return one of this kind that has seen no rows."""
        schema = type(self)(self.kind)
        schema.begin = begin
        return schema

    def rows(self, X: Any, reset: bool = False) -> Array:
        """Return `X` as a finite (m, d) array of float32 or float64, or raise ValueError."""
        rows = self._as_given(X, reset)
        if self.projection is None:
            return rows
        device = device_of(rows)
        projected = self.projection(rows if device is None else on_host(rows))
        return projected if device is None else device.put(projected, double=False)

    def _as_given(self, X: Any, reset: bool) -> Any:
        """Return `X` with all its features, checked; sparse, if there are too many of them."""
        is_plain = type(X) is np.ndarray and X.dtype in DTYPES and self._fits(X, reset)
        if is_plain and np.vdot(X, X) < (LARGEST_SQUARE if X.dtype == DTYPES[0] else np.inf):
            self.note(X.shape[1])
            return X
        check_unmasked(X, "X")
        device = device_of(X)
        if device is not None:
            if get_config()["array_api_dispatch"]:
                return self._rows_there(X, device, reset)
            _check_on_host(X, device)
            X = detached(X)
        try:
            rows = self._validated(X, reset, dtype=DTYPES, accept_sparse="csr")
        except TypeError as error:
            if "sparse" in str(error).lower():
                raise
            raise TypeError(f"X must hold numbers only: {error}") from error
        if is_sparse(rows) and self.projection is not None:
            return rows
        rows = dense(rows) if is_sparse(rows) else rows  # also of a table of sparse columns
        if not np.vdot(rows, np.asarray(rows, dtype=np.float64)) < LARGEST_SQUARE:
            raise _too_large(float(np.abs(rows).max()))
        return rows

    def _fits(self, X: Any, reset: bool) -> bool:
        """Tell whether an array needs none of scikit-learn's conversions and complaints."""
        is_plain = X.ndim == 2 and X.shape[0] > 0 and self.names is None
        return is_plain and X.shape[1] > 0 and (reset or X.shape[1] == self.width)

    def _validated(self, X: Any, reset: bool, **options: Any) -> Any:
        """Return what scikit-learn makes of `X`; with `reset`, note what the features are."""
        features = features_of(self.kind)()
        if not reset:
            features.n_features_in_ = self.width
            if self.names is not None:
                features.feature_names_in_ = np.array(self.names, dtype=object)
        rows = validate_data(features, X, reset=reset, **options)
        if reset:
            names = getattr(features, "feature_names_in_", None)
            self.names = None if names is None else list(names)
            self.note(features.n_features_in_)
        return rows

    def _rows_there(self, X: Any, device: Device, reset: bool) -> Array:
        """Return rows on a device, checked: of all their numbers, the sum of squares comes here."""
        xp, X = device.xp, device.put(X, double=False)
        _check_kind(X, xp)
        floats = [xp.float64, xp.float32]
        if X.dtype in floats and self._fits(X, reset) and square_of(X, device) < LARGEST_SQUARE:
            self.note(int(X.shape[1]))
            return X
        rows = self._validated(X, reset, dtype=floats)
        if not square_of(rows, device) < LARGEST_SQUARE:
            raise _too_large(float(xp.max(xp.abs(rows))))
        return rows

    def must_match_device(self) -> bool:
        """Tell whether rows must live where the model does: scikit-learn dispatches them."""
        return bool(get_config()["array_api_dispatch"])

    def y(self, X: Any, y: Any) -> Labels:
        """Return `y` as labels, one for each row of `X`, or raise ValueError."""
        if type(y) is not list and type(y) is not np.ndarray:  # as most are, so without a detour
            y = _on_host(y)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        labels = as_labels(y)
        if type(X) is not np.ndarray or not X.ndim or len(X) != len(labels):
            _check_lengths(X, labels)
        return labels


class RegressionSchema(EstimatorSchema):
    """Rows that end in the targets of a regression, of which there are as many as at first."""

    def y(self, X: Any, y: Any) -> Rows:
        """Return `y` as targets, shape (m, k), or raise ValueError."""
        if y is None:
            raise InputError(
                f"This {self.kind} estimator requires y to be passed, but the target y is None."
            )
        check_unmasked(y, "y")
        given = check_array(
            _on_host(y), ensure_2d=False, dtype="numeric", allow_nd=False, input_name="y"
        )
        if given.ndim == 2 and given.shape[1] == 0:
            raise InputError("y has no targets")
        _check_lengths(X, given)
        targets = np.asarray(given, dtype=np.float64).reshape(len(given), -1)
        if not np.vdot(targets, targets) < LARGEST_SQUARE:
            raise InputError(
                f"y holds values up to {abs(targets).max():.1e}, whose squares overflow"
            )
        if not self.targets:
            self.targets, self.is_flat = targets.shape[1], given.ndim == 1
        if targets.shape[1] != self.targets:
            raise InputError(
                f"y has {targets.shape[1]} targets, but this model was taught {self.targets}"
            )
        return targets

    def check(self, X: Any, y: Any, weights: Any = None, reset: bool = False) -> Checked:
        """Return rows that end in their targets, without those that weigh nothing."""
        targets = self.y(X, y)
        rows = self.rows(X, reset)
        device = device_of(rows)
        if device is None:
            rows = np.hstack([rows, targets])
        else:
            rows = device.xp.concat([device.double(rows), device.put(targets)], axis=1)
        return self.without_weightless(rows, self.classes(targets), weights)

    def classes(self, y: Labels) -> Labels:
        """Return the class of each row: to the sums, all are of one."""
        return np.full(len(y), EVERYTHING)

    def lazy_y(self, y: Any) -> Any:
        """Return the targets of the rows of a Dask collection: lazy, too, or checked."""
        if not is_collection(y):
            return self.y(y, y)
        self.is_flat = y.ndim == 1
        self.targets = 1 if self.is_flat else int(y.shape[1])
        return y


def _on_host(y: Any) -> Any:
    """Return labels or targets in memory, as numpy's if they were of a device."""
    y = in_memory(y)
    return y if device_of(y) is None else on_host(y)


def _check_lengths(X: Any, y: Any) -> None:
    is_array = type(X) is np.ndarray or device_of(X) is not None
    same = is_array and X.ndim and X.shape[0] == len(y)
    if not same and (hasattr(X, "__len__") or hasattr(X, "shape")):
        check_consistent_length(X, y)


def _too_large(value: float) -> InputError:
    return InputError(
        f"X holds values up to {value:.1e}, whose squares overflow; scale the features first"
    )


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
