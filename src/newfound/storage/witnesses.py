"""Witnesses as arrays for the model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import take
from newfound.common.errors import InputError
from newfound.selection.witnesses import Sample, Witness, Witnesses
from newfound.storage.checks import LARGEST_SUM
from newfound.sums.rows import LARGEST_SQUARE
from newfound.sums.sums import Sums

Arrays = dict[str, NDArray[Any]]

# How far witnesses may outweigh their class, by rounding.
SLACK = 1 + 1e-9


def packed_witnesses(witnesses: Witnesses, sums: Sums) -> Arrays:
    """Return the witnesses of all classes as arrays, under the names that model files use.

    Examples
    --------
    >>> sums = Sums.of([[1.0], [2.0]], ["cup", "mug"])
    >>> found = Witnesses(0).after(np.array([[1.0], [2.0]]), np.array(["cup", "mug"]), 9)
    >>> arrays = packed_witnesses(found, sums)
    >>> arrays["witness_rows"].tolist(), arrays["witness_class"].tolist()
    ([[1.0], [2.0]], [0, 1])
    >>> unpacked_witnesses(arrays, sums, 0).samples["mug"].rows
    [array([2.])]
    """
    labels, samples = sums.labels, witnesses.samples
    rows, index = witnesses.stacked(labels, sums.width)
    keys = [each.key for name in labels.tolist() for each in samples.get(name, Sample()).held]
    arrays = {
        "witness_rows": rows.astype(sums.dtype or np.float64),
        "witness_class": index.astype(np.int64),
        "witness_keys": np.array(keys, dtype=np.uint64),
    }
    weights = witnesses.weights(labels)
    if (weights != 1).any():
        arrays["witness_weights"] = weights
    return arrays


def unpacked_witnesses(arrays: Arrays, sums: Sums, seed: int) -> Witnesses:
    """Return the witnesses that were packed, or raise ValueError."""
    rows, index = labelled_rows(arrays, "witness_rows", "witness_class", sums)
    keys = take(arrays, "witness_keys", np.uint64, (len(rows),)).tolist()
    weights = np.ones(len(rows))
    if "witness_weights" in arrays:
        weights = take(arrays, "witness_weights", np.float64, (len(rows),), 0, LARGEST_SUM)
        require(bool(weights.all()))
    counts = np.bincount(index, minlength=sums.n_classes)
    require(bool((counts <= sums.counts).all()))
    require(bool((np.bincount(index, weights, sums.n_classes) <= sums.masses * SLACK).all()))
    require(bool((np.diff(index) >= 0).all()))
    samples, ends = {}, np.cumsum(counts).tolist()
    for place in np.flatnonzero(sums.counts).tolist():
        own = slice(ends[place] - int(counts[place]), ends[place])
        held = tuple(map(Witness, keys[own], rows[own], weights[own].tolist()))
        ranks = [each.rank for each in held]
        require(ranks == sorted(ranks))
        samples[sums.labels[place].item()] = Sample(held)
    return Witnesses(seed, samples)


def labelled_rows(arrays: Arrays, rows: str, classes: str, sums: Sums) -> tuple[Any, Any]:
    """Return stored rows (m, d), and the class of each (m,), or raise ValueError."""
    found = arrays.get(rows, np.zeros(0))
    require(found.dtype in (np.float64, sums.dtype) and found.shape[1:] == (sums.width,))
    require(bool(np.isfinite(found).all()))
    require(float(np.vdot(found, found.astype(np.float64))) < LARGEST_SQUARE)
    index = take(arrays, classes, np.int64, (len(found),), 0, sums.n_classes - 1)
    require(bool(sums.counts[index].all()))
    return found.astype(sums.dtype or np.float64), index.astype(np.intp)


def require(condition: bool) -> None:
    """Raise ValueError unless the condition holds."""
    if not condition:
        raise InputError("what its selection kept does not fit together")
