"""Sums in twice the working precision."""

import numpy as np

from newfound.common.arrays import Floats


def add_exactly(total: Floats, residue: Floats, term: Floats) -> None:
    """Overwrite `total` and `residue` so that their sum grows by `term`.

    `total` is the float64 nearest to the sum, and `residue` is what that rounding leaves out: a sum
    in twice the working precision (Knuth's two-sum).

    >>> total, residue = np.array([1e16]), np.zeros(1)
    >>> add_exactly(total, residue, np.ones(1))
    >>> total[0], residue[0]
    (np.float64(1e+16), np.float64(1.0))
    """
    raised = total + term
    back = raised - total
    error = (total - (raised - back)) + (term - back) + residue
    np.add(raised, error, out=total)
    np.subtract(error, total - raised, out=residue)


def split(X: Floats) -> tuple[Floats, Floats]:
    """Return two matrices whose sum is `X`, (m, d), the first with columns that add up exactly.

    Its values are multiples of what float64 still tells apart in the sum of m as large as the
    largest of their column (Rump, Ogita and Oishi 2008).

    >>> high, low = split(np.array([[1e16], [1.0], [-1e16], [0.5]]))
    >>> high.sum() + low.sum()
    np.float64(1.5)
    """
    _, exponents = np.frexp(np.abs(X).max(axis=0, initial=0.0))
    anchor = np.ldexp(1.0, exponents + len(X).bit_length() + 1)
    high = (X + anchor) - anchor
    return high, X - high
