"""Scores to probabilities: the nearest point of the simplex."""

import numpy as np
from numpy.typing import NDArray


def project_on_simplex(scores: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return, for each row, the nearest vector (Euclidean) that is >= 0 and sums to one.

    It is max(score - shift, 0) with one shift a row, so the order of the scores is kept.
    Equivalent to minimising |p - score|^2 subject to p >= 0 and sum(p) = 1.

    Parameters
    ----------
    scores : ndarray of shape (m, T)

    Returns
    -------
    ndarray of shape (m, T)

    Examples
    --------
    >>> project_on_simplex(np.array([[0.9, 0.3, -0.2]]))
    array([[0.8, 0.2, 0. ]])
    """
    # Shifting a row does not move its projection; it keeps large scores from losing their digits.
    scores = scores - scores.max(axis=1, keepdims=True)
    descending = -np.sort(-scores, axis=1)
    ranks = np.arange(1, scores.shape[1] + 1)
    shifts = (np.cumsum(descending, axis=1) - 1) / ranks
    # The support is the longest run of largest scores that all stay above their common shift.
    support = np.count_nonzero(descending > shifts, axis=1)
    shift = np.take_along_axis(shifts, support[:, None] - 1, axis=1)
    projected: NDArray[np.floating] = np.maximum(scores - shift, 0).astype(scores.dtype)
    projected /= projected.sum(axis=1, keepdims=True)
    return projected
