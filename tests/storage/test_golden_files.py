"""Files that older versions wrote are read for ever, and answer what they answered then."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import newfound
from newfound.recognition.recogniser import Recogniser
from newfound.storage.format import read
from tests.crafted import taken_apart
from tests.storage.golden.make import answers

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("*/*.model"))
AGES = {age: [*files] for age, files in groupby(FILES, lambda path: path.parent.name)}
NUMBERS = ("decision_function", "novelty", "penalty_", "recoding_")
# Parameters there are no more, and what follows from rows that were held back and are learned now.
GONE, CHANGED = {"holdout_every", "holdout_cap", "validation"}, (*NUMBERS, "predict")


def expected_of(path: Path) -> dict[str, Any]:
    expected: dict[str, Any] = json.loads((path.parent / "expected.json").read_text())[path.stem]
    return expected


def held_back(path: Path) -> bool:
    """Whether a file is of a time when rows were held back from the sums to validate with."""
    return "selection.held_rows" in taken_apart(path)[1]


def assert_answers_as_then(model: Any, path: Path) -> None:
    said, expected = answers(model), expected_of(path)
    if held_back(path):
        for name in GONE:
            del expected["parameters"][name]
        for name in CHANGED:
            del said[name], expected[name]
    # Parameters that came later have their defaults; those there were are as they were saved.
    parameters = said.pop("parameters")
    assert parameters | expected.pop("parameters") == parameters
    # Weights of float32 rows are float32 themselves.
    tolerance = 1e-9 if expected["dtype"] == "<f8" else 1e-6
    for name in NUMBERS:
        if name in expected:
            found = np.array(said.pop(name))
            np.testing.assert_allclose(found, expected.pop(name), rtol=tolerance, atol=tolerance)
    assert said == expected


@pytest.mark.slow
@pytest.mark.parametrize("age", AGES)
def test_a_file_of_any_age_is_read_and_written_again(age: str, tmp_path: Path) -> None:
    for path in AGES[age]:
        model = newfound.load(path)
        assert_answers_as_then(model, path)
        model.save(tmp_path / "again")
        assert_answers_as_then(newfound.load(tmp_path / "again"), path)


@pytest.mark.slow
@pytest.mark.parametrize("age", AGES)
def test_asking_for_what_older_versions_did_not_know_changes_nothing(
    age: str, tmp_path: Path
) -> None:
    for path in AGES[age]:
        asked, silent = newfound.load(path), newfound.load(path)
        names = getattr(asked, "feature_names_in_", None)
        row = pd.DataFrame(np.ones((1, asked.n_features_in_)), columns=names)
        asked.unknown_proba(row if names is not None else row.to_numpy())
        for model, name in ((asked, "asked"), (silent, "silent")):
            model.save(tmp_path / name)
        assert (tmp_path / "asked").read_bytes() == (tmp_path / "silent").read_bytes()


@pytest.mark.parametrize("age", AGES)
def test_a_file_of_any_age_goes_on_learning(age: str) -> None:
    for path in AGES[age]:
        model = newfound.load(path)
        seen, row = model.n_samples_seen_, np.full((1, model.n_features_in_), 0.5)
        if hasattr(model, "feature_names_in_"):
            row = pd.DataFrame(row, columns=model.feature_names_in_)
        label = model.classes_[:1]
        assert model.partial_fit(row, label).n_samples_seen_ == seen + 1
        assert model.forget(row, label).n_samples_seen_ == seen


def test_each_age_is_told_by_what_its_files_lack() -> None:
    """Otherwise nothing would tell that what is missing in old files is still seen to."""
    lacking = {}
    for path in FILES:
        header, tensors = taken_apart(path)
        lacks = "extractor" not in header, "gram_peak" not in tensors
        lacking[path.parent.name] = (header["format"], *lacks)
        chooses = header["estimator"] == "IncrementalRidgeClassifierCV"
        assert held_back(path) == (chooses and header["format"] == 1)
    assert lacking == {
        "first": (1, True, True),
        "510def3": (1, False, True),
        "peaks": (1, False, False),
        "weights": (3, False, False),
        "witnesses": (2, False, False),
    }


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if held_back(path)],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_rows_that_were_held_back_are_learned_and_vote(path: Path) -> None:
    """Nothing is lost: the sums are those of all rows, and those held as rows are witnesses."""
    model, then = newfound.load(path), read(path)
    assert isinstance(model, newfound.IncrementalRidgeClassifierCV)
    kept = then.kept_by("selection")
    held, of = kept["held_rows"], then.sums.labels[kept["held_class"]]
    sums = model.to_state().sums
    np.testing.assert_array_equal(sums.labels, then.sums.labels)
    np.testing.assert_allclose(
        np.tril(sums.gram), np.tril(then.sums.gram + held.T.astype(float) @ held), rtol=1e-12
    )
    for place, label in enumerate(sums.labels):
        expected = then.sums.cross[:, place] + held[of == label].sum(axis=0, dtype=float)
        np.testing.assert_allclose(sums.cross[:, place], expected, rtol=1e-12, atol=1e-12)
    rows, labels = model.witnesses_
    assert sorted(zip(labels, map(tuple, rows), strict=True)) == sorted(
        zip(of, map(tuple, held), strict=True)
    )
    # It answers much as it did, and chooses from what it was given to choose from.
    said, expected_then = answers(model), expected_of(path)
    agreeing = np.equal(said["predict"], expected_then["predict"])
    assert agreeing.mean() >= 0.5
    parameters = said["parameters"]
    assert model.penalty_ in parameters["penalties"]
    assert {*model.recoding_} <= {*parameters["recodings"]} or model.rule == "what-if"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/remembered.model")), ids=str)
def test_images_taught_long_ago_are_remembered(path: Path, tmp_path: Path) -> None:
    for name in (path, tmp_path / "again"):
        recogniser = Recogniser(name)
        assert recogniser.taught.count("day", bytes([0]) * 16) == 1
        assert recogniser.taught.count("day", bytes([1]) * 16) == 0
        assert recogniser.taught.count("night", bytes([23]) * 16) == 1
        assert recogniser.unknown_above == 0.5
        assert recogniser.identity is not None
        assert recogniser.identity.name == "pixels"
        recogniser.save(tmp_path / "again")
