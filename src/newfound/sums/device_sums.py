"""The sums of rows that live on a device: what `Triangles` and `Cross` are for numpy's."""

from collections.abc import Callable

import numpy as np

from newfound.common.arrays import Floats, Index, Mask
from newfound.common.device import Array, Device
from newfound.sums.device import (
    add_products,
    blocks,
    both_triangles,
    chunks,
    rows_at,
    with_capacity,
)
from newfound.sums.shifted import ShiftedRows
from newfound.sums.triangles import Triangles


class DeviceMatrix:
    """X'X of rows that come and go in blocks, on a device.

    Parameters
    ----------
    matrix : array of shape (d, d)
        Both triangles; taken over.
    device : Device
    flushes, highest
        As in `Triangles`.

    Examples
    --------
    >>> import array_api_strict
    >>> rows = array_api_strict.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> device = Device("array_api_strict", rows.device)
    >>> added_up = DeviceMatrix(device.zeros(2, 2), device)
    >>> added_up.prepare(ShiftedRows(rows, device=device))()
    >>> added_up.on_host().total()
    array([[10.,  0.],
           [14., 20.]])
    """

    def __init__(
        self, matrix: Array, device: Device, flushes: int = 0, highest: float = 0.0
    ) -> None:
        self.matrix, self.device = matrix, device
        self.flushes, self.highest = flushes, highest

    @property
    def diagonal(self) -> Floats:
        """Sum of the squares of each feature, shape (d,), on the host."""
        return self.device.host(self.device.xp.linalg.diagonal(self.matrix))

    @property
    def peak(self) -> float:
        """Largest trace there ever was: what rounding is measured by."""
        return max(self.highest, float(self.diagonal.sum()))

    def prepare(self, X: ShiftedRows, sign: float = 1.0) -> Callable[[], None]:
        """Do all that can fail of adding `sign` X'X; return a function that does the rest."""
        highest = self.highest if sign > 0 else self.peak

        def flush() -> None:
            for part in chunks(X.rows):
                add_products(self.matrix, X.part(part), sign, self.device)
            self.flushes, self.highest = self.flushes + 1, highest

        return flush

    def shift(self, by: Array, total: Array, weight_sum: float) -> None:
        """See all rows, whose sum is `total` (d,), from an origin that has moved `by` (d,)."""
        half = total - 0.5 * weight_sum * by
        for columns in blocks(self.matrix.shape[0]):
            self.matrix[:, columns] -= by[:, None] * half[None, columns]
            self.matrix[:, columns] -= half[:, None] * by[None, columns]

    def times(self, columns: Array) -> Array:
        """Return X'X times `columns`, of shape (d,) or (d, k); of fewer, its leading block."""
        k = columns.shape[0]
        return self.matrix[:k, :k] @ columns

    def add_to(self, target: Array, scale: float) -> None:
        """Overwrite `target` (d, d) with `target + scale X'X`, or with a leading block of it."""
        size = target.shape[0]
        for columns in blocks(size):
            target[:, columns] += scale * self.matrix[:size, columns]

    def merge(self, other: "DeviceMatrix | Triangles") -> None:
        """Add another sum of the same width, wherever it lives."""
        peak = self.peak + other.peak
        if isinstance(other, DeviceMatrix) and other.device == self.device:
            other.add_to(self.matrix, 1.0)
        else:
            self.matrix += self.device.put(both_triangles(other.on_host().total()))
        self.flushes, self.highest = self.flushes + other.flushes, peak

    def on_host(self) -> Triangles:
        """Return a copy on the host."""
        total = np.asfortranarray(np.tril(self.device.host(self.matrix)))
        # Rounding may leave less than nothing of what was taken out.
        np.fill_diagonal(total, np.maximum(total.diagonal(), 0.0))
        residue = np.zeros(len(total))
        return Triangles.restored(total, residue, self.flushes, self.highest, recent_apart=False)


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
        self,
        X: Array,
        index: Index,
        exact: bool,
        sample_weight: Floats | None = None,
        origin: Array | None = None,
    ) -> tuple[Index, Array]:
        """Return classes next to each other, and one term (1, k, d) of each one's rows."""
        around = ShiftedRows(X, origin)
        if X.shape[0] == 1:
            row = self.device.double(around.part())[None, :, :]
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
            total += members.T @ self.device.double(around.part(part))
        return np.arange(low, high), total[None, :, :]

    def prepare(self, index: Index, terms: Array, size: int) -> Callable[[], None]:
        """Reserve memory for `size` classes; return what adds `terms` (m, k, d) to some of them."""
        self._totals = with_capacity(self._totals, size, self.device)
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

    def shifted(self, by: Array, weight_sums: Floats, varies: Mask) -> "DeviceCross":
        """Return the sums of the same rows seen from an origin that has moved `by` (d,).

        Of features that do not vary (d,), it is in every row what it is there: they add up to zero.
        """
        weights, varying = self.device.put(weight_sums)[:, None], self.device.put(1.0 * varies)
        return DeviceCross((self.totals - weights * by[None, :]) * varying[None, :], self.device)

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
