"""The rules by which penalty and recoding are chosen, given leave-one-out scores."""

import numpy as np

from newfound.common.arrays import Floats, Index

# Two accuracies that differ by less are the same but for rounding.
ROUNDING = 1e-12
# The recoding that is expected before anything is scored, and how far from it others are expected.
EXPECTED_RECODING, WIDTH_OF_RECODING = 0.7, 0.3
# How far below the middle of all recodings that of a class seen once is, as a share of weight.
CARE = 0.15
# What a penalty far from the expected one must be better by, at most, in what may be noise.
LEAVING = 1.5


def noise(rows: int) -> float:
    """Return how many points of accuracy may be noise: what one row is worth, at least one.

    >>> noise(rows=40), noise(rows=1000)
    (2.5, 1.0)
    """
    return max(1.0, 100 / max(1, rows))


def prior(penalties: Floats, expected: float, rows: int) -> Floats:
    """Return what each penalty must be better than the expected one by, in points of accuracy.

    It grows with the square of the number of decades between them, and levels off beyond the
    first: either features are of like size, and the right penalty is near the expected one, or they
    are not, and then any decade is as likely as the next (Geman and McClure's function).

    Parameters
    ----------
    penalties : ndarray of shape (K,)
    expected : float
        The penalty that is expected.
    rows : int
        How many rows were scored.

    Returns
    -------
    ndarray of shape (K,)

    Examples
    --------
    >>> prior(np.array([1.0, 10.0, 1e5]), expected=1.0, rows=1000).round(2)
    array([0.  , 0.75, 1.44])
    """
    squares = np.log10(penalties / expected) ** 2
    points: Floats = LEAVING * noise(rows) * squares / (1 + squares)
    return points


def weighted_recodings(table: Floats, counts: Floats, recodings: Floats, rows: int) -> Floats:
    """Return a recoding for each of M simulated counts: the median, by scores and prior.

    For a class seen m times it is a little below the middle, by a share that falls with m, as the
    variance of its mean does: a class that is recoded too much takes the examples of others.

    Parameters
    ----------
    table : ndarray of shape (M, A)
        Accuracy for each simulated count and recoding, from 0 to 1.
    counts : ndarray of shape (M,)
        The simulated counts.
    recodings : ndarray of shape (A,)
        Rising.
    rows : int

    Returns
    -------
    ndarray of shape (M,)

    Examples
    --------
    >>> table = np.array([[0.8, 0.8, 0.8], [0.8, 0.8, 0.8], [0.8, 0.9, 0.7]])
    >>> counts, recodings = np.array([1.0, 1e6, 1e6]), np.array([0.0, 0.5, 1.0])
    >>> weighted_recodings(table, counts, recodings, rows=500).round(2)
    array([0.54, 0.69, 0.5 ])
    """
    lost = 100 * (table.max(axis=1, keepdims=True) - table)
    unlikely = (recodings - EXPECTED_RECODING) ** 2 / (2 * WIDTH_OF_RECODING**2)
    weights = np.exp(-lost / noise(rows) - unlikely)
    weights /= weights.sum(axis=1, keepdims=True)
    middles = np.cumsum(weights, axis=1) - weights / 2
    shares = 0.5 - CARE / counts
    return np.array(
        [np.interp(share, row, recodings) for share, row in zip(shares, middles, strict=True)]
    )


def paper_rule(table: Floats, tolerance: float) -> tuple[int, int]:
    """Return the places of penalty and recoding by the paper's rule (its section VI-C).

    For every recoding its best penalty; then the largest recoding that is not worse than the
    first, which is 0, by more than the tolerance.

    Parameters
    ----------
    table : ndarray of shape (K, A)
        Mean accuracy of classes, for each penalty and each recoding, rising from 0.
    tolerance : float

    Returns
    -------
    penalty, recoding : int

    Examples
    --------
    >>> table = np.array([[0.8, 0.8, 0.7], [0.7, 0.8, 0.75]])
    >>> paper_rule(table, 0.0), paper_rule(table, 0.05)
    ((0, 1), (1, 2))
    """
    best = first_best(table)
    lost = table[best[0], 0] - table[best, np.arange(len(best))]
    recoding = int(np.flatnonzero(lost <= tolerance + ROUNDING)[-1])
    return int(best[recoding]), recoding


def first_best(values: Floats) -> Index:
    """Return the place of the largest value of each column; of those that are equal, the first.

    >>> int(first_best(np.array([0.1 + 0.2, 0.3, 0.3 + 1e-15])))
    0
    """
    places: Index = (values >= values.max(axis=0) - ROUNDING).argmax(axis=0)
    return places


def nearest(values: Floats, wanted: float) -> int:
    """Return the place of the value nearest to the one wanted.

    >>> nearest(np.array([0.0, 0.5, 1.0]), 0.7)
    1
    """
    return int(abs(values - wanted).argmin())
