"""Asking changes nothing: what is answered later does not depend on what was asked before."""

import copy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.effort import share_of

X, y = load_digits(return_X_y=True)
X = X[:, 8:40] / 16
ROWS = 420
# Chunks as people teach: many single rows, some batches.
CUTS = [0, 60, 61, 62, 63, 100, 160, 161, 162, 200, 260, 261, 262, 263, 264, 300, 360, ROWS]
VARIANTS: list[Any] = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifierCV(),
    IncrementalRidgeClassifierCV(class_weight={}, min_class_count=12),
    IncrementalRidgeClassifierCV(class_weight="balanced"),
    IncrementalRidgeClassifierCV(rule="paper"),
    IncrementalRidgeClassifierCV(witnesses=5),
    IncrementalRidgeClassifierCV(rule=None, recodings=0.5),
]
QUESTIONS: dict[str, Any] = {
    "predict": lambda model: model.predict(X[:3]),
    "novelty": lambda model: model.novelty(X[:3]),
    "unknown_proba": lambda model: model.unknown_proba(X[:3]),
    "predict_proba": lambda model: model.predict_proba(X[:3]),
    "coef_": lambda model: model.coef_,
    "penalty_": lambda model: getattr(model, "penalty_", None),
    "validation_scores_": lambda model: getattr(model, "validation_scores_", None),
    "repr": repr,
    "copy": copy.deepcopy,
}


def taught(model: Any, questions: dict[int, str]) -> Any:
    """Teach a stream, some of it forgotten; at some of its cuts, ask."""
    model = copy.deepcopy(model)
    for place, (start, stop) in enumerate(pairwise(CUTS)):
        model.partial_fit(X[start:stop], y[start:stop])
        if place == 9:
            model.forget(X[20:90], y[20:90])
        if place in questions:
            QUESTIONS[questions[place]](model)
    return model


@pytest.mark.slow
@given(
    st.sampled_from(VARIANTS),
    st.dictionaries(st.integers(0, len(CUTS) - 2), st.sampled_from(sorted(QUESTIONS)), min_size=1),
)
@settings(max_examples=share_of(40))
def test_what_was_asked_before_changes_no_answer(model: Any, questions: dict[int, str]) -> None:
    asked, silent = taught(model, questions), taught(model, {})
    if isinstance(model, IncrementalRidgeClassifierCV):
        assert asked.penalty_ == silent.penalty_
        np.testing.assert_array_equal(asked.recoding_, silent.recoding_)
    found, expected = (each.decision_function(X[ROWS:]) for each in (asked, silent))
    np.testing.assert_allclose(found, expected, atol=1e-9)
    for question in ("novelty", "unknown_proba", "predict_proba"):
        found, expected = (getattr(each, question)(X[ROWS:]) for each in (asked, silent))
        np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.slow
def test_a_merged_model_chooses_the_same_whenever_it_is_asked_first() -> None:
    found = []
    for questions in (True, False):
        one, two = (
            IncrementalRidgeClassifierCV().fit(X[part], y[part])
            for part in (slice(0, 400), slice(400, 800))
        )
        one.merge(two)  # which has no choice until it is asked or learns again
        if questions:
            assert one.penalty_ in one.validation_scores_["penalty"]
        one.partial_fit(X[800:820], y[800:820])
        found.append((one.penalty_, *one.recoding_))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize("model", VARIANTS[2:], ids=str)
def test_asking_twice_gives_the_same_answer(model: Any) -> None:
    model = taught(model, {})
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(X))
