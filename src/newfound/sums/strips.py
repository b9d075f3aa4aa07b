"""Rank-k changes of a triangle, cut into strips of columns that threads share."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial

import numpy as np

from newfound.common.threads import alone, one_thread, spread
from newfound.sums.tiles import Part, add_product, add_square

# Into how many strips a change is cut at most, and how many columns they have on average at least:
# narrower ones take much longer together than the whole, which is soon done in narrow matrices.
STRIPS, WIDE = 16, 768
# Rows up to which that holds; of more, strips of a third of the width are as fast.
FEW = 128


def block_rows(width: int) -> int:
    """Return how many rows wait for one pass over a (width, width) matrix.

    Sixteen are bound by arithmetic where the matrix stays in a cache, and by memory where not.

    >>> block_rows(1280), block_rows(4096)
    (16, 32)
    """
    return 16 if width < 2048 else 32


def strips(width: int, number: int, *, lower: bool) -> Iterator[slice]:
    """Cut the columns of a triangle into strips of the same area, the tall ones first.

    >>> list(strips(100, 2, lower=True)), list(strips(100, 2, lower=False))
    ([slice(0, 29, None), slice(29, 100, None)], [slice(71, 100, None), slice(0, 71, None)])
    """
    bounds = np.round(width * (1 - np.sqrt(1 - np.arange(number + 1) / number))).astype(int)
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield slice(start, stop) if lower else slice(width - stop, width - start)


def add_strip(target: Part, rows: Part, scale: float, strip: slice, *, lower: bool) -> None:
    """Overwrite a strip of a triangle of `target` with `target + scale rows' rows`."""
    across = slice(strip.stop, None) if lower else slice(0, strip.start)
    add_square(target[strip, strip], rows[:, strip], scale, lower=lower)
    add_product(target[across, strip], rows[:, across].T, rows[:, strip], scale)


def add_squares(target: Part, rows: Part, scale: float, *, lower: bool) -> None:
    """Overwrite a triangle of `target` (d, d) with `target + scale rows' rows`, on all threads."""
    width = len(target)
    # As many strips for one thread as for many, so that they all come to the same result.
    number = min(STRIPS, (1 if len(rows) <= FEW else 3) * width // WIDE)
    if number <= 1:
        with one_thread:
            add_square(target, rows, scale, lower=lower)
        return
    tasks = [
        partial(add_strip, target, rows, scale, strip, lower=lower)
        for strip in strips(width, number, lower=lower)
    ]
    # A block that a single row has made full waits for no other thread.
    with alone() if len(rows) <= block_rows(width) else nullcontext():
        spread(tasks)
