"""Rows as they are added up: seen from an origin, each times the root of its weight."""

from dataclasses import dataclass

import numpy as np

from newfound.common.arrays import Floats
from newfound.common.device import Array, Device
from newfound.sums.device import weighted

EVERY = slice(None)


@dataclass(frozen=True)
class ShiftedRows:
    """Rows seen from an origin, made a part at a time, so that no batch is copied as a whole.

    Examples
    --------
    >>> rows = ShiftedRows(np.array([[5.0], [7.0]]), np.array([4.0]), np.array([1.0, 4.0]))
    >>> rows.part()
    array([[1.],
           [6.]])
    """

    rows: Array  # as they came, shape (m, d)
    origin: Array | None = None  # shape (d,), where the rows live; None: zero
    weights: Floats | None = None  # shape (m,), on the host; None: each weighs one
    device: Device | None = None  # where the rows live, if that is not the host

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.rows.shape[0])

    @property
    def are_plain(self) -> bool:
        """Whether they are added up just as they came."""
        return self.origin is None and self.weights is None

    def part(self, part: slice = EVERY) -> Array:
        """Return some of them as they are added up, or all."""
        rows = self.rows[part, :]
        if self.origin is not None:
            rows = rows - self.origin
        return rows if self.weights is None else weighted(rows, self.weights[part], self.device)

    def write(self, part: slice, out: Floats) -> None:
        """Overwrite `out` (k, d) with some of them, on the host; it takes no other memory."""
        out[:] = self.rows[part]
        if self.origin is not None:
            out -= self.origin
        if self.weights is not None:
            out *= np.sqrt(self.weights[part])[:, None]
