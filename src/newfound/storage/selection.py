"""What a choice rests on, as arrays for the model file."""

from typing import Any

import numpy as np

from newfound.heads.unknown import Bound, Typical
from newfound.memory.memory import Memory
from newfound.selection.calibration import Calibration
from newfound.selection.pending import PendingSelection
from newfound.selection.result import Scores, SelectionResult
from newfound.selection.selector import QUIET_ROWS, Selector
from newfound.selection.validation import COUNTS
from newfound.solvers.settings import MOST_CANDIDATES, SelectionSettings
from newfound.storage.table import Arrays, Sizes, require
from newfound.sums.sums import Sums

# What is stored of a result as it is.
_NUMBERS = ("total", "rows", "delay")
_SCORES = Scores._fields[1:]
_TABLES = (*_SCORES, "recodings")


def pack_selector(selector: Selector, memory: Memory) -> dict[str, Any]:
    """Return all that a choice rests on, beside the memory, as arrays."""
    arrays = {
        "selection.forgotten": np.array([selector.forgotten]),
        "selection.quiet_rows": np.array([min(selector.quiet_rows, QUIET_ROWS)], dtype=np.int64),
        **_pack(selector.result(memory), "selection", memory.sums),
    }
    if selector.pending is not None:  # it counts later, but there is no harm in finishing it now
        arrays |= _pack(selector.pending.finish(), "pending", memory.sums)
        arrays["pending.since"] = np.array([selector.pending.rows], dtype=np.int64)
    return arrays


def unpack_selector(arrays: Arrays, sums: Sums, settings: SelectionSettings) -> Selector:
    """Return the selector that was packed, or raise ValueError."""
    selector, sizes = Selector(settings), Sizes()
    selector.latest = _unpack(arrays, "selection", sums, settings)
    selector.forgotten = float(sizes.take(arrays, "selection.forgotten")[0])
    selector.quiet_rows = int(sizes.take(arrays, "selection.quiet_rows", high=QUIET_ROWS)[0])
    if "pending.since" in arrays:
        result = _unpack(arrays, "pending", sums, settings)
        since = int(sizes.take(arrays, "pending.since")[0])
        selector.pending = PendingSelection.finished(result, since)
    return selector


def _pack(result: SelectionResult, room: str, sums: Sums) -> dict[str, Any]:
    calibration, typical = result.calibration, result.calibration.typical
    arrays = {
        **{name: np.array([getattr(result, name)]) for name in _NUMBERS},
        **{name: getattr(result, name) for name in _TABLES},
        "choice": np.array([result.expected, result.penalty]),
        "sharpness": np.array([calibration.sharpness]),
    }
    if result.rival is not None:
        expected, *tables = result.rival
        arrays["uses_layer"] = np.array([result.uses_layer])
        arrays["advantage"] = np.array([result.advantage])
        arrays["rival_expected"] = np.array([expected])
        arrays |= {f"rival_{name}": each for name, each in zip(_SCORES, tables, strict=True)}
    if calibration.bound is not None and typical is not None:
        labels = sums.labels.tolist()
        places = [place for place, label in enumerate(labels) if label in typical.of_class]
        cosines = [typical.of_class[labels[place]] for place in places]
        arrays["bound"] = np.array(calibration.bound)
        arrays["typical"] = np.array([typical.of_all])
        arrays["typical_class"] = np.array(places, dtype=np.int64)
        arrays["typical_of_class"] = np.array(cosines, dtype=np.float64)
    return {f"{room}.{name}": array for name, array in arrays.items()}


def _unpack(arrays: Arrays, room: str, sums: Sums, settings: SelectionSettings) -> SelectionResult:
    """Return a stored result, or raise ValueError if it is invalid."""
    sizes, what = Sizes(A=len(settings.recodings)), f"{room}'s numbers"
    penalties, counts, accuracy, rare_accuracy = _unpack_scores(arrays, f"{room}.", sizes)
    total, rows, delay = (int(sizes.take(arrays, f"{room}.{name}")[0]) for name in _NUMBERS)
    expected, penalty = sizes.take(arrays, f"{room}.choice").tolist()
    recodings = sizes.take(arrays, f"{room}.recodings")
    require(total > 0, what)
    require(penalty in penalties.tolist() and (rows == 0 or delay > 0), what)
    # Under the paper's rule a model may be calibrated before anything is chosen by scores.
    require(delay == 0 or rows > 0 or settings.rule == "paper", what)
    tables = (recodings, penalties, counts, accuracy, rare_accuracy, rows, delay)
    calibration = _unpack_calibration(arrays, room, sums)
    result = SelectionResult(settings, total, expected, penalty, *tables, calibration)
    if f"{room}.uses_layer" not in arrays:
        return result
    rival = _unpack_scores(arrays, f"{room}.rival_", Sizes(A=len(settings.recodings)))
    uses_layer, advantage, expected = (
        sizes.take(arrays, f"{room}.{name}").tolist()[0]
        for name in ("uses_layer", "advantage", "rival_expected")
    )
    scores = Scores(expected, *rival)
    return result._replace(uses_layer=uses_layer, advantage=advantage, rival=scores)


def _unpack_scores(arrays: Arrays, room: str, sizes: Sizes) -> list[Any]:
    """Return stored scores of candidates, or raise ValueError if they are invalid."""
    what = f"{room.partition('.')[0]}'s numbers"
    scores = [sizes.take(arrays, room + name) for name in _SCORES]
    penalties, counts = scores[:2]
    require(0 < len(penalties) <= MOST_CANDIDATES and 0 < len(counts) <= len(COUNTS), what)
    require(bool((np.diff(penalties) > 0).all() and (np.diff(counts) > 0).all()), what)
    return scores


def _unpack_calibration(arrays: Arrays, room: str, sums: Sums) -> Calibration:
    sizes, what = Sizes(), f"{room}'s numbers"
    sharpness = float(sizes.take(arrays, f"{room}.sharpness")[0])
    if f"{room}.bound" not in arrays:
        return Calibration(sharpness)
    bound = Bound(*sizes.take(arrays, f"{room}.bound").tolist())
    of_all = float(sizes.take(arrays, f"{room}.typical")[0])
    places = sizes.take(arrays, f"{room}.typical_class", high=sums.n_classes - 1)
    cosines = sizes.take(arrays, f"{room}.typical_of_class").tolist()
    require(bound.slope > 0 and bool((np.diff(places) > 0).all()), what)
    of_class = dict(zip(sums.labels[places].tolist(), cosines, strict=True))
    return Calibration(sharpness, Typical(of_all, of_class), bound)
