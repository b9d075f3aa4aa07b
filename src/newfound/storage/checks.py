"""What may stand in a model file: checked before one is written, and when one is read."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats, take
from newfound.common.errors import InputError
from newfound.common.limits import LONGEST_LABEL
from newfound.sums.blas import add_products
from newfound.sums.gram import ROUNDING_SHARE, Gram, total_gram
from newfound.sums.removal import ROUNDING_SLACK, is_definite
from newfound.sums.sums import Sums

Tensors = dict[str, NDArray[Any]]

# Bytes that the header may have, and that labels may take once they are an array.
LARGEST_HEADER, LARGEST_LABELS = 2**25, 2**30
# More examples than anyone can show; up to it all counts are whole in float64, too.
MANY = 2**53
# Sums of rows, and of their squares: beyond these they would soon leave the range of float64.
LARGEST_SUM, LARGEST_SQUARES = 1e150, 1e300
# What rounding dropped from a sum is no larger share of it.
DROPPED_SHARE = 1e-12
# Share of all squares that no sum is held to, whatever it is the sum of.
FAR_SHARE = 1e-16
# Share of its trace by which X'X may miss being positive semidefinite where a file has no peaks to
# tell what rounding cost.
OLD_SHARE = 0.01
# How far, relative to all sums, rows that are held may miss the sum they are said to have.
ROWS_SLACK = 0.01


def require(condition: bool, what: str) -> None:
    """Raise ValueError unless the condition holds.

    >>> require(False, "counts")
    Traceback (most recent call last):
    newfound.InputError: its counts do not fit together
    """
    if not condition:
        raise InputError(f"its {what} do not fit together")


def check_labels(header: dict[str, Any]) -> None:
    """Raise ValueError if labels are of no type for labels, or would take too much memory."""
    labels, label_type = header["labels"], header["label_type"]
    require(isinstance(labels, list) and isinstance(label_type, str), "labels")
    kind = re.fullmatch(r"[<>|](U(\d{1,9})|[biuf][1248])", label_type)
    require(kind is not None, "labels")
    length = int(kind[2] or 0) if kind else 0
    if length > LONGEST_LABEL or 4 * length * len(labels) > LARGEST_LABELS:
        raise InputError(
            f"it has {len(labels)} labels of up to {length} characters; a label may have "
            f"{LONGEST_LABEL}, and all of them together {LARGEST_LABELS // 2**20} MB"
        )


def check_names(names: Any, width: int) -> None:
    """Raise ValueError if the names of features are not `width` texts, or none at all."""
    if names is not None:
        require(isinstance(names, list) and len(names) == width, "feature names")
        require(all(isinstance(name, str) for name in names), "feature names")


def check_numbers(header: dict[str, Any], tensors: Tensors) -> None:
    """Raise ValueError if sums are not of one shape, not finite, or larger than they can be."""
    require(header["dtype"] in ("<f4", "<f8"), "types")
    require(type(header["per_class"]) is bool, "types")
    require(tensors["cross"].ndim == tensors["rows"].ndim == 2, "sums")
    (T, width), held = tensors["cross"].shape, len(tensors["rows"])
    groups = T if header["per_class"] else 1
    flushed = int(np.count_nonzero(tensors["gram_is_folded"]))
    require(len(header["labels"]) == T and width > 0, "labels")
    row_type, triangle = tensors["rows"].dtype, width * (width + 1) // 2
    require(row_type in (np.float64, np.dtype(header["dtype"])), "rows")
    must_be: dict[str, tuple[Any, tuple[int, ...], float, float]] = {
        "counts": (np.int64, (T,), 0, MANY),
        "cross": (np.float64, (T, width), -LARGEST_SUM, LARGEST_SUM),
        "cross_dropped": (np.float64, (T, width), -LARGEST_SUM, LARGEST_SUM),
        "gram": (np.float64, (flushed, triangle), -LARGEST_SQUARES, LARGEST_SQUARES),
        "gram_dropped": (np.float64, (flushed, width), -LARGEST_SQUARES, LARGEST_SQUARES),
        "gram_folds": (np.int64, (flushed,), 0, MANY),
        "gram_peak": (np.float64, (flushed,), 0, LARGEST_SQUARES),
        "gram_is_folded": (np.bool_, (groups,), 0, 1),
        "rows": (row_type, (held, width), -LARGEST_SUM, LARGEST_SUM),
        "rows_held": (np.int64, (groups,), 0, MANY),
    }
    for name, (dtype, shape, low, high) in must_be.items():
        if name in tensors or name != "gram_peak":  # files before 0.1 have none
            take(tensors, name, dtype, shape, low, high)
    _check_masses(tensors, T)
    diagonal = tensors["gram"][:, _diagonal(width)]
    require(bool((diagonal >= 0).all()), "sums")
    for sums, dropped in ((tensors["cross"], "cross_dropped"), (diagonal, "gram_dropped")):
        require(bool((abs(tensors[dropped]) <= DROPPED_SHARE * abs(sums)).all()), "sums")
    total = sum(tensors["counts"].tolist())
    require(0 < total <= MANY, "counts")
    expected = tensors["counts"] if header["per_class"] else np.array([total])
    expected = np.where(tensors["gram_is_folded"], 0, expected)
    require(bool((tensors["rows_held"] == expected).all()) and held == expected.sum(), "rows")
    untaught = tensors["cross"][tensors["counts"] == 0]
    require(not untaught.any(), "sums")


def _check_masses(tensors: Tensors, T: int) -> None:
    """Raise ValueError if classes weigh what no examples can; where all weigh one, none is said."""
    if "masses" not in tensors and "masses_dropped" not in tensors:
        return
    masses = take(tensors, "masses", np.float64, (T,), 0, LARGEST_SUM)
    dropped = take(tensors, "masses_dropped", np.float64, (T,), -LARGEST_SUM, LARGEST_SUM)
    require(bool((abs(dropped) <= DROPPED_SHARE * masses).all()), "masses")
    require(bool(((masses > 0) == (tensors["counts"] > 0)).all()), "masses")


def check_rows(tensors: Tensors, per_class: bool) -> None:
    """Raise ValueError if rows clearly do not add up to the sums of their classes.

    Rows that are weighted do not: they are held times the roots of their weights.
    """
    if "masses" in tensors:
        return
    cross, stop = tensors["cross"], 0
    for index, held in enumerate(tensors["rows_held"].tolist()):
        rows, stop = tensors["rows"][stop : stop + held], stop + held
        if not tensors["gram_is_folded"][index]:
            mine = cross[index] if per_class else cross.sum(axis=0)
            far = abs(rows.sum(axis=0, dtype=np.float64) - mine)
            size = abs(rows).sum(dtype=np.float64) + abs(cross).max()
            require(bool((far <= ROWS_SLACK * size).all()), "sums")


def check_definite(sums: Sums, has_peaks: bool) -> None:
    """Raise ValueError if no rows at all have these sums: X'X, and each class's X'1 and n.

    Around the means of the classes X'X has no negative eigenvalues, but for rounding, which is
    measured by the peaks; in each Gram, no entry is larger than the roots of its diagonal allow.
    Files of the first days have no peaks; then these are as high as they must have been, within
    reason.
    """
    flushed = [gram.flushed for gram in sums.grams if gram.flushed is not None]
    if not flushed:
        return
    spread = np.zeros((sums.width,) * 2, order="F")
    # Rounding of the class sums is that of other classes' rows, too, which came in one batch.
    least = FAR_SHARE * (sums.trace + sum(gram.peak for gram in sums.grams))
    slack = sum(_slack(gram, least) for gram in sums.grams if not gram.holds_rows)
    for index, gram in enumerate(sums.grams):
        if not gram.holds_rows:
            where = slice(index, index + 1) if sums.per_class else slice(None)
            part = _around_means(gram, sums.cross.T[where], sums.masses[where])
            spread += part
            require(_entries_fit(part, _slack(gram, least)) or not has_peaks, "sums")
    spread.ravel(order="K")[:: len(spread) + 1] += slack
    if is_definite(spread.copy(order="F")):
        return
    require(not has_peaks, "sums")
    missing = -2 * float(np.linalg.eigvalsh(spread, UPLO="L")[0])
    require(missing <= OLD_SHARE * sum(each.trace for each in flushed), "sums")
    for each in flushed:
        each.highest = missing / ROUNDING_SHARE


def _slack(gram: Gram, least: float) -> float:
    own = ROUNDING_SLACK * gram.trace + gram.rounding
    return max(own, least, float(np.finfo(np.float64).tiny))


def _around_means(gram: Gram, cross: NDArray[Any], masses: NDArray[Any]) -> Floats:
    """Return X'X around the means of the classes, as the lower triangle of a new matrix."""
    around = total_gram([gram], gram.width)
    taught = masses > 0
    add_products(around, cross[taught] / np.sqrt(masses[taught])[:, None], -1.0, lower=True)
    return around


def _entries_fit(matrix: Floats, slack: float) -> bool:
    """Tell whether `matrix` plus `slack` I has no negative 2 x 2 minors; overwrites `matrix`."""
    diagonal = matrix.diagonal() + slack
    if (diagonal <= 0).any():
        return False
    roots = np.sqrt(diagonal)
    with np.errstate(over="ignore"):
        matrix /= roots
        matrix /= roots[:, None]
    return bool(max(matrix.max(), -matrix.min()) <= 1)


def _diagonal(width: int) -> NDArray[np.intp]:
    """Return where a packed triangle, column by column, has its diagonal.

    >>> _diagonal(3)
    array([0, 3, 5])
    """
    return np.cumsum(np.r_[0, np.arange(width, 1, -1)])
