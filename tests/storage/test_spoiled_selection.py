"""Files with a valid checksum over a selection that cannot be are refused."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifierCV
from newfound.storage.format import State, read, write
from tests.streams import blobs


def assert_refused(model: Any, name: str, value: Any, path: Path) -> None:
    """A file with a valid checksum in which one array of the selection is spoiled."""
    model.save(path)
    whole: State = read(path)
    assert newfound.load(path).n_samples_seen_ == model.n_samples_seen_
    write(path, whole.keeping({name: value(whole.arrays[name])}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)


@cache
def chosen() -> Any:
    """Return a model that has chosen."""
    return IncrementalRidgeClassifierCV().fit(*blobs())


@cache
def selecting() -> Any:
    """Return a model in the midst of a selection."""
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().partial_fit(X[:200], y[:200])
    arrays = model.learner_.to_state().arrays
    latest = "pending.total" if "pending.total" in arrays else "selection.total"
    first = 2 * int(arrays[latest][0])  # where the next selection begins
    return model.partial_fit(X[200 : first + 2], y[200 : first + 2])


def swapped(array: Any) -> Any:
    """The first two, the other way round."""
    return np.concatenate([array[1::-1], array[2:]])


WITNESSES: list[Any] = [
    ("witnesses.rows", lambda a: a[None]),
    ("witnesses.rows", lambda a: a[:-1]),
    ("witnesses.rows", lambda a: a[:, :-1]),
    ("witnesses.rows", lambda a: a * 1e200),
    ("witnesses.rows", lambda a: a * np.nan),
    ("witnesses.rows", lambda a: a.astype(np.int64)),
    ("witnesses.class", lambda a: a + 1),
    ("witnesses.class", lambda a: a - 1),
    ("witnesses.class", lambda a: a[::-1].copy()),
    ("witnesses.class", lambda a: a.astype(np.float64)),
    ("witnesses.keys", lambda a: a[:-1]),
    ("witnesses.keys", lambda a: a.astype(np.int64)),
    ("witnesses.keys", swapped),
    ("selection.forgotten", lambda a: a - 1),
    ("selection.forgotten", lambda a: a * np.nan),
    ("selection.forgotten", lambda a: a[:0]),
]
RESULT: list[Any] = [
    ("total", lambda a: a * 0),
    ("total", lambda a: a[:0]),
    ("total", lambda a: a.astype(np.float64)),
    ("rows", lambda a: a * 0),
    ("rows", lambda a: a - 2**40),
    ("delay", lambda a: a - 2**40),
    ("penalties", lambda a: a[::-1].copy()),
    ("penalties", lambda a: a[:-1]),
    ("penalties", lambda a: a * np.nan),
    ("penalties", lambda a: -a),
    ("counts", lambda a: a[::-1].copy()),
    ("counts", lambda a: a * 0),
    ("counts", lambda a: np.append(a[:-1], np.inf)),
    ("counts", lambda a: a[:0]),
    ("accuracy", lambda a: a > 0.5),
    ("accuracy", lambda a: a[..., :0]),
    ("accuracy", lambda a: a[:, :-1]),
    ("accuracy", lambda a: a * np.nan),
    ("rare_accuracy", lambda a: a + 5),
    ("rare_accuracy", lambda a: a - 5),
    ("recodings", lambda a: a[:-1]),
    ("recodings", lambda a: a + 1.5),
    ("choice", lambda a: a * 3),
    ("choice", lambda a: a[:1]),
    ("choice", lambda a: a * np.array([0.0, 1.0])),
]


@pytest.mark.parametrize(
    ("name", "value"), [*WITNESSES, *((f"selection.{name}", value) for name, value in RESULT)]
)
def test_a_file_with_a_valid_checksum_and_spoiled_selection_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    assert_refused(chosen(), name, value, tmp_path / "model.newfound")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((f"pending.{name}", value) for name, value in RESULT),
        ("pending.since", lambda a: a - 2**40),
        ("pending.since", lambda a: a[:0]),
        ("pending.since", lambda a: a.astype(np.float64)),
    ],
)
def test_a_spoiled_selection_under_way_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    assert_refused(selecting(), name, value, tmp_path / "model.newfound")


def test_a_file_without_its_selection_is_refused(tmp_path: Path) -> None:
    X, y = blobs(40)
    path = tmp_path / "model.newfound"
    IncrementalRidgeClassifierCV().fit(X, y).save(path)
    write(path, read(path)._replace(arrays={}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)
