"""Streams on which a carried inverse loses its digits, and must notice."""

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.solvers.cholesky import factorise
from tests.taught import Taught

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


@pytest.mark.filterwarnings("ignore:a penalty of")
@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6, 1e8])
def test_features_large_beside_the_penalty_are_exact_from_the_first_row(scale: float) -> None:
    """The first rows of such a stream cancel most digits of the carried inverse."""
    model = IncrementalRidgeClassifier()
    for i in range(60):
        model.partial_fit(scale * X[i : i + 1], Y[i : i + 1])
        at_once = IncrementalRidgeClassifier().fit(scale * X[: i + 1], Y[: i + 1])
        if i > 3:
            rows = scale * X[: i + 1]
            np.testing.assert_allclose(
                model.decision_function(rows), at_once.decision_function(rows), atol=1e-7
            )


@pytest.mark.parametrize("scale", [1e1, 1e2, 1e3, 3e3, 1e4, 1e6])
def test_an_outlier_taught_and_taken_back_leaves_no_trace(scale: float) -> None:
    """Taking it out divides by what is left of its leverage, of which rounding left nothing."""
    for seed in range(20):
        model = IncrementalRidgeClassifier().fit(X, Y)
        before = model.coef_
        outlier = np.random.default_rng(seed).normal(size=(1, 10)) * scale
        model.partial_fit(outlier, ["a"]).forget(outlier, ["a"])
        np.testing.assert_allclose(model.coef_, before, atol=1e-9 * np.abs(before).max())


def test_the_drift_of_a_single_class_is_watched_too() -> None:
    """Its weights are all zero, so that nothing is seen along them."""
    both = Taught(10, penalty=1e-8)
    both.learn_each(RNG.normal(size=(500, 10)), np.repeat("a", 500))
    state = both.solver._state  # noqa: SLF001  (poisoned below)
    assert state is not None
    inverse = state.inverse
    inverse.flush()
    inverse.matrix *= 1.001
    assert both.solver.drift() > 1e-4


def test_large_float32_features_are_not_carried_in_float32() -> None:
    """Pixels from 0 to 255: their squares beside the penalty are more than float32 can tell."""
    pixels = RNG.integers(0, 256, (40, 784)).astype(np.float32)
    labels = np.array(list("ab") * 20)
    model = IncrementalRidgeClassifier().fit(pixels, labels)
    model.predict(pixels)
    again = RNG.integers(0, 40, 20)
    other = np.where(labels[again] == "a", "b", "a")
    for place, label in zip(again, other, strict=True):
        model.partial_fit(pixels[[place]], [label])
    at_once = IncrementalRidgeClassifier().fit(
        np.vstack([pixels, pixels[again]]), np.append(labels, other)
    )
    scores, expected = (m.decision_function(pixels) for m in (model, at_once))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    double = IncrementalRidgeClassifier().fit(pixels.astype(float), labels)
    single = IncrementalRidgeClassifier().fit(pixels, labels)
    np.testing.assert_allclose(single.novelty(pixels), double.novelty(pixels), atol=1e-4)


def test_constant_features_of_any_size_do_no_harm() -> None:
    """The penalty was once added before the mean was taken out, and lost beside it."""
    twins = IncrementalRidgeClassifier().fit([[1e8], [1e8]], ["a", "b"])
    np.testing.assert_allclose(twins.predict_proba([[1e8]]), [[0.5, 0.5]])
    labels = (X[:, 0] > 0).astype(int)
    for constant in (1e3, 1e6):
        rows = np.column_stack([X, np.full(200, constant)])
        streamed = IncrementalRidgeClassifier()
        for i in range(200):
            streamed.partial_fit(rows[i : i + 1], labels[i : i + 1])
        plain = IncrementalRidgeClassifier().fit(X, labels)
        agreement = np.mean(streamed.predict(rows) == plain.predict(X))
        assert agreement > 0.99


def test_a_penalty_lost_beside_the_features_is_answered_all_the_same() -> None:
    model = IncrementalRidgeClassifierCV(penalties=[1e-100])
    model.fit(np.ones((400, 5)), np.arange(400) % 3)
    assert model.predict(np.ones((1, 5))).shape == (1,)


@pytest.mark.parametrize("weight", [1e8, 1e12, 1e15])
def test_a_row_that_outweighs_all_others_can_be_forgotten_though_it_is_zero(weight: float) -> None:
    """Its squares say nothing of it, and what is left of the weight_sum is lost in a float."""
    model = IncrementalRidgeClassifier().fit(X, Y)
    before, zero = model.scores(X), np.zeros((1, 10))
    model.partial_fit(zero, ["a"], sample_weight=[weight])
    model.predict(X)
    model.forget(zero, ["a"], sample_weight=[weight])
    np.testing.assert_allclose(model.scores(X), before, atol=1e-9)


def test_a_feature_that_never_changed_has_no_weight_where_rounding_has_the_last_word() -> None:
    """As after rows were forgotten beside which the few that are left are rounding."""
    for rows in (X[:1], X[:2], X[:5]):
        rows = rows - rows.mean(axis=0) if len(rows) > 1 else rows.copy()
        rows[:, 4] = 0.0
        matrix = rows.T @ rows - 1e-12 * np.diag(np.arange(10) != 4)
        matrix[4, 4] = 1e-20  # the penalty
        factor = np.tril(factorise(np.asfortranarray(matrix)))
        assert factor[4, 4] > 0
        assert not factor[4, :4].any()
        assert not factor[5:, 4].any()
