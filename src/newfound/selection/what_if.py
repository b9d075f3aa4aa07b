"""What if a class had been taught but a few times: scores of models nobody trained.

A class is told from others by its mean, and its rows scatter around it much as those of other
classes do. So the Gram matrix G of everything taught can be rewritten as if class c, of mass n_c,
had only come with mass m, its mean being r: with mu_t the means of the classes and s what is left
of their mass,

    G' = s (G - sum_t n_t mu_t mu_t') + sum_t m_t r_t r_t',

for any number of classes at once. Classes that are not looked at shrink evenly, by s. With U the
known vectors in it (all mu and r) this is A' = s A + U E U' if the penalty is scaled by s, too, as
it should be for s times the data. Then, with K = U'A^-1 U,

    U'A'^-1 U = K L,     x'A'^-1 U = x'A^-1 U L,     L = (s I + E K)^-1,

so that A^-1 U is all that costs; a scenario costs a small solve.

A witness x of class k is part of these sums. Taking it out of them changes the scatter, the mean
and the mass of its class: all of that lies in the span of x and mu_k, and costs a 2 x 2 system
(docs/selection.md).
"""

from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index


class Basis(NamedTuple):
    """What scores of V rows are made of, given q vectors U: products with the inverse of A.

    The first C vectors are the means of the classes, the next that of all others together; then
    come means of a few rows.
    """

    products: Floats  # U'A^-1 U, shape (q, q)
    rows: Floats  # X A^-1 U, shape (V, q)
    squares: Floats  # x'A^-1 x, shape (V,)


class Group(NamedTuple):
    """The C classes that are looked at, as they are."""

    masses: Floats  # shape (C,)
    counts: Counts  # shape (C,), all at least 2
    rest: float  # the mass of all other classes
    fit_intercept: bool


class Scene(NamedTuple):
    """What the classes are pretended to have been taught."""

    masses: Floats  # shape (C,)
    columns: Index  # which vector of the basis is its mean, shape (C,); its own stands at its place


def left_out_scores(basis: Basis, group: Group, scene: Scene, of_class: Index) -> Floats:
    """Return what each row is scored by a model taught so, without that very row.

    Parameters
    ----------
    basis : Basis
        Of V rows, each of which was learned.
    group : Group
    scene : Scene
    of_class : ndarray of shape (V,)
        The class of each row, among those looked at. Where the mean of its class is that of a few
        rows, it must not be one of them.

    Returns
    -------
    ndarray of shape (V, C)
        Not recoded.

    Examples
    --------
    Rows at 1 and 3 and at -2 and -2, of two classes; the first is left out, penalty 1:

    >>> means, x, inverse = np.array([[2.0, -2.0, 0.0]]), np.array([[1.0]]), 1 / (18 + 1)
    >>> basis = Basis(means.T * inverse @ means, x * inverse @ means, x[:, 0] ** 2 * inverse)
    >>> group = Group(np.array([2.0, 2.0]), np.array([2, 2]), 0.0, fit_intercept=False)
    >>> as_is = Scene(group.masses, np.arange(2))
    >>> np.allclose(left_out_scores(basis, group, as_is, np.array([0])), [[3 / 18, -4 / 18]])
    True
    """
    C, q = len(group.masses), len(basis.products)
    left = scene.masses.sum() / group.masses.sum()
    total = left * (group.masses.sum() + group.rest)
    diagonal, right = np.zeros(q), np.zeros((q, C))
    diagonal[:C] = -left * group.masses
    np.add.at(diagonal, scene.columns, scene.masses)
    right[scene.columns, np.arange(C)] = scene.masses
    E, mean, targets, share = np.diag(diagonal), np.zeros(q), np.zeros(C), 0.0
    if group.fit_intercept:
        before = np.zeros(q)
        before[: C + 1] = np.append(group.masses, group.rest) * (left / total)
        mean, targets, share = right.sum(axis=1) / total, scene.masses / total, 1 / total
        mean[C] += left * group.rest / total
        E += total * (np.outer(before, before) - np.outer(mean, mean))
        right = right - np.outer(mean, scene.masses)
    L = _inverse(left * np.eye(q) + E @ basis.products)
    rows, products = basis.rows @ L, basis.products @ L  # X A'^-1 U and U'A'^-1 U
    offset = targets - mean @ products @ right
    scores, of_means = rows @ right + offset, products[:C] @ right + offset

    # <u, v> = (u - m)'A'^-1 (v - m) + 1/n: of x with itself, of x with mu_k, of mu_k with itself.
    k, i = of_class, np.arange(len(of_class))
    squares = (basis.squares - np.einsum("ij,ij->i", rows @ E, basis.rows)) / left
    from_rows, from_means = rows @ mean, (products @ mean)[k]
    centre = mean @ products @ mean + share
    xx = squares - 2 * from_rows + centre
    xm = rows[i, k] - from_rows - from_means + centre
    mm = products[k, k] - 2 * from_means + centre

    # Taking x out adds F to the matrix in the basis (x, mu_k), and r to the right side of class k.
    n = group.counts[k].astype(np.float64)
    scatter = left * (group.masses / group.counts)[k] * n / (n - 1)
    is_own = scene.columns[k] == k  # else the mean of its class is that of other rows
    mass = np.where(is_own, scene.masses[k], 0.0)
    is_whole = scene.masses[k] == group.masses[k]
    mass_after = np.where(is_whole, mass * (n - 1) / n, mass)
    on_x, on_mean = -1 / (n - 1), n / (n - 1)  # the mean without x, in that basis
    f_xx = -scatter + mass_after * on_x * on_x
    f_xm = scatter + mass_after * on_x * on_mean
    f_mm = -scatter - mass + mass_after * on_mean * on_mean
    r_x, r_m = mass_after * on_x, mass_after * on_mean - mass
    # First row of (I + N F)^-1, N being the products above.
    a, b = 1 + xx * f_xx + xm * f_xm, xx * f_xm + xm * f_mm
    c, d = xm * f_xx + mm * f_xm, 1 + xm * f_xm + mm * f_mm
    determinant = a * d - b * c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        by_x, by_mean = d / determinant, -b / determinant
        found: Floats = by_x[:, None] * scores + by_mean[:, None] * of_means[k]
        found[i, k] += by_x * (xx * r_x + xm * r_m) + by_mean * (xm * r_x + mm * r_m)
    return found


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:  # singular: beside features this large, the penalty is lost
        return np.asarray(np.linalg.pinv(matrix), dtype=np.float64)
