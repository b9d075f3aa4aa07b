"""X'X of rows that come and go in blocks, with rounding errors that hardly grow."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import blas

from newfound.common.arrays import Floats
from newfound.sums.blas import add_products, diagonal_of, workspace_for
from newfound.sums.exact import add_exactly
from newfound.sums.shifted import ShiftedRows

# Columns moved from the recent sum to the old one at a time, so that no single step is slow.
STRIP_COLUMNS = 32
# Rows whose squares numpy adds one after the other before they are added exactly.
SQUARED_ROWS = 128


class Triangles:
    """A symmetric sum in one triangle, or in two: one of old rows and one of recent rows.

    Parameters
    ----------
    width : int
        Number of features, d.
    recent_apart : bool
        Hold the sum of recent rows apart from that of old ones. Rounding errors then grow with the
        sixth root of the number of rows instead of the square root.

    Examples
    --------
    >>> triangles = Triangles(2, recent_apart=True)
    >>> triangles.prepare(ShiftedRows(np.array([[1.0, 2.0], [3.0, 4.0]])))()
    >>> triangles.total().tolist()
    [[10.0, 0.0], [14.0, 20.0]]
    """

    # store: (d, d), or (d, d + 1) for two triangles side by side. A lower triangle fills its first
    #     d columns, an upper one its last d, and they share no entry.
    # diagonal + residue: the diagonal of X'X in twice the precision. The diagonal of the old
    #     triangle is the same, and that of the recent one is zero.
    # flushes: how many blocks of rows were added or removed.
    # strip: the first column that is moved next from the recent triangle to the old one.
    # highest: the largest trace that any removal found; 0 before the first. Between removals the
    #     trace only grows.

    def __init__(self, width: int, recent_apart: bool) -> None:
        self.width = width
        self.recent_apart = recent_apart
        self.store = np.zeros((width, width + recent_apart), order="F")
        self.diagonal = np.zeros(width)
        self.residue = np.zeros(width)
        self.flushes = 0
        self.strip = 0
        self.highest = 0.0

    @classmethod
    def restored(
        cls, matrix: Floats, residue: Floats, flushes: int, highest: float, recent_apart: bool
    ) -> "Triangles":
        """Return a sum from what another held, `matrix` being its `total()`."""
        restored = cls(len(residue), recent_apart)
        restored.old[:] = matrix
        restored.diagonal, restored.residue = matrix.diagonal().copy(), residue
        restored.flushes, restored.highest = flushes, highest
        return restored

    @property
    def old(self) -> Floats:
        """X'X of the old rows in the lower triangle, shape (d, d)."""
        return self.store[:, : self.width]

    @property
    def recent(self) -> Floats:
        """X'X of the recent rows in the upper triangle, shape (d, d)."""
        return self.store[:, 1:]

    @property
    def peak(self) -> float:
        """Largest trace there ever was: what rounding is measured by."""
        return max(self.highest, float(self.diagonal.sum()))

    def prepare(self, X: ShiftedRows, sign: float = 1.0) -> Callable[[], None]:
        """Do all that can fail of adding `sign` X'X; return a function that does the rest."""
        self._thaw()
        if X.size <= SQUARED_ROWS:
            X = ShiftedRows(X.part())  # once, for what follows takes them twice
        diagonal, residue = self.diagonal, self.residue
        for start in range(0, X.size, SQUARED_ROWS):
            part = X.part(slice(start, start + SQUARED_ROWS))
            squares = np.einsum("ij,ij->j", part, part, dtype=np.float64)
            diagonal, residue = add_exactly(diagonal, residue, sign * squares)
        # What was added up in other groups than it is taken out of may leave less than nothing.
        negative = diagonal < 0
        if negative.any():
            diagonal, residue = (np.where(negative, 0.0, part) for part in (diagonal, residue))
        highest = self.highest if sign > 0 else self.peak
        move, workspace = self._prepare_move(), workspace_for(X.rows, X.are_plain)

        def flush() -> None:
            move()
            self.diagonal, self.residue = diagonal, residue
            self.flushes, self.highest = self.flushes + 1, highest
            changing, lower = (self.recent, False) if self.recent_apart else (self.old, True)
            add_products(changing, X.rows, sign, lower=lower, workspace=workspace, write=X.write)
            self._set_diagonal()

        return flush

    def shift(self, by: Floats, total: Floats, weight_sum: float) -> None:
        """See all rows, whose sum is `total` (d,), from an origin that has moved `by` (d,).

        X'X becomes X'X - by total' - total by' + n by by'. What rounding left in it stays, so its
        peak should, too.
        """
        self._thaw()
        half = total - 0.5 * weight_sum * by
        diagonal = np.maximum(self.diagonal + self.residue - 2 * by * half, 0.0)
        blas.dsyr2(-1.0, by, half, a=self.old, lower=1, overwrite_a=1)
        self.diagonal, self.residue = diagonal, np.zeros(self.width)
        self._set_diagonal()

    def times(self, columns: Floats) -> Floats:
        """Return X'X times `columns`, of shape (d,) or (d, k); of fewer, its leading block."""
        symmetric, k = (blas.dsymv if columns.ndim == 1 else blas.dsymm), len(columns)
        product: Floats = symmetric(1.0, self.old[:k, :k], columns, lower=1)
        if self.recent_apart:
            product += symmetric(1.0, self.recent[:k, :k], columns, lower=0)
        return product

    def add_to(self, target: Floats, scale: float) -> None:
        """Overwrite the lower triangle of `target` with `target + scale X'X`, or a block of it."""
        size = len(target)
        if not self.recent_apart and size == self.width:
            blas.daxpy(self.old.ravel(order="K"), target.ravel(order="K"), a=scale)
            return
        for left in range(0, size, STRIP_COLUMNS):
            strip = slice(left, min(left + STRIP_COLUMNS, size))
            both = self.old[left:size, strip]
            if self.recent_apart:
                both = both + self.recent[strip, left:size].T
            target[left:, strip] += scale * np.tril(both)

    def total(self) -> Floats:
        """Return X'X as the lower triangle of a new matrix in Fortran order."""
        total = np.zeros((self.width, self.width), order="F")
        self.add_to(total, 1.0)
        return total

    def on_host(self) -> "Triangles":
        """Return a copy."""
        return copy.deepcopy(self)

    def merge(self, other: Any) -> None:
        """Add another sum of the same width, wherever it lives."""
        other = other.on_host()
        peak = self.peak + other.peak
        self._thaw()
        self.old[:] += other.total()
        sums = add_exactly(self.diagonal, self.residue, other.diagonal)
        self.diagonal, self.residue = add_exactly(*sums, other.residue)
        self._set_diagonal()
        self.flushes, self.highest = self.flushes + other.flushes, peak

    def _prepare_move(self) -> Callable[[], None]:
        """Return what moves a strip of columns from the recent sum to the old one, if one is due.

        Each strip is moved once in N^(2/3) of N flushes: then what rounding takes from the recent
        sum and from the old one grows alike, with N^(1/6).
        """
        strips = -(-self.width // STRIP_COLUMNS)
        if not self.recent_apart or self.flushes % max(4, int(self.flushes ** (2 / 3)) // strips):
            return _nothing
        left = self.strip
        strip = slice(left, left + STRIP_COLUMNS)
        moved = np.tril(self.recent[strip, left:].T)

        def move() -> None:
            self.old[left:, strip] += moved
            self.recent[strip, left:] -= moved.T  # leaves zeros in the triangle
            self.strip = (left + STRIP_COLUMNS) % (strips * STRIP_COLUMNS)

        return move

    def _thaw(self) -> None:
        """Copy what is mapped read-only from a file: BLAS would write to it all the same."""
        if not self.store.flags.writeable:
            self.store = np.array(self.store, order="F")

    def _set_diagonal(self) -> None:
        """Write the diagonal into the triangles."""
        diagonal_of(self.old)[:] = self.diagonal
        if self.recent_apart:
            diagonal_of(self.recent)[:] = 0.0


def _nothing() -> None:
    pass
