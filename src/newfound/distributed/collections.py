"""Dask arrays and DataFrames: known without importing Dask, and cut into partitions of rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np

from newfound.common.arrays import Counts, Labels
from newfound.common.errors import InputError
from newfound.distributed.dask_import import import_dask, itself


def is_collection(thing: Any) -> bool:
    """Tell whether something is a collection of Dask's; Dask is not imported for that.

    Examples
    --------
    >>> import dask.array
    >>> is_collection(dask.array.ones(3)), is_collection([1.0])
    (True, False)
    """
    kind = type(thing)
    if not hasattr(kind, "__dask_graph__"):
        return False
    # Others wrap what may be lazy or not, and then have no graph; making one of Dask's own is work.
    is_own = kind.__module__.partition(".")[0] == "dask"
    return is_own or thing.__dask_graph__() is not None


def in_memory(y: Any) -> Any:
    """Return labels, computed if they are lazy.

    Examples
    --------
    >>> in_memory(["mug", "cup"])
    ['mug', 'cup']
    """
    return y.compute() if is_collection(y) else y


@dataclass(frozen=True)
class Cut:
    """A collection, cut into partitions of rows."""

    blocks: Any  # a Dask array; its blocks are arrays, or DataFrames, which Dask need not know
    axes: str  # "ij" for rows and features, "i" for what has no features, or hides them
    lengths: tuple[int, ...] | None  # rows of each partition, if they are known

    @property
    def number(self) -> int:
        """How many partitions there are."""
        return len(self.blocks.chunks[0])

    def count_rows(self) -> tuple[int, ...]:
        """Return the rows of each partition; where they are not known, they are counted now."""
        if self.lengths is not None:
            return self.lengths
        return tuple(by_partition(_length, self).compute().ravel().tolist())


def cut_rows(X: Any) -> Cut:
    """Return the rows of an array (m, d) or DataFrame, cut; raise InputError if it is neither.

    Examples
    --------
    >>> import dask.array
    >>> cut_rows(dask.array.ones((5, 3), chunks=(2, 3))).lengths
    (2, 2, 1)
    """
    if _is_frame(X):
        return _cut_frame(X)
    if not _is_array(X):
        raise InputError(f"X must be a Dask array or DataFrame of rows, got a {type(X).__name__}")
    if X.ndim != 2:
        raise InputError(
            f"X should have two dimensions, rows and features; it has {X.ndim} of them"
        )
    return _cut_array(X if len(X.chunks[1]) == 1 else X.rechunk({1: -1}), "ij")


def like_a_row(X: Any) -> Any:
    """Return a row of zeros with as many features as `X`, and with its names of them.

    Examples
    --------
    >>> import dask.array
    >>> like_a_row(dask.array.ones((5, 3))).tolist()
    [[0.0, 0.0, 0.0]]
    """
    cut_rows(X)
    if _is_frame(X):
        import pandas as pd  # it is there, if there is a DataFrame

        return pd.DataFrame(np.zeros((1, len(X.columns))), columns=X.columns)
    if np.isnan(X.shape[1]):
        raise InputError(
            "X does not say how many features it has: X.compute_chunk_sizes() finds out"
        )
    return np.zeros((1, X.shape[1]))


def cut_labels(y: Any, rows: Cut, X: Any, name: str = "y", columns: int = 0) -> Cut:
    """Return the labels of rows, cut as these are, or raise InputError if they cannot be.

    Or whatever else there is one of for each row, or so many columns of; `name` is what errors call
    it.

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
        return _cut_plain(y, rows.count_rows(), name)
    y = y if columns > 1 else _one_column(y, name)
    if _is_array(y):
        labels = _cut_array(y if y.ndim == 1 else y.rechunk({1: -1}), "ij"[: y.ndim])
    else:
        labels = _cut_frame(_as_divided(y, X))
    if rows.lengths is not None and labels.lengths is not None:
        _check_total(sum(rows.lengths), sum(labels.lengths), name)
        if rows.lengths != labels.lengths:
            labels = _cut_array(labels.blocks.rechunk({0: rows.lengths}), labels.axes)
    if rows.number != labels.number:
        raise InputError(
            f"X has {rows.number} partitions and {name} has {labels.number}, and how long they are "
            "is not known: cut both alike, or call compute_chunk_sizes() on arrays"
        )
    return labels


def by_partition(
    function: Callable[..., Any], *cuts: Cut, name: str = "block", **shared: Any
) -> Any:
    """Return a lazy array with one block a partition: what a function makes of its blocks.

    Parameters
    ----------
    function : callable
        From the number of a partition, and its block of every cut. If it raises ValueError or
        TypeError, the error names the partition.
    *cuts : Cut
        Of as many partitions.
    name : str, default="block"
        Of the tasks.
    **shared
        What the function is given in every task. If it is lazy, there is one of it for all.

    Returns
    -------
    Dask array
        With the axes of rows, if there are rows among the cuts.

    Examples
    --------
    >>> import dask.array
    >>> rows = cut_rows(dask.array.ones((5, 3), chunks=(2, 3)))
    >>> by_partition(lambda number, X: np.array([[number, len(X)]]), rows).compute()
    array([[0, 2],
           [1, 2],
           [2, 1]])
    """
    # What the blocks are is for us to know: Dask neither looks at them nor joins them. All axes are
    # kept, for Dask does not make one task of steps between which an axis is lost.
    axes = max((cut.axes for cut in cuts), key=len)
    nothing = np.empty((0,) * len(axes), dtype=object)
    parts = [part for cut in cuts for part in (cut.blocks, cut.axes)]
    blocks = import_dask().array.blockwise(
        _tuple, axes, *parts, dtype=object, meta=nothing, align_arrays=False
    )
    return blocks.map_blocks(
        partial(_call, function),
        dtype=object,
        meta=nothing,
        name=f"newfound-{name}-{uuid4().hex}",
        **shared,
    )


