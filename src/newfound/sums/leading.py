"""The sums of the first features alone, of sums of more."""

from typing import Any, cast

import numpy as np
from scipy.linalg import lapack

from newfound.common.arrays import Floats, Rows
from newfound.common.device import Array
from newfound.sums.arrays import from_arrays, to_arrays
from newfound.sums.gram import total_gram
from newfound.sums.shifted import ShiftedRows
from newfound.sums.sums import Sums


class LeadingSums:
    """A view of sums, as they are at any moment: those of the first `width` features.

    X'X of these is the leading block of X'X. Labels, counts and weights are those of all of it.

    Parameters
    ----------
    whole : Sums
    width : int

    Examples
    --------
    >>> sums = Sums.of([[1.0, 5.0], [2.0, 6.0]], ["cup", "mug"])
    >>> view = leading(sums, 1)
    >>> view.gram, view.cross, view.labels.tolist()
    (array([[5.]]), array([[1., 2.]]), ['cup', 'mug'])
    """

    def __init__(self, whole: Sums, width: int) -> None:
        self._whole, self.width = whole, width

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # also while it is made of a copy
            raise AttributeError(name)
        return getattr(self._whole, name)

    @property
    def origin(self) -> Array | None:
        """Where rows are seen from, shape (width,)."""
        origin = self._whole.origin
        return None if origin is None else origin[: self.width]

    @property
    def cross(self) -> Array:
        """X'Y of rows seen from there, shape (width, T)."""
        return self._whole.cross[: self.width, :]

    @property
    def squares(self) -> Floats:
        """Sum of the squares of each feature, shape (width,), on the host."""
        return self._whole.squares[: self.width]

    @property
    def trace(self) -> float:
        """Sum of the squares of all features."""
        return float(self.squares.sum())

    @property
    def gram(self) -> Array:
        """X'X as the lower triangle of a new matrix in Fortran order; on a device, all of it."""
        return total_gram(self._whole.grams, self.width, self._whole.device)

    def gram_in(self, workspace: Array) -> Array:
        """Overwrite a matrix with X'X, in its lower triangle; return it."""
        return total_gram(self._whole.grams, self.width, self._whole.device, workspace)

    def gram_times(self, columns: Array) -> Array:
        """Return X'X times `columns`, of shape (width,) or (width, k)."""
        return sum(gram.times(columns) for gram in self._whole.grams)

    @property
    def held_rows(self) -> Floats | None:
        """A copy of all rows, shape (n, width), if they are still held as they came."""
        rows = self._whole.held_rows
        return None if rows is None else np.ascontiguousarray(rows[:, : self.width])

    def around(self, X: Rows, weights: Floats | None = None) -> Rows:
        """Return rows `X` (m, width) seen from the origin, times the roots of their weights."""
        rows: Rows = ShiftedRows(X, self.origin, weights, self._whole.device).part()
        return rows


def leading(sums: Sums, width: int) -> Sums:
    """Return the sums of the first features alone; the same, where these are all."""
    return sums if width == sums.width else cast(Sums, LeadingSums(sums, width))


def leading_copy(sums: Sums, width: int) -> Sums:
    """Return new sums, on the host, of the first features alone.

    >>> sums = Sums.of([[1.0, 5.0], [2.0, 6.0]], ["cup", "mug"])
    >>> copy = leading_copy(sums, 1)
    >>> copy.add(np.array([[3.0]]), np.array([0]), copy.labels)
    >>> copy.gram, sums.gram[:1, :1]
    (array([[14.]]), array([[5.]]))
    """
    arrays = to_arrays(sums)
    packed = [lapack.dtpttr(sums.width, part, uplo="L")[0] for part in arrays["gram"]]
    blocks = [lapack.dtrttp(full[:width, :width], uplo="L")[0] for full in packed]
    arrays["gram"] = np.array(blocks).reshape(-1, width * (width + 1) // 2)
    for name in ("cross", "cross_residue", "gram_residue", "rows"):
        arrays[name] = np.ascontiguousarray(arrays[name][:, :width])
    arrays["origin"] = arrays["origin"][:width]
    return from_arrays(arrays, sums.labels, sums.per_class, sums.dtype, is_centred=sums.is_centred)
