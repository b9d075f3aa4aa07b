"""The kinds of arrays that everyone speaks of, and one reader for those that were stored."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newfound.common.errors import InputError

Rows = NDArray[np.floating]  # (m, d), float32 or float64
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Index = NDArray[np.intp]  # which class each row is of
Labels = NDArray[Any]  # of one type: strings, booleans or whole numbers


def take(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
    low: float = -np.inf,
    high: float = np.inf,
) -> NDArray[Any]:
    """Return a stored array if it is what it must be, or raise ValueError.

    Parameters
    ----------
    arrays : mapping of names to ndarrays
        What was read from a file that anybody may have written.
    name : str
    dtype : dtype
    shape : tuple of int
        -1 stands for any length.
    low, high : float
        Its numbers lie between these, both included; NaN lies nowhere.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> take({"counts": np.array([1, 2])}, "counts", np.int64, (-1,), low=0)
    array([1, 2])
    >>> take({"counts": np.array([1, -2])}, "counts", np.int64, (-1,), low=0)
    Traceback (most recent call last):
    newfound.InputError: its counts do not fit together
    """
    array = arrays.get(name)
    fits = (
        array is not None
        and array.dtype == dtype
        and array.ndim == len(shape)
        and all(has == must or must == -1 for has, must in zip(array.shape, shape, strict=True))
        and (not array.size or low <= array.min().item() <= array.max().item() <= high)
    )
    if array is None or not fits:
        raise InputError(f"its {name} do not fit together")
    return array
