"""How sure answers may be: what rows are to a model without them, and without their class.

A witness asked of a model without itself is a known thing that the model has not seen. Asked of a
model that was never taught its class, it is an unknown one. Both are exact what-ifs, but that the
scatter of the class stays where it is (docs/unknown.md).

Where there are no witnesses, the sums still know what rows of a class are like on average: their
scores are those of its mean, and their leverage exceeds that of the mean by what all rows scatter.
"""

from collections.abc import Container
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels
from newfound.common.device import on_host
from newfound.common.pieces import Stages, Task
from newfound.heads.probabilities import USUAL_SHARPNESS, log_losses, sharpness_of
from newfound.heads.recoding import recoding_factors
from newfound.heads.unknown import Bound, Typical, bound_between, discounted, typical_of
from newfound.selection.validation import MOST_CLASSES, ValidationSet
from newfound.selection.what_if import Basis, Group, Scenario, left_out_cosines, left_out_scores
from newfound.solvers.base import Solver

# Of what a row can scatter, what the average row may.
ALMOST_ALL = 1 - 1e-9


class Calibration(NamedTuple):
    """What makes probabilities of scores, and of similarity."""

    sharpness: float = USUAL_SHARPNESS
    typical: Typical | None = None  # None, as the bound: nobody can say what is unknown
    bound: Bound | None = None

    def similarity(self, cosines: Floats, leverage: Floats, labels: Labels) -> Floats:
        """Return how similar to each of these classes rows are, shape (m, T).

        Parameters
        ----------
        cosines : ndarray of shape (m, T)
        leverage : ndarray of shape (m,)
        labels : ndarray of shape (T,)
        """
        assert self.typical is not None
        return self.typical.similarity(discounted(cosines, leverage), labels)

    def rounded(self) -> "Calibration":
        """Return it without digits that tell how rows were added up, and where in memory."""
        if self.typical is None or self.bound is None:
            return self._replace(sharpness=_round(self.sharpness))
        of_class = {label: _round(cosine) for label, cosine in self.typical.of_class.items()}
        typical = Typical(_round(self.typical.of_all), of_class)
        return Calibration(_round(self.sharpness), typical, Bound(*map(_round, self.bound)))

    def only(self, labels: Container[Any]) -> "Calibration":
        """Return it without what it says of other classes."""
        if self.typical is None or all(label in labels for label in self.typical.of_class):
            return self
        of_class = {t: cosine for t, cosine in self.typical.of_class.items() if t in labels}
        return self._replace(typical=self.typical._replace(of_class=of_class))

    def rename(self, old: Any, new: Any) -> "Calibration":
        """Return it once class `old` is called `new`."""
        return self._replace(typical=self.typical and self.typical.rename(old, new))


def _round(value: float) -> float:
    return float(f"{value:.6g}")


def calibrate(
    validation: ValidationSet, basis: Basis, recoding: Floats
) -> Stages[tuple[Calibration, Floats]]:
    """Ask the witnesses how sure a model may be, in stages.

    Returns that, and the log loss of each row that is scored, left out, at this sharpness (V,);
    NaN, where rounding leaves no score.

    Parameters
    ----------
    validation : ValidationSet
        In which two classes or more are scored.
    basis : Basis
        For the penalty that is used; of means of a few rows nothing is needed.
    recoding : ndarray of shape (T,)
        That is used, of each class.
    """
    group, of_class = validation.group, validation.of_class
    labels = validation.snapshot.labels[validation.classes]
    parts, losses = dict[str, Any](), np.full(len(of_class), np.nan)

    def sharpen() -> None:
        as_it_is = Scenario(group.weight_sums, np.arange(C))
        scores = left_out_scores(basis, group, as_it_is, of_class, validation.shares)
        factors = recoding_factors(validation.snapshot.weight_sums, recoding)[validation.classes]
        finite = np.isfinite(scores).all(axis=1)
        scores = scores[finite] * factors
        sharpness = sharpness_of(scores, of_class[finite], validation.weights[finite])
        parts["sharpness"] = sharpness
        losses[finite] = log_losses(scores, of_class[finite], sharpness)

    def tell_the_unknown() -> None:
        parts["typical"], parts["bound"] = _tell_apart(
            basis, group, of_class, labels, shares=validation.shares
        )

    C, V = len(group.weight_sums), len(of_class)
    yield [Task(4000.0 * C * V, sharpen), Task(4000.0 * C * V, tell_the_unknown)]
    return Calibration(**parts).rounded(), losses


