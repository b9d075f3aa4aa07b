"""Lazy answers to a Dask collection, a partition at a time."""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Counts, Labels, Rows
from newfound.common.extras import imported_from
from newfound.common.threads import alone
from newfound.distributed.collections import Cut, cut_labels, cut_rows, each
from newfound.distributed.tree import MOST, added_up
from newfound.sums.labels import check_same_type

# Bytes of what answers beyond which workers are given it before they are asked: Dask warns of
# graphs of twice that size.
LARGE = 5 * 2**20


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
    with imported_from("dask"):
        import dask.array as da

    rows = cut_rows(X)
    answers = each(partial(_answered, check, nothing), rows, shared=_shared(answer))
    kind = {"dtype": nothing.dtype, "meta": nothing}
    if nothing.ndim == 1:
        return da.blockwise(_only, "i", answers, rows.axes, **kind)
    columns = nothing.shape[1]
    if rows.axes == "i":
        return da.blockwise(_only, "ij", answers, "i", new_axes={"j": columns}, **kind)
    return da.blockwise(_only, "ij", answers, "ij", adjust_chunks={"j": columns}, **kind)


def _only(answers: Any) -> NDArray[Any]:
    """Return the answers to a partition: along an axis that is lost, they come in a list."""
    found: NDArray[Any] = answers[0] if isinstance(answers, list) else answers
    return found


def _answered(
    check: Callable[[Any], Rows],
    nothing: NDArray[Any],
    number: int,
    block: Any,
    shared: Callable[[Rows], Any],
) -> NDArray[Any]:
    """Return the answers to a partition; the other threads have partitions of their own."""
    with alone():
        found: NDArray[Any] = shared(check(block)) if len(block) else nothing
    return found


def _shared(answer: Callable[[Rows], Any]) -> Any:
    """Return something lazy or remote that is there once for all tasks.

    What is large goes to the workers now, to every one of them: none has it alone that might die.
    """
    with imported_from("dask"):
        import dask

    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is not None and hasattr(client, "scatter") and len(pickle.dumps(answer)) > LARGE:
        return dask.delayed(client.scatter(answer, broadcast=True, hash=False))
    return dask.delayed(answer, name=f"newfound-answerer-{uuid4().hex}", traverse=False)


def accuracy(predicted: Any, X: Any, y: Any, check: Callable[[Any, Any], Labels]) -> float:
    """Return the share of rows of `X` whose predicted label is that in `y`.

    Parameters
    ----------
    predicted : Dask array of shape (m,)
        Labels, cut as `X` is.
    X : Dask array of shape (m, d), or DataFrame
    y : Dask array of shape (m,) or Series, or an ndarray of labels
    check : callable
        From predictions and labels of a partition to these labels.

    Returns
    -------
    float

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
    hits = each(partial(_hits, check), Cut(predicted, "i", rows.lengths), labels)
    right, total = added_up(hits, sum, MOST).compute()
    return float(right / total)


def _hits(check: Callable[[Any, Any], Labels], _: int, predicted: Labels, y: Any) -> Counts:
    """Return how many predictions are right, and how many there are."""
    if not len(predicted) and not len(y):
        return np.zeros(2, dtype=np.int64)
    labels = check(predicted, y)
    check_same_type(predicted, labels)
    return np.array([np.count_nonzero(predicted == labels), len(labels)])
