"""Sums as named arrays, to be stored or sent, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from newfound.common.arrays import Floats, Labels
from newfound.common.device import Device, on_host
from newfound.sums.gram import Gram
from newfound.sums.sums import Sums

# The arrays of what examples weigh, where that is not one.
WEIGHTS = ("weight_sums", "weight_sums_residue", "inverse_weight_sums", "row_weights")


def to_arrays(sums: Sums) -> dict[str, NDArray[Any]]:
    """Return all that sums hold but their labels, under the names that model files use.

    Examples
    --------
    >>> to_arrays(Sums.of([[1.0], [2.0]], ["cup", "mug"]))["counts"]
    array([1, 1])
    """
    width, nothing = sums.width, np.zeros((0, sums.width))
    flushed = [gram.flush() for gram in sums.grams if not gram.holds_rows]
    packed = [lapack.dtrttp(part.total(), uplo="L")[0] for part in flushed]
    rows = [gram.rows if gram.holds_rows else nothing for gram in sums.grams]
    all_rows, (cross, residue) = np.concatenate([nothing, *rows]), sums.cross_parts
    held = [_row_weights(gram) for gram in sums.grams if gram.holds_rows]
    # Rows that came as float32 are that still, to the last bit.
    if sums.dtype == np.float32 and np.array_equal(all_rows.astype(np.float32), all_rows):
        all_rows = all_rows.astype(np.float32)
    weights = {}
    if sums.weight_sum_parts is not None:
        row_weights = np.concatenate([np.zeros(0), *held])
        parts = (*sums.weight_sum_parts, sums.inverse_weight_sums, row_weights)
        weights = dict(zip(WEIGHTS, map(np.ascontiguousarray, parts), strict=True))
    origin = np.zeros(width) if sums.origin is None else on_host(sums.origin)
    return {
        "counts": sums.counts,
        "cross": cross,
        "cross_residue": residue,
        "origin": origin,
        "gram": np.array(packed).reshape(-1, width * (width + 1) // 2),
        "gram_residue": np.array([part.residue for part in flushed]).reshape(-1, width),
        "gram_flushes": np.array([part.flushes for part in flushed], dtype=np.int64),
        "gram_peak": np.array([part.highest for part in flushed], dtype=np.float64),
        "gram_is_flushed": np.array([not gram.holds_rows for gram in sums.grams], dtype=bool),
        "rows": all_rows,
        "rows_of_gram": np.array([len(part) for part in rows], dtype=np.int64),
        **weights,
    }


def _row_weights(gram: Gram) -> Floats:
    """Return what each row that is held weighs, shape (m,)."""
    return np.ones(gram.buffer.count) if gram.row_weights is None else gram.row_weights


def from_arrays(
    arrays: Mapping[str, NDArray[Any]],
    labels: Labels,
    per_class: bool,
    dtype: np.dtype[Any] | None,
    device: Device | None = None,
    is_centred: bool = False,
) -> Sums:
    """Return the sums that `to_arrays` was asked of, on a device if one is named.

    The arrays must have been checked.

    Examples
    --------
    >>> sums = Sums.of([[1.0], [2.0]], ["cup", "mug"])
    >>> from_arrays(to_arrays(sums), sums.labels, False, sums.dtype).cross
    array([[1., 2.]])
    """
    sums = Sums(arrays["cross"].shape[1], per_class, device, is_centred)
    sums.restore(arrays, labels, dtype)
    names = ("gram", "gram_residue", "gram_flushes", "gram_peak")
    flushed = zip(*(arrays[name] for name in names), strict=True)
    places = np.cumsum(arrays["rows_of_gram"])[:-1]
    parts = np.split(arrays["rows"], places)
    weights: list[Any] = [None] * len(sums.grams)
    if "row_weights" in arrays:
        weights = np.split(arrays["row_weights"], places)
    each = zip(sums.grams, arrays["gram_is_flushed"], parts, weights, strict=True)
    for gram, is_flushed, rows, of_rows in each:
        if is_flushed:
            packed, residue, flushes, peak = next(flushed)
            full, _ = lapack.dtpttr(sums.width, packed, uplo="L")
            lower = np.asfortranarray(np.tril(full))
            gram.restore(lower, residue.copy(), int(flushes), float(peak))
        else:
            gram.add(rows, of_rows)
    return sums


def moved(sums: Sums, device: Device | None) -> Sums:
    """Return the same sums on another device, or on the host.

    Examples
    --------
    >>> sums = moved(Sums.of([[1.0], [2.0]], ["cup", "mug"]), Device("array_api_strict", None))
    >>> print(sums.cross)
    Array([[1., 2.]], dtype=array_api_strict.float64)
    >>> moved(sums, None).cross
    array([[1., 2.]])
    """
    rest = sums.labels, sums.per_class, sums.dtype, device, sums.is_centred
    there = from_arrays(to_arrays(sums), *rest)
    there.has_shrunk = sums.has_shrunk
    return there
