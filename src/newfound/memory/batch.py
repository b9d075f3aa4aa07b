"""Rows that were checked, on their way into a memory or out of it."""

from typing import NamedTuple

from newfound.common.arrays import Floats, Index, Labels, Rows


class Batch(NamedTuple):
    """Labelled rows that nobody has to check again; `Memory.batch` makes them.

    Rows live where the sums do, on the host or on a device; all else is on the host.
    """

    rows: Rows  # as they came, shape (m, d)
    features: Rows  # what is added up of them, shape (m, D)
    of_class: Index  # the class of each, shape (m,)
    labels: Labels  # of all classes, old and new, shape (T,)
    weights: Floats | None = None  # as how many examples each counts, above 0; None: as one

    @property
    def size(self) -> int:
        """How many rows there are, m."""
        return len(self.of_class)

    @property
    def y(self) -> Labels:
        """The label of each row, shape (m,)."""
        y: Labels = self.labels[self.of_class]
        return y

    def first(self, size: int) -> "Batch":
        """Return the first rows."""
        return self.part(slice(0, size))

    def part(self, part: slice) -> "Batch":
        """Return some of the rows, or all."""
        weights = None if self.weights is None else self.weights[part]
        rows, features = self.rows[part, :], self.features[part, :]
        return Batch(rows, features, self.of_class[part], self.labels, weights)
