"""Learning from a Dask collection: each partition becomes a part, and the parts are added up."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from newfound.common.arrays import Labels
from newfound.common.errors import InputError
from newfound.common.threads import alone, one_thread
from newfound.distributed.collections import (
    by_partition,
    cut_labels,
    cut_rows,
    is_collection,
    length,
)
from newfound.distributed.part import Part, merged
from newfound.distributed.tree import added_up, fan_in
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
    rows, sums = cut_rows(X), checks.blank.sums
    beside = [cut_labels(y, rows, X, columns=checks.blank.targets)]
    if sample_weight is not None:
        if not is_collection(sample_weight):
            sample_weight = as_numbers(sample_weight)
        beside.append(cut_labels(sample_weight, rows, X, "sample_weight"))
    parts = by_partition(partial(part_of, checks), rows, *beside, name="sums")
    whole: Part = added_up(parts, merged, fan_in(sums.width, sums.per_class)).compute()
    if not whole.memory.sums.total:
        raise InputError("X holds no rows, but at least one is needed")
    return whole.memory


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
    if not length(X) and not length(y):
        return Part(memory, number)
    rows, labels, weights = checks.check(X, y, sample_weight)
    check_same_type(checks.known, labels, checks.whose)
    if len(labels):
        with alone(), one_thread:  # the other threads of this machine have their own partitions
            memory.learn(rows, labels, weights)
    return Part(memory, number)
