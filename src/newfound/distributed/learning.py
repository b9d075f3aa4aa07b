"""Learning from a Dask collection: each partition becomes a part, and the parts are added up."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Labels
from newfound.common.errors import InputError
from newfound.common.threads import alone, one_thread
from newfound.distributed.collections import (
    Cut,
    by_partition,
    cut_labels,
    cut_rows,
    is_collection,
    length,
)
from newfound.distributed.part import Part, merged
from newfound.distributed.tree import added_up, fan_in
from newfound.layers.layer import FIRST_ROWS
from newfound.memory.memory import Memory
from newfound.sums.labels import check_same_type
from newfound.sums.weights import as_numbers


class Checks(NamedTuple):
    """What has to be known to learn a partition, whichever it is."""

    check: Callable[..., Any]  # from rows, labels and weights to those that may be added
    blank: Memory  # that holds nothing
    known: Labels  # a label that is known already, shape (1,), or none
    whose: str = "this model's labels"  # what `known` is one of


def learn_partitions(X: Any, y: Any, sample_weight: Any, checks: Checks) -> Memory:
    """Return what all partitions of labelled rows become, made where the rows are.

    Parameters
    ----------
    X : Dask array of shape (m, d), or DataFrame
    y : Dask array of shape (m,) or Series, or an ndarray
        Labels, or targets of a regression.
    sample_weight : Dask array of shape (m,) or Series, or an array-like, or None
    checks : Checks

    Returns
    -------
    Memory

    Raises
    ------
    InputError
        If rows, labels or weights cannot be taught; it names the partition.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> from newfound.learner.schema import Schema
    >>> X, y = dask.array.ones((6, 2), chunks=(4, 2)), np.array(["mug"] * 6)
    >>> checks = Checks(Schema(2).check, Memory.blank(2), np.array([], dtype=str))
    >>> learn_partitions(X, y, None, checks).sums.counts
    array([6])
    """
    sums = checks.blank.sums
    cuts = _cut(X, y, sample_weight, checks)
    parts = by_partition(partial(part_of, checks), *cuts, name="sums")
    whole: Part = added_up(parts, merged, fan_in(sums.width, sums.per_class)).compute()
    if not whole.memory.sums.total:
        raise InputError("X holds no rows, but at least one is needed")
    return whole.memory


def young_and_first(X: Any, y: Any, sample_weight: Any, checks: Checks, young: Memory) -> Memory:
    """Return a young memory with as many of the first rows as make it have its layer, if possible.

    All is as in `learn_partitions`. Partitions are looked at one after another; the first nearly
    always has enough.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> from newfound.learner.schema import Schema
    >>> X, y = dask.array.ones((300, 2), chunks=(60, 2)), np.array(["mug"] * 300)
    >>> young = Memory.blank(2, units=50)
    >>> checks = Checks(Schema(2).check, young.blank_like(), np.array([], dtype=str))
    >>> young_and_first(X, y, None, checks, young).sums.total
    100
    """
    young, cuts = young.copy(), _cut(X, y, sample_weight, checks)
    parts = by_partition(partial(first_of, checks), *cuts, name="first")
    for number in range(cuts[0].number):
        if young.is_due:
            break
        ((rows, labels, weights),) = parts.blocks[number].compute().ravel()
        if len(labels):
            batch = young.batch(rows, labels, weights)
            young.add(batch.first(FIRST_ROWS - young.sums.total))
    return young


def _cut(X: Any, y: Any, sample_weight: Any, checks: Checks) -> list[Cut]:
    """Return rows, labels and, if there are any, weights, all cut alike."""
    rows = cut_rows(X)
    cuts = [rows, cut_labels(y, rows, X, columns=checks.blank.targets)]
    if sample_weight is not None:
        if not is_collection(sample_weight):
            sample_weight = as_numbers(sample_weight)
        cuts.append(cut_labels(sample_weight, rows, X, "sample_weight"))
    return cuts


def part_of(checks: Checks, number: int, X: Any, y: Any, sample_weight: Any = None) -> Part:
    """Return what one partition becomes: the same whenever and wherever it is made.

    Parameters
    ----------
    checks : Checks
    number : int
        Of the partition.
    X, y, sample_weight
        Its rows, its labels and, if there are any, its weights.

    Returns
    -------
    Part

    Raises
    ------
    ValueError, TypeError
        If rows or labels cannot be taught.
    """
    memory = checks.blank.blank_like()
    rows, labels, weights = _checked(checks, X, y, sample_weight)
    if len(labels):
        with alone(), one_thread:  # the other threads of this machine have their own partitions
            memory.learn(rows, labels, weights)
    return Part(memory, number)


def first_of(checks: Checks, number: int, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Return the first rows of one partition with their labels and weights, as the one item."""
    rows, labels, weights = _checked(checks, X, y, sample_weight)
    some, item = slice(0, FIRST_ROWS), np.empty((1, 1), dtype=object)
    item[0, 0] = rows[some], labels[some], None if weights is None else weights[some]
    return item


def _checked(checks: Checks, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Return the rows of a partition, with labels and weights, or none, or raise ValueError."""
    if not length(X) and not length(y):
        return np.empty((0, checks.blank.width)), checks.known[:0], None
    rows, labels, weights = checks.check(X, y, sample_weight)
    check_same_type(checks.known, labels, checks.whose)
    return rows, labels, weights