def _tuple(*blocks: Any) -> tuple[Any, ...]:
    return blocks


def _call(
    function: Callable[..., Any], blocks: tuple[Any, ...], block_id: tuple[int, ...], **shared: Any
) -> Any:
    with in_partition(block_id[0]):
        return function(block_id[0], *blocks, **shared)


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Name the partition in what goes wrong.

    Examples
    --------
    >>> with in_partition(3):
    ...     raise ValueError("Input X contains NaN")
    Traceback (most recent call last):
    newfound.InputError: partition 3: Input X contains NaN
    """
    try:
        yield
    except TypeError as error:
        raise TypeError(f"partition {number}: {error}") from error
    except ValueError as error:
        raise InputError(f"partition {number}: {error}") from error


def length(block: Any) -> int:
    """Return the rows of a block, also of a sparse one, which has no `len`.

    Examples
    --------
    >>> length(np.ones((2, 3))), length(["mug"])
    (2, 1)
    """
    shape = getattr(block, "shape", None)
    return int(shape[0]) if shape else len(block)


def _length(_: int, block: Any) -> Counts:
    return np.array([[length(block)]])


def _cut_array(X: Any, axes: str) -> Cut:
    lengths = X.chunks[0]
    return Cut(X, axes, None if np.isnan(lengths).any() else tuple(map(int, lengths)))


def _cut_frame(frame: Any) -> Cut:
    # Dask reads several files as one where few of their columns are asked for, so that labels would
    # have fewer partitions than rows from the same files. Before 2025.12 it cannot be told not to.
    with import_dask().config.set({"optimization.tune.active": False}):
        blocks = frame.map_partitions(
            itself, meta=np.empty(0, dtype=object), enforce_metadata=False
        )
    return Cut(blocks, "i", None)


def _is_array(thing: Any) -> bool:
    return isinstance(thing, import_dask().array.Array)


def _is_frame(thing: Any) -> bool:
    return bool(import_dask().utils.is_dataframe_like(thing))


def _one_column(y: Any, name: str) -> Any:
    """Return labels in one dimension, or raise InputError."""
    if _is_frame(y) and len(y.columns) == 1:
        return y[y.columns[0]]
    if _is_array(y) and y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if import_dask().utils.is_series_like(y) or (_is_array(y) and y.ndim == 1):
        return y
    shape = f" with {y.ndim} dimensions" if _is_array(y) else ""
    shape = f" with {len(y.columns)} columns" if _is_frame(y) else shape
    raise InputError(
        f"{name} should be a 1d array, or a Series; it is of type {type(y).__name__}{shape}"
    )


def _as_divided(y: Any, X: Any) -> Any:
    """Return a Series with the divisions of `X`, where both know theirs: rows go by the index.

    Raises InputError if the index of one goes further than that of the other.
    """
    both_known = getattr(y, "known_divisions", False) and getattr(X, "known_divisions", False)
    if not both_known or y.divisions == X.divisions:
        return y
    (first, last), (theirs, end) = (frame.divisions[:: frame.npartitions] for frame in (X, y))
    if (first, last) != (theirs, end):
        raise InputError(
            f"X and y are divided differently: the index of X goes from {first} to {last}, that of "
            f"y from {theirs} to {end}"
        )
    return y.repartition(divisions=X.divisions)


def _cut_plain(labels: Labels, lengths: tuple[int, ...], name: str) -> Cut:
    """Return labels in memory, cut; what travels is a small number for each."""
    from_array = import_dask().array.from_array
    _check_total(sum(lengths), len(labels), name)
    if labels.dtype.kind == "f":
        chunks = (lengths, *labels.shape[1:])
        return Cut(from_array(labels, chunks=chunks), "ij"[: labels.ndim], lengths)
    distinct, codes = np.unique(labels, return_inverse=True)
    codes = codes.reshape(-1).astype(np.min_scalar_type(len(distinct)))
    blocks = from_array(codes, chunks=(lengths,)).map_blocks(
        partial(np.take, distinct), dtype=labels.dtype, meta=np.empty(0, dtype=labels.dtype)
    )
    return Cut(blocks, "i", lengths)


def _check_total(rows: int, labels: int, name: str) -> None:
    if rows != labels:
        what = "labels" if name == "y" else "numbers"
        raise InputError(f"X has {rows} rows, but {name} has {labels} {what}")
