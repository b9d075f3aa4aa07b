"""Whether rows that are to be forgotten can have been taught."""

from typing import TYPE_CHECKING

import numpy as np

from newfound.common.arrays import Counts, Floats, Index, Rows
from newfound.common.device import on_host
from newfound.common.errors import NotTaughtError
from newfound.sums.classes import ClassTable
from newfound.sums.device import add_products, add_to_diagonal, is_definite, rows_at
from newfound.sums.gram import Gram, total_gram

if TYPE_CHECKING:
    from newfound.sums.sums import Sums

# Share of the sum of squares by which sums may miss being positive definite when rows are taken
# out. What rounding cost them when they were larger comes on top: it is not held against the rows.
ROUNDING_SLACK = 1e-8

# How far, relative to these and to other examples, the sum of examples, or of their weights, may
# miss that of a class they all belong to.
SUM_SLACK = 1e-6
# The same relative to the root of the largest sum of squares there ever was: the rounding of what
# was there before is not held against them.
PEAK_SLACK = 1e-9
# Share of the weight that goes below which what is left is lost to rounding, even of sums in twice
# the precision.
LOST = 1e-28

OF_NO_DATA = (
    "cannot forget these rows: without them the sums would be those of no data at all "
    "(not positive definite), so they were not all taught; the model is left as it was"
)


def rounding_slack(gram: Gram) -> float:
    """Return what sums may miss being positive definite by, and be those of data all the same."""
    slack = ROUNDING_SLACK * gram.trace + gram.rounding
    return max(slack, float(np.finfo(np.float64).tiny))


def check_removal(gram: Gram, X: Rows) -> None:
    """Raise NotTaughtError if X'X of what would be left is that of no data.

    A Gram that holds rows is not asked: it compares them one by one.
    """
    if gram.holds_rows:
        return
    left = total_gram([gram], gram.width, gram.device)
    add_products(left, X, -1.0, gram.device)
    add_to_diagonal(left, rounding_slack(gram), gram.device)
    if not is_definite(left, gram.device):
        raise NotTaughtError(OF_NO_DATA)


def counts_without(table: ClassTable, index: Index) -> Counts:
    """Return the counts once examples of these classes are gone, or raise NotTaughtError."""
    held = table.counts
    counts: Counts = held - np.bincount(index, minlength=len(held))
    short = np.flatnonzero(counts < 0)
    if len(short):
        label, taught = table.labels.tolist()[short[0]], held[short[0]]
        raise NotTaughtError(
            f"cannot forget {taught - counts[short[0]]} examples of {label!r}: "
            f"{taught} of them were taught"
        )
    return counts


def check_weights(
    table: ClassTable, index: Index, sample_weight: Floats | None, counts: Counts
) -> None:
    """Raise NotTaughtError if the examples of a class do not weigh so much, or weigh more."""
    left, gone = table.weight_sums_without(index, sample_weight)
    wrong = np.where(counts > 0, left <= LOST * gone, abs(left) > SUM_SLACK * gone) & (gone > 0)
    if wrong.any():
        which = int(np.flatnonzero(wrong)[0])
        raise NotTaughtError(
            f"cannot forget examples of {table.labels.tolist()[which]!r} that weigh "
            f"{gone[which]:g}: all of that class weigh {table.weight_sums[which]:g}. Give the "
            "weights that they were taught with; or, if these are, what would be left weighs too "
            "little beside them to be told from rounding"
        )


def check_totals(
    sums: "Sums", X: Rows, index: Index, counts: Counts, present: Index, totals: Floats
) -> None:
    """Raise NotTaughtError if a class loses all its examples, and they miss its sum.

    `totals` (k, d) are the sums of the rows `X` (m, d) that go, of each class that is `present`
    among these, and `counts` what will be left.
    """
    if counts[present].all():  # nearly always
        return
    trace, peak = sums.trace, sum(gram.peak for gram in sums.grams)
    slack = SUM_SLACK * (trace / max(1, sums.total)) ** 0.5 + PEAK_SLACK * peak**0.5
    for place, total in zip(present, totals, strict=True):
        gram = sums.grams[place if sums.per_class else 0]
        # Where all rows of the class are held that are not zero, or no row is left that is not, it
        # is enough that these are among them, which their Gram sees to.
        if counts[place] or (not gram.peak and (sums.per_class or not trace)):
            continue
        rows = on_host(rows_at(X, np.flatnonzero(index == place), sums.device))
        size, taught = np.abs(rows).sum(axis=0, dtype=np.float64), on_host(sums.cross[:, place])
        if (abs(taught - total) > SUM_SLACK * size + slack).any():
            raise NotTaughtError(
                f"cannot forget these examples of {sums.labels.tolist()[place]!r}: they do not "
                "add up to what was taught, so the model is left as it was"
            )
