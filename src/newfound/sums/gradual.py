"""Rank-k changes of a triangle that are made a strip of columns at a time."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from newfound.common.threads import spread
from newfound.sums.tiles import Part, add_product, add_square

# Into how many strips a change is cut, and how many columns they have on average at least: narrower
# ones take much longer together than the whole, which is soon done in matrices of few columns.
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


def number_of_strips(width: int) -> int:
    """Return into how many strips a change by a few rows is cut.

    >>> number_of_strips(100), number_of_strips(1280), number_of_strips(4096)
    (1, 1, 5)
    """
    return max(1, min(STRIPS, width // WIDE))


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
    number = number_of_strips(width) if len(rows) <= FEW else max(1, min(STRIPS, 3 * width // WIDE))
    spread(
        [
            partial(add_strip, target, rows, scale, strip, lower=lower)
            for strip in strips(width, number, lower=lower)
        ]
    )


class Gradual:
    """The change `target + scale rows' rows` of one triangle, under way.

    Parameters
    ----------
    rows : ndarray of shape (k, d)
        Taken over.
    scale : float
    lower : bool

    Examples
    --------
    >>> target = np.zeros((200, 200), order="F")
    >>> change = Gradual(np.ones((1, 200)), 1.0, lower=True)
    >>> while change.is_under_way:
    ...     _ = change.step(target)
    >>> bool((target == np.tril(np.ones((200, 200)))).all())
    True
    """

    # _strips: those that are not made yet.

    def __init__(self, rows: Part, scale: float, *, lower: bool) -> None:
        self.rows, self.scale, self.lower = rows, scale, lower
        width = rows.shape[1]
        self._strips = list(strips(width, number_of_strips(width), lower=lower))

    @property
    def is_under_way(self) -> bool:
        """Whether a part of it is still missing."""
        return bool(self._strips)

    @property
    def missing(self) -> slice:
        """Of which rows and columns the change is missing."""
        if not self._strips:
            return slice(0, 0)
        first, last = self._strips[0], self._strips[-1]
        return slice(first.start, last.stop) if self.lower else slice(last.start, first.stop)

    def step(self, target: Part) -> slice:
        """Make the next strip; return which."""
        add_strip(target, self.rows, self.scale, self._strips[0], lower=self.lower)
        return self._strips.pop(0)

    def finish(self, target: Part) -> slice:
        """Make all that is missing; return where that was."""
        missing = self.missing
        part, rows = target[missing, missing], self.rows[:, missing]
        add_squares(part, rows, self.scale, lower=self.lower)
        self._strips = []
        return missing

    @property
    def missing_trace(self) -> float:
        """What is missing of the trace."""
        return self.scale * float(np.square(self.rows[:, self.missing], dtype=np.float64).sum())

    def add_times(self, product: Part, columns: Part) -> None:
        """Add what is missing times `columns`, of shape (d,) or (d, k), to `product`."""
        rows = self.rows[:, self.missing]
        product[self.missing] += rows.T @ (self.scale * (rows @ columns[self.missing]))
