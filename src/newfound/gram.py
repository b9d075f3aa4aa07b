"""X'X of rows that come and go, without rounding errors that grow with their number."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

Floats = NDArray[np.float64]

# Side of the tiles in which sums are added, so that temporaries stay in cache.
TILE = 64
# Rows converted to float64 at a time when a large batch has another type.
CHUNK_ROWS = 4096


def add_exactly(total: Floats, dropped: Floats, term: Floats) -> None:
    """Overwrite `total` and `dropped` so that their sum grows by `term`.

    `total` is the float64 nearest to the sum, `dropped` what that rounding leaves out: a sum in
    twice the working precision (Knuth's two-sum). Added one by one in plain float64, the sums of
    100,000 rows lose 50 times as much as the Cholesky solve that uses them; these lose nothing.
    """
    raised = total + term
    back = raised - total
    error = (total - (raised - back)) + (term - back) + dropped
    np.add(raised, error, out=total)
    np.subtract(error, total - raised, out=dropped)


def second_moment(X: NDArray[np.floating]) -> Floats:
    """Return X'X in float64; only its lower triangle is set.

    >>> second_moment(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[10.0, 0.0], [14.0, 20.0]]
    """
    out = np.zeros((X.shape[1], X.shape[1]), order="F")
    for start in range(0, len(X), CHUNK_ROWS):
        chunk = np.ascontiguousarray(X[start : start + CHUNK_ROWS], dtype=np.float64)
        out = blas.dsyrk(1.0, chunk.T, beta=1.0, c=out, lower=1, overwrite_c=1)
    return out


def block_rows(width: int) -> int:
    """Return how many rows wait before one matrix product adds them all.

    Enough to pay for the exact addition, few enough to be small beside the matrix.

    >>> block_rows(64), block_rows(1280), block_rows(4096)
    (64, 80, 256)
    """
    return min(max(64, width // 16), 256)


class Gram:
    """The Gram matrix X'X of all rows added and not removed.

    Parameters
    ----------
    width : int
        Number of features.
    raw_limit : int, optional
        Rows are held as they are until there are more than this many; only then is a
        width x width matrix made. Later rows wait in blocks of `block_rows(width)`, which is
        the default here too.

    Examples
    --------
    >>> gram = Gram(2)
    >>> gram.add(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> gram.remove(np.array([[1.0, 2.0]]))
    >>> np.tril(gram.folded()).tolist()
    [[9.0, 0.0], [12.0, 16.0]]
    """

    # sums: lower triangle: X'X of the folded rows, correctly rounded. Strict upper triangle,
    #     transposed: what that rounding dropped. None until the first fold.
    # dropped: what rounding dropped from the diagonal.
    # rows[:waiting]: rows added but not folded yet; all there are while sums is None.

    def __init__(self, width: int, raw_limit: int | None = None) -> None:
        self.width = width
        self.block = block_rows(width)
        self.raw_limit = self.block if raw_limit is None else raw_limit
        self.sums: Floats | None = None
        self.dropped = np.zeros(0)
        self.rows = np.empty((0, width))
        self.waiting = 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        held = 0 if self.sums is None else self.sums.nbytes
        return held + self.dropped.nbytes + self.rows.nbytes

    @property
    def trace(self) -> float:
        """Sum of the squares of everything held."""
        folded = 0.0 if self.sums is None else float(self.sums.trace())
        return folded + float(np.vdot(self.waiting_rows, self.waiting_rows))

    @property
    def waiting_rows(self) -> Floats:
        """The rows not folded yet, shape (waiting, width)."""
        return self.rows[: self.waiting]

    def add(self, X: NDArray[np.floating]) -> None:
        """Add the rows of `X`, shape (m, width)."""
        self.prepare(X)()

    def prepare(self, X: NDArray[np.floating]) -> Callable[[], None]:
        """Do all of `add(X)` that can run out of memory; return a function that does the rest."""
        needed = self.waiting + len(X)
        if self.sums is None and needed <= self.raw_limit:
            self._reserve(min(self.raw_limit, max(needed, 2 * len(self.rows))))
            return lambda: self._wait(X)
        self._allocated()
        self._reserve(self.block)
        if len(X) <= self.block:
            return lambda: self._wait(X)
        moment = second_moment(X)
        return lambda: self._accumulate(lambda rows, columns: moment[rows, columns])

    def remove(self, X: NDArray[np.floating]) -> None:
        """Remove the rows of `X`, or raise ValueError and change nothing.

        Rows that still wait are taken out to the last bit: teaching and taking back leaves no
        trace. Of the others the product is subtracted; while no row has been folded, there
        cannot be others.
        """
        found = self.find(X)
        folded = X[[place is None for place in found]]
        moment = second_moment(folded) if len(folded) else None
        kept = np.delete(self.waiting_rows, [p for p in found if p is not None], axis=0)
        self.rows[: len(kept)] = kept
        self.waiting = len(kept)
        if moment is not None:
            self._accumulate(lambda rows, columns: -moment[rows, columns])

    def find(self, X: NDArray[np.floating]) -> list[int | None]:
        """Return where each row of `X` waits, None if it does not; no place is given twice.

        Raises ValueError for a row that does not wait while all rows there are do.
        """
        found: list[int | None] = []
        for row in X:
            same = np.flatnonzero((self.waiting_rows == row).all(axis=1)).tolist()
            found.append(next((place for place in same if place not in found), None))
        if self.sums is None and None in found:
            raise ValueError(
                "cannot forget a row that was not taught: no row that is held equals it in "
                "every feature, so the model is left as it was"
            )
        return found

    def folded(self) -> Floats:
        """Return X'X as the lower triangle of a matrix that must not be written to."""
        if self.waiting:
            waiting = self.waiting_rows
            self._accumulate(lambda rows, columns: (waiting[:, columns].T @ waiting[:, rows]).T)
            self.waiting = 0
            if len(self.rows) > self.block:
                self.rows = self.rows[: self.block].copy()
        return self._allocated()

    def add_to(self, target: Floats, scale: float) -> None:
        """Overwrite the lower triangle of `target` with `target + scale X'X`."""
        if self.sums is not None:
            flat = target.ravel(order="K")
            blas.daxpy(self.sums.ravel(order="K"), flat, a=scale)
        if self.waiting:
            rows = self.waiting_rows
            blas.dsyrk(scale, rows.T, beta=1.0, c=target, lower=1, overwrite_c=1)

    def merge(self, other: "Gram") -> None:
        """Add everything `other` holds."""
        rows = other.waiting_rows.copy()
        if other.sums is None:
            self.add(rows)
            return
        # The two parts are added apart: their sum would not fit float64.
        sums, dropped = np.tril(other.sums), np.triu(other.sums, 1).T
        np.fill_diagonal(dropped, other.dropped)
        self._allocated()
        add_rows = self.prepare(rows)
        self._accumulate(lambda rows, columns: sums[rows, columns])
        self._accumulate(lambda rows, columns: dropped[rows, columns])
        add_rows()

    def restore(self, sums: Floats, dropped: Floats) -> None:
        """Take over `sums`, (width, width), and `dropped`, (width,), as another Gram held them."""
        if sums.shape != (self.width, self.width) or dropped.shape != (self.width,):
            raise ValueError("sums of different shapes do not belong together")
        self.sums, self.dropped = sums, dropped

    def _reserve(self, capacity: int) -> None:
        if capacity > len(self.rows):
            grown = np.empty((capacity, self.width))
            grown[: self.waiting] = self.waiting_rows
            self.rows = grown

    def _wait(self, X: NDArray[np.floating]) -> None:
        if self.waiting + len(X) > len(self.rows):
            self.folded()
        self.rows[self.waiting : self.waiting + len(X)] = X
        self.waiting += len(X)

    def _allocated(self) -> Floats:
        if self.sums is None:
            self.dropped = np.zeros(self.width)
            self.sums = np.zeros((self.width, self.width), order="F")
        return self.sums

    def _accumulate(self, tile: Callable[[slice, slice], Floats]) -> None:
        """Add a symmetric matrix, given by a function that makes a tile of it, to the sums."""
        sums = self._allocated()
        for left in range(0, self.width, TILE):
            columns = slice(left, left + TILE)
            self._add_diagonal_tile(columns, tile(columns, columns))
            for top in range(left + TILE, self.width, TILE):
                rows = slice(top, top + TILE)
                add_exactly(sums[rows, columns], sums[columns, rows].T, tile(rows, columns))

    def _add_diagonal_tile(self, span: slice, term: Floats) -> None:
        # Here both triangles share one block: take them apart, add, put them together again.
        block = self._allocated()[span, span]
        total = np.tril(block)
        dropped = np.triu(block, 1).T
        np.fill_diagonal(dropped, self.dropped[span])
        add_exactly(total, dropped, np.tril(term))
        self.dropped[span] = dropped.diagonal()
        np.fill_diagonal(dropped, 0.0)
        block[:] = total + dropped.T


def total_gram(grams: Iterable[Gram], width: int) -> Floats:
    """Return the sum of several Grams as the lower triangle of a new matrix."""
    out = np.zeros((width, width), order="F")
    for gram in grams:
        gram.add_to(out, 1.0)
    return out
