"""The Gram matrix X'X of rows that come and go."""

import copy
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Rows
from newfound.common.errors import NotTaughtError
from newfound.sums.blas import add_products, times
from newfound.sums.buffer import RowBuffer
from newfound.sums.gradual import block_rows
from newfound.sums.triangles import Triangles

# Share of the largest sums there ever were that their rounding may have left, by far at most.
ROUNDING_SHARE = 1e-12


def raw_rows(width: int) -> int:
    """Return how many rows are held as they came, unless somebody says otherwise.

    An eighth of what a matrix takes, but not so many that adding them all is felt.

    >>> raw_rows(64), raw_rows(1280)
    (16, 128)
    """
    return max(block_rows(width), min(width // 8, 128))


class Gram:
    """The Gram matrix X'X of all rows added and not removed.

    Parameters
    ----------
    width : int
        Number of features, d.
    raw_limit : int, optional
        Rows are held as they came until there are more than this many; only then is a d x d
        matrix made. Later rows wait in blocks of sixteen, which is the default here, too.
    recent_apart : bool, default=False
        Hold the sum of recent rows apart from that of old ones, for rounding's sake.

    Examples
    --------
    >>> gram = Gram(2)
    >>> gram.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gram.prepare_removal(np.array([[1.0, 2.0]]))()
    >>> total_gram([gram], width=2).tolist()
    [[9.0, 0.0], [12.0, 16.0]]
    """

    # block: how many rows are flushed together.
    # buffer: rows that were added and not flushed yet.
    # flushed: X'X of all other rows. None: there are no others.

    def __init__(
        self, width: int, raw_limit: int | None = None, recent_apart: bool = False
    ) -> None:
        self.width = width
        self.block = block_rows(width)
        self.raw_limit = raw_rows(width) if raw_limit is None else raw_limit
        self.recent_apart = recent_apart
        self.buffer = RowBuffer(width)
        self.flushed: Triangles | None = None

    @property
    def holds_rows(self) -> bool:
        """Whether all rows are held as they came."""
        return self.flushed is None

    @property
    def rows(self) -> Floats:
        """The rows that are held as they came, shape (m, d); must not be written to."""
        return self.buffer.rows

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (d,)."""
        rows = self.buffer.rows
        squares: Floats = np.einsum("ij,ij->j", rows, rows)
        return squares if self.flushed is None else squares + self.flushed.diagonal

    @property
    def trace(self) -> float:
        """Sum of all squares."""
        rows = self.buffer.rows
        waiting = float(np.vdot(rows, rows))
        return waiting if self.flushed is None else waiting + self.flushed.trace

    @property
    def peak(self) -> float:
        """Largest sum of squares that was ever flushed and not removed: what rounding goes by.

        Rows that wait are no part of it: they are taken out to the last bit.
        """
        return 0.0 if self.flushed is None else self.flushed.peak

    @property
    def rounding(self) -> float:
        """What rounding may have left in the sums when they were larger, at most."""
        return ROUNDING_SHARE * self.peak

    def add(self, X: Rows) -> None:
        """Add the rows of `X`, shape (m, d)."""
        self.prepare(X)()

    def prepare(self, X: Rows) -> Callable[[], None]:
        """Do all of `add(X)` that can run out of memory; return a function that does the rest.

        Until that is called, nothing has changed.
        """
        buffer, needed = self.buffer, self.buffer.count + len(X)
        if self.holds_rows and needed <= self.raw_limit:
            return buffer.prepare(X, min(self.raw_limit, max(needed, 2 * buffer.capacity)))
        flushed = self.flushed or Triangles(self.width, self.recent_apart)
        if len(X) > self.block:
            return partial(self._commit, flushed, buffer, flushed.prepare(X))
        if needed <= max(self.block, buffer.capacity):
            flushed.thaw()
            append = buffer.prepare(X, self.block)
            return partial(self._commit, flushed, buffer, append, flushed.settle_strip)
        gradually, empty = buffer.count <= self.block, RowBuffer(self.width)
        flush = flushed.prepare(buffer.rows, gradually=gradually)
        return partial(self._commit, flushed, empty, flush, empty.prepare(X, self.block))

    def prepare_removal(self, X: Rows) -> Callable[[], None]:
        """Do all that can fail of removing the rows of `X`; return a function that does the rest.

        Rows that still wait are taken out to the last bit: teaching and taking back leaves no
        trace. Of the others the product is subtracted; while no row has been flushed, there
        cannot be others, and NotTaughtError is raised.
        """
        found = self.buffer.find(X)
        waits = found >= 0
        if self.flushed is None and not waits.all():
            raise NotTaughtError(
                "cannot forget a row that was not taught: no row that is held equals it in "
                "every feature, so the model is left as it was"
            )
        remove = self.buffer.prepare_removal(found[waits])
        if self.flushed is None or waits.all():
            return remove
        others = np.ascontiguousarray(X[~waits], dtype=np.float64)
        subtract = self.flushed.prepare(others, sign=-1.0)
        return partial(self._commit, self.flushed, self.buffer, remove, subtract)

    def times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (d,) or (d, k)."""
        rows, vector = self.rows, columns.ndim == 1
        product = times(rows.T, times(rows, columns)) if vector else rows.T @ (rows @ columns)
        return product if self.flushed is None else product + self.flushed.times(columns)

    def add_to(self, target: Floats, scale: float) -> None:
        """Overwrite the lower triangle of `target` with `target + scale X'X`."""
        if self.flushed is not None:
            self.flushed.add_to(target, scale)
        add_products(target, self.rows, scale, lower=True)

    def merge(self, other: "Gram") -> None:
        """Add everything `other` holds."""
        if other.holds_rows:
            self.add(other.rows.copy())
            return
        flushed = self.flushed or Triangles(self.width, self.recent_apart)
        flushed.merge(other.flush())
        self.flushed = flushed

    def flush(self) -> Triangles:
        """Return a sum of all rows, those that wait included; changes nothing."""
        flushed = copy.deepcopy(self.flushed) or Triangles(self.width, self.recent_apart)
        if len(self.rows):
            flushed.prepare(self.rows)()
        flushed.settle()
        return flushed

    def restore(self, matrix: Floats, residue: Floats, flushes: int, highest: float) -> None:
        """Take over what `flush` of another Gram returned: its total, residue, and so on."""
        apart = self.recent_apart
        self.flushed = Triangles.restored(matrix, residue, flushes, highest, apart)

    def _commit(self, flushed: Triangles, buffer: RowBuffer, *changes: Callable[[], None]) -> None:
        for change in changes:
            change()
        self.flushed, self.buffer = flushed, buffer


def total_gram(grams: Iterable[Any], width: int, room: Floats | None = None) -> Floats:
    """Return the sum of several Grams as the lower triangle of a matrix, a new one or `room`."""
    out = np.empty((width, width), order="F") if room is None else room
    out[:, :] = 0.0
    for gram in grams:
        gram.add_to(out, 1.0)
    return out
