"""What stands between rows and sums: a fixed map of rows, or none."""

from typing import Protocol

from newfound.common.device import Array


class Layer(Protocol):
    """A map of rows that never changes; two that are equal make the same of every row."""

    @property
    def inputs(self) -> int:
        """How many features rows have, d."""

    @property
    def outputs(self) -> int:
        """How many features are added up of a row, D."""

    def __call__(self, rows: Array) -> Array:
        """Return the features of rows (m, d), where they live, shape (m, D)."""


def features_of(rows: Array, layer: Layer | None) -> Array:
    """Return what is added up of rows (m, d): all of it, where nothing stands before the sums."""
    return rows if layer is None else layer(rows)
