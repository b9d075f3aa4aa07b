"""What the rows of a model look like; whatever comes in is checked here, once."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from newfound.common.arrays import Floats, Labels, Rows
from newfound.common.errors import InputError
from newfound.distributed.collections import in_memory, is_collection, length
from newfound.sums.labels import as_labels
from newfound.sums.rows import as_rows
from newfound.sums.sparse import blocks
from newfound.sums.weights import as_weights, counted


class Checked(NamedTuple):
    """Rows, labels and weights that need no other check."""

    rows: Rows  # shape (m, d), float32 or float64; of a regression, they end in their targets
    y: Labels  # shape (m,)
    weights: Floats | None  # shape (m,), above 0; None: every row weighs one


class Schema:
    """How many features rows have, and what these are called: what the first rows said.

    Parameters
    ----------
    width : int, default=0
        Number of features, d; 0 before the first rows.
    names : list of str, optional
        Of the features.

    Examples
    --------
    >>> schema = Schema()
    >>> schema.check([[0.0, 1.0]], ["mug"], reset=True).y, schema.width
    (array(['mug'], dtype='<U3'), 2)
    >>> schema.rows([[0.0]])
    Traceback (most recent call last):
    newfound.InputError: X has 1 features, but this model was taught 2
    """

    # targets: how many numbers at the end of rows are targets of a regression.
    # is_flat: whether these came in one dimension.
    targets = 0
    is_flat = False

    def __init__(self, width: int = 0, names: list[str] | None = None) -> None:
        self.width, self.names = width, names

    def like(self, other: "Schema") -> Self:
        """Return one of this kind that has seen the rows that another has."""
        schema = self.blank()
        schema.width, schema.names = other.width, other.names
        schema.targets, schema.is_flat = other.targets, other.is_flat
        return schema

    def blank(self) -> Self:
        """Return one of this kind that has seen no rows."""
        return type(self)()

    def rows(self, X: Any, reset: bool = False) -> Rows:
        """Return `X` as rows, or raise ValueError; with `reset`, note what the features are."""
        rows = as_rows(X)
        if not len(rows):
            raise InputError("X holds no rows, but at least one is needed")
        if reset:
            self.width = rows.shape[1]
        elif rows.shape[1] != self.width:
            raise InputError(
                f"X has {rows.shape[1]} features, but this model was taught {self.width}"
            )
        return rows

    def y(self, X: Any, y: Any) -> Labels:
        """Return `y` as labels, one for each row of `X`, or raise ValueError."""
        labels = as_labels(in_memory(y))
        if length(X) != len(labels):
            raise InputError(f"X has {length(X)} rows, but y has {len(labels)} labels")
        return labels

    def check(self, X: Any, y: Any, weights: Any = None, reset: bool = False) -> Checked:
        """Return rows with their labels, without those that weigh nothing, or raise ValueError."""
        labels, rows = self.y(X, y), self.rows(X, reset)
        if weights is None:  # nearly always, so without a detour
            return Checked(rows, labels, None)
        return self.without_weightless(rows, labels, weights)

    @staticmethod
    def without_weightless(rows: Rows, y: Labels, weights: Any) -> Checked:
        """Return rows and labels without those that weigh nothing, or raise ValueError."""
        return Checked(*counted(rows, y, as_weights(in_memory(weights), len(y))))

    def classes(self, y: Labels) -> Labels:
        """Return the class of each row, given what `y` returned of them."""
        return y

    def lazy_y(self, y: Any) -> Any:
        """Return what belongs to the rows of a Dask collection: lazy, too, or checked."""
        return y if is_collection(y) else self.y(y, y)

    def names_with(self, other: "Schema", what: str) -> list[str] | None:
        """Return the names of both, where either has any, or raise ValueError if they differ."""
        if self.names is not None and other.names is not None and self.names != other.names:
            raise InputError(f"{what} features of other names")
        return self.names if self.names is not None else other.names

    def must_match_device(self) -> bool:
        """Tell whether rows must live where the model does: scikit-learn dispatches them."""
        return False


def batches(schema: Schema, X: Any, y: Any, weights: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield what is to be checked at a time of long sparse rows: a block.

    Blocks in which nothing weighs anything are passed over.
    """
    y = schema.y(X, y)
    weights = as_weights(weights, len(y))
    for place, rows in blocks(X):
        own = None if weights is None else weights[place]
        if own is None or own.any():
            yield rows, y[place], own
