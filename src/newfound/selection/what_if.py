"""What if a class had been taught but a few times: scores of models nobody trained.

A class is told from others by its mean, and its rows scatter around it much as those of other
classes do. So the Gram matrix G of everything taught can be rewritten as if class c, of weight n_c,
had only come with weight m, its mean being r: with mu_t the means of the classes and s what is left
of their weight,

    G' = s (G - sum_t n_t mu_t mu_t') + sum_t m_t r_t r_t',

for any number of classes at once. Classes that are not looked at shrink evenly, by s. With U the
known vectors in it (all mu and r) this is A' = s A + U E U' if the penalty is scaled by s, too, as
it should be for s times the data. Then, with K = U'A^-1 U,

    U'A'^-1 U = K L,     x'A'^-1 U = x'A^-1 U L,     L = (s I + E K)^-1,

so that A^-1 U is all that costs; a scenario costs a small solve.

A witness x of class k is part of these sums. Taking it out of them changes the scatter, the mean
and the weight of its class: all of that lies in the span of x and mu_k, and costs a 2 x 2 system
(docs/selection.md).
"""

from typing import NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Floats, Index
from newfound.heads.unknown import cosines


class Basis(NamedTuple):
    """What scores of V rows are made of, given q vectors U: products with the inverse of A.

    The first C vectors are the means of the classes, the next that of all others together; then
    come means of a few rows.
    """

    products: Floats  # U'A^-1 U, shape (q, q)
    rows: Floats  # X A^-1 U, shape (V, q)
    squares: Floats  # x'A^-1 x, shape (V,)

    def of_first(self, q: int) -> "Basis":
        """Return what is made of the first q vectors alone; a copy."""
        return Basis(self.products[:q, :q].copy(), self.rows[:, :q].copy(), self.squares)


class Group(NamedTuple):
    """The C classes that are looked at, as they are."""

    weight_sums: Floats  # shape (C,)
    counts: Counts | Floats  # as how many examples each counts, shape (C,), all above 1
    rest: float  # the weight of all other classes
    fit_intercept: bool


class Scenario(NamedTuple):
    """What the classes are simulated to have been taught."""

    weight_sums: Floats  # shape (C,)
    columns: Index  # which vector of the basis is its mean, shape (C,); its own stands at its place


class LeftOut(NamedTuple):
    """What V rows are to models without them."""

    cosines: Floats  # with each class, shape (V, C); `newfound.heads.unknown`
    leverage: Floats  # shape (V,)


def left_out_scores(
    basis: Basis, group: Group, scenario: Scenario, of_class: Index, shares: Floats | None = None
) -> Floats:
    """Return what each row is scored by a model taught so, without that very row.

    Parameters
    ----------
    basis : Basis
        Of V rows, each of which was learned.
    group : Group
    scenario : Scenario
    of_class : ndarray of shape (V,)
        The class of each row, among those looked at. Where the mean of its class is that of a few
        rows, it must not be one of them.
    shares : ndarray of shape (V,), optional
        Of the weight of its class, what each row has; by default, one example's.

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
    >>> as_is = Scenario(group.weight_sums, np.arange(2))
    >>> np.allclose(left_out_scores(basis, group, as_is, np.array([0])), [[3 / 18, -4 / 18]])
    True
    """
    model = _simulated(basis, group, scenario, of_class)
    return _scores(model, _taken_out(model, group, scenario, of_class, shares), of_class)


