"""A selector as arrays, for the model file."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import take
from newfound.common.errors import InputError
from newfound.selection.holdout import HeldBack
from newfound.selection.schedule import Occasion, Schedule
from newfound.selection.selector import Selector
from newfound.solvers.settings import SelectionSettings
from newfound.sums.rows import LARGEST_SQUARE
from newfound.sums.sums import Sums

# More examples than anyone can show, and fewer than 64 bits count.
_MANY = 2**53


def packed(selector: Selector, sums: Sums, settings: SelectionSettings) -> dict[str, NDArray[Any]]:
    """Return everything a selector holds as arrays.

    Left out are work that is not finished, and what was found out about other candidates than
    there are now.
    """
    names, held, key = sums.labels.tolist(), selector.held, selector.key(settings)
    rows, index = held.stacked(sums.labels, sums.width)
    arrays = {
        "held_rows": rows.astype(sums.dtype or np.float64),
        "held_class": index.astype(np.int64),
        "shown": np.array([held.shown.get(label, 0) for label in names], dtype=np.int64),
        "offered": np.array([held.offered.get(label, 0) for label in names], dtype=np.int64),
        "scale": np.array([selector.scale]),
        "scaled_at": np.array([selector.scaled_at], dtype=np.int64),
    }
    if selector.plain is not None:
        arrays["plain"] = np.array(selector.plain, dtype=np.int64)
    tests, hits = selector.progress.tests, selector.progress.hits
    if tests and selector.progress_key == key:
        nothing = np.zeros((len(key.penalties), len(key.recodings)))
        arrays["tests"] = np.array([tests.get(label, 0.0) for label in names])
        arrays["hits"] = np.array([hits.get(label, nothing) for label in names])
    schedule = selector.schedule
    if schedule is not None and schedule.key == key:
        arrays["occasion"] = np.array(schedule.occasion, dtype=np.int64)
        for name in ("ladder", "table", "rare", "others"):
            arrays[name] = getattr(schedule, name)
    return arrays


def unpacked(arrays: dict[str, NDArray[Any]], sums: Sums, settings: SelectionSettings) -> Selector:
    """Return the selector that `packed` was asked of, or raise ValueError or KeyError."""
    T, names = sums.n_classes, sums.labels.tolist()

    floats = partial(take, arrays, dtype=np.float64, low=0, high=_MANY)
    whole = partial(take, arrays, dtype=np.int64, low=0, high=_MANY)
    V = len(arrays["held_rows"])
    rows = arrays["held_rows"]
    _require(rows.dtype in (np.float64, sums.dtype) and rows.shape == (V, sums.width))
    _require(bool(np.isfinite(rows).all()))
    _require(float(np.vdot(rows, rows.astype(np.float64))) < LARGEST_SQUARE)
    index = whole("held_class", shape=(V,), high=T - 1)
    _require(bool(sums.counts[index].all()))
    shown, offered = (whole(name, shape=(T,)) for name in ("shown", "offered"))

    held = HeldBack(settings.random_state)
    held.shown = dict(zip(names, shown.tolist(), strict=True))
    held.offered = dict(zip(names, offered.tolist(), strict=True))
    for row, place in zip(rows.astype(sums.dtype or np.float64), index, strict=True):
        held.rows.setdefault(names[place], []).append(row)

    selector = Selector(held, float(floats("scale", shape=(1,), high=LARGEST_SQUARE)[0]))
    selector.scaled_at = int(whole("scaled_at", shape=(1,))[0])
    key = selector.key(settings)
    K, A = len(key.penalties), len(key.recodings)
    if "plain" in arrays:
        total, place = whole("plain", shape=(2,)).tolist()
        _require(place < K and total > 0)
        selector.plain = total, place
    if "tests" in arrays:
        tests, hits = floats("tests", shape=(T,)), floats("hits", shape=(T, K, A))
        selector.progress_key = key
        for label, number, passed in zip(names, tests.tolist(), hits, strict=True):
            if number:
                _require(number >= 0.5 and bool((passed <= number).all()))
                selector.progress.tests[label] = number
                selector.progress.hits[label] = passed.copy()
    if "occasion" in arrays:
        occasion = Occasion(*whole("occasion", shape=(3,)).tolist())
        M, C = arrays["table"].shape[0], arrays["table"].shape[-1]
        ladder = floats("ladder", shape=(M,))
        _require(min(occasion) > 0 and C > 0 and M > 0)
        _require(ladder[0] >= 1 and bool((np.diff(ladder) > 0).all()))
        table = floats("table", shape=(M, K, A, C), high=1.0)
        parts = (floats(name, shape=(M, K, A), high=1.0) for name in ("rare", "others"))
        selector.schedule = Schedule(key, occasion, ladder, table, *parts)
    return selector


def _require(condition: bool) -> None:
    if not condition:
        raise InputError("what its selection kept does not fit together")
