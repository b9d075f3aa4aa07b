"""What features are divided by before random directions mix them."""

import numpy as np

from newfound.common.arrays import Floats

# How often farther, or less far, than usual a feature may reach.
UNALIKE = 3.0
# Of the farthest, what is no reach but rounding.
ROUNDING = 1e-9
# Beyond the first two, no file holds a scale; of shorter or longer rows, units would leave the
# range of float32.
SMALLEST, LARGEST, SHORTEST, LONGEST = 1e-100, 1e100, 1e-30, 1e30


def scales_of(rows: Floats) -> tuple[Floats, float]:
    """Return the scale of each feature, shape (d,), and the typical length of a row.

    `rows` (m, d) are around their mean. Divided by the scales, their typical length is one.

    Directions mix all features, so these have to be of one unit. Those that reach about equally far
    are taken to be: pixels, and features of a network, keep their proportions, which tell what
    matters. A feature that reaches more than three times as far as is usual, or less than a third,
    is of another unit, and is brought to where that begins. One that did not vary yet is as usual.
    Scales and length stay where a file can hold them, and float32 what is made with them.

    >>> scale, length = scales_of(np.array([[3.0, 4.0, 4000.0], [-3.0, -4.0, -4000.0]]))
    >>> np.abs(np.array([3.0, 4.0, 4000.0]) / scale).round(3), round(length)
    (array([0.231, 0.308, 0.923]), 4000)
    """
    length = float(np.sqrt(np.square(rows).mean(axis=0).sum())) or 1.0
    reach = np.abs(rows).max(axis=0)
    varies = reach > ROUNDING * reach.max()
    usual = float(np.median(reach[varies])) if varies.any() else 1.0
    units = np.where(varies, reach, usual) / usual
    scale = units / np.clip(units, 1 / UNALIKE, UNALIKE)
    scale = scale * (float(np.sqrt(np.square(rows / scale).mean(axis=0).sum())) or 1.0)
    return np.clip(scale, SMALLEST, LARGEST), float(np.clip(length, SHORTEST, LONGEST))
