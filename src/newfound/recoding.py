"""Recoding: how much louder a rare class speaks, from the class masses alone."""

import numpy as np
from numpy.typing import NDArray


def recoding_factors(masses: NDArray[np.floating], recoding: float) -> NDArray[np.float64]:
    """Return Gamma^recoding, the factor on each class's column of the weights.

    Gamma_t = sum(masses) / (T masses_t), with T the number of classes that have any mass. Classes
    of equal mass get exactly 1, and so does a class that has none yet.

    Parameters
    ----------
    masses : ndarray of shape (T,)
        Number of examples of each class, times the class's weight where there is one.
    recoding : float
        The exponent: 0 leaves rare classes to their fate, 1 recodes in full.

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> recoding_factors(np.array([8.0, 1.0, 0.0]), recoding=0.5)
    array([0.75      , 2.12132034, 1.        ])
    """
    factors: NDArray[np.float64]
    taught = masses > 0
    if taught.all():
        factors = (masses.sum() / (len(masses) * masses)) ** recoding
    else:
        factors = np.ones(len(masses))
        factors[taught] = recoding_factors(masses[taught], recoding)
    return factors
