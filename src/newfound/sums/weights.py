"""Weights of examples: as how many examples each counts."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Labels, Rows, check_unmasked
from newfound.common.device import device_of, namespace_of, on_host
from newfound.common.errors import InputError
from newfound.sums.device import rows_at
from newfound.sums.rows import LARGEST_SQUARE

# Weights lie between these, or are zero: beyond, their sums and products would leave float64.
SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100
# Sums of weighted rows stay below this: what a model file may hold is larger.
LARGEST_SUM = 1e140
# How many times as heavy as the lightest examples of a model the heaviest may be: beyond that, the
# lightest are lost to rounding. scikit-learn's AdaBoost keeps its weights within that, too.
LARGEST_RATIO = 1 / float(np.finfo(np.float64).eps)
# What a model that begins is told where nothing counts.
NOTHING_WEIGHS = "all weights are zero, but at least one example is needed"


def as_weights(sample_weight: Any, size: int) -> Floats | None:
    """Return weights of `size` rows as float64, or None if all of them are one.

    A single number is the weight of every row. Raises ValueError for what cannot be weights.

    >>> as_weights([0, 2.5], 2)
    array([0. , 2.5])
    >>> as_weights([1, 1], 2) is None
    True
    >>> as_weights([1, -1], 2)
    Traceback (most recent call last):
    newfound.InputError: sample_weight holds -1.0, but weights are not negative; `forget` takes back
    """
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight)
    if weights.ndim == 0:
        weights = np.full(size, weights)
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array")
    if len(weights) != size:
        raise InputError(
            f"sample_weight.shape == {weights.shape}, expected {(size,)}: one weight for each row"
        )
    _check_range(weights)
    return None if (weights == 1).all() else weights


def as_numbers(sample_weight: Any) -> Floats:
    """Return weights as float64, of whatever shape, or raise ValueError if they are no numbers.

    >>> as_numbers(["2"])
    Traceback (most recent call last):
    newfound.InputError: sample_weight must hold real numbers only, got an array of <U1
    """
    check_unmasked(sample_weight, "sample_weight")
    if not isinstance(sample_weight, np.generic) and device_of(sample_weight) is not None:
        sample_weight = on_host(sample_weight)
    try:
        weights = np.asarray(sample_weight)
        # float() would take a text for the number that it shows.
        if weights.dtype.kind == "O" and any(isinstance(one, str | bytes) for one in weights.flat):
            weights = weights.astype(np.str_)
        if weights.dtype.kind in "biufO":
            return weights.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"sample_weight must hold real numbers only: {error}") from error
    raise InputError(f"sample_weight must hold real numbers only, got an array of {weights.dtype}")


def counted(
    X: Rows, labels: Labels, sample_weight: Floats | None
) -> tuple[Rows, Labels, Floats | None]:
    """Return rows, labels and weights without those that weigh nothing.

    Raises ValueError if rows are so large, with their weights, that sums would overflow.

    >>> rows, labels, weights = counted(np.eye(2), np.array(["a", "b"]), np.array([0.0, 1.0]))
    >>> rows, labels, weights is None
    (array([[0., 1.]]), array(['b'], dtype='<U1'), True)
    """
    if sample_weight is not None:
        _check_products(X, sample_weight)
    if sample_weight is None or sample_weight.all():
        return X, labels, sample_weight
    where = np.flatnonzero(sample_weight)
    left = sample_weight[where]
    return rows_at(X, where, device_of(X)), labels[where], None if (left == 1).all() else left


def check_together(weights: Floats) -> None:
    """Raise ValueError if the lightest of these weights (m,) are swallowed by the heaviest.

    >>> check_together(np.array([1e-3, 5.0]))
    >>> check_together(np.array([10.0, 1e20]))
    Traceback (most recent call last):
    newfound.InputError: sample_weight: examples of weight 10 beside others of 1e+20 (1 to 1e+19)...
    """
    if not len(weights):
        return
    lightest, heaviest = float(weights.min()), float(weights.max())
    if heaviest > LARGEST_RATIO * lightest:
        raise InputError(
            f"sample_weight: examples of weight {lightest:g} beside others of {heaviest:g} "
            f"(1 to {heaviest / lightest:.0e}) would be lost to rounding; at most 1 to "
            f"{LARGEST_RATIO:.0e} can be kept. Leave the lighter ones out, or limit the weights"
        )


def _check_products(X: Rows, weights: Floats) -> None:
    """Raise ValueError if sums of w x, or of w x^2, would soon leave the range of float64."""
    xp = namespace_of(X)
    largest = on_host(xp.max(xp.abs(X), axis=1)).astype(np.float64)
    with np.errstate(over="ignore"):
        squares = float((weights * largest * largest).sum()) * X.shape[1]
        sums = float((weights * largest).sum())
    if not (squares < LARGEST_SQUARE and sums < LARGEST_SUM):
        raise InputError(
            f"X holds values up to {largest.max():.1e} and sample_weight up to "
            f"{weights.max():.1e}, whose products overflow; scale the features or the weights"
        )


def _check_range(weights: Floats) -> None:
    if not np.isfinite(weights).all():
        what = "NaN" if np.isnan(weights).any() else "infinity"
        raise InputError(f"Input sample_weight contains {what}")
    if (weights < 0).any():
        raise InputError(
            f"sample_weight holds {weights.min()}, but weights are not negative; `forget` takes "
            "back"
        )
    positive = weights[weights > 0]
    if len(positive) and not (
        SMALLEST_WEIGHT <= positive.min() <= positive.max() <= LARGEST_WEIGHT
    ):
        raise InputError(
            f"sample_weight must be 0 or from {SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, got "
            f"{positive.min():g} to {positive.max():g}: scale the weights"
        )
