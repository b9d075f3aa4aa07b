"""Parameters of what chooses in the stream may change in the middle of it."""

import itertools
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidge, IncrementalRidgeClassifierCV
from tests.covering import first_of
from tests.streams import blobs


def again(model: Any, folder: Path) -> Any:
    model.save(folder / "model.newfound")
    return newfound.load(folder / "model.newfound")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"recodings": (0.0, 0.5, 1.0)},
        {"penalties": [1.0]},
        {"penalties": [1e5, 1e9]},
        {"fit_intercept": False},
        {"witnesses": 2},
        {"witnesses": 90},
        {"min_class_count": 5},
        {"random_state": 7},
        {"rule": "paper"},
        {"rule": "what-if"},
    ],
    ids=str,
)
@pytest.mark.parametrize("before", first_of([{}, {"rule": "paper", "class_weight": {}}]), ids=str)
def test_parameters_may_change_in_mid_stream(
    before: dict[str, Any], change: dict[str, Any], tmp_path: Path
) -> None:
    X, y = blobs()
    model = IncrementalRidgeClassifierCV(**before).partial_fit(X[:200], y[:200])
    model.predict(X)
    model.partial_fit(X[200:400], y[200:400])
    model.set_params(**change)
    scores = model.validation_scores_
    assert len({len(column) for column in scores.values()}) == 1
    for i in range(400, 440):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    model.partial_fit(X[440:], y[440:])
    assert model.n_samples_seen_ == 600
    assert model.penalty_ in model.validation_scores_["penalty"]
    held = np.unique(model.witnesses_[1], return_counts=True)[1]
    assert held.max() <= model.witnesses
    if find_spec("matplotlib"):  # which an extra brings
        model.plot_validation()[0].figure.clear()
    np.testing.assert_array_equal(again(model, tmp_path).predict(X), model.predict(X))
    fresh = IncrementalRidgeClassifierCV(**{**before, "penalties": [1.0]}).merge(model)
    assert fresh.n_samples_seen_ == 600
    fresh.predict(X)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"recodings": (0.0, 0.5, 1.0)},
        {"penalties": [1e5, 1e9]},
        {"fit_intercept": False},
        {"witnesses": 5},
        {"min_class_count": 300},
        {"rule": "paper", "tolerance": 0.1},
        {"rule": None, "recodings": 0.3},
    ],
    ids=str,
)
def test_a_choice_is_about_the_parameters_as_they_are(change: dict[str, Any]) -> None:
    """Whatever was chosen before with others is forgotten at the next question."""
    X, y = blobs()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    model.set_params(**change)
    fresh = IncrementalRidgeClassifierCV(**change).fit(X, y)
    assert model.penalty_ == fresh.penalty_
    np.testing.assert_allclose(model.recoding_, fresh.recoding_)
    for name, column in model.validation_scores_.items():
        np.testing.assert_allclose(column, fresh.validation_scores_[name])


def test_a_seed_changed_in_mid_stream_counts_before_and_after_saving(tmp_path: Path) -> None:
    X, y = blobs()
    one = IncrementalRidgeClassifierCV(witnesses=3).partial_fit(X[:300], y[:300])
    other = again(one, tmp_path)
    for model in (one, other):
        model.set_params(random_state=5).partial_fit(X[300:], y[300:])
    for held, same in zip(one.witnesses_, other.witnesses_, strict=True):
        np.testing.assert_array_equal(held, same)
    np.testing.assert_array_equal(one.class_count_, other.class_count_)


RNG = np.random.default_rng(0)


def test_candidates_are_boundedly_many() -> None:
    X, y = RNG.normal(size=(20, 2)), ["a", "b"] * 10
    model = IncrementalRidgeClassifierCV(penalties=np.linspace(1, 2, 501), recodings=[0.1, 0.5])
    with pytest.raises(ValueError, match="501 penalties times 2 recodings are more candidates"):
        model.fit(X, y)
    endless: Any = itertools.count(1)
    for many in (np.linspace(1, 2, 1001), endless):
        with pytest.raises(ValueError, match="penalties has more candidates than the 1000"):
            model.set_params(penalties=many).fit(X, y)
        with pytest.raises(ValueError, match="penalty has more candidates than the 1000"):
            IncrementalRidge(many).fit(X, RNG.normal(size=20))
