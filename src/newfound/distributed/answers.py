"""Lazy answers to a Dask collection, a partition at a time."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, Labels, Rows
from newfound.common.errors import InputError
from newfound.common.threads import alone
from newfound.distributed.collections import Cut, by_partition, cut_labels, cut_rows, length
from newfound.distributed.dask_import import import_dask, itself
from newfound.distributed.tree import MOST, added_up
from newfound.sums.labels import check_same_type
from newfound.sums.weights import as_weights

# The setting that says of which graphs Dask warns as large, and what it usually is, in bytes.
WARNS, USUAL = "distributed.admin.large-graph-warning-threshold", 10**7
# Bytes of what answers that are left to that setting.
LARGE = USUAL // 2


def lazily(
    answer: Callable[[Rows], Any], X: Any, check: Callable[[Any], Rows], nothing: NDArray[Any]
) -> Any:
    """Return a lazy array of answers to rows; what answers is in the graph once.

    Parameters
    ----------
    answer : callable
        From checked rows (m, d) to answers, shape (m,) or (m, k).
    X : Dask array of shape (m, d), or DataFrame
    check : callable
        From what is in a partition to rows.
    nothing : ndarray of shape (0,) or (0, k)
        The answer to no rows.

    Returns
    -------
    Dask array of shape (m,) or (m, k)
        Cut as `X` is; the lengths of partitions of a DataFrame are not known.

    Examples
    --------
    >>> import dask.array
    >>> rows = dask.array.arange(6, chunks=4).reshape((3, 2))
    >>> lazily(lambda rows: rows.sum(axis=1), rows, np.asarray, np.zeros(0)).compute()
    array([1, 5, 9])
    """
    blockwise = import_dask().array.blockwise
    rows = cut_rows(X)
    answers = by_partition(partial(_answered, check, nothing), rows, shared=_shared(answer))
    kind = {"dtype": nothing.dtype, "meta": nothing}
    if nothing.ndim == 1:
        return blockwise(_only, "i", answers, rows.axes, **kind)
    columns = nothing.shape[1]
    if rows.axes == "i":
        return blockwise(_only, "ij", answers, "i", new_axes={"j": columns}, **kind)
    return blockwise(_only, "ij", answers, "ij", adjust_chunks={"j": columns}, **kind)


def _only(answers: Any) -> NDArray[Any]:
    """Return the answers to a partition: along an axis that is lost, they come in a list."""
    only: NDArray[Any] = answers[0] if isinstance(answers, list) else answers
    return only


def _answered(
    check: Callable[[Any], Rows],
    nothing: NDArray[Any],
    number: int,
    block: Any,
    shared: Callable[[Rows], Any],
) -> NDArray[Any]:
    """Return the answers to a partition; the other threads have partitions of their own."""
    with alone():
        answers: NDArray[Any] = shared(check(block)) if length(block) else nothing
    return answers


def _shared(answer: Callable[[Rows], Any]) -> Any:
    """Return something lazy that is there once for all tasks.

    It is a task of its own, which has what it needs in the graph: any scheduler can do it, and do
    it again if a worker is lost.
    """
    _expect(_size(answer))
    task = import_dask().delayed(itself, pure=False, traverse=False)
    return task(answer, dask_key_name=f"newfound-answerer-{uuid4().hex}")


def _size(answer: Callable[[Rows], Any]) -> int:
    """Return how many bytes travel with a graph; arrays are not copied for that."""
    import cloudpickle

    apart: list[pickle.PickleBuffer] = []
    rest = cloudpickle.dumps(answer, protocol=5, buffer_callback=apart.append)
    return len(rest) + sum(buffer.raw().nbytes for buffer in apart)


def _expect(size: int) -> None:
    """Have Dask not warn of a graph that is large only because so many bytes answer."""
    dask = import_dask()
    # Whoever computes a lazy answer sends its graph, so there is no moment of ours to be silent in.
    if size > LARGE and dask.utils.parse_bytes(dask.config.get(WARNS, USUAL)) < USUAL + size:
        dask.config.set({WARNS: USUAL + size})


def accuracy(
    predicted: Any, X: Any, y: Any, check: Callable[[Any, Any], Labels], sample_weight: Any = None
) -> float:
    """Return the share of rows of `X` whose predicted label is that in `y`.

    Parameters
    ----------
    predicted : Dask array of shape (m,)
        Labels, cut as `X` is.
    X : Dask array of shape (m, d), or DataFrame
    y : Dask array of shape (m,) or Series, or an ndarray of labels
    check : callable
        From predictions and labels of a partition to these labels.
    sample_weight : Dask array of shape (m,) or Series, or an ndarray, optional
        What each row counts.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If there are no rows, or labels are none; it names the partition.

    Examples
    --------
    >>> import dask.array
    >>> X = dask.array.ones((4, 1), chunks=(3, 1))
    >>> predicted = dask.array.zeros(4, chunks=3)
    >>> accuracy(predicted, X, np.array([0, 0, 1, 0]), lambda predicted, y: y)
    0.75
    """
    rows = cut_rows(X)
    labels = cut_labels(y, rows, X)
    beside = [Cut(predicted, "i", rows.lengths), labels]
    if sample_weight is not None:
        beside.append(cut_labels(sample_weight, rows, X, "sample_weight"))
    hits = by_partition(partial(_hits, check), *beside)
    right, total = added_up(hits, sum, MOST).compute()
    if not total:
        raise InputError("X holds no rows, but at least one is needed")
    return float(right / total)


def _hits(
    check: Callable[[Any, Any], Labels],
    _: int,
    predicted: Labels,
    y: Any,
    sample_weight: Any = None,
) -> Floats:
    """Return how many predictions are right, and how many there are, each with its weight."""
    if not len(predicted) and not length(y):
        return np.zeros(2)
    labels = check(predicted, y)
    check_same_type(predicted, labels)
    weights = as_weights(sample_weight, len(labels))
    weights = np.ones(len(labels)) if weights is None else weights
    return np.array([weights @ (predicted == labels), weights.sum()])
