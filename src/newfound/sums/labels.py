"""Class labels: what may be one, and where each stands."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from newfound.common.arrays import Labels, check_unmasked
from newfound.common.device import device_of, on_host
from newfound.common.errors import InputError
from newfound.common.limits import LONGEST_LABEL

_FAMILIES = {"U": "strings", "b": "booleans", "i": "numbers", "u": "numbers", "f": "numbers"}


def as_labels(y: Any, name: str = "y") -> Labels:
    """Return `y` as a one-dimensional array of strings, booleans or whole numbers.

    Strings may have up to 1,000 characters. Raises ValueError, naming the trouble, for anything
    that cannot be a label.

    >>> as_labels(["mug", "cup"])
    array(['mug', 'cup'], dtype='<U3')
    >>> as_labels(["mug", None])
    Traceback (most recent call last):
    newfound.InputError: Input y contains None at position 1; every row needs a label
    """
    if type(y) is list and set(map(type, y)) == {str}:  # as most are, so without a detour
        return _from_texts(y, name)
    return _checked(y if type(y) is np.ndarray else _from_any(y, name), name)


def _checked(labels: Labels, name: str) -> Labels:
    if labels.ndim != 1:
        raise InputError(
            f"{name} should be a 1d array of labels, got an array of shape {labels.shape} instead."
        )
    if labels.dtype.kind in "OT":
        labels = _from_objects(labels.tolist(), name)
    if labels.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {name} holds complex numbers as labels")
    if labels.dtype.kind not in _FAMILIES:
        raise InputError(
            f"Unknown label type: {labels.dtype}. Labels are strings, booleans or whole numbers."
        )
    if labels.dtype.kind == "U" and labels.dtype.itemsize > 4 * LONGEST_LABEL:
        labels = labels.astype(f"<U{_check_lengths(map(len, labels.tolist()), name)}")
    if labels.dtype.kind == "f":
        _check_whole(labels, name)
        labels = labels.astype(np.float64) if labels.dtype.itemsize > 8 else labels
    return labels


def check_same_type(known: Labels, new: Labels, whose: str = "this model's labels") -> None:
    """Raise ValueError if strings, booleans and numbers would be mixed; `whose` are known.

    >>> check_same_type(np.array([1, 2]), np.array(["mug"]))
    Traceback (most recent call last):
    newfound.InputError: this model's labels are numbers, but 'mug' is not one of these
    """
    if len(known) and len(new) and _FAMILIES[known.dtype.kind] != _FAMILIES[new.dtype.kind]:
        raise InputError(
            f"{whose} are {_FAMILIES[known.dtype.kind]}, "
            f"but {new.tolist()[0]!r} is not one of these"
        )


def join_labels(known: Labels, new: Labels) -> Labels:
    """Return `known` followed by `new`, in a type that holds both, or raise ValueError.

    >>> join_labels(np.array(["mug"]), np.array(["beaker"])).tolist()
    ['mug', 'beaker']
    """
    if not len(new):
        return known
    if not len(known):
        return new
    check_same_type(known, new)
    joined = np.concatenate([known, new])
    if joined.dtype != known.dtype and joined.tolist() != known.tolist() + new.tolist():
        raise InputError(
            f"no number type holds both {known.dtype} and {new.dtype} labels as large as these; "
            "teach all labels as one type"
        )
    return joined


def positions(labels: Labels) -> dict[Any, int]:
    """Return where each label stands, keyed by its plain Python value."""
    return {label: index for index, label in enumerate(labels.tolist())}


def _from_any(y: Any, name: str) -> Labels:
    if type(y) is np.ndarray:  # nearly always
        return y
    if isinstance(y, np.ndarray):
        check_unmasked(y, name)
        return np.asarray(y)
    if device_of(y) is not None:
        return on_host(y)
    if hasattr(y, "__array__"):
        return np.asarray(y)
    if isinstance(y, set | frozenset):
        raise InputError(f"{name} should be a 1d array of labels, got a set, which has no order")
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise InputError(
            f"{name} should be a 1d array of labels, got {y!r}; for one row pass [{y!r}]"
        )
    # Through objects, because np.asarray([1, "mug"]) would quietly turn 1 into "1".
    return np.asarray(list(y), dtype=object)


def _from_objects(values: list[Any], name: str) -> Labels:
    _check_kinds(values, name)
    if all(isinstance(value, str) for value in values):
        return _from_texts(values, name)
    if all(isinstance(value, bool | np.bool_) for value in values):
        return np.array(values, dtype=np.bool_)
    if any(isinstance(value, str | bool | np.bool_) for value in values):
        kinds = sorted({type(value).__name__ for value in values})
        raise InputError(f"{name} mixes labels of different types: {', '.join(kinds)}")
    labels = np.array(values)
    # But for NaN, which equals nothing, and is refused elsewhere.
    kept = all(a == b or b != b for a, b in zip(labels.tolist(), values, strict=True))
    if labels.dtype.kind == "O" or not kept:
        raise InputError(f"{name} holds a number beyond 64 bits; use a string as its label")
    return labels


def _from_texts(values: list[str], name: str) -> Labels:
    if max(map(len, values), default=0) > LONGEST_LABEL:  # before numpy makes all of them as wide
        _check_lengths(map(len, values), name)
    labels = np.array(values, dtype=np.str_)
    if labels.tolist() != values:
        raise InputError(f"{name} holds a string that ends in NUL, which numpy cannot keep")
    return labels


def _check_kinds(values: list[Any], name: str) -> None:
    """Raise ValueError if one of the values is of no kind that labels may have."""
    for index, value in enumerate(values):
        missing = _missing(value)
        if missing:
            raise InputError(
                f"Input {name} contains {missing} at position {index}; every row needs a label"
            )
        if not isinstance(value, str | bool | np.bool_ | int | float | np.integer | np.floating):
            raise InputError(
                f"Unknown label type: {type(value).__name__} at position {index} of {name}. "
                "Labels are strings, booleans or whole numbers."
            )


def _missing(value: Any) -> str:
    """Return what stands for a label that is missing, or nothing if this is none."""
    if value is None or type(value).__name__ == "NAType":  # pandas', which is not imported here
        return "None" if value is None else "NA"
    return "NaN" if isinstance(value, float | np.floating) and value != value else ""


def _check_lengths(lengths: Iterable[int], name: str) -> int:
    """Return the largest length, or raise ValueError where no label is so long."""
    longest = max(lengths, default=0)
    if longest > LONGEST_LABEL:
        raise InputError(
            f"{name} holds a label of {longest} characters; a label may have {LONGEST_LABEL}"
        )
    return longest


def _check_whole(labels: Labels, name: str) -> None:
    if not np.isfinite(labels).all():
        what = "NaN" if np.isnan(labels).any() else "infinity"
        raise InputError(f"Input {name} contains {what}; every row needs a label")
    broken = labels[labels != np.round(labels)]
    if len(broken):
        raise InputError(
            f"Unknown label type: continuous. {name} holds {broken[0]}, which is not a class; "
            "labels are strings, booleans or whole numbers."
        )
