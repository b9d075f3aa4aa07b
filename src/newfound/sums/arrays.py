"""Sums as named arrays, to be stored or sent, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from newfound.common.arrays import Labels
from newfound.common.device import Device
from newfound.sums.sums import Sums


def to_arrays(sums: Sums) -> dict[str, NDArray[Any]]:
    """Return all that sums hold but their labels, under the names that model files use.

    Examples
    --------
    >>> to_arrays(Sums.of([[1.0], [2.0]], ["cup", "mug"]))["counts"]
    array([1, 1])
    """
    flushed = [gram.flush() for gram in sums.grams if not gram.holds_rows]
    width = sums.width
    packed = [lapack.dtrttp(each.total(), uplo="L")[0] for each in flushed]
    rows = [gram.rows if gram.holds_rows else np.zeros((0, width)) for gram in sums.grams]
    cross, residue = sums.cross_parts
    # Rows that came as float32 are that still, to the last bit, unless they are weighted.
    held_as = np.float64 if sums.dtype is None or sums.is_weighted else sums.dtype
    masses = dict(zip(("masses", "masses_dropped"), sums.mass_parts or (), strict=False))
    return {
        "counts": sums.counts,
        "cross": cross,
        "cross_dropped": residue,
        "gram": np.array(packed).reshape(-1, width * (width + 1) // 2),
        "gram_dropped": np.array([each.residue for each in flushed]).reshape(-1, width),
        "gram_folds": np.array([each.flushes for each in flushed], dtype=np.int64),
        "gram_peak": np.array([each.highest for each in flushed], dtype=np.float64),
        "gram_is_folded": np.array([not gram.holds_rows for gram in sums.grams], dtype=bool),
        "rows": np.concatenate([np.zeros((0, width)), *rows]).astype(held_as),
        "rows_held": np.array([len(part) for part in rows], dtype=np.int64),
        **masses,
    }


def from_arrays(
    arrays: Mapping[str, NDArray[Any]],
    labels: Labels,
    per_class: bool,
    dtype: np.dtype[Any] | None,
    device: Device | None = None,
) -> Sums:
    """Return the sums that `to_arrays` was asked of, on a device if one is named.

    The arrays must have been checked.

    Examples
    --------
    >>> sums = Sums.of([[1.0], [2.0]], ["cup", "mug"])
    >>> from_arrays(to_arrays(sums), sums.labels, False, sums.dtype).cross
    array([[1., 2.]])
    """
    sums = Sums(arrays["cross"].shape[1], per_class, device)
    masses = None
    if "masses" in arrays:
        masses = arrays["masses"], arrays["masses_dropped"]
    cross = arrays["cross"], arrays["cross_dropped"]
    sums.restore(labels, arrays["counts"], *cross, dtype, masses)
    flushed = zip(arrays["gram"], arrays["gram_dropped"], arrays["gram_folds"], strict=True)
    peaks = iter(arrays["gram_peak"].tolist() if "gram_peak" in arrays else ())
    held = np.split(arrays["rows"], np.cumsum(arrays["rows_held"])[:-1])
    for gram, is_flushed, rows in zip(sums.grams, arrays["gram_is_folded"], held, strict=True):
        if is_flushed:
            packed, residue, flushes = next(flushed)
            full, _ = lapack.dtpttr(sums.width, packed, uplo="L")
            lower = np.asfortranarray(np.tril(full))
            gram.restore(lower, residue.copy(), int(flushes), next(peaks, 0.0))
        else:
            gram.add(rows)
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
    return from_arrays(to_arrays(sums), sums.labels, sums.per_class, sums.dtype, device)
