"""Forgetting by a model that chooses: what is left is whole, and its witnesses with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import newfound
from newfound import IncrementalRidgeClassifierCV
from tests.streams import blobs


def again(model: Any, folder: Path) -> Any:
    model.save(folder / "model.newfound")
    return newfound.load(folder / "model.newfound")


def contents(model: Any, folder: Path) -> bytes:
    model.save(folder / "bytes.newfound")
    return (folder / "bytes.newfound").read_bytes()


def test_what_is_left_after_forgetting_can_be_loaded(tmp_path: Path) -> None:
    A = np.random.default_rng(0).normal(size=(12, 2))
    model = IncrementalRidgeClassifierCV().fit(A, ["a"] * 12)
    model.forget(np.delete(A, [5, 11], 0), ["a"] * 10).forget(A[5:6], ["a"])
    assert again(model, tmp_path).n_samples_seen_ == 1
    X, y = blobs(120)
    small = IncrementalRidgeClassifierCV(witnesses=2).fit(X, y).forget(X[:103], y[:103])
    loaded = again(small, tmp_path)
    assert loaded.n_samples_seen_ == 17
    assert IncrementalRidgeClassifierCV().merge(loaded).n_samples_seen_ == 17


def test_rows_of_another_precision_are_witnesses_as_they_are(tmp_path: Path) -> None:
    A = np.random.default_rng(0).normal(size=(6, 3))
    model = IncrementalRidgeClassifierCV().partial_fit(A[:5].astype(np.float32), ["a"] * 5)
    model.partial_fit(A[5:], ["a"])
    assert model.coef_.dtype == np.float64
    loaded = again(model, tmp_path)
    assert contents(loaded, tmp_path) == contents(model, tmp_path)
    assert loaded.forget(A[5:], ["a"]).n_samples_seen_ == 5


def test_an_untaught_model_says_so() -> None:
    for name in ("class_count_", "n_samples_seen_", "penalty_", "recoding_", "witnesses_"):
        with pytest.raises(NotFittedError):
            getattr(IncrementalRidgeClassifierCV(), name)


def test_more_than_was_taught_is_refused_with_the_number_there_are() -> None:
    model = IncrementalRidgeClassifierCV().fit(np.eye(7), ["a"] * 6 + ["b"])
    with pytest.raises(ValueError, match="cannot forget 7 examples of 'a': 6 of them"):
        model.forget(np.zeros((7, 7)), ["a"] * 7)