def left_out_cosines(
    basis: Basis,
    group: Group,
    of_class: Index,
    with_class: bool = False,
    shares: Floats | None = None,
) -> LeftOut:
    """Return how like each class each row is to a model without that very row.

    Or, `with_class`, to a model that was not taught its class, either: of that, which then is but a
    mean that has lost its weight, the scatter stays, but for the row's own part of it.

    Parameters
    ----------
    basis : Basis
        Of V rows, each of which was learned.
    group : Group
    of_class : ndarray of shape (V,)
        The class of each row.
    with_class : bool, default=False
    shares : ndarray of shape (V,), optional
        Of the weight of its class, what each row has; by default, one example's.

    Returns
    -------
    LeftOut

    Examples
    --------
    The same rows: without its own row, the first class is at 3, in the same direction as the row.

    >>> means, x, inverse = np.array([[2.0, -2.0, 0.0]]), np.array([[1.0]]), 1 / (18 + 1)
    >>> basis = Basis(means.T * inverse @ means, x * inverse @ means, x[:, 0] ** 2 * inverse)
    >>> group = Group(np.array([2.0, 2.0]), np.array([2, 2]), 0.0, fit_intercept=False)
    >>> left_out_cosines(basis, group, np.array([0])).cosines.round(9)
    array([[ 1., -1.]])
    """
    scenario = Scenario(group.weight_sums, np.arange(len(group.weight_sums)))
    model = _simulated(basis, group, scenario, of_class)
    out = _taken_out(model, group, scenario, of_class, shares, with_class)
    k, i = of_class, np.arange(len(of_class))
    of_x, of_mean = model.scores, model.of_means[k]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        leverage = out.by_x * model.xx + out.by_mean * model.xm
        # A class is the sum of its rows. Its square loses what taking x out changes of the metric,
        x_then = _columns(out.by_x) * of_x + _columns(out.by_mean) * of_mean
        mean_then = _columns(out.mean_by_x) * of_x + _columns(out.mean_by_mean) * of_mean
        norms = group.weight_sums * np.diagonal(model.of_means) - (
            of_x * (_columns(out.f_xx) * x_then + _columns(out.f_xm) * mean_then)
            + of_mean * (_columns(out.f_xm) * x_then + _columns(out.f_mm) * mean_then)
        )
        # and that of its own class gains what x, now gone from it, changes of the sum.
        between = out.by_x * model.xm + out.by_mean * model.mm
        of_own_mean = out.mean_by_x * model.xm + out.mean_by_mean * model.mm
        norms[i, k] += 2 * (out.r_x * x_then[i, k] + out.r_m * mean_then[i, k])
        norms[i, k] += out.r_x * (out.r_x * leverage + 2 * out.r_m * between)
        norms[i, k] += out.r_m**2 * of_own_mean
    weight_sums = np.tile(group.weight_sums, (len(k), 1))
    weight_sums[i, k] -= out.lost
    total = model.total - out.lost if group.fit_intercept else None
    scores = _scores(model, out, of_class)
    return LeftOut(cosines(scores, leverage, norms, weight_sums, total), leverage)


def _columns(values: Floats) -> Floats:
    return values[:, None]


class _Simulated(NamedTuple):
    """A model taught so, and what V rows are to it; <u, v> is (u - m)'A'^-1 (v - m) + 1/n."""

    left: float  # the share of weight that is left
    total: float  # that weight, with that of classes that are not looked at
    scores: Floats  # shape (V, C)
    of_means: Floats  # scores of the C means of the classes as they are, shape (C, C)
    xx: Floats  # <x, x>, shape (V,)
    xm: Floats  # <x, mean of its class>
    mm: Floats  # <mean, mean>


