"""X'X of rows that come and go, added in blocks, with rounding errors that hardly grow."""

import copy
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from newfound.common.arrays import Floats
from newfound.common.errors import InvalidInputError
from newfound.sums.blas import add_products, room_for, times
from newfound.sums.exact import add_exactly

Parts = tuple[Floats, Floats, Floats]

# Rows that wait until one pass over the matrix adds them all. More is faster on average; less is
# kinder to the one step in which that happens.
BLOCK_ROWS = 16
# Columns settled at a time, so that no single step is slow.
STRIP_COLUMNS = 32
# Of a matrix plus its transpose, what makes a lower triangle of both: the diagonal counts once.
_ONCE = np.tri(STRIP_COLUMNS) - 0.5 * np.eye(STRIP_COLUMNS)
# Rows whose squares numpy adds one after the other before they are added exactly.
SQUARED_ROWS = 128
# Share of the largest sums there ever were that their rounding may have left, by far at most.
ROUNDING_SHARE = 1e-12


def settle(matrix: Floats, start: int, stop: int) -> None:
    """Overwrite columns `start` to `stop` with their lower plus their upper triangle, then zero."""
    for left in range(start, stop, STRIP_COLUMNS):
        right = min(left + STRIP_COLUMNS, stop)
        block, recent = matrix[left:right, left:right], matrix[left:right, right:]
        matrix[right:, left:right] += recent.T
        recent[:] = 0.0
        block[:] = (block + block.T) * _ONCE[: right - left, : right - left]


