"""What features are divided by before random directions mix them: one number, or one for each."""

import numpy as np

from newfound.common.arrays import Floats


def scales_of(rows: Floats) -> tuple[Floats, float]:
    """Return the scale of each feature, shape (d,), and the typical length of a row.

    `rows` (m, d) are around their mean. Divided by the scales, their typical length is one.

    >>> scales_of(np.array([[3.0, 4.0], [-3.0, -4.0]]))
    (array([5., 5.]), 5.0)
    """
    variances = np.square(rows).mean(axis=0)
    length = float(np.sqrt(variances.sum())) or 1.0
    scale = np.full(rows.shape[1], length)
    return scale, length
