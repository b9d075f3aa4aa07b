"""Files that were written once are read for ever, and answer what they answered then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound.recognition.recogniser import Recogniser
from newfound.storage.format import FORMAT
from tests.crafted import taken_apart
from tests.storage.golden.make import CASES, answers, questions

FILES = sorted((Path(__file__).parent / "golden").glob("*/*.model"))
NUMBERS = ("scores", "novelty", "unknown", "penalty_", "recoding_", "predict")


def assert_answers_as_then(model: Any, path: Path) -> None:
    said = answers(model)
    expected: dict[str, Any] = json.loads((path.parent / "expected.json").read_text())[path.stem]
    # Weights of float32 rows are float32 themselves.
    tolerance = 1e-9 if expected["dtype"] == "<f8" else 1e-6
    for name in NUMBERS:
        if name in expected and not isinstance(np.ravel(expected[name])[0], str):
            values = np.array(said.pop(name), dtype=float)
            np.testing.assert_allclose(values, expected.pop(name), rtol=tolerance, atol=tolerance)
    assert said == expected


def test_there_are_files_of_every_case_in_every_format() -> None:
    formats = {path.parent.name: set[str]() for path in FILES}
    for path in FILES:
        assert f"format-{taken_apart(path)[0]['format']}" == path.parent.name
        formats[path.parent.name].add(path.stem)
    assert formats[f"format-{FORMAT}"] == set(CASES)


@pytest.mark.slow
def test_a_file_is_read_and_written_again(tmp_path: Path) -> None:
    for path in FILES:
        model = newfound.load(path)
        assert_answers_as_then(model, path)
        model.save(tmp_path / "again")
        assert_answers_as_then(newfound.load(tmp_path / "again"), path)


def test_a_file_goes_on_learning() -> None:
    for path in FILES:
        model = newfound.load(path)
        seen, rows = model.n_samples_seen_, questions(model)[:1]
        y = model.classes_[:1] if hasattr(model, "classes_") else model.predict(rows) + 1.0
        assert model.partial_fit(rows, y).n_samples_seen_ == seen + 1
        assert model.forget(rows, y).n_samples_seen_ == seen


def test_images_taught_long_ago_are_remembered(tmp_path: Path) -> None:
    for path in (*FILES[0].parents[1].glob("*/remembered.model"), tmp_path / "again"):
        recogniser = Recogniser(path)
        assert recogniser.taught.count("day", bytes([0]) * 16) == 1
        assert recogniser.taught.count("day", bytes([1]) * 16) == 0
        assert recogniser.taught.count("night", bytes([23]) * 16) == 1
        assert recogniser.unknown_above == 0.5
        assert recogniser.identity is not None
        assert recogniser.identity.name == "pixels"
        recogniser.save(tmp_path / "again")
