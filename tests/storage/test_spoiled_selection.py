"""Files with a valid checksum over a selection that cannot be are refused."""

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
    write(path, whole.keeping("selection", {name: value(whole.kept_by("selection")[name])}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", lambda a: a[:0]),
        ("scale", lambda a: a * np.nan),
        ("scaled_at", lambda a: a[:0]),
        ("scaled_at", lambda a: a - 1000),
        ("offered", lambda a: a.astype(np.float64)),
        ("shown", lambda a: a - 1000),
        ("shown", lambda a: np.full_like(a, 2**62)),
        ("held_rows", lambda a: a[None]),
        ("held_rows", lambda a: a[:-1]),
        ("held_rows", lambda a: a * 1e200),
        ("held_class", lambda a: a + 1),
        ("table", lambda a: a > 0.5),
        ("table", lambda a: a[..., :0]),
        ("table", lambda a: a[:, :-1]),
        ("ladder", lambda a: a[::-1].copy()),
        ("ladder", lambda a: a * 0),
        ("rare", lambda a: a + 5),
        ("occasion", lambda a: a * 0),
        ("occasion", lambda a: a[:2]),
    ],
)
def test_a_file_with_a_valid_checksum_and_spoiled_selection_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    assert_refused(model, name, value, tmp_path / "model.newfound")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hits", lambda a: a[:, :-1]),
        ("hits", lambda a: a + 1e9),
        ("tests", lambda a: a * 0 + 5e-324),
        ("tests", lambda a: -a),
        ("plain", lambda a: a * 0 - 50),
        ("plain", lambda a: a.astype(np.uint64)),
    ],
)
def test_spoiled_tests_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    X, y = blobs(40)
    model = IncrementalRidgeClassifierCV(validation="progressive")
    for part in np.array_split(np.arange(40), 4):
        model.partial_fit(X[part], y[part])
    model.predict(X)
    assert_refused(model, name, value, tmp_path / "model.newfound")


def test_a_file_without_its_selection_is_refused(tmp_path: Path) -> None:
    X, y = blobs(40)
    path = tmp_path / "model.newfound"
    IncrementalRidgeClassifierCV().fit(X, y).save(path)
    write(path, read(path)._replace(more={}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)
