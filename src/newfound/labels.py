"""Class labels: what may be one, and where each stands."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[Any]

_FAMILIES = {"U": "strings", "b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers"}


def as_labels(y: Any, name: str = "y") -> Labels:
    """Return `y` as a one-dimensional array of strings, booleans or whole numbers.

    Raises ValueError, naming the trouble, for anything that cannot be a label.

    >>> as_labels(["mug", "cup"])
    array(['mug', 'cup'], dtype='<U3')
    >>> as_labels(["mug", None])
    Traceback (most recent call last):
    ValueError: Input y contains None at position 1; every row needs a label
    """
    labels = y if isinstance(y, np.ndarray) else _from_any(y, name)
    if labels.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array of labels, got an array of shape {labels.shape} instead."
        )
    if labels.dtype.kind in "OT":
        labels = _from_objects(labels.tolist(), name)
    if labels.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} holds complex numbers as labels")
    if labels.dtype.kind not in _FAMILIES:
        raise ValueError(
            f"Unknown label type: {labels.dtype}. Labels are strings, booleans or whole numbers."
        )
    if labels.dtype.kind == "f":
        _check_whole(labels, name)
    return labels


def join_labels(known: Labels, new: Labels) -> Labels:
    """Return `known` followed by `new`, refusing to mix strings, booleans and numbers.

    >>> join_labels(np.array([1, 2]), np.array(["mug"]))
    Traceback (most recent call last):
    ValueError: this model's labels are numbers, but 'mug' is not one of these
    """
    if not len(known):
        return new
    if not len(new):
        return known
    if _FAMILIES[known.dtype.kind] != _FAMILIES[new.dtype.kind]:
        raise ValueError(
            f"this model's labels are {_FAMILIES[known.dtype.kind]}, "
            f"but {new.tolist()[0]!r} is not one of these"
        )
    return np.concatenate([known, new])


def positions(labels: Labels) -> dict[Any, int]:
    """Return where each label stands, keyed by its plain Python value."""
    return {label: place for place, label in enumerate(labels.tolist())}


def _from_any(y: Any, name: str) -> Labels:
    if hasattr(y, "__array__"):
        return np.asarray(y)
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise ValueError(
            f"{name} should be a 1d array of labels, got {y!r}; for one row pass [{y!r}]"
        )
    # Through objects, because np.asarray([1, "mug"]) would quietly turn 1 into "1".
    return np.asarray(list(y), dtype=object)


def _from_objects(values: list[Any], name: str) -> Labels:
    for place, value in enumerate(values):
        if value is None:
            raise ValueError(
                f"Input {name} contains None at position {place}; every row needs a label"
            )
        if not isinstance(value, str | bool | np.bool_ | Real):
            raise ValueError(
                f"Unknown label type: {type(value).__name__} at position {place} of {name}. "
                "Labels are strings, booleans or whole numbers."
            )
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=np.str_)
    if all(isinstance(value, bool | np.bool_) for value in values):
        return np.array(values, dtype=np.bool_)
    if any(isinstance(value, str | bool | np.bool_) for value in values):
        kinds = sorted({type(value).__name__ for value in values})
        raise ValueError(f"{name} mixes labels of different types: {', '.join(kinds)}")
    if all(isinstance(value, Integral) for value in values):
        return _whole(np.array(values), name)
    return np.array(values, dtype=np.float64)


def _whole(labels: Labels, name: str) -> Labels:
    if labels.dtype.kind not in "iu":
        raise ValueError(f"{name} holds a whole number beyond 64 bits; use a string as its label")
    return labels


def _check_whole(labels: Labels, name: str) -> None:
    if not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise ValueError(f"Input {name} contains {what}; every row needs a label")
    broken = labels[labels != np.round(labels)]
    if len(broken):
        raise ValueError(
            f"Unknown label type: continuous. {name} holds {broken[0]}, which is not a class; "
            "labels are strings, booleans or whole numbers."
        )
