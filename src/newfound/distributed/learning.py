"""Learning from a Dask collection: each partition becomes a part, and the parts are added up."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

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
    taught: int  # examples taught before: another part of the stream, and other witnesses
    whose: str = "this model's labels"  # what `known` is one of

    @property
    def cap(self) -> int:
        """Witnesses of a class, at most; 0, if there are none."""
        return self.settings.witnesses if isinstance(self.settings, SelectionSettings) else 0


def learned(X: Any, y: Any, lesson: Lesson) -> Part:
    """Return what all partitions of labelled rows become, made where the rows are.

    Parameters
    ----------
    X : Dask array of shape (m, d), or DataFrame
    y : Dask array of shape (m,) or Series, or an ndarray of labels
    lesson : Lesson

    Returns
    -------
    Part

    Raises
    ------
    InputError
        If rows or labels cannot be taught; it names the partition.

    Examples
    --------
    >>> import dask.array
    >>> from newfound.sums.labels import as_labels
    >>> from newfound.sums.rows import as_rows
    >>> settings, nothing = Settings(1.0, 0.7, None, True), np.array([])
    >>> checks = Checks(as_rows, lambda X, y: as_labels(y))
    >>> lesson = Lesson(checks, settings, False, nothing, 0)
    >>> X = dask.array.ones((5, 3), chunks=(2, 3))
    >>> learned(X, dask.array.arange(5, chunks=2) % 2, lesson).sums.counts
    array([3, 2])
    """
    rows, width = cut_rows(X), like_a_row(X).shape[1]
    make = partial(part_of, lesson, width)
    parts = each(make, rows, cut_labels(y, rows, X), name="sums")
    add = partial(merged, cap=lesson.cap)
    found: Part = added_up(parts, add, fan_in(width, lesson.per_class)).compute()
    if not found.sums.total:
        raise InputError("X holds no rows, but at least one is needed")
    return found


def part_of(lesson: Lesson, width: int, number: int, X: Any, y: Any) -> Part:
    """Return what one partition becomes: the same whenever and wherever it is made.

    Parameters
    ----------
    lesson : Lesson
    width : int
        Number of features.
    number : int
        Of the partition.
    X, y
        Its rows and its labels.

    Returns
    -------
    Part

    Raises
    ------
    ValueError, TypeError
        If rows or labels cannot be taught.
    """
    chooses = isinstance(lesson.settings, SelectionSettings)
    sums = Sums(width, lesson.per_class)
    witnesses = Witnesses(_seed(lesson, number)) if chooses else None
    if not length(X) and not length(y):
        return Part(sums, witnesses, number)
    labels, rows = lesson.checks.labels(X, y), lesson.checks.rows(X)
    check_same_type(lesson.known, labels, lesson.whose)
    with alone():  # the other threads of this machine have partitions of their own
        sums.add(rows, *sums.locate(labels))
    if witnesses is not None:
        witnesses = witnesses.after(rows, labels, lesson.cap)
    return Part(sums, witnesses, number)


def _seed(lesson: Lesson, number: int) -> int:
    """Return the seed of a partition's witnesses.

    A row's key depends on its turn, and turns begin anew with every partition. So that equal rows
    of two partitions have different keys, the seeds differ. The first of all has that of a stream:
    one partition alone is learned as on one machine.
    """
    assert isinstance(lesson.settings, SelectionSettings)
    if lesson.taught == number == 0:
        return lesson.settings.random_state
    entropy = [lesson.settings.random_state, lesson.taught, number]
    return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])
