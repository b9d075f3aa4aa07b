"""Rebalancing (the paper's RB): exact after every row, and what it holds for that."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from newfound import IncrementalRidgeClassifier
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.strips import block_rows
from newfound.sums.sums import Sums
from tests import oracles
from tests.streams import assert_same_scores, by_label


def uneven(rows: int, width: int, seed: int = 5) -> tuple[NDArray[Any], NDArray[Any]]:
    """Classes of very different sizes, the last of them rare and late."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["mug", "cup", "jug", "urn"], rows, p=[0.7, 0.2, 0.08, 0.02])
    y[: rows // 2][y[: rows // 2] == "urn"] = "mug"
    X = rng.normal(size=(rows, width)) + 2 * (y == "cup")[:, None] - (y == "urn")[:, None]
    return X, y


def ridge_scores(X: Any, y: Any, labels: Any, penalty: float, intercept: bool) -> Any:
    ridge = Ridge(alpha=penalty, fit_intercept=intercept)
    ridge.fit(X, oracles.one_hot(y, labels), sample_weight=oracles.balanced_weights(y))
    return ridge.predict(X).reshape(len(X), -1)


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [True, False])
def test_after_every_row_the_scores_are_those_of_weighted_ridge(intercept: bool) -> None:
    X, y = uneven(260, width=12)
    model = IncrementalRidgeClassifier(0.3, class_weight="balanced", fit_intercept=intercept)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        expected = ridge_scores(X[: i + 1], y[: i + 1], model.classes_, 0.3, intercept)
        found = np.stack(list(by_label(model, X[: i + 1]).values()), axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.slow
def test_after_every_row_forgotten_too() -> None:
    X, y = uneven(120, width=6)
    model = IncrementalRidgeClassifier(0.3, class_weight="balanced").fit(X, y)
    for i in range(len(X) - 1):
        model.forget(X[i : i + 1], y[i : i + 1])
        labels = model.classes_
        expected = ridge_scores(X[i + 1 :], y[i + 1 :], labels, 0.3, True)
        found = np.stack(list(by_label(model, X[i + 1 :]).values()), axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-8)


def test_the_papers_weights_differ_by_a_factor_on_the_penalty() -> None:
    """1 / rho_t = n / n_t is T times n / (T n_t): the same as dividing the penalty by T."""
    X, y = uneven(200, width=5)
    labels, classes = np.unique(y), 4
    W, b = oracles.ridge(
        X, oracles.one_hot(y, labels), 0.6, sample_weight=classes * oracles.balanced_weights(y)
    )
    model = IncrementalRidgeClassifier(0.6 / classes, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.coef_.T, W, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-10)


def test_examples_are_held_as_they_are_up_to_half_the_width_and_then_summed() -> None:
    rng = np.random.default_rng(0)
    width = 200
    few = np.array(["few"] * (width // 2))
    sums = Sums.of(rng.normal(size=(len(few), width)), few, per_class=True)
    (gram,) = sums.grams
    assert gram.holds_rows
    assert gram.buffer.capacity <= width // 2
    for _ in range(200):
        sums.add(rng.normal(size=(1, width)), *sums.locate(few[:1]))
    assert gram.flushed is not None
    assert gram.flushed.store.size == width * width
    assert gram.buffer.capacity == block_rows(width)


def test_forgetting_a_class_equals_never_having_met_it() -> None:
    X, y = uneven(300, width=7)
    for weight in ("balanced", {}, {"mug": 0.2}):
        model = IncrementalRidgeClassifier(class_weight=weight).fit(X, y)
        model.predict(X)
        kept = y != "mug"
        other = IncrementalRidgeClassifier(class_weight=weight).fit(X[kept], y[kept])
        assert_same_scores(model.forget_class("mug"), other, X, 1e-12)


def test_without_sums_per_class_forgetting_a_class_says_how_to_have_it() -> None:
    X, y = uneven(30, width=3)
    model = IncrementalRidgeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"class_weight='balanced'.*class_weight={}"):
        model.forget_class("mug")
    with pytest.raises(ValueError, match="no class 'pot' here"):
        IncrementalRidgeClassifier(class_weight={}).fit(X, y).forget_class("pot")


def test_weights_cannot_come_once_the_sums_were_pooled() -> None:
    X, y = uneven(30, width=3)
    model = IncrementalRidgeClassifier().fit(X, y).set_params(class_weight="balanced")
    for ask in (model.predict, model.novelty):
        with pytest.raises(ValueError, match="taught with class_weight=None"):
            ask(X)
    with pytest.raises(ValueError, match="taught with class_weight=None"):
        model.partial_fit(X, y)
    assert model.fit(X, y).score(X, y) > 0.5


def test_a_mapping_changed_in_place_is_noticed() -> None:
    X, y = uneven(60, width=3)
    weights = {"mug": 1.0}
    model = IncrementalRidgeClassifier(class_weight=weights).fit(X, y)
    before = model.coef_
    weights["mug"] = 9.0
    other = IncrementalRidgeClassifier(class_weight={"mug": 9.0}).fit(X, y)
    assert np.abs(model.coef_ - before).max() > 1e-3
    assert_same_scores(model, other, X)


def test_a_class_without_examples_changes_no_weight() -> None:
    X, y = uneven(60, width=3)
    sums = Sums.of(X, y, per_class=True)
    before = RebalancedSolver(sums, 0.3, True, "balanced").weights
    sums.announce(np.array(["pot"]))
    after = RebalancedSolver(sums, 0.3, True, "balanced").weights
    np.testing.assert_allclose(after[:, :-1], before, rtol=1e-12)
    assert not after[:, -1].any()
