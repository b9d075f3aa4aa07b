"""The Gram matrix X'X of rows that come and go."""

import copy
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from newfound.common.arrays import Floats, Rows
from newfound.common.device import Array, Device, on_host
from newfound.common.errors import NotTaughtError
from newfound.sums.buffer import NOT_HELD, RowBuffer
from newfound.sums.device import add_products, both_triangles, column_products, rows_at, zeros
from newfound.sums.device_sums import DeviceMatrix
from newfound.sums.shifted import ShiftedRows
from newfound.sums.strips import block_rows
from newfound.sums.triangles import Triangles

# Share of the largest sums there ever were that their rounding may have left, by far at most.
ROUNDING_SHARE = 1e-12
# Rows that wait on a device at most, as a share of the features; and as a number, lest flushing be
# felt.
WAITING_SHARE, LEAST_WAITING, MOST_WAITING = 16, 16, 256


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
    device : Device, optional
        Where rows come from and sums live, if that is not the host.
    origin : array of shape (width,), optional
        Where rows are seen from; zero by default. It is replaced, never written to.

    Examples
    --------
    >>> gram = Gram(2)
    >>> gram.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gram.prepare_removal(np.array([[1.0, 2.0]]))()
    >>> total_gram([gram], width=2).tolist()
    [[9.0, 0.0], [12.0, 16.0]]
    """

    # block: how many rows are flushed together.
    # buffer: rows that were added and not flushed yet, as they came, whatever the origin is.
    # flushed: X'X of all other rows, seen from the origin. None: there are no others.

    def __init__(
        self,
        width: int,
        raw_limit: int | None = None,
        recent_apart: bool = False,
        device: Device | None = None,
        origin: Array | None = None,
    ) -> None:
        self.width, self.recent_apart, self.device = width, recent_apart, device
        self.origin = origin
        self.block, limit = block_rows(width), raw_rows(width)
        if device is not None:
            self.block = limit = max(LEAST_WAITING, min(width // WAITING_SHARE, MOST_WAITING))
        self.raw_limit = limit if raw_limit is None else raw_limit
        self.buffer = RowBuffer(width, device)
        self.flushed: Triangles | DeviceMatrix | None = None

    @property
    def holds_rows(self) -> bool:
        """Whether all rows are held as they came."""
        return self.flushed is None

    @property
    def rows(self) -> Floats:
        """The rows that are held as they came, on the host, shape (m, d); only to be read."""
        return on_host(self.buffer.rows)

    @property
    def row_weights(self) -> Floats | None:
        """What each of these rows weighs, shape (m,); None: one."""
        return self.buffer.weights

    def _around(self, X: Rows, weights: Floats | None) -> ShiftedRows:
        return ShiftedRows(X, self.origin, weights, self.device)

    @property
    def _waiting(self) -> ShiftedRows:
        return self._around(self.buffer.rows, self.buffer.weights)

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, seen from the origin, shape (d,), on the host."""
        rows = self._waiting.part()
        squares: Floats = column_products(rows, rows, self.device)
        return squares if self.flushed is None else squares + self.flushed.diagonal

    @property
    def trace(self) -> float:
        """Sum of all squares."""
        return float(self.squares.sum())

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

    def add(self, X: Array, weights: Floats | None = None) -> None:
        """Add the rows of `X`, shape (m, d), from wherever they live, each with its weight."""
        self.prepare(self._place(X), weights)()

    def prepare(self, X: Rows, weights: Floats | None = None) -> Callable[[], None]:
        """Do all of `add(X)` that can run out of memory; return a function that does the rest.

        Until that is called, nothing has changed.
        """
        buffer, size = self.buffer, X.shape[0]
        needed = buffer.count + size
        if self.flushed is not None and needed <= self.block:  # the usual case, without detours
            return buffer.prepare(X, self.block, weights)
        if self.flushed is None and needed <= self.raw_limit:
            capacity = min(self.raw_limit, max(needed, 2 * buffer.capacity))
            return buffer.prepare(X, capacity, weights)
        flushed = self._sum()
        if size > self.block:
            flush = flushed.prepare(self._around(X, weights))
            return partial(self._commit, flushed, buffer, flush)
        if needed <= max(self.block, buffer.capacity):
            append = buffer.prepare(X, self.block, weights)
            return partial(self._commit, flushed, buffer, append)
        flush, empty = flushed.prepare(self._waiting), RowBuffer(self.width, self.device)
        return partial(self._commit, flushed, empty, flush, empty.prepare(X, self.block, weights))

    def prepare_removal(self, X: Rows, weights: Floats | None = None) -> Callable[[], None]:
        """Do all that can fail of removing the rows of `X`; return a function that does the rest.

        Rows that still wait are taken out to the last bit: teaching and taking back leaves no
        trace. Of the others the product is subtracted; while no row has been flushed, there
        cannot be others, and NotTaughtError is raised.
        """
        places = self.buffer.find(X, weights)
        waits = places >= 0
        if self.flushed is None and not waits.all():
            raise NotTaughtError(NOT_HELD)
        remove = self.buffer.prepare_removal(places[waits])
        if self.flushed is None or waits.all():
            return remove
        others = rows_at(X, np.flatnonzero(~waits), self.device)
        weights = None if weights is None else weights[~waits]
        subtract = self.flushed.prepare(self._around(others, weights), sign=-1.0)
        return partial(self._commit, self.flushed, self.buffer, remove, subtract)

    def times(self, columns: Array) -> Array:
        """Return X'X times `columns`, of shape (d,) or (d, k).

        If these are fewer than d, it is the leading block of X'X that is meant.
        """
        rows = self._waiting.part()[:, : columns.shape[0]]
        product = rows.T @ (rows @ columns)
        return product if self.flushed is None else product + self.flushed.times(columns)

    def add_to(self, target: Array, scale: float) -> None:
        """Overwrite `target` (d, d) with `target + scale X'X`; on the host, its lower triangle.

        If it is smaller, it is the leading block of X'X that is added.
        """
        if self.flushed is not None:
            self.flushed.add_to(target, scale)
        if self.buffer.count:
            rows = self._waiting.part()[:, : target.shape[0]]
            add_products(target, rows, scale, self.device)

    def merge(self, other: "Gram") -> None:
        """Add everything that another Gram holds, of this device, of another or of the host.

        Both see rows from the same origin.
        """
        if other.flushed is None:
            self.add(other.rows.copy(), other.row_weights)
            return
        flushed = self._sum()
        flushed.merge(other.flushed)
        if other.buffer.count:
            flushed.prepare(self._around(self._place(other.rows), other.row_weights))()
        self.flushed = flushed

    def shifted(self, origin: Array | None, total: Array, weight_sum: float) -> "Gram":
        """Return the Gram of the same rows, which add up to `total` (d,), seen from elsewhere."""
        shifted = copy.deepcopy(self)
        shifted.origin = origin
        if shifted.flushed is not None and shifted.flushed.flushes:  # else all rows wait
            zero = zeros((self.width,), self.device)
            before, after = (zero if place is None else place for place in (self.origin, origin))
            by, rows, weights = after - before, self.buffer.rows, self.buffer.weights
            # Sums of rows so far from where they were seen are rounded as these squares are.
            highest = max(self.peak, weight_sum * float(by @ by))
            if self.buffer.count:
                plain = self._around(rows, None).part()
                each = np.ones(self.buffer.count) if weights is None else weights
                total = total - (each if self.device is None else self.device.put(each)) @ plain
                weight_sum -= float(each.sum())
            shifted.flushed.shift(by, total, weight_sum)
            shifted.flushed.highest = highest
        return shifted

    def let_go(self) -> None:
        """Add up all rows that are held: from now on nobody knows them one by one."""
        if self.buffer.count:
            flushed, empty = self._sum(), RowBuffer(self.width, self.device)
            self._commit(flushed, empty, flushed.prepare(self._waiting))

    def flush(self) -> Triangles:
        """Return a sum of all rows, those that wait included, on the host; changes nothing."""
        if self.flushed is None:
            flushed = Triangles(self.width, self.recent_apart)
        else:
            flushed = self.flushed.on_host()
        if self.buffer.count:
            origin = None if self.origin is None else on_host(self.origin)
            flushed.prepare(ShiftedRows(self.rows, origin, self.row_weights))()
        return flushed

    def restore(self, matrix: Floats, residue: Floats, flushes: int, highest: float) -> None:
        """Take over what `flush` of another Gram returned: its total, residue, and so on."""
        if self.device is None:
            apart = self.recent_apart
            self.flushed = Triangles.restored(matrix, residue, flushes, highest, apart)
        else:
            there = self.device.put(both_triangles(matrix))
            self.flushed = DeviceMatrix(there, self.device, flushes, highest)

    def _place(self, X: Array) -> Array:
        return X if self.device is None else self.device.put(X, double=False)

    def _sum(self) -> Triangles | DeviceMatrix:
        """Return what rows are flushed into."""
        if self.flushed is not None:
            return self.flushed
        if self.device is None:
            return Triangles(self.width, self.recent_apart)
        return DeviceMatrix(self.device.zeros(self.width, self.width), self.device)

    def _commit(
        self, flushed: Triangles | DeviceMatrix, buffer: RowBuffer, *changes: Callable[[], None]
    ) -> None:
        for change in changes:
            change()
        self.flushed, self.buffer = flushed, buffer


def total_gram(
    grams: Iterable[Gram], width: int, device: Device | None = None, workspace: Array | None = None
) -> Floats:
    """Return the sum of several Grams as the lower triangle of a matrix: `workspace`, or new.

    If `width` is less than theirs, it is the leading block.
    """
    out: Floats = zeros((width, width), device).T if workspace is None else workspace
    out[:, :] = 0.0
    for gram in grams:
        gram.add_to(out, 1.0)
    return out
