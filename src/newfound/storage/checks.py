"""What may stand in a model file: checked before one is written, and when one is read."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats
from newfound.common.errors import InputError
from newfound.common.limits import LONGEST_LABEL
from newfound.solvers.settings import SMALLEST_NUMBER
from newfound.storage.table import MANY, TABLE, Arrays, Sizes, require
from newfound.sums.arrays import WEIGHTS
from newfound.sums.blas import add_products
from newfound.sums.device import is_definite
from newfound.sums.gram import Gram, total_gram
from newfound.sums.removal import rounding_slack
from newfound.sums.sums import Sums

# Bytes that the header may have, and that labels may take once they are an array.
LARGEST_HEADER, LARGEST_LABELS = 2**25, 2**27
# What rounding left out of a sum is no larger share of it.
RESIDUE_SHARE = 1e-12
# Share of all squares that no sum is held to, whatever it is the sum of.
FAR_SHARE = 1e-16
# How far, relative to all sums, rows that are held may miss the sum they are said to have.
ROWS_SLACK = 0.01
# The arrays of the sums that are always there.
SUMS = [name for name in TABLE if "." not in name and name not in WEIGHTS]


def check_contents(header: dict[str, Any], arrays: Arrays) -> None:
    """Raise ValueError if a header, or arrays beside it, cannot be a model's."""
    _check_labels(header)
    _check_sums(header, arrays)
    _check_columns(header, arrays["cross"].shape[-1])


def _check_labels(header: dict[str, Any]) -> None:
    """Raise ValueError if labels are of no type for labels, or would take too much memory."""
    labels, label_type = header["labels"], header["label_type"]
    require(isinstance(labels, list) and isinstance(label_type, str), "labels")
    kind = re.fullmatch(r"[<>|](U(\d{1,9})|[biuf][1248])", label_type)
    require(kind is not None, "labels")
    require(all(map(_is_whole, labels)), "labels")
    length = int(kind[2] or 0) if kind else 0
    if length > LONGEST_LABEL or 4 * length * len(labels) > LARGEST_LABELS:
        raise InputError(
            f"it has {len(labels)} labels of up to {length} characters; a label may have "
            f"{LONGEST_LABEL}, and all of them together {LARGEST_LABELS // 2**20} MB"
        )


def _is_whole(label: Any) -> bool:
    """Tell whether a label is no text, or one without halves of surrogate pairs."""
    return not isinstance(label, str) or label.encode(errors="ignore").decode() == label


def _check_columns(header: dict[str, Any], width: int) -> None:
    """Raise ValueError if columns of the sums are no features and targets, or names not theirs."""
    targets, is_flat, names = (header[name] for name in ("targets", "is_flat", "feature_names"))
    require(type(targets) is int and 0 <= targets < width, "targets")
    require(type(is_flat) is bool and (targets == 1 or not is_flat), "targets")
    features = header.get("width", width - targets)  # of rows
    require(type(features) is int and 0 < features <= MANY, "features")
    if names is not None:
        require(isinstance(names, list) and len(names) == features, "feature names")
        require(all(isinstance(name, str) for name in names), "feature names")


def _check_sums(header: dict[str, Any], arrays: Arrays) -> None:
    """Raise ValueError if sums are not of one shape, not finite, or larger than they can be."""
    require(header["dtype"] in ("<f4", "<f8"), "types")
    require(type(header["per_class"]) is bool, "types")
    T, width = len(header["labels"]), arrays["cross"].shape[-1]
    groups = T if header["per_class"] else 1
    require(width > 0, "sums")
    sizes = Sizes(header["dtype"], T=T, D=width, G=groups, P=width * (width + 1) // 2)
    weights = WEIGHTS if any(name in arrays for name in WEIGHTS) else ()
    of = {name: sizes.take(arrays, name) for name in (*SUMS, *weights)}
    is_flushed, counts = of["gram_is_flushed"], of["counts"]
    require(np.count_nonzero(is_flushed) == sizes["F"], "sums")
    diagonal = of["gram"][:, _diagonal(width)]
    require(bool((diagonal >= 0).all()), "sums")
    for sums, residue in ((of["cross"], "cross_residue"), (diagonal, "gram_residue")):
        require(bool((abs(of[residue]) <= RESIDUE_SHARE * abs(sums)).all()), "sums")
    if weights:
        weight = of["weight_sums"]
        require(bool((weight[counts > 0] >= SMALLEST_NUMBER).all()), "weights")
        within = abs(of["weight_sums_residue"]) <= RESIDUE_SHARE * weight
        require(bool(within.all()), "weights")
        require(bool(((weight > 0) == (counts > 0)).all()), "weights")
        require(bool((of["row_weights"] > 0).all()), "weights")
    total = sum(counts.tolist())
    require(0 < total <= MANY, "counts")
    expected = counts if header["per_class"] else np.array([total])
    expected = np.where(is_flushed, 0, expected)
    require(bool((of["rows_of_gram"] == expected).all()) and sizes["R"] == expected.sum(), "rows")
    require(not of["cross"][counts == 0].any(), "sums")


def check_rows(arrays: Arrays, per_class: bool) -> None:
    """Raise ValueError if rows clearly do not add up to the sums of their classes."""
    cross, stop, weights = arrays["cross"], 0, arrays.get("row_weights")
    for index, count in enumerate(arrays["rows_of_gram"].tolist()):
        part, stop = slice(stop, stop + count), stop + count
        if not arrays["gram_is_flushed"][index]:
            weight = np.ones((count, 1)) if weights is None else weights[part][:, None]
            plain = weight * arrays["rows"][part]
            rows = plain - weight * arrays["origin"]
            own = cross[index] if per_class else cross.sum(axis=0)
            far = abs(rows.sum(axis=0) - own)
            # Of rows that are the origin, rounding is all there is.
            size = abs(rows).sum() + abs(plain).sum() + abs(cross).max()
            require(bool((far <= ROWS_SLACK * size).all()), "sums")


def check_definite(sums: Sums) -> None:
    """Raise ValueError if no rows at all have these sums: X'X, and each class's X'1 and n.

    Around the means of the classes X'X has no negative eigenvalues, but for rounding, which is
    measured by the peaks; in each Gram, no entry is larger than the roots of its diagonal allow.
    """
    flushed = [(place, gram) for place, gram in enumerate(sums.grams) if not gram.holds_rows]
    if not flushed:
        return
    spread, slack = np.zeros((sums.width,) * 2, order="F"), 0.0
    # Rounding of the class sums is that of other classes' rows, too, which came in one batch.
    least = FAR_SHARE * (sums.trace + sum(gram.peak for gram in sums.grams))
    for place, gram in flushed:
        where = slice(place, place + 1) if sums.per_class else slice(None)
        part = _around_means(gram, sums.cross.T[where], sums.weight_sums[where])
        own = max(rounding_slack(gram), least)
        spread += part
        slack += own
        require(_entries_fit(part, own), "sums")
    spread.ravel(order="K")[:: len(spread) + 1] += slack
    require(is_definite(spread), "sums")


def _around_means(gram: Gram, cross: NDArray[Any], weight_sums: NDArray[Any]) -> Floats:
    """Return X'X around the means of the classes, as the lower triangle of a new matrix."""
    around = total_gram([gram], gram.width)
    taught = weight_sums > 0
    add_products(around, cross[taught] / np.sqrt(weight_sums[taught])[:, None], -1.0, lower=True)
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
