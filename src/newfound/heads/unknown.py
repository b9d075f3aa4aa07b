"""Unknown: how little a row looks like any class, and beyond which bound that is too little.

Ridge regression measures rows by <u, v> = (u - m)'A^-1 (v - m), m being their mean. In that metric
the score of class t is <x, V_t>, V_t being the sum of its rows; the leverage of x is <x, x>. So the
cosine of the angle between a row and a class is known from what any answer needs: its score, its
leverage, and one number a class. It does not depend on how often a class was taught, nor on how
large the row is, and rows of no class that was taught are nearly at right angles to all of them.

A row is the less like a class the less sure the model can be of it: 1 + leverage is what the
variance of a prediction grows by, so cosines are divided by the root of that. A row far beyond all
that was taught has none left, in whatever direction it lies. And classes differ in how alike their
own rows are. So the *similarity* of a row and a class is what is left of their cosine, over what
rows of that class typically have: about 1 for rows that belong to it, well below for others.
"""

from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Floats, Index, Labels

# What is no length of its own but rounding, as a share of what it is the difference of.
ROUNDING = 1e-9
# The similarity of known rows is 1, by definition, give or take this; that of unknown rows scatters
# as much. It counts as so many more rows, or classes.
TYPICAL_SPREAD, SPREAD_WEIGHT = 0.3, 2.0
# What is typical of all classes counts in each as so many of its rows, and a class has at least
# half of it.
TYPICAL_WEIGHT, LEAST_OF_TYPICAL = 10.0, 0.5
# So many standard errors away from nothing is something. Fewer rows than that cannot be sure, and
# are believed the sooner.
SURE, FEW = 3.0, 20
# Strangers are hardly ever nearer to any example than this share of their distance to the mean.
STRANGERS = 0.4
# Similarities nearer to each other than this cannot be told apart. What is like nothing at all,
# such as rows far beyond everything, is unknown under any bound.
SMALLEST_GAP, SMALLEST_BOUND = 0.05, 0.1
# The bound is so many times as many spreads from known rows as from unknown ones. That known things
# are called unknown is the worse mistake; and new views differ more from all that was taught than
# those that were taught, left out, differ from each other.
CARE = 2.4
# But of what is known, left out, no more than this is called unknown.
MOST_MISTAKEN = 0.1


def cosines(
    scores: Floats,
    leverage: Floats,
    norms: Floats,
    weight_sums: Floats,
    total: Floats | float | None,
) -> Floats:
    """Return the cosine of the angle between each of m rows and each of T classes.

    Parameters
    ----------
    scores : ndarray of shape (m, T)
        Not recoded.
    leverage : ndarray of shape (m,)
    norms : ndarray of shape (T,) or (m, T)
        Score of class t of the sum of its rows.
    weight_sums : ndarray of shape (T,) or (m, T)
    total : ndarray of shape (m,), float or None
        The weight of all classes; None where there is no intercept. With one, 1 / total is part of
        every product.

    Returns
    -------
    ndarray of shape (m, T)
        From -1 to 1; 0 with a class that is where all rows are, on average, and of a row that is.

    Examples
    --------
    >>> scores, norms = np.array([[0.3, 0.1]]), np.array([0.4, 0.9])
    >>> cosines(scores, np.array([0.9]), norms, np.array([2.0, 3.0]), total=None).round(2)
    array([[0.5 , 0.11]])
    """
    lengths, squares = leverage, norms
    # Of numbers beyond all measure, what comes of it is like nothing.
    with np.errstate(all="ignore"):
        if total is not None:
            whole = np.asarray(total)[..., None]
            scores = scores - weight_sums / whole
            lengths, squares = leverage - 1 / np.asarray(total), norms - weight_sums**2 / whole
        lengths = np.where(lengths > ROUNDING * leverage, lengths, np.inf)
        squares = np.where(squares > ROUNDING * norms, squares, np.inf)
        angles = scores / (np.sqrt(lengths)[:, None] * np.sqrt(squares))
    within: Floats = np.clip(np.nan_to_num(angles, nan=0.0), -1.0, 1.0)
    return within


