"""Models in a notebook: shown from their sums, without solving, whatever their labels are."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr
from sklearn.utils.fixes import parse_version

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

RNG = np.random.default_rng(0)
KINDS = [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV]
# What has to be solved for, or chosen.
SOLVED = ("coef_", "intercept_", "penalty_", "recoding_", "validation_scores_")
HOSTILE = "<script>alert(1)</script>"
# Before, scikit-learn showed nothing of what was learned.
shows_what_was_learned = parse_version(sklearn.__version__) >= parse_version("1.9")


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A model that was taught, and must not be asked any more."""
    labels = RNG.choice([HOSTILE, "mug"], 80)
    taught = request.param(class_weight={HOSTILE: 2.0}).fit(RNG.normal(size=(80, 6)), labels)

    def asked(model: Any) -> None:
        raise AssertionError("showing a model solves it")

    for name in SOLVED:
        if hasattr(request.param, name):
            monkeypatch.setattr(request.param, name, property(asked))
    return taught


def test_a_model_is_shown_without_being_asked(model: Any) -> None:
    for shown in (
        model._repr_html_(),
        model._repr_mimebundle_()["text/html"],
        estimator_html_repr(model),
    ):
        assert type(model).__name__ in shown
        assert HOSTILE not in shown
        assert "&lt;script&gt;alert(1)" in shown
        if shows_what_was_learned:
            counts = dict(zip(model.classes_, model.class_count_, strict=True))
            assert f"mug ({counts['mug']})" in shown
            assert "80" in shown
    assert type(model).__name__ in repr(model)


def test_its_names_are_listed_without_asking_it(model: Any) -> None:
    assert {"coef_", "classes_", "fit_intercept", "predict", "partial_fit"} <= set(dir(model))


def test_what_it_stands_in_is_shown_without_asking_it(model: Any) -> None:
    scaler = StandardScaler().fit(np.zeros((3, 6)))
    pipeline = make_pipeline(scaler, model)
    search = GridSearchCV(model, {})
    search.best_estimator_ = model
    for thing in (pipeline, search):
        shown = estimator_html_repr(thing)
        assert type(model).__name__ in shown
        assert HOSTILE not in shown


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_was_taught_nothing_is_shown_too(kind: Any) -> None:
    assert "Not fitted" in kind()._repr_html_()
    assert repr(kind()) == f"{kind.__name__}()"
    forgotten = kind().fit([[1.0]], ["a"]).forget([[1.0]], ["a"])
    assert "Not fitted" in forgotten._repr_html_()


@pytest.mark.skipif(not shows_what_was_learned, reason="scikit-learn 1.9 shows it")
def test_of_many_classes_and_of_long_names_a_part_is_shown() -> None:
    labels = [f"{number:03} {'x' * 900}" for number in range(50)]
    shown = IncrementalRidgeClassifier().fit(RNG.normal(size=(50, 2)), labels)._repr_html_()
    assert "50: 000 xxx" in shown
    assert "019 xxx" in shown
    assert "020 xxx" not in shown
    assert "30 more" in shown
    assert "x" * 100 not in shown