def calibrate_by_sums(solver: Solver) -> Calibration:
    """Tell the unknown without witnesses, by what rows of each class are on average.

    What nobody can say without examples is how they scatter around that: it is taken for typical,
    as the sharpness of probabilities is.
    """
    sums, taught = solver.sums, np.flatnonzero(solver.sums.counts)
    taught = taught[np.argsort(sums.labels[taught], kind="stable")]
    counts, weight_sums = sums.sizes[taught], solver.weight_sums[taught]
    labels = sums.labels[taught]
    chosen = np.sort(np.random.default_rng(sums.size).permutation(len(taught))[:MOST_CLASSES])
    places = np.flatnonzero(counts[chosen] > 1)
    if len(places) < 2:
        return Calibration()
    means = on_host(sums.cross)[:, taught] / sums.weight_sums[taught]
    means = means - (means @ weight_sums / weight_sums.sum() * solver.fit_intercept)[:, None]
    images = on_host(solver.weights)[:, taught] / weight_sums  # A^-1 times the means
    squares = np.einsum("ij,ij->j", means, images)
    # What rows scatter around their means, all classes alike: n rows do so in n - 1 directions. No
    # row can have more than all there is in its own, and must have a little less.
    directions = (counts - 1) / counts
    within = solver.mean_leverage * weight_sums.sum() - weight_sums @ squares
    within = max(0.0, within) / max(1.0, weight_sums @ directions)
    squares = squares + directions * np.minimum(within, ALMOST_ALL * counts / weight_sums)
    others = np.delete(weight_sums, chosen).sum()
    share = weight_sums / (others or 1.0)
    share[chosen] = 0.0
    products = np.column_stack([means[:, chosen], means @ share]).T @ np.column_stack(
        [images[:, chosen], images @ share]
    )
    group = Group(weight_sums[chosen], counts[chosen], float(others), solver.fit_intercept)
    basis = Basis(products, products[places], squares[chosen][places])
    numbers = counts[chosen][places]
    typical, bound = _tell_apart(basis, group, places, labels[chosen], numbers)
    return Calibration(typical=typical, bound=bound).rounded()


def _tell_apart(
    basis: Basis,
    group: Group,
    of_class: Index,
    labels: Labels,
    numbers: Floats | None = None,
    shares: Floats | None = None,
) -> tuple[Typical | None, Bound | None]:
    """Return what is typical of rows that are known, and the bound between these and the unknown.

    Parameters
    ----------
    basis : Basis
        Of V rows, of two classes at least.
    group : Group
        Of C classes.
    of_class : ndarray of shape (V,)
        The class of each row.
    labels : ndarray of shape (C,)
    numbers : ndarray of shape (V,), optional
        How many rows each of them is the average of; by default they are rows.
    shares : ndarray of shape (V,), optional
        Of the weight of its class, what each row has; by default, one example's.
    """
    V, rows = len(of_class), len(of_class) if numbers is None else 1
    own = np.zeros((V, len(labels)), dtype=bool)
    own[np.arange(V), of_class] = True
    known = discounted(*left_out_cosines(basis, group, of_class, shares=shares))
    typical = typical_of(known[own], of_class, labels, numbers)
    if typical is None:
        return None, None
    without = left_out_cosines(basis, group, of_class, with_class=True, shares=shares)
    unknown = discounted(*without)
    others = np.where(own, -np.inf, typical.similarity(unknown, labels))
    similar = typical.similarity(known, labels).max(axis=1)
    bound = bound_between(similar, others.max(axis=1), rows, len(np.unique(of_class)))
    return (None, None) if bound is None else (typical, bound)
