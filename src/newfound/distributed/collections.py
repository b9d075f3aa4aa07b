"""Dask arrays and DataFrames: known without importing Dask, and cut into partitions of rows."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Counts, Labels, Rows
from newfound.common.errors import InputError
from newfound.common.extras import imported_from


def is_collection(thing: Any) -> bool:
    """Tell whether something is a collection of Dask's; Dask is not imported for that.

    Examples
    --------
    >>> import dask.array
    >>> is_collection(dask.array.ones(3)), is_collection([1.0])
    (True, False)
    """
    return hasattr(type(thing), "__dask_graph__")


class Cut(NamedTuple):
    """A collection, cut into partitions of rows."""

    blocks: Any  # a Dask array; its blocks are arrays, or DataFrames, which Dask need not know
    index: str  # its axes: "ij" for rows and features, else "i"
    lengths: tuple[int, ...] | None  # rows of each partition, if they are known

    @property
    def number(self) -> int:
        """How many partitions there are."""
        return len(self.blocks.chunks[0])

    def count(self) -> tuple[int, ...]:
        """Return the rows of each partition; where they are not known, they are counted now."""
        if self.lengths is not None:
            return self.lengths
        counted = together(_length, self, dtype=np.int64).compute()
        return tuple(counted.tolist())


def cut_rows(X: Any) -> Cut:
    """Return the rows of an array (m, d) or DataFrame, cut; raise InputError if it is neither.

    Examples
    --------
    >>> import dask.array
    >>> cut_rows(dask.array.ones((5, 3), chunks=(2, 3))).lengths
    (2, 2, 1)
    """
    if hasattr(X, "map_partitions") and getattr(X, "ndim", 0) == 2:
        return _cut_frame(X)
    if not hasattr(X, "chunks"):
        raise InputError(f"X must be a Dask array or DataFrame of rows, got a {type(X).__name__}")
    if X.ndim != 2:
        raise InputError(
            f"X should have two dimensions, rows and features; it has {X.ndim} of them"
        )
    return _cut_array(X, "ij")


def like_a_row(X: Any) -> Any:
    """Return a row of zeros with as many features as `X`, and with its names of them.

    Examples
    --------
    >>> import dask.array
    >>> like_a_row(dask.array.ones((5, 3))).tolist()
    [[0.0, 0.0, 0.0]]
    """
    cut_rows(X)
    if hasattr(X, "columns"):
        import pandas as pd  # it is there, if there is a DataFrame

        return pd.DataFrame(np.zeros((1, len(X.columns))), columns=X.columns)
    if np.isnan(X.shape[1]):
        raise InputError("X does not say how many features it has: X.compute_chunk_sizes() finds out")
    return np.zeros((1, X.shape[1]))


def cut_labels(y: Any, rows: Cut, X: Any) -> Cut:
    """Return the labels of rows, cut as these are, or raise InputError if they cannot be.

    Parameters
    ----------
    y : Dask array of shape (m,) or Series, or an ndarray of labels
    rows : Cut
    X : Dask array or DataFrame
        What `rows` are cut from.

    Returns
    -------
    Cut

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.ones((5, 3), chunks=(2, 3))
    >>> cut_labels(dask.array.ones(5, chunks=4), cut_rows(X), X).lengths
    (2, 2, 1)
    """
    if isinstance(y, np.ndarray):
        return _cut_plain(y, rows.count())
    y = _one_column(y)
    labels = _cut_frame(_as_divided(y, X)) if hasattr(y, "map_partitions") else _cut_array(y, "i")
    if rows.lengths is not None and labels.lengths is not None:
        _check_total(sum(rows.lengths), sum(labels.lengths))
        if rows.lengths != labels.lengths:
            labels = _cut_array(labels.blocks.rechunk((rows.lengths,)), "i")
    if rows.number != labels.number:
        raise InputError(
            f"X has {rows.number} partitions and y has {labels.number}, and how long they are is "
            "not known: cut both alike, or call compute_chunk_sizes() on arrays"
        )
    return labels


def together(function: Any, *cuts: Cut, dtype: Any, name: str | None = None) -> Any:
    """Return a lazy array with a block for every partition: what `function` makes of its blocks.

    Examples
    --------
    >>> import dask.array
    >>> rows = cut_rows(dask.array.ones((5, 3), chunks=(2, 3)))
    >>> together(lambda X: np.array([len(X)]), rows, dtype=int).compute()
    array([2, 2, 1])
    """
    with imported_from("dask"):
        import dask.array as da

    parts = [part for cut in cuts for part in (cut.blocks, cut.index)]
    return da.blockwise(
        partial(_with_whole_rows, function),
        "i",
        *parts,
        dtype=dtype,
        meta=np.empty(0, dtype=dtype),
        align_arrays=False,
        name=name,
    )


def _with_whole_rows(function: Any, *blocks: Any) -> Any:
    """Call a function with blocks; one that is cut in columns comes as a list, and is joined."""
    return function(*(_joined(each) if isinstance(each, list) else each for each in blocks))


def _joined(columns: list[Any]) -> Any:
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


def _length(block: Any) -> Counts:
    return np.array([len(block)])


def _cut_array(X: Any, index: str) -> Cut:
    lengths = X.chunks[0]
    return Cut(X, index, None if np.isnan(lengths).any() else tuple(map(int, lengths)))


def _cut_frame(frame: Any) -> Cut:
    blocks = frame.map_partitions(_itself, meta=np.empty(0, dtype=object), enforce_metadata=False)
    return Cut(blocks, "i", None)


def _itself(block: Any) -> Any:
    return block


def _one_column(y: Any) -> Any:
    """Return labels in one dimension, or raise InputError."""
    dimensions = getattr(y, "ndim", 0)
    if dimensions == 2 and (len(y.columns) if hasattr(y, "columns") else y.shape[1]) == 1:
        return y[y.columns[0]] if hasattr(y, "columns") else y[:, 0]
    if dimensions != 1:
        raise InputError(f"y should be a 1d array of labels, got a {type(y).__name__} instead")
    return y


def _as_divided(y: Any, X: Any) -> Any:
    """Return a Series with the divisions of `X`, where both know theirs: rows go by the index."""
    both_known = getattr(y, "known_divisions", False) and getattr(X, "known_divisions", False)
    if not both_known or y.divisions == X.divisions:
        return y
    try:
        return y.repartition(divisions=X.divisions)
    except ValueError as error:
        raise InputError(f"X and y are divided differently: {error}") from error


def _cut_plain(labels: Labels, lengths: tuple[int, ...]) -> Cut:
    """Return labels in memory, cut; what travels is a small number for each."""
    with imported_from("dask"):
        import dask.array as da

    _check_total(sum(lengths), len(labels))
    distinct, codes = np.unique(labels, return_inverse=True)
    codes = codes.reshape(-1).astype(np.min_scalar_type(len(distinct)))
    blocks = da.from_array(codes, chunks=(lengths,)).map_blocks(
        partial(_decoded, distinct), dtype=labels.dtype, meta=np.empty(0, dtype=labels.dtype)
    )
    return Cut(blocks, "i", lengths)


def _decoded(distinct: Labels, codes: Rows) -> Labels:
    return distinct[codes]


def _check_total(rows: int, labels: int) -> None:
    if rows != labels:
        raise InputError(f"X has {rows} rows, but y has {labels} labels")
