"""Growing, renaming, merging, forgetting: what happens to classes and to what was taught."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from newfound import IncrementalRidgeClassifier
from tests.streams import assert_same_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 5))
Y = RNG.choice(["mug", "cup", "jug"], 240)


def test_classes_are_sorted_whatever_the_order_of_arrival() -> None:
    model = IncrementalRidgeClassifier()
    model.partial_fit(X[:2], ["mug", "cup"])
    model.partial_fit(X[2:3], ["zebra"])
    model.partial_fit(X[3:6], ["bowl", "ant", "mug"])
    assert model.classes_.tolist() == ["ant", "bowl", "cup", "mug", "zebra"]
    assert model.class_count_.tolist() == [1, 1, 1, 2, 1]
    assert model.n_samples_seen_ == 6


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_one_example_is_enough(class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).partial_fit(X[:1], ["mug"])
    assert model.predict(X).tolist() == ["mug"] * len(X)
    np.testing.assert_allclose(model.predict_proba(X), 1.0)
    assert model.decision_function(X).shape == (len(X), 1)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_an_announced_class_is_never_predicted_before_its_first_example(
    fit_intercept: bool,
) -> None:
    model = IncrementalRidgeClassifier(fit_intercept=fit_intercept)
    model.partial_fit(X, Y, classes=["ant", "cup", "jug", "mug"])
    assert model.classes_.tolist() == ["ant", "cup", "jug", "mug"]
    assert model.class_count_[0] == 0
    rows = np.vstack([X, -100 * X])
    assert "ant" not in model.predict(rows)
    assert (model.predict_proba(rows)[:, 0] == 0).all()
    assert (model.decision_function(rows)[:, 0] == -np.inf).all()
    winners = model.decision_function(rows).argmax(axis=1)
    assert model.classes_[winners].tolist() == model.predict(rows).tolist()
    silent = IncrementalRidgeClassifier(fit_intercept=fit_intercept).partial_fit(X, Y)
    assert model.predict(rows).tolist() == silent.predict(rows).tolist()


def test_scores_probabilities_and_answers_agree() -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    scores, probabilities = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == probabilities.shape == (240, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    for values in (scores, probabilities):
        assert model.classes_[values.argmax(axis=1)].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_)
    two = model.forget(X[Y == "jug"], Y[Y == "jug"])
    assert two.decision_function(X).shape == (240,)
    assert (two.coef_.shape, two.intercept_.shape) == ((1, X.shape[1]), (1,))
    assert ((two.decision_function(X) > 0) == (two.predict(X) == two.classes_[1])).all()


@pytest.mark.parametrize("class_weight", [None, "balanced", {}])
def test_a_class_whose_last_example_goes_disappears(class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    model.partial_fit(X[:2] + 3, ["urn", "urn"])
    model.predict(X)
    model.forget(X[:2] + 3, ["urn", "urn"])
    never = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    assert model.classes_.tolist() == never.classes_.tolist()
    assert_same_scores(model, never, X)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_forgetting_a_whole_stream_leaves_what_remains(class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X[:100], Y[:100])
    model.partial_fit(X[100:] * 50, Y[100:])
    order = RNG.permutation(140)
    for place in order:
        model.forget(X[100 + place][None] * 50, Y[[100 + place]])
    rest = IncrementalRidgeClassifier(class_weight=class_weight).fit(X[:100], Y[:100])
    assert_same_scores(model, rest, X)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("at_once", [True, False])
def test_forgetting_everything_makes_a_model_new(class_weight: Any, at_once: bool) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    if at_once:
        model.forget(X, Y)
    else:
        for i in range(len(X)):
            model.forget(X[i : i + 1], Y[i : i + 1])
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert not hasattr(model, "n_features_in_")
    model.partial_fit(X[:, :2], np.arange(240) % 2)
    other = IncrementalRidgeClassifier(class_weight=class_weight).fit(X[:, :2], np.arange(240) % 2)
    assert_same_scores(model, other, X[:, :2])


def test_a_model_left_with_announced_classes_only_is_new() -> None:
    model = IncrementalRidgeClassifier().partial_fit(X[:1], ["mug"], classes=["mug", "cup"])
    model.note = "mine"
    model.forget(X[:1], ["mug"])
    assert model.note == "mine"
    assert not hasattr(model, "n_features_in_")
    assert model.partial_fit(X[:, :2], Y).classes_.tolist() == ["cup", "jug", "mug"]


@pytest.mark.filterwarnings("ignore:a penalty of")
@pytest.mark.parametrize("rows", [3, 200])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_what_is_taken_back_soon_leaves_no_trace(rows: int, class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X[:rows], Y[:rows])
    before = model.coef_
    huge = np.full((1, 5), 1e9)
    model.partial_fit(huge, ["mug"]).forget(huge, ["mug"])
    np.testing.assert_allclose(model.coef_, before, rtol=1e-12)


def test_a_row_that_is_not_among_the_few_taught_is_refused() -> None:
    model = IncrementalRidgeClassifier().fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match="was not taught"):
        model.forget(X[:1] + 1e-12, Y[:1])


@pytest.mark.parametrize("class_weight", [None, "balanced", {"mug": 2.0, "pot": 0.5}])
def test_a_renamed_class_keeps_what_it_learned(class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    model.predict(X)
    model.rename_class("mug", "pot of a longer name")
    renamed = np.where(Y == "mug", "pot of a longer name", Y)
    assert model.classes_.tolist() == ["cup", "jug", "pot of a longer name"]
    other = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, renamed)
    assert_same_scores(model, other, X)
    assert model.rename_class("cup", "cup").classes_[0] == "cup"


@pytest.mark.parametrize("class_weight", [None, "balanced", {"mug": 2.0, "jug": 0.5}])
def test_renaming_onto_a_class_makes_the_two_one(class_weight: Any) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    model.predict(X)
    model.rename_class("cup", "mug")
    joined = np.where(Y == "cup", "mug", Y)
    assert model.classes_.tolist() == ["jug", "mug"]
    other = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, joined)
    assert_same_scores(model, other, X)


def test_renaming_refuses_what_it_cannot_do() -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="no class 'pot' here"):
        model.rename_class("pot", "pan")
    with pytest.raises(ValueError, match="labels are strings, but 3"):
        model.rename_class("mug", 3)
    with pytest.raises(ValueError, match="contains None"):
        model.rename_class("mug", None)
    assert model.classes_.tolist() == ["cup", "jug", "mug"]
    assert IncrementalRidgeClassifier().fit(X, ["a"] * 240).rename_class("a", 3).classes_ == [3]


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_models_of_different_classes_merge_in_either_order(class_weight: Any) -> None:
    labels = RNG.choice(["cup", "urn", "vase"], 240)
    other_rows = RNG.normal(size=(240, 5)) + 1

    def make(X: Any, y: Any) -> IncrementalRidgeClassifier:
        return IncrementalRidgeClassifier(class_weight=class_weight).fit(X, y)

    whole = make(np.vstack([X, other_rows]), np.concatenate([Y, labels]))
    one, two = make(X, Y), make(other_rows, labels)
    merged, backwards = make(X, Y).merge(two), make(other_rows, labels).merge(one)
    assert merged.classes_.tolist() == ["cup", "jug", "mug", "urn", "vase"]
    assert backwards.classes_.tolist() == ["cup", "jug", "mug", "urn", "vase"]
    assert_same_scores(merged, whole, X)
    assert_same_scores(backwards, whole, X)
    assert two.n_samples_seen_ == 240


def test_a_model_merges_with_itself_and_with_nothing() -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    twice = IncrementalRidgeClassifier().fit(np.vstack([X, X]), np.concatenate([Y, Y]))
    assert_same_scores(model.merge(model), twice, X)
    assert model.merge(IncrementalRidgeClassifier()).n_samples_seen_ == 480
    copied = IncrementalRidgeClassifier().merge(model)
    copied.partial_fit(X[:1], ["urn"])
    assert "urn" not in model.classes_


def test_merging_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    model.save(tmp_path / "before")
    with pytest.raises(ValueError, match="3 features there, 5 features here"):
        model.merge(IncrementalRidgeClassifier().fit(X[:, :3], Y))
    with pytest.raises(ValueError, match="labels are strings, but 1"):
        model.merge(IncrementalRidgeClassifier().fit(X, [1] * 240))
    with pytest.raises(TypeError, match="got dict"):
        model.merge({})  # type: ignore[arg-type]
    model.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    balanced = IncrementalRidgeClassifier(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match="holds its sums per class and the other does not"):
        balanced.merge(model)
    assert model.merge(balanced).n_samples_seen_ == 480


def test_feature_names_must_agree_when_merging() -> None:
    names = list("abcde")
    one = IncrementalRidgeClassifier().fit(pd.DataFrame(X, columns=names), Y)
    two = IncrementalRidgeClassifier().fit(pd.DataFrame(X, columns=names[::-1]), Y)
    with pytest.raises(ValueError, match="features of other names"):
        one.merge(two)
    plain = IncrementalRidgeClassifier().fit(X, Y)
    assert plain.merge(one).feature_names_in_.tolist() == names


def test_float32_stays_and_float64_wins() -> None:
    single = IncrementalRidgeClassifier().fit(X.astype(np.float32), Y)
    assert single.coef_.dtype == single.intercept_.dtype == np.float32
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32
    assert single.predict_proba(X.astype(np.float32)).dtype == np.float32
    assert single.partial_fit(X[:1], Y[:1]).coef_.dtype == np.float64
    assert IncrementalRidgeClassifier().fit((X * 10).astype(int), Y).coef_.dtype == np.float64


@pytest.mark.parametrize(
    "labels",
    [
        [True, False, True],
        [3, 1, 3],
        [3.0, 1.0, 3.0],
        ["b", "a", "b"],
        np.array(["b", "a", "b"], dtype=object),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series([3, 1, 3]),
        (np.int8(3), np.int8(1), np.int8(3)),
        np.array(["b", "a", "b"], dtype=np.dtypes.StringDType()),
    ],
)
def test_labels_of_many_kinds(labels: Any) -> None:
    rows = [[0.0], [1.0], [0.1]]
    model = IncrementalRidgeClassifier().fit(rows, labels)
    expected = [labels[0], labels[1]]
    assert model.predict([[0.0], [1.0]]).tolist() == expected
    model.partial_fit(rows[:1], labels[:1])
    assert model.forget(rows, labels).classes_.tolist() == [labels[0]]


def test_numbers_of_different_types_are_one_class() -> None:
    model = IncrementalRidgeClassifier().fit(X[:4], np.array([1, 2, 1, 2], dtype=np.int32))
    model.partial_fit(X[4:5], [1.0])
    assert model.class_count_.tolist() == [3, 2]
    with pytest.raises(ValueError, match="labels are numbers, but True"):
        model.partial_fit(X[4:5], [True])
    with pytest.raises(ValueError, match="mixes labels of different types: int, str"):
        model.partial_fit(X[:2], cast(Any, [1, "a"]))
    with pytest.raises(ValueError, match="beyond 64 bits"):
        model.partial_fit(X[:1], [2**70])
