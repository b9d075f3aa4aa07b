"""What a choice rests on, as arrays for the model file."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import take
from newfound.engine.engine import Engine
from newfound.heads.probabilities import LARGEST_SHARPNESS, SMALLEST_SHARPNESS
from newfound.heads.unknown import Bound, Usual
from newfound.selection.calibration import Calibration
from newfound.selection.findings import Findings
from newfound.selection.selector import CALM, Selector, Work
from newfound.selection.witnesses import Sample, Witnesses
from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER, SelectionSettings
from newfound.storage.witnesses import (
    labelled_rows,
    packed_witnesses,
    require,
    unpacked_witnesses,
)
from newfound.sums.sums import Sums

Arrays = dict[str, NDArray[Any]]

# More examples than anyone can show, and fewer than float64 counts.
_MANY = 2**52
# What is stored of findings, and of those that do not count yet.
_NUMBERS = {"total": "total", "voters": "voters", "pieces": "delay"}
_FINDINGS = ("penalties", "ladder", "table", "rare", "rungs")
_COMING = "coming_"


def packed(engine: Engine) -> Arrays:
    """Return all that the choice of an engine rests on, beside its sums, as arrays."""
    sums, selector = engine.sums, engine.selector
    assert selector is not None
    findings = engine.findings
    arrays = {
        **packed_witnesses(selector.witnesses, sums),
        "forgotten": np.array([selector.forgotten]),
        "calm": np.array([min(selector.calm, CALM)], dtype=np.int64),
        **_of_findings(findings, sums),
    }
    if selector.work is not None:  # it counts later, but there is no harm in finishing it now
        coming = _of_findings(selector.work.finish(), sums)
        arrays |= {f"{_COMING}{name}": array for name, array in coming.items()}
        arrays["coming_rows"] = np.array([selector.work.rows], dtype=np.int64)
    return arrays


def unpacked(arrays: Arrays, sums: Sums, settings: SelectionSettings) -> Selector:
    """Return the selector that `packed` was asked for, or raise ValueError.

    Files of version 0.1 hold rows back from the sums: they are learned, and become witnesses.
    """
    if "held_rows" in arrays:
        return _from_held_rows(arrays, sums, settings)
    whole = partial(take, arrays, dtype=np.int64, low=0)
    selector = Selector(unpacked_witnesses(arrays, sums, settings.random_state))
    selector.findings = _findings(arrays, sums, settings)
    selector.forgotten = float(take(arrays, "forgotten", np.float64, (1,), 0, _MANY)[0])
    selector.calm = int(take(arrays, "calm", np.int64, (1,), -1, CALM)[0])
    if "coming_rows" in arrays:
        coming = {
            name.removeprefix(_COMING): array
            for name, array in arrays.items()
            if name.startswith(_COMING)
        }
        found = _findings(coming, sums, settings)
        selector.work = Work.finished(found, int(whole("coming_rows", shape=(1,), high=_MANY)[0]))
    return selector


def _of_findings(found: Findings, sums: Sums) -> Arrays:
    arrays = {name: np.array([getattr(found, of)]) for name, of in _NUMBERS.items()}
    arrays |= {name: getattr(found, name) for name in _FINDINGS}
    if found.calibration is not None:
        arrays |= _of_calibration(found.calibration, sums)
    return arrays | {"choice": np.array([found.usual, found.penalty])}


def _of_calibration(calibration: Calibration, sums: Sums) -> Arrays:
    arrays = {"sharpness": np.array([calibration.sharpness])}
    if calibration.bound is not None and calibration.usual is not None:
        of_class, names = calibration.usual.of_class, sums.labels.tolist()
        held = [place for place, name in enumerate(names) if name in of_class]
        each = [of_class[names[place]] for place in held]
        arrays["bound"] = np.array(calibration.bound)
        arrays["usual"] = np.array([calibration.usual.of_all, *each])
        arrays["usual_class"] = np.array(held, dtype=np.int64)
    return arrays


def _calibration(arrays: Arrays, sums: Sums) -> Calibration | None:
    """Return a stored calibration, or None in files from before there were any."""
    if "sharpness" not in arrays:
        return None
    sharpness = take(arrays, "sharpness", np.float64, (1,), SMALLEST_SHARPNESS, LARGEST_SHARPNESS)
    if "bound" not in arrays:
        return Calibration(float(sharpness[0]))
    bound = Bound(*take(arrays, "bound", np.float64, (2,), -_MANY, _MANY).tolist())
    held = take(arrays, "usual_class", np.int64, (-1,), 0, sums.n_classes - 1)
    usual = take(arrays, "usual", np.float64, (1 + len(held),), SMALLEST_NUMBER, 1)
    require(bound.slope > 0 and bool((np.diff(held) > 0).all()))
    names = sums.labels[held].tolist()
    each = dict(zip(names, usual[1:].tolist(), strict=True))
    return Calibration(float(sharpness[0]), Usual(float(usual[0]), each), bound)


def _findings(arrays: Arrays, sums: Sums, settings: SelectionSettings) -> Findings:
    """Return stored findings, or raise ValueError if they are none."""
    numbers = (take(arrays, name, np.int64, (1,), 0, _MANY) for name in _NUMBERS)
    total, voters, delay = (int(number[0]) for number in numbers)
    positive = partial(take, arrays, dtype=np.float64, low=SMALLEST_NUMBER, high=LARGEST_NUMBER)
    penalties, choice = positive("penalties", shape=(-1,)), positive("choice", shape=(2,))
    ladder = take(arrays, "ladder", np.float64, (-1,), 1, _MANY)
    K, M, A = len(penalties), len(ladder), len(settings.recodings)
    require(total > 0 and K > 0 and M > 0)
    require(bool((penalties[1:] > penalties[:-1]).all() and (ladder[1:] > ladder[:-1]).all()))
    require(bool(np.isin(choice[1], penalties)) and (voters == 0 or delay > 0))
    # Under the paper's rule witnesses may be asked how sure the model is before any of them votes.
    require(delay == 0 or voters > 0 or settings.rule == "paper")
    table, rare = (
        take(arrays, name, np.float64, (M, K, A), 0, 1 + 1e-9) for name in ("table", "rare")
    )
    rungs = take(arrays, "rungs", np.float64, (M,), 0, 1)
    usual, penalty = choice.tolist()
    voted = (penalties, ladder, table, rare, voters, delay)
    return Findings(settings, total, usual, penalty, rungs, *voted, _calibration(arrays, sums))


def _from_held_rows(arrays: Arrays, sums: Sums, settings: SelectionSettings) -> Selector:
    rows, index = labelled_rows(arrays, "held_rows", "held_class", sums)
    if len(rows):
        sums.add(rows, index, sums.labels)
    witnesses = Witnesses(settings.random_state)
    if len(rows):
        witnesses = witnesses.after(rows, sums.labels[index], settings.witnesses)
    for label in sums.labels.tolist():
        witnesses.samples.setdefault(label, Sample())
    return Selector(witnesses)
