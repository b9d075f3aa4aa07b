"""Parameters are what scikit-learn's tools take them for: checked, cloned and searched for."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV

import newfound
from newfound import (
    IncrementalClassifier,
    IncrementalRidge,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    Layer,
)
from tests.streams import blobs

X, Y = blobs()
TARGETS = X[:, 0]
KINDS: list[Any] = [
    IncrementalClassifier,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    IncrementalRidge,
]


class Nothing:
    """What no parameter may be."""


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


# Of each parameter values that are taken, and some that are not, at the bounds of both.
SMALLEST, LARGEST = 1e-100, 1e100
NUMBER: list[Any] = [1, 0.5, SMALLEST, LARGEST, np.float32(2)]
NO_NUMBER: list[Any] = [0, -1.0, 0.9 * SMALLEST, 1.1 * LARGEST, np.inf, np.nan, None, "1", True]
SHARE: list[Any] = [0, 1, 0.5, np.float64(0.3)]
NO_SHARE: list[Any] = [-1e-9, 1 + 1e-9, np.nan, "0.5", None, False]
SEVERAL: list[Any] = [*NUMBER, "auto", [1.0, 2.0], (3.0,), np.array([0.1, 1.0])]
TAKEN: dict[str, list[Any]] = {
    "penalty": NUMBER,
    "penalties": SEVERAL,
    "recoding": SHARE,
    "recodings": [0, 1, 0.5, [0.0, 0.5], np.array([0.0, 1.0])],
    "rule": ["what-if", "paper", None],
    "witnesses": [2, 40, np.int64(3), 10_000],
    "min_class_count": [1, 30],
    "tolerance": SHARE,
    "class_weight": [None, "balanced", {}, {"a": 2.0}],
    "fit_intercept": [True, False, np.True_],
    "random_state": [0, 7, None, np.random.RandomState(0), generator()],
    "layer": [None, 1, np.int64(7), Layer.of(X, units=3)],
}
REFUSED: dict[str, list[Any]] = {
    "penalty": NO_NUMBER,
    "penalties": [0, [1.0, 0.0], [1.0, np.inf], [], "best", None, [[1.0]], ["1"]],
    "recoding": NO_SHARE,
    "recodings": [-0.1, [0.0, 1.1], [], "all", None],
    "rule": ["best", 1, True],
    "witnesses": [1, 2.0, "40", None, True, 10_001],
    "min_class_count": [0, 1.5, None],
    "tolerance": NO_SHARE,
    "class_weight": ["even", 1, ["a"], {"a": 0.0}, {"a": np.inf}, {"a": "1"}],
    "fit_intercept": [0, 1, None, "yes"],
    "random_state": [-1, 0.5, "none"],
    "layer": [0, -1, 1.5, True, "all", 20_001, X],
}


def names(kind: Any) -> list[str]:
    return [*kind().get_params()]


def values(table: dict[str, list[Any]], kind: Any, name: str) -> list[Any]:
    several = kind is IncrementalRidge and name == "penalty"
    return table["penalties" if several else name]


def fitted(kind: Any, **parameters: Any) -> bool:
    y = TARGETS if kind is IncrementalRidge else Y
    return bool(kind(**parameters).fit(X[:60], y[:60]).__sklearn_is_fitted__())


EVERY = [(kind, name) for kind in KINDS for name in names(kind)]


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_a_parameter_cannot_be_is_refused_in_our_words(kind: Any, name: str) -> None:
    for value in [Nothing(), *values(REFUSED, kind, name)]:
        with pytest.raises(InputError, match=f"{name} must be"):
            fitted(kind, **{name: value})


@pytest.mark.filterwarnings("ignore:a penalty of")
@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_a_parameter_may_be_is_taken(kind: Any, name: str) -> None:
    for value in values(TAKEN, kind, name):
        others = {"recodings": 0.5} if name == "rule" and value is None else {}
        assert fitted(kind, **{name: value}, **others)


def seeds(*models: Any) -> list[int]:
    """Return the seeds that models go by, as their files hold them."""
    found = [model.learner_.to_state().parameters["random_state"] for model in models]
    assert all(type(seed) is int for seed in found)
    return found


def witnesses(model: Any) -> bytes:
    return bytes(model.witnesses_[0].tobytes())


def model_with(random_state: Any) -> Any:
    return IncrementalRidgeClassifierCV(witnesses=3, random_state=random_state)


@pytest.mark.slow
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_held_as_given_and_asked_once_a_fit(make: Any) -> None:
    generator = make(5)
    model = model_with(generator).fit(X, Y)
    assert model.get_params()["random_state"] is generator
    (first,) = seeds(model)
    for _ in range(3):  # asking, learning, forgetting: the stream keeps its seed
        model.partial_fit(X[:5], Y[:5]).forget(X[:5], Y[:5]).predict(X)
        assert seeds(model) == [first]
    assert seeds(model.fit(X, Y)) != [first]
    same = model_with(make(5)).fit(X, Y)
    assert seeds(same) == [first]
    assert witnesses(same) == witnesses(model_with(first).fit(X, Y))


def test_none_is_fresh_with_every_fit_and_goes_by_numpys_own_seed() -> None:
    model = model_with(None).fit(X, Y)
    assert model.get_params()["random_state"] is None
    assert clone(model).random_state is None
    (first,) = seeds(model)
    assert seeds(model.fit(X, Y)) != [first]
    found = []
    for _ in range(2):
        np.random.seed(3)  # noqa: NPY002 - the one that scikit-learn's None goes by
        found += seeds(model_with(None).fit(X, Y))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_stream_and_its_file_keep_the_seed_it_began_with(tmp_path: Path) -> None:
    model = model_with(None).partial_fit(X[:90], Y[:90])
    (began,) = seeds(model)
    model.save(tmp_path / "model.newfound")
    loaded: Any = newfound.load(tmp_path / "model.newfound")
    assert loaded.random_state == began
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        other.partial_fit(X[90:], Y[90:])
        assert seeds(other) == [began]
        assert witnesses(other) == witnesses(model_with(began).partial_fit(X, Y))
    assert model.learner_.blank().settings.seed == began


def test_a_number_set_later_counts_and_none_set_later_does_not() -> None:
    model = model_with(4).partial_fit(X, Y)
    assert seeds(model.set_params(random_state=None)) == [4]
    assert seeds(model.set_params(random_state=9)) == [9]
    assert seeds(model.set_params(random_state=np.random.RandomState(0))) == [9]
    assert seeds(model.merge(model_with(1).fit(X, Y))) == [9]


def test_a_lesson_that_is_refused_draws_nothing() -> None:
    generator = np.random.RandomState(0)
    with pytest.raises(ValueError, match="NaN"):
        model_with(generator).fit(X * np.nan, Y)
    assert generator.randint(99) == np.random.RandomState(0).randint(99)


@pytest.mark.slow
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_rows_of_dask_draw_once_too(learn: str) -> None:
    lazy = pytest.importorskip("dask.array").from_array(X, chunks=(len(X), X.shape[1]))
    model = getattr(model_with(np.random.RandomState(5)), learn)(lazy, Y)
    same = getattr(model_with(np.random.RandomState(5)), learn)(X, Y)
    assert seeds(model) == seeds(same)
    assert witnesses(model) == witnesses(same)


@pytest.mark.slow
def test_a_search_clones_a_generator_as_it_does_everywhere() -> None:
    search = RandomizedSearchCV(
        model_with(np.random.RandomState(0)), {"min_class_count": [5, 20]}, n_iter=2, random_state=0
    ).fit(X, Y)
    assert search.best_score_ > 0.5
