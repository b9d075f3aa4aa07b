"""Learning from a Dask collection: each partition becomes a part, and the parts are added up."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from newfound.common.arrays import Labels, Rows
from newfound.common.errors import InputError
from newfound.common.threads import alone
from newfound.distributed.collections import cut_labels, cut_rows, each, length, like_a_row
from newfound.distributed.part import Part, merged
from newfound.distributed.tree import added_up, fan_in
from newfound.selection.witnesses import Witnesses
from newfound.solvers.settings import SelectionSettings, Settings
from newfound.sums.labels import check_same_type
from newfound.sums.sums import Sums
from newfound.sums.weights import as_weights, counted


class Checks(NamedTuple):
    """What checks a partition: as on one machine, it raises ValueError or TypeError."""

    rows: Callable[[Any], Rows]
    labels: Callable[[Any, Any], Labels]  # given rows and labels
    names: list[str] | None = None  # of the features


class Lesson(NamedTuple):
    """What has to be known to learn a partition, whichever it is."""

    checks: Checks
    settings: Settings | SelectionSettings
    per_class: bool  # whether sums are held per class
    known: Labels  # a label that is known already, shape (1,), or none
    whose: str = "this model's labels"  # what `known` is one of

    @property
    def cap(self) -> int:
        """Witnesses of a class, at most; 0, if there are none."""
        return self.settings.witnesses if isinstance(self.settings, SelectionSettings) else 0


def learned(X: Any, y: Any, lesson: Lesson, sample_weight: Any = None) -> Part:
    """Return what all partitions of labelled rows become, made where the rows are.

    Parameters
    ----------
    X : Dask array of shape (m, d), or DataFrame
    y : Dask array of shape (m,) or Series, or an ndarray of labels
    lesson : Lesson
    sample_weight : Dask array of shape (m,) or Series, or an ndarray, optional

    Returns
    -------
    Part

    Raises
    ------
    InputError
        If rows, labels or weights cannot be taught; it names the partition.

    Examples
    --------
    >>> import dask.array
    >>> import numpy as np
    >>> from newfound.sums.labels import as_labels
    >>> from newfound.sums.rows import as_rows
    >>> settings, nothing = Settings(1.0, 0.7, None, True), np.array([])
    >>> checks = Checks(as_rows, lambda X, y: as_labels(y))
    >>> lesson = Lesson(checks, settings, False, nothing)
    >>> X = dask.array.ones((5, 3), chunks=(2, 3))
    >>> learned(X, dask.array.arange(5, chunks=2) % 2, lesson).sums.counts
    array([3, 2])
    """
    rows, width = cut_rows(X), like_a_row(X).shape[1]
    make = partial(part_of, lesson, width)
    beside = [cut_labels(y, rows, X)]
    if sample_weight is not None:
        beside.append(cut_labels(sample_weight, rows, X, "sample_weight"))
    parts = each(make, rows, *beside, name="sums")
    add = partial(merged, cap=lesson.cap)
    found: Part = added_up(parts, add, fan_in(width, lesson.per_class)).compute()
    if not found.sums.total:
        raise InputError("X holds no rows, but at least one is needed")
    return found


def part_of(
    lesson: Lesson, width: int, number: int, X: Any, y: Any, sample_weight: Any = None
) -> Part:
    """Return what one partition becomes: the same whenever and wherever it is made.

    Parameters
    ----------
    lesson : Lesson
    width : int
        Number of features.
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
    settings, sums, witnesses = lesson.settings, Sums(width, lesson.per_class), None
    if isinstance(settings, SelectionSettings):
        witnesses = Witnesses(settings.random_state)
    if not length(X) and not length(y):
        return Part(sums, witnesses, number)
    labels, rows = lesson.checks.labels(X, y), lesson.checks.rows(X)
    check_same_type(lesson.known, labels, lesson.whose)
    weights = as_weights(sample_weight, len(rows))
    rows, labels, weights = counted(rows, labels, weights)
    if not len(rows):
        return Part(sums, witnesses, number)
    with alone():  # the other threads of this machine have partitions of their own
        sums.add(rows, *sums.locate(labels), weights)
    if witnesses is not None:
        witnesses = witnesses.after(rows, labels, lesson.cap, weights)
    return Part(sums, witnesses, number)
