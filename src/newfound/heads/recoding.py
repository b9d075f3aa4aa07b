"""Recoding: how much louder a rare class speaks, from what classes weigh alone."""

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats


def recoding_factors(weight_sums: NDArray[np.floating], recoding: float | Floats) -> Floats:
    """Return the factor on each class's column of the weights: Gamma^recoding.

    Gamma_t = n / (T n_t), with n_t what class t weighs, n what all do, and T the number of classes
    that weigh anything. Classes of equal weight get exactly 1, and so does a class without any.

    With one exponent a class, a class is raised above the largest one, whose own exponent then
    matters no more: between any class and the largest, the factor is (largest / own)^exponent.
    Equal exponents give what one number for all gives.

    Parameters
    ----------
    weight_sums : ndarray of shape (T,)
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
    if not weight_sums.all():
        taught = weight_sums > 0
        factors = np.ones(len(weight_sums))
        exponents = recoding[taught] if isinstance(recoding, np.ndarray) else recoding
        factors[taught] = recoding_factors(weight_sums[taught], exponents)
        return factors
    usual = weight_sums.sum() / len(weight_sums)
    if isinstance(recoding, np.ndarray):
        largest = weight_sums.argmax()
        common = (usual / weight_sums[largest]) ** recoding[largest]
        factors = common * (weight_sums[largest] / weight_sums) ** recoding
    else:
        factors = (usual / weight_sums) ** recoding
    return factors
