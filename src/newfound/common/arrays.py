"""The kinds of arrays that everyone speaks of, and one that nobody takes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError

Rows = NDArray[np.floating]  # (m, d), float32 or float64
Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Index = NDArray[np.intp]  # which class each row is of
Mask = NDArray[np.bool_]
Labels = NDArray[Any]  # of one type: strings, booleans or whole numbers


def check_unmasked(array: Any, name: str) -> None:
    """Raise InputError if values of a masked array are masked: what is below is no value.

    Examples
    --------
    >>> check_unmasked(np.ma.array([1.0, 2.0], mask=[False, True]), "X")
    Traceback (most recent call last):
    newfound.InputError: X holds masked values, which are none: leave these rows out, or fill them
    """
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise InputError(
            f"{name} holds masked values, which are none: leave these rows out, or fill them"
        )
