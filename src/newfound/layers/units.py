"""Random directions, the same to the last bit on every machine: orthogonal in blocks."""

from functools import lru_cache

import numpy as np

from newfound.common.arrays import Floats

# Numbers of a direction are multiples of this, so that products with them can be exact.
STEP = 2.0**-7
# Numbers in a block at least: with fewer, directions would be alike.
SMALLEST_BLOCK = 64
# Directions that are made at a time, and signs that are drawn at a time.
SOME, BITS = 256, 64


@lru_cache(maxsize=8)
def directions(width: int, number: int, seed: int) -> Floats:
    """Return so many random directions of `width` numbers each, shape (width, number).

    Their numbers are nearly those of independent normal variables, and those that are drawn
    together are nearly orthogonal: rows of H D H D H D, where H is a Hadamard matrix and each D has
    random signs on its diagonal (Yu et al., NeurIPS 2016). All of it is whole numbers before one
    division by a power of two and one rounding, so nothing depends on the machine. The first are
    the same, however many there are.

    >>> np.array_equal(directions(3, 9, seed=0), directions(3, 20, seed=0)[:, :9])
    True
    """
    size = max(SMALLEST_BLOCK, 1 << (width - 1).bit_length())
    columns = np.empty((width, number))
    for block, start in enumerate(range(0, number, size)):
        signs = _signs(size, seed, block)
        for left in range(start, min(start + size, number), SOME):
            right = min(left + SOME, start + size, number)
            rows = np.zeros((right - left, size))
            rows[np.arange(right - left), np.arange(left - start, right - start)] = 1.0
            for own in signs:
                rows = hadamard(rows) * own
            columns[:, left:right] = np.rint(rows[:, :width].T / (size * STEP)) * STEP
    columns.flags.writeable = False
    return columns


def hadamard(rows: Floats) -> Floats:
    """Return rows (m, p), p a power of two, times the Hadamard matrix of that size.

    >>> hadamard(np.array([[1.0, 2.0, 3.0, 4.0]]))
    array([[10., -2., -4.,  0.]])
    """
    m, size = rows.shape
    half = 1
    while half < size:
        pairs = rows.reshape(m, -1, 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        rows, half = rows.reshape(m, size), 2 * half
    return rows


def _signs(size: int, seed: int, block: int) -> Floats:
    """Return three draws of `size` signs each, for a block; of a generator that is counted on."""
    key = np.array([seed, block], dtype=np.uint64)
    raw = np.random.Philox(key=key).random_raw(3 * -(-size // BITS))
    bits = np.unpackbits(raw.astype("<u8").view(np.uint8)).reshape(3, -1)[:, :size]
    signs: Floats = np.where(bits, -1.0, 1.0)
    return signs
