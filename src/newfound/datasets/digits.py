"""The handwritten digits that ship with scikit-learn."""

import numpy as np
from numpy.typing import NDArray


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return 1,797 images of 8 x 8 pixels, scaled to [0, 1], and the digits they show.

    From the UCI set "Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak, 1998).

    Returns
    -------
    X : ndarray of shape (1797, 64)
    y : ndarray of shape (1797,)

    Examples
    --------
    >>> X, y = digits()
    >>> X.shape, X.min(), X.max(), len(set(y.tolist()))
    ((1797, 64), np.float64(0.0), np.float64(1.0), 10)
    """
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y.astype(np.int64)
