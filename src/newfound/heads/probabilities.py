"""Scores to probabilities: a softmax, sharpened as much as the answers deserve."""

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Index
from newfound.common.device import namespace_of

# Ridge scores of rows that were not learned are worth about this sharpness, on data of many kinds
# (docs/unknown.md). It is used where nobody can say better, and weighs as much as a few rows do.
USUAL_SHARPNESS = 12.0
# How far from it others are expected, as a ratio.
LIKELY_RATIO = 2.0
SMALLEST_SHARPNESS, LARGEST_SHARPNESS = 1e-3, 1e6
# Steps after which the sharpness is known to a millionth, and far more than it takes.
STEPS, ENOUGH = 50, 1e-6


def softmax(scores: NDArray[np.floating], sharpness: float) -> NDArray[np.floating]:
    """Return, for each row, probabilities in the order of its scores: exp(sharpness score), scaled.

    Parameters
    ----------
    scores : ndarray of shape (m, T)
        Minus infinity for classes that cannot be.
    sharpness : float

    Returns
    -------
    ndarray of shape (m, T)
        Each row sums to one. 0 for classes that cannot be, and for no other.

    Examples
    --------
    >>> softmax(np.array([[0.9, 0.3, -np.inf]]), sharpness=5.0).round(3)
    array([[0.953, 0.047, 0.   ]])
    """
    xp = namespace_of(scores)
    wide = xp.astype(scores, xp.float64)  # differences may leave the range of the scores
    with np.errstate(over="ignore"):
        likely = xp.exp(sharpness * (wide - xp.max(wide, axis=1, keepdims=True)))
    likely = likely / xp.sum(likely, axis=1, keepdims=True)
    least = float(xp.finfo(scores.dtype).smallest_normal) * xp.astype(scores > -np.inf, xp.float64)
    probabilities: NDArray[np.floating] = xp.astype(xp.maximum(likely, least), scores.dtype)
    return probabilities


def log_losses(scores: Floats, truth: Index, sharpness: float) -> Floats:
    """Return minus the logarithm of the probability of the true class of each row, shape (m,).

    >>> log_losses(np.array([[0.9, 0.3]]), np.array([0]), sharpness=5.0).round(3)
    array([0.049])
    """
    likely = softmax(scores, sharpness)[np.arange(len(truth)), truth]
    losses: Floats = -np.log(likely)
    return losses


def sharpness_of(scores: Floats, truth: Index, weights: Floats | None = None) -> float:
    """Return the sharpness that makes the probabilities of the true classes largest.

    Parameters
    ----------
    scores : ndarray of shape (m, T)
        Of rows that were not learned.
    truth : ndarray of shape (m,)
        The class of each.
    weights : ndarray of shape (m,), optional
        What each counts, beside the others.

    Returns
    -------
    float
        The maximum of the posterior, the logarithm being expected around the usual one.

    Examples
    --------
    >>> scores = np.tile([[0.4, 0.1], [0.2, 0.3]], (200, 1))
    >>> round(sharpness_of(scores, np.tile([0, 1], 200)) / 12) > 1
    True
    >>> round(sharpness_of(scores, np.tile([0, 0], 200)), 1)
    4.7
    """
    own = scores[np.arange(len(truth)), truth]
    share = np.ones(len(truth)) if weights is None else weights / weights.mean()
    usual, width = np.log(USUAL_SHARPNESS), np.log(LIKELY_RATIO)
    low, high = np.log(SMALLEST_SHARPNESS), np.log(LARGEST_SHARPNESS)
    at = usual
    for _ in range(STEPS):
        sharpness = float(np.exp(at))
        likely = softmax(scores, sharpness)
        mean = (likely * scores).sum(axis=1)
        variance = (likely * scores**2).sum(axis=1) - mean**2
        # The slope of what is lost, and its own; by the logarithm of the sharpness.
        lost = sharpness * float(share @ (mean - own))
        slope = lost + (at - usual) / width**2
        curvature = sharpness**2 * float(share @ variance) + lost + 1 / width**2
        step = -slope / curvature if curvature > 0 else -np.sign(slope) * width
        step = float(np.clip(step, -width, width))
        if abs(step) < ENOUGH:
            at += step
            break
        # Where Newton's step leads out of the bracket, halve that.
        low, high = (at, high) if slope < 0 else (low, at)
        at = at + step if low < at + step < high else (low + high) / 2
    return float(np.exp(at))
