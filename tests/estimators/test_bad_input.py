"""Bad input is named and changes nothing; a failure in the middle leaves no half a row."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from newfound import IncrementalRidge, IncrementalRidgeClassifier, InputError, Recogniser
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.gram import Gram
from newfound.sums.sums import Sums
from tests.streams import assert_same_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = np.array(["mug", "cup", "jug"] * 30)
GOOD = [[0.0, 1.0, 2.0]]
MASKED: Any = np.ma.array(GOOD, mask=[[False, True, False]])

# What no model takes, and below what this model does not take.
BAD: list[Any] = [
    pytest.param([[0.0, np.nan, 1.0]], ["mug"], "NaN", id="nan"),
    pytest.param([[0.0, np.inf, 1.0]], ["mug"], "infinity", id="infinity"),
    pytest.param(np.full((1, 3), np.nan), ["mug"], "NaN", id="nan in an array"),
    pytest.param(np.full((1, 3), -np.inf), ["mug"], "infinity", id="infinity in an array"),
    pytest.param([[1e200, 0.0, 1.0]], ["mug"], "squares overflow", id="overflow"),
    pytest.param(GOOD, ["mug", "cup"], "inconsistent numbers of samples", id="lengths"),
    pytest.param(np.zeros((0, 3)), [], "0 sample", id="empty"),
    pytest.param(GOOD, [None], "y contains None", id="label None"),
    pytest.param(GOOD, [np.nan], "y contains NaN", id="label NaN"),
    pytest.param(GOOD, [0.5], "Unknown label type: continuous", id="label 0.5"),
    pytest.param(GOOD, [["mug"]], "1d array", id="labels in two dimensions"),
    pytest.param(GOOD, "mug", "1d array", id="labels not in a list"),
    pytest.param(GOOD, [("mug",)], "1d array", id="label a tuple"),
    pytest.param(GOOD, [b"mug"], "Unknown label type: bytes", id="label bytes"),
    pytest.param(GOOD, None, "1d array", id="no labels"),
    pytest.param([["a", "b", "c"]], ["mug"], "could not convert string", id="strings"),
    pytest.param([[object(), {}, 1.0]], ["mug"], "X must hold numbers", id="objects"),
    pytest.param([0.0, 1.0, 2.0], ["mug"] * 3, "Expected 2D array", id="one dimension"),
    pytest.param(np.array(GOOD) + 1j, ["mug"], "Complex data not supported", id="complex"),
    pytest.param(GOOD, [1j], "Complex|complex", id="label complex"),
    pytest.param(np.zeros((1, 3, 1)), ["mug"], "dim 3", id="three dimensions"),
    pytest.param(MASKED, ["mug"], "X holds masked values", id="masked"),
    pytest.param(GOOD, np.ma.array(["mug"], mask=True), "y holds masked", id="label masked"),
]
MISFIT: list[Any] = [
    pytest.param([[0.0, 1.0]], ["mug"], "X has 2 features", id="too narrow"),
    pytest.param(np.zeros((1, 4)), ["mug"], "X has 4 features", id="too wide"),
    pytest.param(GOOD, [3], "labels are strings, but 3|no class 3", id="label of another type"),
]


def state(model: IncrementalRidgeClassifier, folder: Path) -> bytes:
    model.save(folder / "state.newfound")
    return (folder / "state.newfound").read_bytes()


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize(("rows", "labels", "message"), BAD + MISFIT)
def test_bad_input_is_named_and_changes_nothing(
    rows: Any, labels: Any, message: str, class_weight: Any, tmp_path: Path
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    before, weights, names = state(model, tmp_path), model.coef_, sorted(vars(model))
    for call in (model.partial_fit, model.forget, model.fit):
        if call == model.fit and message in [case.values[2] for case in MISFIT]:
            continue  # fit starts anew, with any width and any type of label
        with pytest.raises((ValueError, TypeError), match=message):
            call(rows, labels)
        assert state(model, tmp_path) == before
        np.testing.assert_array_equal(model.coef_, weights)
        assert sorted(vars(model)) == names


@pytest.mark.parametrize(("rows", "labels", "message"), BAD)
def test_bad_input_leaves_a_new_model_new(rows: Any, labels: Any, message: str) -> None:
    model = IncrementalRidgeClassifier()
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit(rows, labels)
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


def test_a_bad_data_frame_leaves_a_new_model_new() -> None:
    model = IncrementalRidgeClassifier()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(pd.DataFrame({"a": [1.0], "b": [np.nan]}), ["mug"])
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


def test_questions_are_checked_too() -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    for ask in (model.predict, model.decision_function, model.predict_proba, model.novelty):
        with pytest.raises(ValueError, match="NaN"):
            ask([[0.0, np.nan, 1.0]])
        with pytest.raises(ValueError, match="X has 2 features"):
            ask([[0.0, 1.0]])


def test_a_model_taught_nothing_says_so() -> None:
    model = IncrementalRidgeClassifier()
    for ask in (model.predict, model.decision_function, model.predict_proba, model.novelty):
        with pytest.raises(NotFittedError, match="partial_fit first"):
            ask(X)
    with pytest.raises(NotFittedError, match="partial_fit first"):
        model.forget(X, Y)
    with pytest.raises(NotFittedError, match="partial_fit first"):
        model.save("nowhere.newfound")
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": 0}, "penalty must be a finite number above 0, got 0"),
        ({"penalty": -1.0}, "penalty must be"),
        ({"penalty": np.inf}, "penalty must be"),
        ({"penalty": "1"}, "penalty must be"),
        ({"penalty": True}, "penalty must be"),
        ({"recoding": 1.5}, "recoding must be a number from 0 to 1, got 1.5"),
        ({"recoding": np.nan}, "recoding must be"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced'"),
        ({"class_weight": {"mug": 0}}, "class_weight must be finite and above 0, got 0 for 'mug'"),
        ({"fit_intercept": "yes"}, "fit_intercept must be True or False"),
    ],
)
def test_bad_parameters_are_named(parameters: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        IncrementalRidgeClassifier(**parameters).fit(X, Y)


def fail(*_: Any, **__: Any) -> None:
    raise MemoryError("simulated")


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("rows", [1, 60])
@pytest.mark.parametrize("where", ["solver", "solver after work", "sums", "interrupt"])
def test_a_failure_after_the_checks_leaves_no_half_a_row(
    where: str, rows: int, class_weight: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    model.predict(X)
    before = state(model, tmp_path)
    solver: Any = RecursiveSolver if class_weight is None else RebalancedSolver
    learn = solver.learn

    def learn_and_fail(self: Any, *arguments: Any) -> None:
        learn(self, *arguments)
        raise KeyboardInterrupt if where == "interrupt" else MemoryError

    with monkeypatch.context() as patch:
        if where == "sums":
            patch.setattr(Gram, "prepare", fail)
        else:
            patch.setattr(solver, "learn", fail if where == "solver" else learn_and_fail)
        with pytest.raises((MemoryError, KeyboardInterrupt)):
            model.partial_fit(RNG.normal(size=(rows, 3)), ["pot"] * rows)
    assert state(model, tmp_path) == before
    untouched = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    assert_same_scores(model, untouched, X, 1e-12)
    model.partial_fit(X[:1] + 1, ["pot"])
    assert_same_scores(model, untouched.partial_fit(X[:1] + 1, ["pot"]), X, 1e-10)


def test_a_failure_while_forgetting_leaves_no_half_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    before = state(model, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(RecursiveSolver, "forget", fail)
        with pytest.raises(MemoryError):
            model.forget(X[:1], Y[:1])
    assert state(model, tmp_path) == before
    untouched = IncrementalRidgeClassifier().fit(X, Y)
    assert_same_scores(model, untouched, X, 1e-12)


def test_masked_values_are_refused_by_whoever_takes_rows_and_masks_of_nothing_are_not() -> None:
    for take in (
        lambda rows: Sums.of(rows, ["mug"]),
        lambda rows: Recogniser(extractor=None).teach_vectors(rows, ["mug"]),
        lambda rows: IncrementalRidge().fit(rows, [1.0]),
        lambda rows: IncrementalRidge().fit(GOOD, rows[0, 1:2]),
        lambda rows: IncrementalRidgeClassifier().fit(X, Y).predict(rows),
    ):
        with pytest.raises(InputError, match="holds masked values"):
            take(MASKED)
        take(np.ma.array(GOOD))


def test_rows_that_have_a_gradient_are_rows() -> None:
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, requires_grad=True)
    expected = IncrementalRidgeClassifier().fit(X, Y).scores(X)
    model = IncrementalRidgeClassifier().fit(rows, Y, torch.ones(len(X), requires_grad=True))
    np.testing.assert_array_equal(model.scores(rows), expected)
    np.testing.assert_array_equal(Sums.of(rows, Y).cross, Sums.of(X, Y).cross)
