"""The table of all arrays of a model file: of each its type, its shape and its bounds.

Whoever writes, reads, checks or widens a file goes by it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.common.files import DIGEST_BYTES
from newfound.heads.probabilities import LARGEST_SHARPNESS, SMALLEST_SHARPNESS
from newfound.layers.layer import MOST_UNITS
from newfound.layers.projection import MOST_OUTPUTS, PLACES
from newfound.layers.scale import LONGEST
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER

Arrays = Mapping[str, NDArray[Any]]

# More examples than anyone can show; up to it all counts are whole in float64, too.
MANY = 2**53
# Sums of rows, and of their squares: beyond these they would soon leave the range of float64.
LARGEST_SUM, LARGEST_SQUARES = 1e150, 1e300


class Field(NamedTuple):
    """What an array must be."""

    dtype: str  # as numpy names it; "row": that of the rows, which may be float64, too
    axes: tuple[str | int, ...]  # those of one letter are of one length; a number is that length
    low: float = -np.inf  # its numbers lie between these, both included
    high: float = np.inf


_SUM, _SQUARE, _SHARE = (-LARGEST_SUM, LARGEST_SUM), (-LARGEST_SQUARES, LARGEST_SQUARES), (0, 1)
_NUMBER, _COUNT = (SMALLEST_NUMBER, LARGEST_NUMBER), (0, MANY)
# What a selection found: K penalties, M simulated counts, A recodings, N classes with a cosine.
_RESULT = {
    "total": Field("int64", (1,), *_COUNT),
    "rows": Field("int64", (1,), *_COUNT),
    "delay": Field("int64", (1,), *_COUNT),
    "choice": Field("float64", (2,), *_NUMBER),
    "penalties": Field("float64", ("K",), *_NUMBER),
    "counts": Field("float64", ("M",), 1, MANY),
    "accuracy": Field("float64", ("M", "K", "A"), 0, 1 + 1e-9),
    "rare_accuracy": Field("float64", ("M", "K", "A"), 0, 1 + 1e-9),
    "recodings": Field("float64", ("M",), *_SHARE),
    "uses_layer": Field("bool", (1,), *_SHARE),
    "advantage": Field("float64", (1,), -MANY, MANY),
    "rival_expected": Field("float64", (1,), *_NUMBER),
    "rival_penalties": Field("float64", ("K",), *_NUMBER),
    "rival_counts": Field("float64", ("M",), 1, MANY),
    "rival_accuracy": Field("float64", ("M", "K", "A"), 0, 1 + 1e-9),
    "rival_rare_accuracy": Field("float64", ("M", "K", "A"), 0, 1 + 1e-9),
    "sharpness": Field("float64", (1,), SMALLEST_SHARPNESS, LARGEST_SHARPNESS),
    "bound": Field("float64", (2,), -MANY, MANY),
    "typical": Field("float64", (1,), SMALLEST_NUMBER, 1),
    "typical_of_class": Field("float64", ("N",), SMALLEST_NUMBER, 1),
    "typical_class": Field("int64", ("N",), 0),
}
TABLE = {
    # Sums: T classes, D columns, G Gram matrices, F of which are added up, with P entries in a
    # triangle, and R rows that are held as they came.
    "counts": Field("int64", ("T",), *_COUNT),
    "weight_sums": Field("float64", ("T",), 0, LARGEST_SUM),
    "weight_sums_residue": Field("float64", ("T",), *_SUM),
    "inverse_weight_sums": Field("float64", ("T",), 0, LARGEST_SUM),
    "cross": Field("float64", ("T", "D"), *_SUM),
    "cross_residue": Field("float64", ("T", "D"), *_SUM),
    "origin": Field("float64", ("D",), *_SUM),
    "gram_is_flushed": Field("bool", ("G",), *_SHARE),
    "gram": Field("float64", ("F", "P"), *_SQUARE),
    "gram_residue": Field("float64", ("F", "D"), *_SQUARE),
    "gram_flushes": Field("int64", ("F",), *_COUNT),
    "gram_peak": Field("float64", ("F",), 0, LARGEST_SQUARES),
    "rows": Field("row", ("R", "D"), *_SUM),
    "row_weights": Field("float64", ("R",), 0, LARGEST_SUM),
    "rows_of_gram": Field("int64", ("G",), *_COUNT),
    # Witnesses: V of them, with E columns: those of rows as they came.
    "witnesses.rows": Field("row", ("V", "E"), *_SUM),
    "witnesses.class": Field("int64", ("V",), 0),
    "witnesses.keys": Field("uint64", ("V",)),
    "witnesses.weights": Field("float64", ("V",), 0, LARGEST_SUM),
    # What rows of that many features are projected by.
    "projection.inputs": Field("int64", (1,), 1, MANY),
    "projection.outputs": Field("int64", (1,), PLACES, MOST_OUTPUTS),
    "projection.seed": Field("uint64", (1,)),
    # A layer of random units, for rows of E features without targets.
    "layer.mean": Field("float64", ("L",), *_SUM),
    "layer.scale": Field("float64", ("L",), *_NUMBER),
    "layer.factor": Field("float64", (1,), SMALLEST_NUMBER, LONGEST),
    "layer.units": Field("int64", (1,), 1, MOST_UNITS),
    "layer.seed": Field("uint64", (1,)),
    # The selection that counts, and the one that soon will.
    "selection.forgotten": Field("float64", (1,), *_COUNT),
    "selection.quiet_rows": Field("int64", (1,), -1, MANY),
    "pending.since": Field("int64", (1,), *_COUNT),
    **{
        f"{room}.{name}": field
        for room in ("selection", "pending")
        for name, field in _RESULT.items()
    },
    # What a recogniser remembers: I images, by the digests of their files.
    "memory.digests": Field("uint8", ("I", DIGEST_BYTES)),
    "memory.class": Field("int64", ("I",), 0),
    "memory.called_unknown_above": Field("float64", (1,), *_SHARE),
    # How far it knows its journal.
    "journal.id": Field("uint8", ("J",)),
    "journal.position": Field("int64", (1,), *_COUNT),
    "journal.changes": Field("int64", (1,), *_COUNT),
}


class Sizes(dict[str, int]):
    """The length of each axis, as far as it is known: arrays that were taken tell those of others.

    Parameters
    ----------
    row_type : dtype, default=float64
        Of the rows.
    **known : int
        Lengths that are known from elsewhere.

    Examples
    --------
    >>> sizes = Sizes(T=2)
    >>> sizes.take({"counts": np.array([1, 2])}, "counts")
    array([1, 2])
    >>> sizes.take({"counts": np.array([1, -2])}, "counts")
    Traceback (most recent call last):
    newfound.InputError: its counts do not fit together
    """

    def __init__(self, row_type: Any = np.float64, **known: int) -> None:
        super().__init__(known)
        self.row_types = {np.dtype(np.float64), np.dtype(row_type)}

    def take(self, arrays: Arrays, name: str, high: float | None = None) -> NDArray[Any]:
        """Return a stored array if it is what the table says, or raise ValueError.

        Parameters
        ----------
        arrays : mapping of names to ndarrays
            What was read from a file that anybody may have written.
        name : str
        high : float, optional
            A bound of its numbers that is known here only.
        """
        require(name in arrays and self._fits(arrays[name], TABLE[name], high), name)
        return arrays[name]

    def _fits(self, array: NDArray[Any], field: Field, high: float | None) -> bool:
        types = self.row_types if field.dtype == "row" else {np.dtype(field.dtype)}
        if array.dtype not in types or array.ndim != len(field.axes):
            return False
        for axis, length in zip(field.axes, array.shape, strict=True):
            if length != (axis if isinstance(axis, int) else self.setdefault(axis, length)):
                return False
        most = field.high if high is None else high
        return not array.size or bool(field.low <= array.min().item() <= array.max().item() <= most)


def require(condition: bool, what: str) -> None:
    """Raise ValueError unless the condition holds.

    >>> require(False, "counts")
    Traceback (most recent call last):
    newfound.InputError: its counts do not fit together
    """
    if not condition:
        raise InputError(f"its {what} do not fit together")
