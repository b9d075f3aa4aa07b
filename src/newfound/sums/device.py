"""The sums of rows that live on a device: what `Gram` and `Cross` are for numpy's.

All of it is the array API's, so that it runs on whatever has that. Matrices are changed a block of
columns at a time: the standard has no product that adds, and room for another d x d matrix is dear.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Index
from newfound.common.device import Array, Device
from newfound.common.errors import NotTaughtError
from newfound.sums.buffer import find_rows
from newfound.sums.gram import ROUNDING_SHARE
from newfound.sums.triangles import Triangles

# Rows that wait at most, as a share of the features; and as a number, lest flushing be felt.
WAITING_SHARE, LEAST_WAITING, MOST_WAITING = 16, 16, 256
# Columns of a matrix that are changed at a time, as a share of all.
COLUMN_SHARE, LEAST_COLUMNS = 16, 64
# Numbers of a batch that are converted, or squared, at a time.
CHUNK = 2**24
# Rows that are looked for one by one among those that wait.
FEW_ROWS = 64


def blocks(width: int) -> Iterator[slice]:
    """Yield the columns of a matrix, a block at a time.

    >>> list(blocks(100))
    [slice(0, 64, None), slice(64, 100, None)]
    """
    size = max(LEAST_COLUMNS, -(-width // COLUMN_SHARE))
    for left in range(0, width, size):
        yield slice(left, min(left + size, width))


def add_products(matrix: Array, rows: Array, scale: float) -> None:
    """Overwrite `matrix` (d, d) with `matrix + scale rows' rows`, `rows` being (m, d)."""
    scaled = rows if scale == 1.0 else scale * rows
    for columns in blocks(matrix.shape[0]):
        matrix[:, columns] += rows.T @ scaled[:, columns]


def both_triangles(lower: Floats) -> Floats:
    """Return a symmetric matrix (d, d) on the host that is given by its lower triangle.

    >>> both_triangles(np.array([[1.0, 0.0], [2.0, 3.0]])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return lower + np.tril(lower, -1).T


def add_to_diagonal(matrix: Array, value: float, device: Device) -> None:
    """Overwrite a matrix (d, d) with itself plus `value` times I."""
    xp = device.xp
    for columns in blocks(matrix.shape[0]):
        size = columns.stop - columns.start
        identity = xp.eye(size, dtype=xp.float64, device=device.device)
        matrix[columns, columns] += value * identity


def cholesky(matrix: Array, device: Device) -> Array | None:
    """Return the lower Cholesky factor of a matrix, or None if it is not positive definite."""
    failures = (np.linalg.LinAlgError, getattr(device.xp.linalg, "LinAlgError", RuntimeError))
    try:
        factor = device.xp.linalg.cholesky(matrix)
    except failures:
        return None
    # Not every library says so of NaN, which reaches the last pivot from wherever it is.
    return factor if float(factor[-1, -1]) > 0 else None


def add_outer(matrix: Array, left: Array, right: Array, scale: float) -> None:
    """Overwrite `matrix` (m, k) with `matrix + scale outer(left, right)`.

    Here as below: torch has one call for what takes the array API several, and each call takes a
    GPU's host as long as small arrays take the GPU.
    """
    if hasattr(matrix, "addr_"):
        matrix.addr_(left, right, alpha=scale)
    else:
        matrix += (scale * left)[:, None] * right[None, :]


def add_times(vector: Array, matrix: Array, factors: Array, scale: float) -> None:
    """Overwrite `vector` (m,) with `vector + scale matrix @ factors`."""
    if hasattr(vector, "addmv_"):
        vector.addmv_(matrix, factors, alpha=scale)
    else:
        vector += scale * (matrix @ factors)


def chunks(X: Array, width: int = 1) -> Iterator[slice]:
    """Yield the rows of a batch, a chunk at a time, small enough for `width` numbers a row, too."""
    size = max(1, CHUNK // max(width, X.shape[1], 1))
    for start in range(0, X.shape[0], size):
        yield slice(start, min(start + size, X.shape[0]))


def square_of(X: Array, device: Device) -> float:
    """Return the sum of the squares of all numbers of `X`, (m, d), in float64; NaN if one is.

    It is all of a batch that comes to the host.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # which some namespaces are made of
        if X.shape[0] == 1:  # the usual case, without detours
            row = device.double(X)[0, :]
            return float(row @ row)
        total = device.zeros(1)[0]
        for part in chunks(X):
            flat = device.xp.reshape(device.double(X[part, :]), (-1,))
            total = total + flat @ flat
        return float(total)


def rows_at(X: Array, where: Index, device: Device | None) -> Array:
    """Return the rows of `X`, (m, d), at indices `where`, (k,)."""
    if device is None:
        return X[where]
    return device.xp.take(X, device.put(where, double=False), axis=0)


def weighted(X: Array, sample_weight: Floats | None, device: Device | None) -> Array:
    """Return rows `X` (m, d), each times the root of its weight: what X'X is made of.

    Without weights, they are the rows themselves.

    >>> weighted(np.array([[1.0, 2.0]]), np.array([4.0]), None)
    array([[2., 4.]])
    """
    if sample_weight is None:
        return X
    roots = np.sqrt(sample_weight)[:, None]
    if device is None:
        return roots * X
    return device.put(roots) * device.double(X)


class DeviceGram:
    """The Gram matrix X'X of all rows added and not removed, on a device.

    Parameters
    ----------
    width : int
        Number of features, d.
    device : Device
    raw_limit : int, optional
        Rows are held as they came until there are more than this many.

    Examples
    --------
    >>> import array_api_strict
    >>> rows = array_api_strict.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> gram = DeviceGram(2, Device("array_api_strict", rows.device))
    >>> gram.add(rows)
    >>> gram.prepare_removal(rows[:1, :])()
    >>> gram.rows
    array([[3., 4.]])
    """

    # _waiting[:count]: rows that were added and are not in the matrix yet.
    # _matrix: X'X of all others, both triangles. None: there are no others.
    # flushes, highest: as in `Triangles`.

    def __init__(self, width: int, device: Device, raw_limit: int | None = None) -> None:
        self.width = width
        self.device = device
        self.block = max(LEAST_WAITING, min(width // WAITING_SHARE, MOST_WAITING))
        self.raw_limit = self.block if raw_limit is None else raw_limit
        self.count = 0
        self.flushes = 0
        self.highest = 0.0
        self._waiting = device.zeros(0, width)
        self._matrix: Array | None = None

    @property
    def holds_rows(self) -> bool:
        """Whether all rows are held as they came."""
        return self._matrix is None

    @property
    def room(self) -> int:
        """How many rows there is room for before a matrix or more room is needed."""
        return int(self._waiting.shape[0])

    @property
    def rows(self) -> Floats:
        """The rows that are held as they came, on the host, shape (m, d); only to be read."""
        return self.device.host(self._rows)

    @property
    def _rows(self) -> Array:
        return self._waiting[: self.count, :]

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (d,), on the host."""
        rows, xp = self._rows, self.device.xp
        squares = xp.sum(rows * rows, axis=0)
        if self._matrix is not None:
            squares = squares + xp.linalg.diagonal(self._matrix)
        return self.device.host(squares)

    @property
    def trace(self) -> float:
        """Sum of all squares."""
        return float(self.squares.sum())

    @property
    def peak(self) -> float:
        """Largest sum of squares that was ever flushed and not removed: what rounding goes by."""
        if self._matrix is None:
            return 0.0
        return max(self.highest, float(self.device.xp.linalg.trace(self._matrix)))

    @property
    def rounding(self) -> float:
        """What rounding may have left in the sums when they were larger, at most."""
        return ROUNDING_SHARE * self.peak

    def add(self, X: Array) -> None:
        """Add the rows of `X`, shape (m, d)."""
        self.prepare(self.device.put(X, double=False))()

    def prepare(self, X: Array) -> Callable[[], None]:
        """Make room to add the rows of `X`; return what adds them."""
        start, stop = self.count, self.count + X.shape[0]
        if stop <= (self.raw_limit if self.holds_rows else self.block):
            self._make_room(stop)
            return partial(self._append, X, start, stop)
        matrix = self._matrix if self._matrix is not None else self._zeros()
        few = X.shape[0] <= self.block
        if self._waiting.shape[0] > self.block:  # room for more rows than will wait from now on
            return partial(self._flush_and_add, matrix, X, few, self._room())
        if few:
            self._make_room(X.shape[0])
        return partial(self._flush_and_add, matrix, X, few, self._waiting)

    def _zeros(self) -> Array:
        return self.device.zeros(self.width, self.width)

    def _room(self) -> Array:
        return self.device.zeros(self.block, self.width)

    def _make_room(self, needed: int) -> None:
        capacity = self._waiting.shape[0]
        if needed > capacity:
            size = needed if needed > self.block else self.block
            grown = self.device.zeros(max(size, min(2 * capacity, self.raw_limit)), self.width)
            grown[: self.count, :] = self._rows
            self._waiting = grown

    def _append(self, X: Array, start: int, stop: int) -> None:
        self._waiting[start:stop, :] = self.device.double(X)
        self.count = stop

    def _flush_and_add(self, matrix: Array, X: Array, few: bool, room: Array) -> None:
        if self.count:
            add_products(matrix, self._rows, 1.0)
            self.flushes += 1
        self._matrix, self._waiting, self.count = matrix, room, 0
        if few:
            self._append(X, 0, X.shape[0])
        else:
            self._add_to_matrix(matrix, X, 1.0)

    def _add_to_matrix(self, matrix: Array, X: Array, scale: float) -> None:
        if X.dtype == self.device.xp.float64:  # which needs no room
            add_products(matrix, X, scale)
        else:
            for part in chunks(X):
                add_products(matrix, self.device.double(X[part, :]), scale)
        self.flushes += 1

    def prepare_removal(self, X: Array) -> Callable[[], None]:
        """Do all that can fail of removing the rows of `X`; return a function that does the rest.

        Rows that still wait are taken out to the last bit; of the others the product is
        subtracted. While no row has been flushed, there cannot be others, and NotTaughtError is
        raised.
        """
        found = self._find(X)
        waits = found >= 0
        if self._matrix is None and not waits.all():
            raise NotTaughtError(
                "cannot forget a row that was not taught: no row that is held equals it in "
                "every feature, so the model is left as it was"
            )
        kept = np.delete(np.arange(self.count), found[waits])
        others = rows_at(X, np.flatnonzero(~waits), self.device)
        highest = self.peak if self._matrix is not None else 0.0

        def remove() -> None:
            if len(kept) < self.count:
                self._waiting[: len(kept), :] = rows_at(self._rows, kept, self.device)
                self.count = len(kept)
            if self._matrix is not None and others.shape[0]:
                self.highest = highest
                self._add_to_matrix(self._matrix, others, -1.0)

        return remove

    def _find(self, X: Array) -> Index:
        """Return the index of a waiting row that equals each row of `X`, or -1; none twice."""
        found, xp = np.full(X.shape[0], -1, dtype=np.intp), self.device.xp
        if X.shape[0] > FEW_ROWS and self.count:
            return self._find_many(X, found)
        free = np.ones(self.count, dtype=bool)
        for each in range(X.shape[0] if self.count else 0):
            row = self.device.double(X[each : each + 1, :])
            equal = self.device.host(xp.all(self._rows == row, axis=1)) & free
            if equal.any():
                found[each] = np.flatnonzero(equal)[-1]
                free[found[each]] = False
        return found

    def _find_many(self, X: Array, found: Index) -> Index:
        """Overwrite `found` (m,) as `_find` has it, on the host; return it."""
        held, host = self.rows, self.device.host
        # Of most rows, the first feature says that they do not wait.
        firsts = host(self.device.put(X[:, :1]))[:, 0]
        near = np.flatnonzero(np.isin(firsts, held[:, 0]))
        found[near] = find_rows(held, host(rows_at(X, near, self.device)))
        return found

    def is_definite_without(self, X: Array, slack: float) -> bool:
        """Tell whether X'X without rows `X`, (m, d), plus `slack` times I is positive definite."""
        left = self._zeros()
        self.add_to(left, 1.0)
        add_products(left, self.device.double(X), -1.0)
        add_to_diagonal(left, slack, self.device)
        return cholesky(left, self.device) is not None

    def times(self, columns: Array) -> Array:
        """Return X'X times `columns`, of shape (d,) or (d, k)."""
        product = self._rows.T @ (self._rows @ columns)
        return product if self._matrix is None else product + self._matrix @ columns

    def add_to(self, target: Array, scale: float) -> None:
        """Overwrite `target` (d, d) with `target + scale X'X`."""
        if self._matrix is not None:
            for columns in blocks(self.width):
                target[:, columns] += scale * self._matrix[:, columns]
        if self.count:
            add_products(target, self._rows, scale)

    def merge(self, other: Any) -> None:
        """Add everything that `other`, a Gram of this device, of another or of the host, holds."""
        if other.holds_rows:
            self.add(other.rows)
            return
        peak = self.peak + other.peak
        matrix = self._matrix if self._matrix is not None else self._zeros()
        if isinstance(other, DeviceGram) and other.device == self.device:
            other.add_to(matrix, 1.0)
            self.flushes += other.flushes + (other.count > 0)
        else:
            flushed = other.flush()
            matrix += self.device.put(both_triangles(flushed.total()))
            self.flushes += flushed.flushes
        self._matrix, self.highest = matrix, peak

    def flush(self) -> Triangles:
        """Return a sum of all rows, those that wait included, on the host; changes nothing."""
        total = np.zeros((self.width, self.width), order="F")
        flushes = self.flushes + (self.count > 0)
        if self._matrix is not None:
            total[:] = np.tril(self.device.host(self._matrix))
        if self.count:
            rows = self.rows
            total += np.tril(rows.T @ rows)
        # Rounding may leave less than nothing of what was taken out.
        np.fill_diagonal(total, np.maximum(total.diagonal(), 0.0))
        return Triangles.restored(total, np.zeros(self.width), flushes, self.highest, False)

    def restore(self, matrix: Floats, residue: Floats, flushes: int, highest: float) -> None:
        """Take over what `flush` of another Gram returned: its total, and so on."""
        self._matrix = self.device.put(both_triangles(matrix))
        self.flushes, self.highest = flushes, highest


class DeviceCross:
    """Sums of rows by class, on a device; a class that arrives is a row of zeros.

    Parameters
    ----------
    totals : array of shape (T, d)
    device : Device
    """

    # _totals[:size]: the sums; zeros follow.

    def __init__(self, totals: Array, device: Device) -> None:
        self.size = totals.shape[0]
        self.device = device
        self._totals = totals

    @property
    def totals(self) -> Array:
        """Each sum, shape (T, d); must not be written to."""
        return self._totals[: self.size, :]

    @property
    def parts(self) -> tuple[Floats, Floats]:
        """The sums, and what rounding left out of them, which nobody holds here; on the host."""
        totals = self.device.host(self.totals)
        return totals, np.zeros(totals.shape)

    def terms(
        self, X: Array, index: Index, exact: bool, sample_weight: Floats | None = None
    ) -> tuple[Index, Array]:
        """Return classes next to each other, and one term (1, k, d) of each one's rows."""
        if X.shape[0] == 1:
            row = self.device.double(X)[None, :, :]
            return index, row if sample_weight is None else float(sample_weight[0]) * row
        xp, low, high = self.device.xp, int(index.min(initial=0)), int(index.max(initial=-1)) + 1
        classes = self.device.put(np.arange(low, high), double=False)
        of = self.device.put(index, double=False)
        total = self.device.zeros(high - low, X.shape[1])
        weight = None if sample_weight is None else self.device.put(sample_weight)
        for part in chunks(X, high - low):
            members = xp.astype(of[part][:, None] == classes[None, :], xp.float64)
            if weight is not None:
                members = members * weight[part][:, None]
            total += members.T @ self.device.double(X[part, :])
        return np.arange(low, high), total[None, :, :]

    def prepare(self, index: Index, terms: Array, size: int) -> Callable[[], None]:
        """Make room for `size` classes; return what adds `terms` (m, k, d) to those in `index`."""
        capacity, width = self._totals.shape
        if size > capacity:
            grown = self.device.zeros(max(size, 2 * capacity), width)
            grown[: self.size, :] = self.totals
            self._totals = grown
        # Classes next to each other are added together.
        ends = [1] if len(index) == 1 else (np.flatnonzero(np.diff(index) != 1) + 1).tolist()
        ends += [len(index)] * (len(index) > 1)

        def shift() -> None:
            start = 0
            for end in ends:
                totals = self._totals[int(index[start]) : int(index[start]) + end - start, :]
                for term in range(terms.shape[0]):
                    totals += terms[term, start:end, :]
                start = end
            self.size = size

        return shift

    def without(self, index: Index) -> "DeviceCross":
        """Return the sums of all classes but those in `index`."""
        kept = np.delete(np.arange(self.size), index)
        return DeviceCross(rows_at(self.totals, kept, self.device), self.device)

    def joined(self, source: int, target: int) -> "DeviceCross":
        """Return the same sums with those of one class added to another's, too."""
        totals = self.device.zeros(*self.totals.shape)
        totals[:, :] = self.totals
        totals[target, :] += self.totals[source, :]
        return DeviceCross(totals, self.device)
