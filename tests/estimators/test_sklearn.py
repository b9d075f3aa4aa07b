"""scikit-learn's own checks, none excused, and how the estimator behaves among its kin."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.covering import first_of
from tests.needs import is_here

VARIANTS: list[dict[str, Any]] = [
    {},
    {"class_weight": "balanced"},
    {"fit_intercept": False},
    {"class_weight": {}},
    {"recoding": 0.0, "penalty": 10.0},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", first_of(VARIANTS, slow=True), ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_passes(parameters: dict[str, Any]) -> None:
    results = check_estimator(IncrementalRidgeClassifier(**parameters))
    done = {result["check_name"]: result["status"] for result in results}
    # scikit-learn runs its array API checks only where SCIPY_ARRAY_API is set: see below.
    left = {name for name, status in done.items() if status != "passed"}
    assert all(name.startswith("check_array_api") for name in left)
    assert len(done) > 50
    assert {"check_estimator_sparse_array", "check_estimator_sparse_matrix"} <= done.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    first_of(
        [
            "IncrementalRidgeClassifier()",
            "IncrementalRidge(penalty='auto')",
            "IncrementalRidgeClassifier(class_weight='balanced')",
            "IncrementalRidgeClassifier(fit_intercept=False)",
            "IncrementalRidge()",
        ]
    ),
)
def test_check_estimator_passes_with_nothing_skipped_but_devices_that_are_not_here(
    model: str,
) -> None:
    script = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from sklearn.utils.estimator_checks import check_estimator\n"
        "from newfound import IncrementalRidge, IncrementalRidgeClassifier\n"
        f"model = {model}\n"
        "for result in check_estimator(model, on_fail=None, on_skip=None):\n"
        "    print(result['status'], result['check_name'], repr(result['exception'])[:150])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    left = [line for line in lines if line and not line.startswith("passed")]
    elsewhere = ["cupy", "dpnp", "CUDA", "cuda", "MPS", "XPU"]
    elsewhere += [] if is_here("torch") else ["torch"]
    assert [line for line in left if not any(name in line for name in elsewhere)] == []
    passed = [line.split()[1] for line in lines if line.startswith("passed")]
    # numpy, strict, and torch in float64 and float32
    assert passed.count("check_array_api_input") >= (5 if is_here("torch") else 3)
    assert "check_array_api_same_namespace" in passed
    assert "check_array_api_mixed_inputs" in passed or not is_here("torch")


class Untagged(IncrementalRidgeClassifier):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = False
        return tags


@pytest.mark.slow
def test_without_an_intercept_one_check_cannot_pass_and_only_that_one_is_waived() -> None:
    """Scores through the origin cannot favour one class on both sides of it.

    scikit-learn's check of class weights asks for that unless the tag `poor_score` is set, which
    this estimator sets without an intercept; scikit-learn's own RidgeClassifier fails it.
    """

    for estimator in (Untagged(fit_intercept=False), RidgeClassifier(fit_intercept=False)):
        results = check_estimator(estimator, on_fail=None, on_skip=None)
        failed = {result["check_name"] for result in results if result["status"] == "failed"}
        assert "check_class_weight_classifiers" in failed
        assert isinstance(estimator, RidgeClassifier) or len(failed) == 1


def test_it_works_in_pipelines_and_searches() -> None:
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), IncrementalRidgeClassifier())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.88
    grid = {"incrementalridgeclassifier__penalty": [1.0, 1e6]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"incrementalridgeclassifier__penalty": 1.0}


def test_it_answers_as_ridge_classifier_where_the_two_are_the_same() -> None:
    X, y = load_digits(return_X_y=True)
    ours = IncrementalRidgeClassifier(penalty=3.0, recoding=0.0).fit(X, y)
    theirs = RidgeClassifier(alpha=3.0).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # Targets of 0 and 1 against -1 and 1: scores are half, plus a half.
    np.testing.assert_allclose(2 * ours.coef_, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(2 * ours.intercept_ - 1, theirs.intercept_, atol=1e-9)


@pytest.mark.parametrize("kind", [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV])
@pytest.mark.parametrize("intercept", [True, False])
def test_scores_are_rows_times_weights_also_of_two_classes(kind: Any, intercept: bool) -> None:
    X, digits = load_digits(return_X_y=True)
    for classes, columns in ((1, 1), (2, 1), (3, 3)):
        rows, y = X[digits < classes], digits[digits < classes]
        # The second class comes first: columns follow sorted labels.
        model = kind(fit_intercept=intercept).fit(rows[::-1], -y[::-1])
        assert (model.coef_.shape, model.intercept_.shape) == ((columns, 64), (columns,))
        scores = model.decision_function(rows)
        assert scores.shape == ((len(rows),) if classes == 2 else (len(rows), columns))
        made = rows @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(made.reshape(scores.shape), scores, rtol=1e-9, atol=1e-9)
    two = IncrementalRidgeClassifier(penalty=3.0, recoding=0.0, fit_intercept=intercept)
    two.fit(rows, digits[digits < 3] > 0)
    theirs = RidgeClassifier(alpha=3.0, fit_intercept=intercept).fit(rows, digits[digits < 3] > 0)
    # Targets of -1 and 1 are those of the second class minus those of the first.
    np.testing.assert_allclose(two.coef_.ravel(), theirs.coef_.ravel(), atol=1e-9)
    np.testing.assert_allclose(two.intercept_, theirs.intercept_, atol=1e-9)
    np.testing.assert_allclose(
        two.decision_function(rows), theirs.decision_function(rows), atol=1e-9
    )
