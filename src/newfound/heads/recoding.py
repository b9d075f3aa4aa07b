"""Recoding: how much louder a rare class speaks, from the class masses alone."""

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats


def recoding_factors(masses: NDArray[np.floating], recoding: float | Floats) -> Floats:
    """Return the factor on each class's column of the weights: Gamma^recoding.

    Gamma_t = sum(masses) / (T masses_t), with T the number of classes that have any mass. Classes
    of equal mass get exactly 1, and so does a class that has none yet.

    With one exponent a class, a class is raised above the largest one, whose own exponent then
    matters no more: between any class and the largest, the factor is (largest / mass)^exponent.
    Equal exponents give what one number for all gives.

    Parameters
    ----------
    masses : ndarray of shape (T,)
        Number of examples of each class, times the class's weight where there is one.
    recoding : float or ndarray of shape (T,)
        The exponent: 0 leaves rare classes to their fate, 1 recodes in full.

    Returns
    -------
    ndarray of shape (T,)

    Examples
    --------
    >>> recoding_factors(np.array([8.0, 1.0, 0.0]), recoding=0.5)
    array([0.75      , 2.12132034, 1.        ])
    >>> recoding_factors(np.array([4.0, 4.0, 1.0]), recoding=np.array([0.0, 1.0, 0.5]))
    array([1., 1., 2.])
    """
    factors: Floats
    taught = masses > 0
    if not taught.all():
        factors = np.ones(len(masses))
        exponents = recoding[taught] if isinstance(recoding, np.ndarray) else recoding
        factors[taught] = recoding_factors(masses[taught], exponents)
        return factors
    usual = masses.sum() / len(masses)
    if isinstance(recoding, np.ndarray):
        largest = masses.argmax()
        common = (usual / masses[largest]) ** recoding[largest]
        factors = common * (masses[largest] / masses) ** recoding
    else:
        factors = (usual / masses) ** recoding
    return factors