class Gram:
    """The Gram matrix X'X of all rows added and not removed.

    Parameters
    ----------
    width : int
        Number of features.
    raw_limit : int, optional
        Rows are held as they are until there are more than this many; only then is a
        width x width matrix made. Later rows wait in blocks of sixteen, which is the default
        here, too.
    recent_apart : bool, default=False
        Keep the sum of recent rows apart from that of older ones, in the triangle of the matrix
        that symmetry leaves free: rounding errors then grow with the sixth root of the number
        of rows instead of the square root.

    Examples
    --------
    >>> gram = Gram(2)
    >>> gram.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gram.remove(np.array([[1.0, 2.0]]))
    >>> total_gram([gram], width=2).tolist()
    [[9.0, 0.0], [12.0, 16.0]]
    """

    # rows[:waiting]: rows added but not folded into sums yet; all there are while sums is None.
    # sums: X'X of the folded rows. Strict lower triangle: of all or, with recent_apart, of the
    #     older rows; strict upper triangle: of the recent rows, or nothing; diagonal: of all.
    # diagonal + dropped: the diagonal once more, in twice the precision.
    # folds, strip: how often rows were folded, and which strip of columns is settled next.
    # highest: the largest trace of sums that any removal found; 0 before the first. Between
    #     removals the trace only grows.

    def __init__(
        self, width: int, raw_limit: int | None = None, recent_apart: bool = False
    ) -> None:
        self.width = width
        self.raw_limit = BLOCK_ROWS if raw_limit is None else raw_limit
        self.recent_apart = recent_apart
        self.rows = np.empty((0, width))
        self.waiting = 0
        self.matrix: Floats | None = None
        self.diagonal = np.zeros(0)
        self.dropped = np.zeros(0)
        self.folds = 0
        self.strip = 0
        self.highest = 0.0

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        held = 0 if self.matrix is None else self.matrix.nbytes
        return held + self.diagonal.nbytes + self.dropped.nbytes + self.rows.nbytes

    @property
    def trace(self) -> float:
        """Sum of the squares of everything held."""
        return float(self.diagonal.sum() + np.vdot(self.waiting_rows, self.waiting_rows))

    @property
    def peak(self) -> float:
        """Largest sum of squares that `sums` ever held: what their rounding is measured by.

        Rows that wait are no part of it: they are taken out to the last bit.
        """
        return max(self.highest, float(self.diagonal.sum()))

    @property
    def rounding(self) -> float:
        """What rounding may have left in the sums when they were larger, at most."""
        return ROUNDING_SHARE * self.peak

    @property
    def waiting_rows(self) -> Floats:
        """The rows not folded yet, shape (waiting, width)."""
        return self.rows[: self.waiting]

    def add(self, X: NDArray[np.floating]) -> None:
        """Add the rows of `X`, shape (m, width)."""
        self.prepare(X)()

    def prepare(self, X: NDArray[np.floating]) -> Callable[[], None]:
        """Do all of `add(X)` that can run out of memory; return a function that does the rest.

        Until that is called, nothing has changed.
        """
        self._thaw()
        needed = self.waiting + len(X)
        if self.matrix is None and needed <= self.raw_limit:
            capacity = min(self.raw_limit, max(needed, 2 * len(self.rows)))
            return partial(self._append, X, self._with_capacity(capacity))
        parts = self._parts()
        rows = self._with_capacity(BLOCK_ROWS)
        if len(X) > BLOCK_ROWS:
            fold = self._prepare_fold(X, 1.0, parts)
            return partial(self._take_in, None, rows, self.waiting, fold)
        if needed <= len(rows):
            return partial(self._take_in, X, rows, self.waiting, partial(self._hold, parts))
        fold = self._prepare_fold(self.waiting_rows, 1.0, parts)
        shorter = rows if len(rows) == BLOCK_ROWS else np.empty((BLOCK_ROWS, self.width))
        return partial(self._take_in, X, shorter, 0, fold)

    def remove(self, X: NDArray[np.floating]) -> None:
        """Remove the rows of `X`, or raise ValueError and change nothing."""
        self.prepare_removal(X)()

    def prepare_removal(self, X: NDArray[np.floating]) -> Callable[[], None]:
        """Do all of `remove(X)` that can fail; return a function that does the rest.

        Rows that still wait are taken out to the last bit: teaching and taking back leaves no
        trace. Of the others the product is subtracted; while no row has been folded, there
        cannot be others, and ValueError is raised.
        """
        self._thaw()
        held: dict[bytes, list[int]] = {}
        for place, row in enumerate(self.waiting_rows + 0.0):  # + 0.0 makes -0.0 equal to 0.0
            held.setdefault(row.tobytes(), []).append(place)
        found = [held.get(row.tobytes()) for row in X.astype(np.float64) + 0.0]
        places = [places.pop() if places else -1 for places in found]
        if self.matrix is None and -1 in places:
            raise InvalidInputError(
                "cannot forget a row that was not taught: no row that is held equals it in "
                "every feature, so the model is left as it was"
            )
        kept = np.delete(self.waiting_rows, [place for place in places if place >= 0], axis=0)
        rows = self.rows.copy()
        rows[: len(kept)] = kept
        if -1 not in places:
            return partial(self._take_in, None, rows, len(kept), _nothing)
        peak = self.peak
        folded = np.ascontiguousarray(X[[place < 0 for place in places]], dtype=np.float64)
        fold = self._prepare_fold(folded, -1.0, self._parts())

        def subtract() -> None:
            fold()
            self.highest = peak

        return partial(self._take_in, None, rows, len(kept), subtract)

    def times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (width,) or (width, k)."""
        rows = self.waiting_rows
        vector = columns.ndim == 1
        symmetric = blas.dsymv if vector else blas.dsymm
        product = times(rows.T, times(rows, columns)) if vector else rows.T @ (rows @ columns)
        if self.matrix is not None:
            product += symmetric(1.0, self.matrix, columns, lower=1)
        if self.matrix is not None and self.recent_apart:
            # Both triangles count, and so the diagonal has now been counted twice.
            product += symmetric(1.0, self.matrix, columns, lower=0)
            product -= (self.diagonal * columns.T).T
        return product

    def add_to(self, target: Floats, scale: float) -> None:
        """Overwrite the lower triangle of `target` with `target + scale X'X`.

        The upper triangle, which must be zero, serves on the way.
        """
        if self.matrix is not None:
            blas.daxpy(self.matrix.ravel(order="K"), target.ravel(order="K"), a=scale)
            if self.recent_apart:
                settle(target, 0, self.width)
        add_products(target, self.waiting_rows, scale, lower=True)

    def merge(self, other: "Gram") -> None:
        """Add everything `other` holds."""
        if other.matrix is None:
            self.add(other.waiting_rows.copy())
            return
        other = other.settled()
        assert other.matrix is not None
        peak = self.peak + other.peak
        self._thaw()
        self._hold(self._parts())
        assert self.matrix is not None
        self.matrix += other.matrix
        add_exactly(self.diagonal, self.dropped, other.diagonal)
        add_exactly(self.diagonal, self.dropped, other.dropped)
        self._restore_diagonal()
        self.folds += other.folds
        self.highest = peak

    def settled(self) -> "Gram":
        """Return a copy with all rows folded and all sums in one lower triangle."""
        other = copy.deepcopy(self)
        other._thaw()
        if other.waiting:
            other._prepare_fold(other.waiting_rows, 1.0, other._parts())()
            other.waiting = 0
        assert other.matrix is not None
        settle(other.matrix, 0, self.width)
        return other

    def restore(self, matrix: Floats, dropped: Floats, folds: int, highest: float) -> None:
        """Take over settled sums, (width, width), as another Gram held them."""
        if matrix.shape != (self.width, self.width) or dropped.shape != (self.width,):
            raise InvalidInputError("sums of different shapes do not belong together")
        self.matrix, self.diagonal, self.dropped = matrix, matrix.diagonal().copy(), dropped
        self.folds, self.highest = folds, highest

    def _thaw(self) -> None:
        """Copy what is mapped read-only from a file: BLAS would write to it all the same."""
        if not self.rows.flags.writeable:
            self.rows = self.rows.copy()
        if self.matrix is not None and not self.matrix.flags.writeable:
            self.matrix = np.array(self.matrix, order="F")

    def _parts(self) -> Parts:
        """Return sums, diagonal and dropped: those there are, or new ones."""
        if self.matrix is not None:
            return self.matrix, self.diagonal, self.dropped
        square = np.zeros((self.width, self.width), order="F")
        return square, np.zeros(self.width), np.zeros(self.width)

    def _hold(self, parts: Parts) -> None:
        self.matrix, self.diagonal, self.dropped = parts

    def _with_capacity(self, capacity: int) -> Floats:
        if capacity <= len(self.rows):
            return self.rows
        grown = np.empty((capacity, self.width))
        grown[: self.waiting] = self.waiting_rows
        return grown

    def _append(self, X: NDArray[np.floating], rows: Floats) -> None:
        rows[self.waiting : self.waiting + len(X)] = X
        self.rows = rows
        self.waiting += len(X)

    def _take_in(
        self,
        X: NDArray[np.floating] | None,
        rows: Floats,
        waiting: int,
        change: Callable[[], None],
    ) -> None:
        """Change the sums; then let `X` wait in `rows` behind the first `waiting` of them."""
        change()
        self.rows, self.waiting = rows, waiting
        if X is not None:
            self._append(X, rows)

    def _prepare_fold(
        self, X: NDArray[np.floating], sign: float, parts: Parts
    ) -> Callable[[], None]:
        matrix, diagonal, dropped = parts[0], parts[1].copy(), parts[2].copy()
        for start in range(0, len(X), SQUARED_ROWS):
            part = X[start : start + SQUARED_ROWS]
            squares = np.einsum("ij,ij->j", part, part, dtype=np.float64)
            add_exactly(diagonal, dropped, sign * squares)
        # What was added up in other groups than it is taken out of may leave less than nothing.
        diagonal[diagonal < 0] = dropped[diagonal < 0] = 0.0
        self._settle_some(matrix)
        room = room_for(X)

        def fold() -> None:
            add_products(matrix, X, sign, lower=not self.recent_apart, room=room)
            self._hold((matrix, diagonal, dropped))
            self._restore_diagonal()
            self.folds += 1

        return fold

    def _settle_some(self, matrix: Floats) -> None:
        # Each strip is settled once in N^(2/3) of N folds: then what rounding takes from the
        # recent sums and from the older ones grows alike, with N^(1/6).
        strips = -(-self.width // STRIP_COLUMNS)
        if self.recent_apart and self.folds % max(4, int(self.folds ** (2 / 3)) // strips) == 0:
            settle(matrix, self.strip, min(self.strip + STRIP_COLUMNS, self.width))
            self.strip = (self.strip + STRIP_COLUMNS) % (strips * STRIP_COLUMNS)

    def _restore_diagonal(self) -> None:
        assert self.matrix is not None
        self.matrix.ravel(order="K")[:: self.width + 1] = self.diagonal


def _nothing() -> None:
    pass


def total_gram(grams: Iterable[Gram], width: int) -> Floats:
    """Return the sum of several Grams as the lower triangle of a new matrix."""
    out = np.zeros((width, width), order="F")
    for gram in grams:
        gram.add_to(out, 1.0)
    return out
