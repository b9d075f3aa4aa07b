"""How novel is too novel: the bound beyond which an image is called unknown."""

import numpy as np
from numpy.typing import NDArray

from newfound.estimators.learner import Learner

# Of views of what is known, so large a part is to be called known.
KNOWN_SHARE = 0.95
# Witnesses of all classes without which nothing can be said; and of a class, from which on more is
# known of it than its most novel one.
LEAST, MANY = 4, 10


def bound_for(model: Learner) -> float | None:
    """Return the bound that a model's witnesses give; None: they are too few to say.

    It is the largest that any class asks for: views of a class taught a few times are more novel
    than those of others, and shall not be called unknown.
    """
    rows, labels = model.witnesses_
    if len(rows) < LEAST:
        return None
    # Without itself, a row that has leverage h has novelty h; with itself, h / (1 + h).
    novelty = model.novelty(rows)
    novelty = np.minimum(novelty / (1 - novelty), 1.0)
    classes = [novelty[labels == label] for label in np.unique(labels)]
    return max(bound_of_known(each) if len(each) >= MANY else each.max() for each in classes)


def bound_of_known(novelty: NDArray[np.float64]) -> float:
    """Return the novelty that one more example like these would pass once in twenty times.

    Parameters
    ----------
    novelty : ndarray of shape (m,)
        Of m > 1 examples that were not learned. Their log odds, which are logarithms of
        leverages, are taken for normal: with few examples this is Student's bound for the next
        one, and far above the largest; with many it is their 95 % quantile.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> round(bound_of_known(np.array([0.5, 0.6, 0.4, 0.5])), 2)
    0.7
    """
    from scipy.special import expit, stdtrit  # asking needs neither, and should not wait for them

    novelty = np.clip(novelty, np.finfo(float).tiny, np.nextafter(1.0, 0.0))
    odds = np.log(novelty) - np.log1p(-novelty)
    m, spread = len(odds), odds.std(ddof=1)
    bound = odds.mean() + stdtrit(m - 1, KNOWN_SHARE) * spread * np.sqrt(1 + 1 / m)
    return float(expit(bound))
