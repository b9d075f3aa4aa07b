"""scikit-learn's scorers say the same after fit and after a stream in any order."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import get_scorer, get_scorer_names

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.effort import share_of

X, y = load_digits(return_X_y=True)
X = X / 16


def streamed(model: Any, X: Any, y: Any, order: Any) -> Any:
    """Teach classes one after the other, in this order, the last in single rows."""
    for label in order:
        rows = X[y == label]
        model.partial_fit(rows[:-2], [label] * (len(rows) - 2))
        for row in rows[-2:]:
            model.partial_fit(row[None], [label])
    return model


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "order", "at_least"),
    [
        (y, [7, 3, 9, 0, 1, 2, 8, 5, 4, 6], 25),
        ((y > 4).astype(int), [1, 0], 33),
        (np.where(y > 4, "big", "small"), ["small", "big"], 22),
    ],
    ids=["ten classes", "two", "two strings"],
)
@pytest.mark.filterwarnings("ignore")
def test_every_scorer_says_the_same_after_fit_and_after_a_stream(
    labels: Any, order: list[Any], at_least: int
) -> None:
    fitted = IncrementalRidgeClassifier().fit(X[:900], labels[:900])
    model = streamed(IncrementalRidgeClassifier(), X[:900], labels[:900], order)
    told = 0
    for name in get_scorer_names():
        scorer = get_scorer(name)
        try:
            expected = scorer(fitted, X[900:], labels[900:])
        except (ValueError, TypeError):  # for regression, clustering, or other labels
            continue
        if np.isfinite(expected):
            assert scorer(model, X[900:], labels[900:]) == pytest.approx(expected, rel=1e-9), name
            told += 1
    assert told >= at_least


@given(st.permutations(range(10)), st.sampled_from([None, "balanced", {}]))
@settings(max_examples=share_of(15))
def test_columns_stand_in_the_order_of_sorted_labels(order: list[int], weight: Any) -> None:
    names = np.array([f"digit {label}" for label in y])
    fitted = IncrementalRidgeClassifier(class_weight=weight).fit(X[:300], names[:300])
    model = IncrementalRidgeClassifier(class_weight=weight)
    streamed(model, X[:300], names[:300], [f"digit {label}" for label in order])
    assert model.classes_.tolist() == sorted(set(names))
    for name in ("classes_", "class_count_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(fitted, name))
    for name in ("coef_", "intercept_"):
        np.testing.assert_allclose(getattr(model, name), getattr(fitted, name), atol=1e-9)
    for ask in ("decision_function", "predict_proba"):
        found, expected = (getattr(each, ask)(X[300:350]) for each in (model, fitted))
        np.testing.assert_allclose(found, expected, atol=1e-9)
    winners = model.classes_[model.decision_function(X[300:]).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X[300:]), winners)


def test_the_recodings_of_classes_stand_in_their_order() -> None:
    rare = np.flatnonzero(y == 3)[:3]
    rows = np.concatenate([np.flatnonzero(y != 3), rare])
    model = IncrementalRidgeClassifierCV()
    streamed(model, X[rows], y[rows], [7, 3, 9, 0, 1, 2, 8, 5, 4, 6])
    assert model.classes_.tolist() == list(range(10))
    assert model.class_count_[3] == 3
    others = np.delete(model.recoding_, 3)
    assert np.ptp(others) < 0.05 < abs(model.recoding_[3] - others.mean()) * 2


def test_a_calibrated_stream_equals_a_calibrated_fit() -> None:
    models = (
        IncrementalRidgeClassifier().fit(X[:900], y[:900]),
        streamed(IncrementalRidgeClassifier(), X[:900], y[:900], [7, 3, 9, 0, 1, 2, 8, 5, 4, 6]),
    )
    fitted, stream = (
        CalibratedClassifierCV(FrozenEstimator(model)).fit(X[900:1300], y[900:1300])
        for model in models
    )
    np.testing.assert_allclose(
        stream.predict_proba(X[1300:]), fitted.predict_proba(X[1300:]), atol=1e-6
    )
