"""What sums cannot tell: the rounding of what was far larger, and penalties below it."""

import warnings

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.device import on_host
from newfound.sums.sums import Sums

# An error of the weights, relative to their size, that forgetting does not pass over in silence.
FELT = 1e-6
# How often longer than all that is left together rows must have been to be suspected of it.
OUTLIER = 100.0


def rounding_left(sums: Sums, penalty: float, fit_intercept: bool) -> float:
    """Estimate the relative error of the weights that rounding has left in the sums.

    It is the rounding of the largest X'X there ever was, beside the least sum of squares of a
    feature around its mean, plus the penalty: eps peak / (least + penalty). Rows that were still
    waiting to be added up leave nothing. 0, unless there was far more than there is now.

    >>> rounding_left(Sums.of([[1.0], [2.0]], ["cup", "mug"]), penalty=1.0, fit_intercept=True)
    0.0
    """
    peak, eps = sum(gram.peak for gram in sums.grams), np.finfo(np.float64).eps
    if not sums.total or eps * peak < FELT * penalty:  # nearly always
        return 0.0
    squares = sums.squares
    if fit_intercept:
        squares = squares - on_host(sums.cross).sum(axis=1) ** 2 / sums.weight_sum
    if peak < OUTLIER**2 * max(0.0, float(squares.sum())):
        return 0.0
    return float(eps * peak / (max(0.0, squares.min()) + penalty))


def resolution(squares: Floats) -> float:
    """Return the least penalty that X'X can tell from its own rounding.

    `squares` (d,) are the sums of the squares of each feature, seen from the origin of the sums.

    >>> resolution(np.array([1e16]))
    2.220446049250313
    """
    return float(np.finfo(np.float64).eps * squares.sum())


def warn_of_penalty(penalty: float, least: float) -> None:
    """Warn that a penalty is less than the least that the sums can resolve."""
    warnings.warn(
        f"a penalty of {penalty:.1e} is less than the rounding of the sums, about "
        f"{least:.0e}, so weights of features that hardly vary may be rounding, "
        "too: use a larger penalty, or scale the features",
        UserWarning,
        stacklevel=2,
    )


def warn_of_rounding(error: float, stacklevel: int) -> None:
    """Warn if an error that forgetting left is one to be felt."""
    if error > FELT:
        size = f"{error:.0e} of their size" if error < 1 else "as large as they are"
        warnings.warn(
            "what was forgotten was so large that its rounding stays in the sums: errors of the "
            f"weights may be about {size}; to be rid of them, fit anew",
            UserWarning,
            stacklevel=stacklevel + 1,
        )