def discounted(cosines: Floats, leverage: Floats) -> Floats:
    """Return cosines (m, T) of rows, the smaller the larger their leverage (m,) is.

    >>> discounted(np.array([[0.5, 0.1], [0.5, 0.1]]), np.array([0.0, 1e12])).round(3)
    array([[0.5, 0.1],
           [0. , 0. ]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        smaller: Floats = cosines / np.sqrt(1 + leverage)[:, None]
    return np.nan_to_num(smaller, nan=0.0)  # what rounding has made of a leverage may be anything


class Typical(NamedTuple):
    """What rows of each class typically have of a cosine with it, discounted."""

    of_all: float
    of_class: dict[Any, float]  # by label

    def similarity(self, cosines: Floats, labels: Labels) -> Floats:
        """Return how similar to these classes (T,) rows of such cosines (m, T) are.

        >>> Typical(0.4, {"cup": 0.5}).similarity(np.array([[0.5, 0.2]]), np.array(["cup", "mug"]))
        array([[1. , 0.5]])
        """
        typical = [self.of_class.get(label, self.of_all) for label in labels.tolist()]
        similarity: Floats = cosines / np.array(typical)
        return similarity

    def rename(self, old: Any, new: Any) -> "Typical":
        """Return it once class `old` is called `new`."""
        of_class = {
            new if label == old else label: cosine for label, cosine in self.of_class.items()
        }
        return self._replace(of_class=of_class)


def typical_of(
    own: Floats, index: Index, labels: Labels, numbers: Floats | None = None
) -> Typical | None:
    """Return what is typical, from rows left out of a model.

    Parameters
    ----------
    own : ndarray of shape (V,)
        Cosine of each with its own class, discounted.
    index : ndarray of shape (V,)
        That class.
    labels : ndarray of shape (C,)
        Of all classes.
    numbers : ndarray of shape (V,), optional
        For how many rows each stands; by default, for itself.

    Returns
    -------
    Typical or None
        None, if rows are not clearly more like their own classes than not.

    Examples
    --------
    >>> typical = typical_of(np.array([0.5, 0.3]), np.array([0, 1]), np.array(["cup", "mug"]))
    >>> typical.of_all, round(typical.of_class["cup"], 3)
    (0.4, 0.409)
    """
    of_all, error = float(own.mean()), float(own.std()) / np.sqrt(len(own))
    least = SURE * error * min(1.0, len(own) / FEW)
    # Averages do not tell how sure they are.
    if not of_all > (least if numbers is None else 0.0):
        return None
    numbers = np.ones(len(own)) if numbers is None else numbers
    sums = np.bincount(index, own * numbers, len(labels)) + TYPICAL_WEIGHT * of_all
    means = sums / (np.bincount(index, numbers, len(labels)) + TYPICAL_WEIGHT)
    means = np.maximum(means, LEAST_OF_TYPICAL * of_all)
    return Typical(of_all, dict(zip(labels.tolist(), means.tolist(), strict=True)))


def recalled(unknown: Floats, distance: Floats) -> Floats:
    """Return probabilities that rows are unknown, now that an example near each is known.

    What is nearly an example that was taught is known, however little it looks like its class.

    Parameters
    ----------
    unknown : ndarray of shape (m,)
    distance : ndarray of shape (m,)
        To the example, as a share of the distance to the mean of all rows, in the metric of the
        model.

    Examples
    --------
    >>> recalled(np.array([1.0, 1.0, 1.0]), np.array([0.0, 0.2, 0.9]))
    array([0. , 0.5, 1. ])
    """
    return np.asarray(unknown * np.minimum(1.0, distance / STRANGERS))


class Bound(NamedTuple):
    """The similarity below which a row is rather unknown than not, and how fast that grows sure."""

    similarity: float
    slope: float

    def unknown(self, similarity: Floats) -> Floats:
        """Return the probability that rows of such similarity, shape (m,), are unknown.

        >>> Bound(0.2, slope=30.0).unknown(np.array([0.5, 0.2, 0.0])).round(2)
        array([0. , 0.5, 1. ])
        """
        # exp(-log(1 + exp(u))) does not overflow.
        odds = self.slope * (similarity - self.similarity)
        probability: Floats = np.exp(-np.logaddexp(0.0, odds))
        return probability


def bound_between(known: Floats, unknown: Floats, rows: int, classes: int) -> Bound | None:
    """Return the bound between rows that are known and rows that are not.

    Both are taken for normal, and their spreads for near what is typical where they are few. The
    bound is 2.4 times as many spreads from the known as from the unknown. Where the two overlap so
    much that more than one in ten of the known would be called unknown, it is lower.

    Parameters
    ----------
    known : ndarray of shape (a,)
        Similarity of rows left out of a model.
    unknown : ndarray of shape (b,)
        Similarity of rows left out of a model together with their class.
    rows : int
        As how many the known ones count when it comes to how they scatter.
    classes : int
        As how many the unknown ones do: rows of one class are unknown in the same way.

    Returns
    -------
    Bound or None
        None, if known rows are hardly more like what was taught than unknown ones are.

    Examples
    --------
    >>> bound = bound_between(np.array([1.1, 0.8, 1.1]), np.array([0.1, 0.2, 0.3]), 3, 3)
    >>> round(bound.similarity, 2), bound.slope > 0
    (0.42, True)
    """
    middle, below = float(known.mean()), float(unknown.mean())
    gap = middle - below
    if not gap > SMALLEST_GAP:
        return None
    of_known, of_unknown = _spread(known, rows - 1), _spread(unknown, classes - 1)
    between = below + gap * of_unknown / (of_unknown + CARE * of_known)
    # As fast as the odds of two normal densities change, had they one spread.
    slope = gap / (of_unknown * of_known)
    bound = min(between, float(np.quantile(known, MOST_MISTAKEN)))
    return Bound(max(bound, SMALLEST_BOUND), slope)


def _spread(values: Floats, weight: float) -> float:
    """Return the spread of values that count as so many, drawn towards the typical one."""
    squares = weight * values.var() + SPREAD_WEIGHT * TYPICAL_SPREAD**2
    return float(np.sqrt(squares / (weight + SPREAD_WEIGHT)))
