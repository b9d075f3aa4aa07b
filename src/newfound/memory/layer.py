"""What stands between rows and sums: a map of rows, the same for ever, or none."""

from collections.abc import Callable

from newfound.common.device import Array

# From rows (m, d) to their features, which are added up, shape (m, D).
Layer = Callable[[Array], Array]


def features_of(rows: Array, layer: Layer | None) -> Array:
    """Return what is added up of rows (m, d): all of it, where nothing stands before the sums."""
    return rows if layer is None else layer(rows)
