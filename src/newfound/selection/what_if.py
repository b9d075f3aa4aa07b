"""What if a class had been taught but a few times: scores of models nobody trained.

A class is told from others by its mean, and its rows scatter around it much as those of other
classes do. So the Gram matrix G of everything taught can be rewritten as if class c, of mass n_c,
had only come with mass m, its mean being r: with S the pooled scatter of a row around its class's
mean mu,

    G' = G - (n_c - m) S - n_c mu_c mu_c' + m r r',    S = (G - sum_t n_t mu_t mu_t') / n.

That is s G plus a matrix made of a few known vectors, s = 1 - (n_c - m) / n, for any number of
classes at once. With U those vectors (all class means, and the r), A' = s A + U E U' if the penalty
is scaled by s, too, as it should be for s times the data. Then the pretended weights are

    W' = A^-1 U (s I + E U'A^-1 U)^-1 C

where U C is the right-hand side. A^-1 U is all that costs; a scenario costs a small solve.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats
from newfound.sums.blas import products


class Pretence(NamedTuple):
    """What a class is pretended to have been taught: a mass, and a mean, as a column of U."""

    mass: float
    column: int


class Basis(NamedTuple):
    """What pretended scores are made of: for V rows to be scored, and vectors U, shape (d, q)."""

    scores: Floats  # U'A^-1 times the rows, shape (q, V)
    products: Floats  # U'A^-1 U, shape (q, q)


def pretended_scores(
    basis: Basis, masses: Floats, pretended: Mapping[int, Pretence], fit_intercept: bool
) -> tuple[Floats, Floats]:
    """Return the scores of a model that was taught less of some classes.

    Equals teaching it so, with the penalty times what is left of the total mass, wherever rows of
    a class scatter around their mean as those of all classes together do.

    Parameters
    ----------
    basis : Basis
        Its first T vectors are the means of the classes.
    masses : ndarray of shape (T,)
        What each class weighs in the sums that the basis is derived from.
    pretended : mapping of class to Pretence
    fit_intercept : bool
        Whether A is centred.

    Returns
    -------
    scores : ndarray of shape (T, V)
        Not recoded.
    masses : ndarray of shape (T,)
        What each class is pretended to weigh.

    Examples
    --------
    Two classes of two rows each, at -1 and 1, without scatter; then with one row at 1:

    >>> means, inverse = np.array([[-1.0, 1.0]]), np.array([[1 / (4 + 1)]])
    >>> basis = Basis(means.T @ inverse @ np.ones((1, 1)), means.T @ inverse @ means)
    >>> scores, masses = pretended_scores(basis, np.array([2.0, 2.0]), {1: Pretence(1.0, 1)}, False)
    >>> np.allclose(scores, np.array([[-2.0], [1.0]]) / (3 + 0.75)), masses
    (True, array([2., 1.]))
    """
    T, q, total = len(masses), len(basis.products), masses.sum()
    kept = masses.copy()
    E, right = np.zeros((q, q)), np.zeros((q, T))
    right[np.arange(T), np.arange(T)] = masses
    for place, (mass, column) in pretended.items():
        kept[place] = mass
        right[place, place] = 0.0
        right[column, place] = mass
        E[place, place] -= masses[place]
        E[column, column] += mass
    left = kept.sum() / total
    E[np.arange(T), np.arange(T)] += (1 - left) * masses
    offset, targets = np.zeros(q), np.zeros(T)
    if fit_intercept:
        before = np.zeros(q)
        before[:T] = masses / total
        mean, targets = right.sum(axis=1) / kept.sum(), kept / kept.sum()
        E += kept.sum() * (np.outer(before, before) - np.outer(mean, mean))
        right = right - np.outer(mean, kept)
        offset = basis.products @ mean
    matrix = left * np.eye(q) + E @ basis.products
    try:
        coefficients = np.linalg.solve(matrix, right)
    except np.linalg.LinAlgError:  # singular: beside features this large, the penalty is lost
        coefficients = np.linalg.lstsq(matrix, right)[0]
    scores = products(basis.scores, coefficients).T
    scores += (targets - offset @ coefficients)[:, None]
    return scores, kept


def accuracies(scores: Floats, truth: NDArray[np.intp], factors: Floats) -> Floats:
    """Return the accuracy of each class under each of several recodings.

    Parameters
    ----------
    scores : ndarray of shape (T, V)
        A class a row, so that the largest of each column is found many columns at a time.
    truth : ndarray of shape (V,)
        The class of each column; every class has some.
    factors : ndarray of shape (A, T)
        Factors on the scores.

    Returns
    -------
    ndarray of shape (A, T)

    Examples
    --------
    >>> scores = np.array([[0.7, 0.6], [0.3, 0.4]])
    >>> accuracies(scores, np.array([0, 1]), np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([[1., 0.],
           [1., 1.]])
    """
    own = scores[truth, np.arange(len(truth))]
    hits = [own * factor[truth] >= (scores * factor[:, None]).max(axis=0) for factor in factors]
    there = np.bincount(truth, minlength=len(scores))
    return np.array([np.bincount(truth, hit, minlength=len(scores)) / there for hit in hits])
