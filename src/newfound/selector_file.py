"""A selector as arrays, for the model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.held_back import HeldBack
from newfound.schedule import Occasion, Schedule
from newfound.selector import Selector
from newfound.settings import SelectionSettings
from newfound.statistics import Statistics

_SCHEDULE = ("ladder", "table", "rare", "others")


def packed(selector: Selector, statistics: Statistics) -> dict[str, NDArray[Any]]:
    """Return everything a selector holds as arrays; work that is not finished is left out."""
    names, held, progress = statistics.labels.tolist(), selector.held, selector.progress
    tests = np.array([progress.tests.get(label, 0.0) for label in names], dtype=np.float64)
    hits = [progress.hits[label] for label in names if label in progress.hits]
    rows, index = held.stacked(statistics.labels, statistics.width)
    arrays = {
        "held_rows": rows.astype(np.float64),
        "held_class": index.astype(np.int64),
        "shown": np.array([held.shown.get(label, 0) for label in names], dtype=np.int64),
        "offered": np.array([held.offered.get(label, 0) for label in names], dtype=np.int64),
        "scale": np.array([selector.scale]),
        "scaled_at": np.array([selector.scaled_at], dtype=np.int64),
        "plain": np.array(selector.plain or (-1, -1), dtype=np.int64),
        "tests": tests,
        "hits": np.array(hits) if hits else np.zeros((0, 0, 0)),
    }
    if selector.schedule is not None:
        schedule = selector.schedule
        arrays["occasion"] = np.array(schedule.occasion, dtype=np.int64)
        arrays |= {name: getattr(schedule, name) for name in _SCHEDULE}
    return arrays


def unpacked(
    arrays: dict[str, NDArray[Any]], statistics: Statistics, settings: SelectionSettings
) -> Selector:
    """Return the selector that `packed` was asked of, or raise ValueError or KeyError."""
    names = statistics.labels.tolist()
    rows, index = arrays["held_rows"], arrays["held_class"]
    shown, offered, tests = arrays["shown"], arrays["offered"], arrays["tests"]
    _require(all(np.isfinite(array).all() for array in arrays.values()))
    _require(len(rows) == len(index) and (not len(rows) or rows.shape[1] == statistics.width))
    _require(len(shown) == len(offered) == len(tests) == len(names))
    _require(index.dtype == shown.dtype == offered.dtype == np.int64)
    _require(bool(((index >= 0) & (index < len(names))).all()))
    _require(bool((offered <= shown).all() and (tests >= 0).all()))
    scale = float(arrays["scale"][0])
    _require(scale > 0)
    held = HeldBack(settings.random_state)
    for row, place in zip(rows.astype(statistics.dtype or np.float64), index, strict=True):
        held.rows.setdefault(names[place], []).append(row)
    for counts, name in ((held.shown, "shown"), (held.offered, "offered")):
        counts.update({label: int(n) for label, n in zip(names, arrays[name], strict=True) if n})
    selector = Selector(held, scale)
    selector.scaled_at = int(arrays["scaled_at"][0])
    total, place = arrays["plain"].tolist()
    selector.plain = None if total < 0 else (total, place)
    tested = [label for label, n in zip(names, tests, strict=True) if n]
    _require(len(tested) == len(arrays["hits"]))
    for label, hits, n in zip(tested, arrays["hits"], tests[tests > 0], strict=True):
        selector.progress.tests[label], selector.progress.hits[label] = float(n), hits.copy()
    if "occasion" in arrays:
        occasion = Occasion(*arrays["occasion"].tolist())
        parts = [arrays[name] for name in _SCHEDULE]
        _require(min(occasion) > 0 and [part.ndim for part in parts] == [1, 4, 3, 3])
        _require(parts[1].shape[:3] == parts[2].shape == parts[3].shape)
        _require(len(parts[0]) == len(parts[1]) > 0 and bool((parts[0] > 0).all()))
        selector.schedule = Schedule(occasion, *parts)
    return selector


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("what its selection kept does not fit together")
