"""Rows held as they came."""

from collections.abc import Callable

import numpy as np

from newfound.common.arrays import Floats, Index, Rows


def find_rows(rows: Floats, X: Rows) -> Index:
    """Return the index in `rows` (k, d) of one that equals each of `X` (m, d), or -1; none twice.

    >>> find_rows(np.array([[1.0], [2.0], [2.0]]), np.array([[2.0], [3.0], [2.0], [2.0]]))
    array([ 2, -1,  1, -1])
    """
    held: dict[bytes, list[int]] = {}
    for index, row in enumerate(rows + 0.0):  # + 0.0 makes -0.0 equal to 0.0
        held.setdefault(row.tobytes(), []).append(index)
    found = [held.get(row.tobytes()) for row in X.astype(np.float64) + 0.0]
    return np.array([indices.pop() if indices else -1 for indices in found], dtype=np.intp)


class RowBuffer:
    """Rows in float64 that can be taken out again to the last bit.

    Parameters
    ----------
    width : int
        Number of features.

    Examples
    --------
    >>> buffer = RowBuffer(2)
    >>> buffer.prepare(np.array([[1.0, 2.0], [3.0, 4.0]]), capacity=16)()
    >>> buffer.find(np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [1, -1]
    """

    # _space[:count]: the rows.

    def __init__(self, width: int) -> None:
        self.count = 0
        self._space = np.empty((0, width))

    @property
    def rows(self) -> Floats:
        """The rows, shape (count, width); must not be written to."""
        return self._space[: self.count]

    @property
    def capacity(self) -> int:
        """How many rows there is space for."""
        return len(self._space)

    def prepare(self, X: Rows, capacity: int) -> Callable[[], None]:
        """Make space for `X`, and for `capacity` rows in all; return what appends `X`."""
        space, start, stop = self._space, self.count, self.count + len(X)
        # What is mapped read-only from a file is copied.
        if capacity > len(space) or not space.flags.writeable:
            space = np.empty((max(capacity, len(space)), space.shape[1]))
            space[:start] = self.rows

        def append() -> None:
            space[start:stop] = X
            self._space, self.count = space, stop

        return append

    def find(self, X: Rows) -> Index:
        """Return the index of a row that equals each row of `X`, or -1; none is found twice."""
        return find_rows(self.rows, X)

    def prepare_removal(self, indices: Index) -> Callable[[], None]:
        """Return what takes out the rows at `indices`; the others keep their order."""
        kept = np.delete(self.rows, indices, axis=0)
        space = np.empty(self._space.shape)
        space[: len(kept)] = kept

        def remove() -> None:
            self._space, self.count = space, len(kept)

        return remove
