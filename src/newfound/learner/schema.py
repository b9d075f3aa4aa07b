"""What the rows of a model look like; whatever comes in is checked here, once."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Self

from newfound.common.arrays import Floats, Labels, Rows
from newfound.common.errors import InputError
from newfound.distributed.collections import in_memory, is_collection, length
from newfound.layers.projection import Projection
from newfound.solvers.settings import AnySettings, layer_of
from newfound.sums.labels import as_labels
from newfound.sums.rows import as_rows
from newfound.sums.sparse import MOST_FEATURES, blocks, is_sparse
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
    projection : Projection, optional
        What rows leave through, if they have too many features for sums of all of them.

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
    # begin: what returns the parameters of the model that the first rows begin, until they came.
    targets = 0
    is_flat = False
    begin: Callable[[], AnySettings] | None = None

    def __init__(
        self,
        width: int = 0,
        names: list[str] | None = None,
        projection: Projection | None = None,
    ) -> None:
        self.width, self.names, self.projection = width, names, projection

    @property
    def outputs(self) -> int:
        """How many features rows have that leave."""
        return self.width if self.projection is None else self.projection.outputs

    def like(self, other: "Schema") -> Self:
        """Return one of this kind that has seen the rows that another has."""
        schema = self.blank()
        schema.width, schema.names, schema.projection = other.width, other.names, other.projection
        schema.targets, schema.is_flat = other.targets, other.is_flat
        return schema

    def blank(self, begin: Callable[[], AnySettings] | None = None) -> Self:
        """Return one of this kind that has seen no rows, of a model with the parameters to come."""
        schema = type(self)()
        schema.begin = begin
        return schema

    def rows(self, X: Any, reset: bool = False) -> Rows:
        """Return `X` as rows, or raise ValueError; with `reset`, note what the features are."""
        is_wide = is_sparse(X) and X.ndim == 2 and X.shape[1] > MOST_FEATURES
        rows = X if is_wide else as_rows(X)
        if not rows.shape[0]:
            raise InputError("X holds no rows, but at least one is needed")
        if reset:
            self.note(rows.shape[1])
        elif rows.shape[1] != self.width:
            raise InputError(
                f"X has {rows.shape[1]} features, but this model was taught {self.width}"
            )
        if self.projection is not None:
            return self.projection(rows)
        return as_rows(rows) if is_wide else rows  # which is refused

    def note(self, width: int) -> None:
        """Note how many features the first rows have, and what they leave through."""
        begin, self.width, self.begin = self.begin, width, None
        if width > MOST_FEATURES and begin is not None:
            self.projection = projection_for(width, begin())

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
        """Return the names of both, where either has any, or raise ValueError if they differ.

        So it does if rows of both do not leave through the same.
        """
        if self.projection != other.projection:
            raise InputError(
                f"{what} {_what_leaves(other)}, and this one {_what_leaves(self)}: give both the "
                "same random_state, and rows of as many features"
            )
        if self.names is not None and other.names is not None and self.names != other.names:
            raise InputError(f"{what} features of other names")
        return self.names if self.names is not None else other.names

    def must_match_device(self) -> bool:
        """Tell whether rows must live where the model does: scikit-learn dispatches them."""
        return False


def projection_for(width: int, settings: AnySettings) -> Projection | None:
    """Return what rows of so many features, too many, leave through, or raise ValueError.

    Models with a layer have a projection in front of it, unless theirs was made for just these
    rows. Linear models have none: whoever learns dense rows of that width wants all of them.

    >>> from newfound.solvers.settings import Settings
    >>> projection_for(100_000, Settings(1.0, 0.7, None, True, layer=500))
    Projection(inputs=100000, outputs=2048, seed=0)
    >>> projection_for(100_000, Settings(1.0, 0.7, None, True)) is None
    True
    """
    layer, units = layer_of(settings)
    if not units or (layer is not None and layer.inputs == width):
        return None
    projection = Projection(width, seed=settings.seed)
    if layer is not None and layer.inputs != projection.outputs:
        raise InputError(
            f"X has {width:,} features, which are projected to {projection.outputs:,}, but layer "
            f"is for {layer.inputs:,}: make it of Projection({width})(X)"
        )
    return projection


def _what_leaves(schema: Schema) -> str:
    projection = schema.projection
    if projection is None:
        return f"{schema.width:,} features"
    to = f"projected to {projection.outputs:,} with seed {projection.seed}"
    return f"{projection.inputs:,} features {to}"


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
