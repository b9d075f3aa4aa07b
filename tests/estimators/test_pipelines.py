"""A pipeline learns on: its last step does, and the steps before it stay as they are."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.features import Pixels

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]


@pytest.mark.parametrize("kind", [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV])
def test_a_stream_through_a_pipeline_is_that_of_its_last_step(kind: Any) -> None:
    pipeline, alone = make_pipeline(Normalizer(), "passthrough", kind()), kind()
    rows = Normalizer().fit_transform(X)
    for start in range(0, 300, 50):
        part = slice(start, start + 50)
        assert newfound.partial_fit(pipeline, X[part], Y[part]) is pipeline
        alone.partial_fit(rows[part], Y[part])
    np.testing.assert_array_equal(pipeline.decision_function(X), alone.decision_function(rows))


def test_images_are_taught_one_by_one() -> None:
    images = np.kron(X.reshape(-1, 8, 8) * 15, np.ones((1, 2, 2))).astype(np.uint8)
    pipeline = make_pipeline(Pixels(size=8), IncrementalRidgeClassifier())
    for image, label in zip(images[:100], Y[:100], strict=True):
        newfound.partial_fit(pipeline, [image], [label])
    at_once = make_pipeline(Pixels(size=8), IncrementalRidgeClassifier()).fit(images[:100], Y[:100])
    scores = pipeline.decision_function(images), at_once.decision_function(images)
    np.testing.assert_allclose(*scores, atol=1e-6)  # pixels are float32, and so are scores


def test_more_is_handed_to_the_last_step() -> None:
    pipeline = make_pipeline(IncrementalRidgeClassifier())
    newfound.partial_fit(pipeline, X[:9], Y[:9], classes=range(12))
    assert pipeline.classes_.tolist() == list(range(12))


def test_what_was_fitted_stays_as_it_is() -> None:
    pipeline = make_pipeline(StandardScaler(), IncrementalRidgeClassifier()).fit(X[:50], Y[:50])
    mean = pipeline[0].mean_.copy()
    newfound.partial_fit(pipeline, X[50:] + 7, Y[50:])
    np.testing.assert_array_equal(pipeline[0].mean_, mean)
    assert pipeline[-1].n_samples_seen_ == 300


@pytest.mark.parametrize(
    "step", [StandardScaler(), make_union(Normalizer(), StandardScaler())], ids=["one", "within"]
)
def test_what_would_have_to_be_fitted_first_is_refused_before_anything_is_looked_at(
    step: Any,
) -> None:
    def look(rows: Any) -> Any:
        raise AssertionError("looked at")

    pipeline = make_pipeline(FunctionTransformer(look), step, IncrementalRidgeClassifier())
    with pytest.raises(InputError, match=r"step '\w+' has to be fitted before"):
        newfound.partial_fit(pipeline, X, Y)
    assert not pipeline[-1].__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (make_pipeline(Normalizer(), RandomForestClassifier()), "'randomforestclassifier', has no"),
        (make_pipeline(HashingVectorizer(), "passthrough"), "'passthrough', has no partial_fit"),
        (IncrementalRidgeClassifier(), "takes a Pipeline, got a IncrementalRidgeClassifier"),
    ],
)
def test_what_cannot_learn_on_is_refused(pipeline: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        newfound.partial_fit(pipeline, X, Y)
