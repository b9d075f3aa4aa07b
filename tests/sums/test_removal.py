"""What can be taken out of sums, and what cannot have been put in."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


def test_float32_rows_far_from_zero_can_be_forgotten() -> None:
    rows = (RNG.normal(size=(1000, 20)) + 100).astype(np.float32)
    model = IncrementalRidgeClassifier().fit(rows, ["a", "b"] * 500)
    assert model.forget(rows[:990], ["a", "b"] * 495).n_samples_seen_ == 10


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_of_zeros_can_be_forgotten(class_weight: Any) -> None:
    rows = [[0.0, 0.0]] * 5 + [[1.0, 2.0]]
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, ["a"] * 5 + ["b"])
    assert model.forget([[0.0, -0.0]] * 5, ["a"] * 5).classes_.tolist() == ["b"]


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_row_that_holds_minus_zero_can_be_forgotten(zero: float) -> None:
    model = IncrementalRidgeClassifier().fit([[1.0, -0.0], [1.0, 2.0]], ["a", "b"])
    assert model.forget([[1.0, zero]], ["a"]).classes_.tolist() == ["b"]


def test_the_last_examples_of_a_class_must_be_those_taught() -> None:
    model = IncrementalRidgeClassifier().fit(np.vstack([X, [np.arange(10.0)]]), [*Y, "jug"])
    with pytest.raises(ValueError, match="do not add up to what was taught"):
        model.forget([[0.1] * 10], ["jug"])
    with pytest.raises(ValueError, match="do not add up to what was taught"):
        model.forget(np.full((201, 10), 100.0), [*Y, "jug"])
    assert model.n_samples_seen_ == 201


def again(model: Any, folder: Path) -> Any:
    model.save(folder / "model.newfound")
    return newfound.load(folder / "model.newfound")


@pytest.mark.parametrize("seed", range(12))
def test_features_that_are_exactly_zero_can_be_forgotten_and_saved(
    seed: int, tmp_path: Path
) -> None:
    A = np.random.default_rng(seed).normal(size=(40, 2))
    X = np.vstack([A, [[0.0, 1.0], [0.0, 0.0]]])
    model = IncrementalRidgeClassifier().fit(X, ["a"] * 40 + ["b"] * 2)
    model.forget(A[:8], ["a"] * 8).forget(A[8:], ["a"] * 32)
    assert again(model, tmp_path).class_count_.tolist() == [2]
    few, zero = A[:4], np.zeros((1, 2))
    other = IncrementalRidgeClassifier().fit(np.vstack([few, zero, few]), list("aaaaabbbb"))
    other.forget(few[:2], ["a"] * 2).forget(few[2:], ["a"] * 2).forget(zero, ["a"])
    assert other.classes_.tolist() == ["b"]
