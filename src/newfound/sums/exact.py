"""Sums in twice the working precision."""

import numpy as np

from newfound.common.arrays import Floats


def add_exactly(total: Floats, residue: Floats, term: Floats) -> tuple[Floats, Floats]:
    """Return the sum of three arrays in twice the working precision (Knuth's two-sum).

    The first is the float64 nearest to it, and the second is what that rounding leaves out.

    >>> add_exactly(np.array([1e16]), np.zeros(1), np.ones(1))
    (array([1.e+16]), array([1.]))
    """
    raised = total + term
    back = raised - total
    error = raised - back
    np.subtract(total, error, out=error)
    np.subtract(term, back, out=back)
    error += back
    error += residue
    nearest = raised + error
    np.subtract(nearest, raised, out=raised)
    error -= raised
    return nearest, error


def product(left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """Return the product of two arrays in twice the working precision (Dekker 1971).

    >>> product(np.array([1e8 + 1]), np.array([1e8 + 1]))
    (array([1.00000002e+16]), array([1.]))
    """
    whole = left * right
    halves = []
    for part in (left, right):
        raised = part * (2.0**27 + 1)
        high = raised - (raised - part)
        halves.append((high, part - high))
    (a, b), (c, d) = halves
    return whole, ((a * c - whole) + a * d + b * c) + b * d


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
