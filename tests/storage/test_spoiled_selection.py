"""Files with a valid checksum over a selection that cannot be are refused."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifierCV
from newfound.storage.format import State, read, write
from tests.crafted import put_together, taken_apart
from tests.streams import blobs

OLD = Path(__file__).parent / "golden" / "peaks" / "chosen.model"


def assert_refused(model: Any, name: str, value: Any, path: Path) -> None:
    """A file with a valid checksum in which one array of the selection is spoiled."""
    model.save(path)
    whole: State = read(path)
    assert newfound.load(path).n_samples_seen_ == model.n_samples_seen_
    write(path, whole.keeping("selection", {name: value(whole.kept_by("selection")[name])}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)


@cache
def chosen() -> Any:
    """Return a model that has chosen."""
    return IncrementalRidgeClassifierCV().fit(*blobs())


@cache
def voting() -> Any:
    """Return a model in the midst of votes."""
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().partial_fit(X[:200], y[:200])
    votes = model.to_state().kept_by("selection")
    first = 2 * int(votes.get("coming_total", votes["total"])[0])  # where the next are called for
    return model.partial_fit(X[200 : first + 2], y[200 : first + 2])


def swapped(array: Any) -> Any:
    """The first two, the other way round."""
    return np.concatenate([array[1::-1], array[2:]])


WITNESSES: list[Any] = [
    ("witness_rows", lambda a: a[None]),
    ("witness_rows", lambda a: a[:-1]),
    ("witness_rows", lambda a: a[:, :-1]),
    ("witness_rows", lambda a: a * 1e200),
    ("witness_rows", lambda a: a * np.nan),
    ("witness_rows", lambda a: a.astype(np.int64)),
    ("witness_class", lambda a: a + 1),
    ("witness_class", lambda a: a - 1),
    ("witness_class", lambda a: a[::-1].copy()),
    ("witness_class", lambda a: a.astype(np.float64)),
    ("witness_keys", lambda a: a[:-1]),
    ("witness_keys", lambda a: a.astype(np.int64)),
    ("witness_keys", swapped),
    ("forgotten", lambda a: a - 1),
    ("forgotten", lambda a: a * np.nan),
    ("forgotten", lambda a: a[:0]),
]
FOUND: list[Any] = [
    ("total", lambda a: a * 0),
    ("total", lambda a: a[:0]),
    ("total", lambda a: a.astype(np.float64)),
    ("voters", lambda a: a * 0),
    ("voters", lambda a: a - 2**40),
    ("pieces", lambda a: a - 2**40),
    ("penalties", lambda a: a[::-1].copy()),
    ("penalties", lambda a: a[:-1]),
    ("penalties", lambda a: a * np.nan),
    ("penalties", lambda a: -a),
    ("ladder", lambda a: a[::-1].copy()),
    ("ladder", lambda a: a * 0),
    ("ladder", lambda a: np.append(a[:-1], np.inf)),
    ("ladder", lambda a: a[:0]),
    ("table", lambda a: a > 0.5),
    ("table", lambda a: a[..., :0]),
    ("table", lambda a: a[:, :-1]),
    ("table", lambda a: a * np.nan),
    ("rare", lambda a: a + 5),
    ("rare", lambda a: a - 5),
    ("rungs", lambda a: a[:-1]),
    ("rungs", lambda a: a + 1.5),
    ("choice", lambda a: a * 3),
    ("choice", lambda a: a[:1]),
    ("choice", lambda a: a * np.array([0.0, 1.0])),
]


@pytest.mark.parametrize(("name", "value"), [*WITNESSES, *FOUND])
def test_a_file_with_a_valid_checksum_and_spoiled_selection_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    assert_refused(chosen(), name, value, tmp_path / "model.newfound")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((f"coming_{name}", value) for name, value in FOUND),
        ("coming_rows", lambda a: a - 2**40),
        ("coming_rows", lambda a: a[:0]),
        ("coming_rows", lambda a: a.astype(np.float64)),
    ],
)
def test_spoiled_votes_under_way_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    assert_refused(voting(), name, value, tmp_path / "model.newfound")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("held_rows", lambda a: a[None]),
        ("held_rows", lambda a: a[:-1]),
        ("held_rows", lambda a: a * 1e200),
        ("held_rows", lambda a: a * np.nan),
        ("held_class", lambda a: a + 2),
        ("held_class", lambda a: a - 4),
        ("held_class", lambda a: a.astype(np.float64)),
    ],
)
def test_spoiled_rows_held_back_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.newfound"
    header, tensors = taken_apart(OLD)
    put_together(path, header, tensors)
    assert newfound.load(path).n_samples_seen_ == newfound.load(OLD).n_samples_seen_
    tensors[f"selection.{name}"] = value(tensors[f"selection.{name}"])
    put_together(path, header, tensors)
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)


def test_a_file_without_its_selection_is_refused(tmp_path: Path) -> None:
    X, y = blobs(40)
    path = tmp_path / "model.newfound"
    IncrementalRidgeClassifierCV().fit(X, y).save(path)
    write(path, read(path)._replace(more={}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)
