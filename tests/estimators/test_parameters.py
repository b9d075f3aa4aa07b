"""Parameters are what scikit-learn's tools take them for: constraints, clones and random states."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV
from sklearn.utils._param_validation import (
    InvalidParameterError,
    generate_invalid_param_val,
    generate_valid_param,
    make_constraint,
    validate_parameter_constraints,
)

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from tests.streams import blobs

X, Y = blobs()
KINDS: list[Any] = [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV]


def constraints(kind: Any) -> dict[str, Any]:
    """Return what scikit-learn's tools look for."""
    found: dict[str, Any] = kind._parameter_constraints  # noqa: SLF001
    return found


EVERY = [(kind, name) for kind in KINDS for name in constraints(kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_has_constraints_and_its_default_obeys_them(kind: Any) -> None:
    assert constraints(kind).keys() == kind().get_params().keys()
    validate_parameter_constraints(constraints(kind), kind().get_params(), "it")


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_no_constraint_allows_is_refused_in_our_words(kind: Any, name: str) -> None:
    class Nothing:
        pass

    wrong: list[Any] = [Nothing()]
    for each in map(make_constraint, constraints(kind)[name]):
        try:
            wrong.append(generate_invalid_param_val(each))
        except NotImplementedError:  # a constraint that allows all of its type
            continue
    for value in wrong:
        with pytest.raises(InvalidParameterError):
            validate_parameter_constraints(constraints(kind), {name: value}, "it")
        with pytest.raises(InputError, match=f"{name} must be"):
            kind(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_what_a_constraint_allows_is_taken(kind: Any, name: str) -> None:
    # Those that scikit-learn cannot make.
    made: dict[Any, Any] = {Mapping: {}, np.random.Generator: np.random.default_rng(0)}
    for each in map(make_constraint, constraints(kind)[name]):
        known = made.get(getattr(each, "type", None))
        value = generate_valid_param(each) if known is None else known
        if name in ("penalties", "recodings") and not isinstance(value, float | str):
            value = [0.0, 0.5] if name == "recodings" else [1.0, 2.0]  # theirs are any numbers
        others = {"recodings": 0.5} if name == "rule" and value is None else {}
        assert kind(**{name: value}, **others).fit(X[:60], Y[:60]).is_taught


def seeds(*models: Any) -> list[int]:
    """Return the seeds that models go by, as their files hold them."""
    found = [model.to_state().parameters["random_state"] for model in models]
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
    assert model.blank().settings.random_state == began


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