def _simulated(basis: Basis, group: Group, scenario: Scenario, of_class: Index) -> _Simulated:
    C, q = len(group.weight_sums), len(basis.products)
    left = scenario.weight_sums.sum() / group.weight_sums.sum()
    total = left * (group.weight_sums.sum() + group.rest)
    diagonal, right = np.zeros(q), np.zeros((q, C))
    diagonal[:C] = -left * group.weight_sums
    np.add.at(diagonal, scenario.columns, scenario.weight_sums)
    right[scenario.columns, np.arange(C)] = scenario.weight_sums
    E, mean, targets, share = np.diag(diagonal), np.zeros(q), np.zeros(C), 0.0
    if group.fit_intercept:
        before = np.zeros(q)
        before[: C + 1] = np.append(group.weight_sums, group.rest) * (left / total)
        mean, targets, share = right.sum(axis=1) / total, scenario.weight_sums / total, 1 / total
        mean[C] += left * group.rest / total
        E += total * (np.outer(before, before) - np.outer(mean, mean))
        right = right - np.outer(mean, scenario.weight_sums)
    L = _inverse(left * np.eye(q) + E @ basis.products)
    rows, products = basis.rows @ L, basis.products @ L  # X A'^-1 U and U'A'^-1 U
    offset = targets - mean @ products @ right
    scores, of_means = rows @ right + offset, products[:C] @ right + offset

    k, i = of_class, np.arange(len(of_class))
    squares = (basis.squares - np.einsum("ij,ij->i", rows @ E, basis.rows)) / left
    from_rows, from_means = rows @ mean, (products @ mean)[k]
    centre = mean @ products @ mean + share
    xx = squares - 2 * from_rows + centre
    xm = rows[i, k] - from_rows - from_means + centre
    mm = products[k, k] - 2 * from_means + centre
    return _Simulated(left, total, scores, of_means, xx, xm, mm)


class _TakenOut(NamedTuple):
    """How a model changes when a row x of class k goes, in the basis (x, mean of k); (V,) each."""

    lost: Floats  # of the weight of the class
    f_xx: Floats  # what is added to the matrix: F
    f_xm: Floats
    f_mm: Floats
    r_x: Floats  # and to the right side of class k
    r_m: Floats
    by_x: Floats  # first row of (I + N F)^-1, N being the products of the basis
    by_mean: Floats
    mean_by_x: Floats  # and its second
    mean_by_mean: Floats


def _taken_out(
    model: _Simulated,
    group: Group,
    scenario: Scenario,
    of_class: Index,
    shares: Floats | None,
    with_class: bool = False,
) -> _TakenOut:
    # n rows such as x would weigh what the class does.
    k, n = of_class, group.counts[of_class].astype(np.float64) if shares is None else 1 / shares
    xx, xm, mm = model.xx, model.xm, model.mm
    scatter = model.left * group.weight_sums[k] / (n - 1)
    is_own = scenario.columns[k] == k  # else the mean of its class is that of other rows
    weight_sum = np.where(is_own, scenario.weight_sums[k], 0.0)
    is_whole = scenario.weight_sums[k] == group.weight_sums[k]
    weight_after = np.where(is_whole, weight_sum * (n - 1) / n, weight_sum) * (not with_class)
    on_x, on_mean = -1 / (n - 1), n / (n - 1)  # the mean without x, in that basis
    f_xx = -scatter + weight_after * on_x * on_x
    f_xm = scatter + weight_after * on_x * on_mean
    f_mm = -scatter - weight_sum + weight_after * on_mean * on_mean
    r_x, r_m = weight_after * on_x, weight_after * on_mean - weight_sum
    a, b = 1 + xx * f_xx + xm * f_xm, xx * f_xm + xm * f_mm
    c, d = xm * f_xx + mm * f_xm, 1 + xm * f_xm + mm * f_mm
    determinant = a * d - b * c
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inverse = d / determinant, -b / determinant, -c / determinant, a / determinant
    return _TakenOut(weight_sum - weight_after, f_xx, f_xm, f_mm, r_x, r_m, *inverse)


def _scores(model: _Simulated, out: _TakenOut, of_class: Index) -> Floats:
    k, i = of_class, np.arange(len(of_class))
    of_x = model.xx * out.r_x + model.xm * out.r_m
    of_mean = model.xm * out.r_x + model.mm * out.r_m
    with np.errstate(invalid="ignore", over="ignore"):
        scores: Floats = out.by_x[:, None] * model.scores + out.by_mean[:, None] * model.of_means[k]
        scores[i, k] += out.by_x * of_x + out.by_mean * of_mean
    return scores


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:  # singular: beside features this large, the penalty is lost
        return np.asarray(np.linalg.pinv(matrix), dtype=np.float64)
