"""Rows held as they came."""

from collections.abc import Callable

import numpy as np

from newfound.common.arrays import Floats, Index, Rows
from newfound.common.device import Array, Device
from newfound.sums.device import rows_at, zeros

# Rows of a device that are looked for one by one, and not on the host.
FEW_ROWS = 64

NOT_HELD = (
    "cannot forget a row that was not taught: no row that is held equals it in every feature, so "
    "the model is left as it was"
)


def find_rows(rows: Floats, X: Rows, weights: Floats, sought: Floats) -> Index:
    """Return the index in `rows` (k, d) of one that equals each of `X` (m, d), or -1; none twice.

    So do their `weights` (k,) and those that are `sought` (m,).

    >>> rows, X = np.array([[1.0], [2.0], [2.0]]), np.array([[2.0], [3.0], [2.0], [2.0]])
    >>> find_rows(rows, X, np.ones(3), np.ones(4))
    array([ 2, -1,  1, -1])
    """
    places: dict[tuple[bytes, float], list[int]] = {}
    held = zip(rows + 0.0, weights.tolist(), strict=True)  # + 0.0 makes -0.0 equal to 0.0
    for index, (row, weight) in enumerate(held):
        places.setdefault((row.tobytes(), weight), []).append(index)
    pairs = zip(X.astype(np.float64) + 0.0, sought.tolist(), strict=True)
    equal = [places.get((row.tobytes(), weight)) for row, weight in pairs]
    return np.array([indices.pop() if indices else -1 for indices in equal], dtype=np.intp)


def find_there(rows: Array, X: Array, weights: Floats, sought: Floats, device: Device) -> Index:
    """Return what `find_rows` does of rows that live on a device, (k, d) and (m, d)."""
    places = np.full(X.shape[0], -1, dtype=np.intp)
    if X.shape[0] > FEW_ROWS and rows.shape[0]:
        # Of most rows, the first feature says that they do not wait.
        held, firsts = device.host(rows), device.host(device.put(X[:, :1]))[:, 0]
        near = np.flatnonzero(np.isin(firsts, held[:, 0]))
        few = device.host(rows_at(X, near, device))
        places[near] = find_rows(held, few, weights, sought[near])
        return places
    free = np.ones(rows.shape[0], dtype=bool)
    for number in range(X.shape[0] if rows.shape[0] else 0):
        row = device.double(X[number : number + 1, :])
        equal = device.host(device.xp.all(rows == row, axis=1)) & free & (weights == sought[number])
        if equal.any():
            places[number] = np.flatnonzero(equal)[-1]
            free[places[number]] = False
    return places


class RowBuffer:
    """Rows in float64, and what they weigh, that can be taken out again to the last bit.

    Parameters
    ----------
    width : int
        Number of features.
    device : Device, optional
        Where rows live, if that is not the host.

    Examples
    --------
    >>> buffer = RowBuffer(2)
    >>> buffer.prepare(np.array([[1.0, 2.0], [3.0, 4.0]]), capacity=16)()
    >>> buffer.find(np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [1, -1]
    """

    # _space[:count]: the rows.
    # _weights[:count]: what each weighs, on the host. None: one.

    def __init__(self, width: int, device: Device | None = None) -> None:
        self.count, self.device = 0, device
        self._space = zeros((0, width), device)
        self._weights: Floats | None = None

    @property
    def rows(self) -> Array:
        """The rows, shape (count, width); must not be written to."""
        return self._space[: self.count, :]

    @property
    def weights(self) -> Floats | None:
        """What each row weighs, shape (count,); None: one."""
        return None if self._weights is None else self._weights[: self.count]

    @property
    def capacity(self) -> int:
        """How many rows there is space for."""
        return int(self._space.shape[0])

    def prepare(self, X: Rows, capacity: int, weights: Floats | None = None) -> Callable[[], None]:
        """Make space for `X`, and for `capacity` rows in all; return what appends `X`."""
        space, start, stop = self._space, self.count, self.count + X.shape[0]
        # What is mapped read-only from a file is copied.
        if capacity > space.shape[0] or not (self.device or space.flags.writeable):
            space = zeros((max(capacity, space.shape[0]), space.shape[1]), self.device)
            space[:start, :] = self.rows
        beside = self._weights
        if beside is not None or weights is not None:
            beside = np.ones(space.shape[0])
            beside[:start] = 1.0 if self._weights is None else self.weights
            beside[start:stop] = 1.0 if weights is None else weights

        def append() -> None:
            space[start:stop, :] = X if self.device is None else self.device.double(X)
            self._space, self.count, self._weights = space, stop, beside

        return append

    def find(self, X: Rows, weights: Floats | None = None) -> Index:
        """Return the index of a row that equals each row of `X`, or -1; none is found twice."""
        held = np.ones(self.count) if self.weights is None else self.weights
        sought = np.ones(X.shape[0]) if weights is None else weights
        if self.device is None:
            return find_rows(self.rows, X, held, sought)
        return find_there(self.rows, X, held, sought, self.device)

    def prepare_removal(self, indices: Index) -> Callable[[], None]:
        """Return what takes out the rows at `indices`; the others keep their order."""
        kept = np.delete(np.arange(self.count), indices)
        space = zeros(self._space.shape, self.device)
        space[: len(kept), :] = rows_at(self.rows, kept, self.device)
        beside = self._weights
        if beside is not None:
            beside = np.ones(len(beside))
            beside[: len(kept)] = self._weights[kept]  # type: ignore[index]

        def remove() -> None:
            self._space, self.count, self._weights = space, len(kept), beside

        return remove
