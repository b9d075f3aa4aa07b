"""The laws of the engine, over random streams, against naive twins and scikit-learn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from newfound import IncrementalRidgeClassifier
from tests import oracles
from tests.effort import share_of
from tests.streams import Stream, assert_same_scores, by_label, streams, weights_of

PENALTIES = st.sampled_from([1e-2, 1.0, 30.0])
RECODINGS = st.sampled_from([0.0, 0.3, 0.7, 1.0])
WEIGHTS = st.sampled_from([None, "balanced", "mapping"])


def taught(stream: Stream, **parameters: Any) -> IncrementalRidgeClassifier:
    model = IncrementalRidgeClassifier(**parameters)
    for X, y in stream.parts():
        model.partial_fit(X, y)
    return model


def weight_for(kind: str | None, y: Any) -> tuple[Any, Any]:
    """A class_weight and the sample weights that it stands for."""
    if kind is None:
        return None, np.ones(len(y))
    if kind == "balanced":
        return "balanced", oracles.balanced_weights(y)
    mapping = {label: 0.5 + place for place, label in enumerate(np.unique(y).tolist()[1:])}
    return mapping, np.array([mapping.get(label, 1.0) for label in y.tolist()])


@given(streams(), PENALTIES, RECODINGS, st.booleans(), WEIGHTS)
def test_any_split_gives_the_closed_form(
    stream: Stream, penalty: float, recoding: float, intercept: bool, kind: str | None
) -> None:
    class_weight, sample_weight = weight_for(kind, stream.y)
    model = taught(
        stream,
        penalty=penalty,
        recoding=recoding,
        fit_intercept=intercept,
        class_weight=class_weight,
    )
    targets = oracles.one_hot(stream.y, model.classes_)
    W, b = oracles.ridge(stream.X, targets, penalty, intercept, sample_weight)
    factors = oracles.recode(sample_weight @ targets, recoding)
    tolerance = 1e-8 if stream.X.dtype == np.float64 else 1e-5
    scale = max(1.0, np.abs(W).max()) * factors.max()
    weights, constants = weights_of(model)
    np.testing.assert_allclose(weights, W * factors, atol=tolerance * scale)
    np.testing.assert_allclose(constants, b * factors, atol=tolerance * scale * 10)


@given(streams(dtype=np.float64, min_rows=3), st.booleans())
def test_without_recoding_the_scores_are_those_of_sklearn_ridge(
    stream: Stream, intercept: bool
) -> None:
    model = taught(stream, recoding=0.0, fit_intercept=intercept, penalty=0.5)
    targets = oracles.one_hot(stream.y, model.classes_)
    ridge = Ridge(alpha=0.5, fit_intercept=intercept).fit(stream.X, targets)
    expected = ridge.predict(stream.X).reshape(len(stream), -1)
    for place, scores in enumerate(by_label(model, stream.X).values()):
        np.testing.assert_allclose(scores, expected[:, place], atol=1e-8)


@given(streams(dtype=np.float64, min_rows=3), st.booleans())
def test_balanced_scores_are_those_of_weighted_sklearn_ridge(
    stream: Stream, intercept: bool
) -> None:
    model = taught(stream, class_weight="balanced", fit_intercept=intercept, penalty=0.5)
    targets = oracles.one_hot(stream.y, model.classes_)
    ridge = Ridge(alpha=0.5, fit_intercept=intercept)
    ridge.fit(stream.X, targets, sample_weight=oracles.balanced_weights(stream.y))
    expected = ridge.predict(stream.X).reshape(len(stream), -1)
    for place, scores in enumerate(by_label(model, stream.X).values()):
        np.testing.assert_allclose(scores, expected[:, place], atol=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 6), RECODINGS)
def test_equal_counts_make_recoding_the_identity(
    seed: int, classes: int, each: int, recoding: float
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(classes * each, 3))
    y = np.repeat(np.arange(classes), each)
    plain = IncrementalRidgeClassifier(recoding=0.0).fit(X, y)
    model = IncrementalRidgeClassifier(recoding=recoding).fit(X, y)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)


@given(streams(), RECODINGS)
def test_balanced_leaves_recoding_nothing_to_do(stream: Stream, recoding: float) -> None:
    model = taught(stream, class_weight="balanced", recoding=0.0)
    plain = model.coef_
    np.testing.assert_array_equal(model.set_params(recoding=recoding).coef_, plain)


@given(streams(dtype=np.float64), st.booleans(), PENALTIES)
def test_novelty_is_the_leverage_a_row_would_have(
    stream: Stream, intercept: bool, penalty: float
) -> None:
    model = taught(stream, fit_intercept=intercept, penalty=penalty)
    rows = np.vstack([stream.X, 1e3 * stream.X[:1], 0 * stream.X[:1]])
    leverage = oracles.leverage(stream.X, penalty, intercept, rows)
    novelty = model.novelty(rows)
    np.testing.assert_allclose(novelty, leverage / (1 + leverage), atol=1e-7)
    assert (novelty >= 0).all()
    assert (novelty < 1).all()


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_novelty_falls_as_a_row_is_seen_again(class_weight: Any) -> None:
    row = np.array([[3.0, -1.0]])
    model = IncrementalRidgeClassifier(class_weight=class_weight, fit_intercept=False)
    model.partial_fit([[0.0, 0.1]], ["other"])
    seen = [model.novelty(row)[0]]
    for _ in range(30):
        model.partial_fit(row, ["this"])
        seen.append(model.novelty(row)[0])
    assert seen == sorted(seen, reverse=True)
    assert seen[0] > 0.9
    assert seen[-1] < 0.1


@given(streams(dtype=np.float64, min_rows=2), PENALTIES, RECODINGS, st.booleans())
@settings(max_examples=share_of(50))
def test_parameters_change_at_once_and_from_the_sums(
    stream: Stream, penalty: float, recoding: float, intercept: bool
) -> None:
    model = taught(stream, class_weight="balanced")
    model.predict(stream.X)
    changed = {"penalty": penalty, "recoding": recoding, "fit_intercept": intercept}
    weights: list[Any] = [None, {}, "balanced"]
    for weight in weights:
        model.set_params(class_weight=weight, **changed)
        anew = taught(stream, class_weight=weight, **changed)
        assert_same_scores(model, anew, stream.X)
