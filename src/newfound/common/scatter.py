"""Numbers that look drawn, made of other numbers: the same on every machine."""

import numpy as np
from numpy.typing import NDArray

# Odd constants of the mixing function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
STEP, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
BITS = 2**64 - 1


def scattered(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers of 64 bits that look drawn, the same for the same values.

    >>> int(scattered(np.array([7], dtype=np.uint64))[0]) == scattered_one(7)
    True
    """
    first, second = np.uint64(FIRST), np.uint64(SECOND)
    values = (values ^ (values >> np.uint64(30))) * first
    values = (values ^ (values >> np.uint64(27))) * second
    return values ^ (values >> np.uint64(31))


def scattered_one(value: int) -> int:
    """Return what `scattered` does of one number; numpy takes five times as long for that."""
    value = ((value ^ (value >> 30)) * FIRST) & BITS
    value = ((value ^ (value >> 27)) * SECOND) & BITS
    return value ^ (value >> 31)
