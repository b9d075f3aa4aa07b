"""The rules by which penalty and recoding are chosen, given how the voters fare under each."""

from typing import Literal, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index

# Two accuracies that differ by less are the same but for rounding.
ROUNDING = 1e-12


class Choice(NamedTuple):
    """Which penalty, and which recoding for each class."""

    penalty: int  # its place among the candidates
    recoding: Floats  # shape (T,)


def standard_error(differences: Floats) -> Floats:
    """Return the standard error of the mean over the last axis; 0 if that has but one entry.

    >>> standard_error(np.array([0.0, 0.2]))
    array(0.1)
    """
    n = differences.shape[-1]
    error = differences.std(axis=-1, ddof=1) / np.sqrt(n) if n > 1 else differences[..., 0] * 0.0
    return np.asarray(error)


def first_best(values: Floats, axis: int) -> Index:
    """Return the place of the largest value along an axis; of those that are equal, the first.

    >>> int(first_best(np.array([0.1 + 0.2, 0.3, 0.3 + 1e-15]), axis=0))
    0
    """
    places: Index = (values >= values.max(axis=axis, keepdims=True) - ROUNDING).argmax(axis=axis)
    return places


def paper_rule(table: Floats, tolerance: float | Literal["one-se"]) -> tuple[int, int]:
    """Return the places of penalty and recoding by the paper's rule (its section VI-C).

    For every recoding its best penalty; then the largest recoding that is not worse than the
    first, which is 0, by more than the tolerance.

    Parameters
    ----------
    table : ndarray of shape (K, A, C)
        Accuracy of each voting class, for each penalty and each recoding, rising from 0.
    tolerance : float or "one-se"
        An allowance, or one standard error of the difference over the voting classes.

    Examples
    --------
    >>> table = np.array([[[0.8], [0.8], [0.7]], [[0.7], [0.8], [0.75]]])
    >>> paper_rule(table, 0.0), paper_rule(table, 0.05)
    ((0, 1), (1, 2))
    """
    best = first_best(table.mean(axis=2), axis=0)
    lost = table[best[0], 0] - table[best, np.arange(len(best))]
    allowed = standard_error(lost) if tolerance == "one-se" else tolerance
    recoding = int(np.flatnonzero(lost.mean(axis=1) <= allowed + ROUNDING)[-1])
    return int(best[recoding]), recoding


def what_if_rule(table: Floats, ladder: Floats) -> tuple[int, list[float]]:
    """Return the place of the penalty, and that of the recoding for each pretended count.

    What is not worse than the best by more than one standard error of the difference, over
    classes, is as good. Of such penalties the largest is taken, judged over all counts together,
    each under its best recoding: it is one for all, and should not change with every class that
    comes. Of such recodings around the best, the mildest for a class seen once, rising to the
    middle one: what is too strong does more harm to objects not seen yet than the votes show, and
    the mean of m rows is off by an amount that falls with the root of m.

    Parameters
    ----------
    table : ndarray of shape (M, K, A, C)
        Accuracy of each known class, for each pretended count, penalty and recoding.
    ladder : ndarray of shape (M,)
        The pretended counts.

    Returns
    -------
    penalty : int
    recodings : list of float
        May lie between two places.

    Examples
    --------
    >>> table = np.array([[[[0.5, 0.6], [0.9, 0.9], [0.9, 0.8], [0.2, 0.1]]]])
    >>> what_if_rule(table, np.array([1.0])), what_if_rule(table, np.array([100.0]))
    ((0, [1.0]), (0, [1.45]))
    """
    means = table.mean(axis=3)
    best = first_best(means, axis=2)
    under_best = np.take_along_axis(table, best[:, :, None, None], axis=2)[:, :, 0].mean(axis=0)
    lost = under_best[first_best(under_best.mean(axis=1), axis=0)] - under_best
    penalty = int(np.flatnonzero(lost.mean(axis=1) <= standard_error(lost) + ROUNDING)[-1])
    chosen = []
    for of_count, at, count in zip(table[:, penalty], best[:, penalty], ladder, strict=True):
        lost = of_count[at] - of_count
        worse = np.flatnonzero(lost.mean(axis=1) > standard_error(lost) + ROUNDING)
        first = max(worse[worse < at], default=-1) + 1
        last = min(worse[worse > at], default=len(of_count)) - 1
        chosen.append(float(first + (last - first) * (1 - count**-0.5) / 2))
    return penalty, chosen


def nearness(counts: Floats, ladder: Floats) -> Floats:
    """Return how many of the counts are near each rung: each is shared by the two around it.

    >>> nearness(np.array([1.0, 6.0, 999.0]), np.array([1.0, 4.0, 8.0])).round(2)
    array([1.  , 0.42, 1.58])
    """
    shares = np.zeros(len(ladder))
    for rung in range(len(ladder)):
        here = np.arange(len(ladder)) == rung
        shares[rung] = np.interp(np.log(counts), np.log(ladder), here.astype(float)).sum()
    return shares


def nearest(values: Floats, wanted: float) -> int:
    """Return the place of the value nearest to the one wanted.

    >>> nearest(np.array([0.0, 0.5, 1.0]), 0.7)
    1
    """
    return int(abs(values - wanted).argmin())
