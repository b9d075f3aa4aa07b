"""A row behind a layer has the same features to the last bit: wherever, and among whatever."""

import dataclasses
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound import IncrementalRidgeClassifier, InputError, Layer
from newfound.layers.layer import MOST_UNITS, SOME_ROWS
from newfound.layers.units import directions


def rows(m: int, d: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(m, d)) * np.logspace(-2, 2, d) + 3


def by_the_formula(layer: Layer, X: Any) -> Any:
    """(x, factor |W z + w0|), a row and a unit at a time, in the precision of float32."""
    both = directions(layer.inputs + 1, layer.units, layer.seed)
    units = np.empty((len(X), layer.units))
    for i, x in enumerate(X):
        z = np.append((x - layer.mean) / layer.scale, 1.0)
        for j in range(layer.units):
            units[i, j] = layer.factor * abs(z @ both[:, j])
    return np.hstack([X, units])


@pytest.mark.parametrize("d", [1, 5, 70])
def test_features_are_those_of_the_formula(d: int) -> None:
    layer, X = Layer.of(rows(100, d), units=90, seed=5), rows(7, d, seed=1)
    expected = by_the_formula(layer, X)
    np.testing.assert_array_equal(layer(X)[:, :d], X)
    np.testing.assert_allclose(layer(X), expected, rtol=1e-6, atol=1e-5 * layer.factor)


@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 99))
def test_a_row_has_the_same_features_alone_and_among_others(m: int, d: int, seed: int) -> None:
    layer, X = Layer.of(rows(20, d, seed), units=33, seed=seed), rows(m, d, seed + 1)
    together = layer(X)
    for i in range(m):
        np.testing.assert_array_equal(together[i : i + 1], layer(X[i : i + 1]))
    backwards = layer(np.asfortranarray(X[::-1]))
    np.testing.assert_array_equal(together[::-1], backwards)


def test_many_rows_have_the_features_of_each() -> None:
    layer, X = Layer.of(rows(20, 2), units=5), rows(2 * SOME_ROWS + 3, 2, seed=1)
    features = layer(X)
    for place in (0, SOME_ROWS - 1, SOME_ROWS, len(X) - 1):
        np.testing.assert_array_equal(features[place : place + 1], layer(X[place : place + 1]))
    model = IncrementalRidgeClassifier(layer=layer).fit(X, X[:, 0] > X[:, 1])
    scores = np.concatenate([model.scores(part) for part in np.array_split(X, 7)])
    np.testing.assert_allclose(model.scores(X), scores, rtol=1e-12, atol=1e-14)


def test_a_question_about_many_rows_does_not_hold_all_of_their_features() -> None:
    layer, X = Layer.of(rows(20, 2), units=300), rows(10 * SOME_ROWS, 2, seed=1)
    model = IncrementalRidgeClassifier(layer=layer).fit(X[:50], X[:50, 0] > X[:50, 1])
    tracemalloc.start()
    try:
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * 8 * len(X) * layer.outputs


def test_rows_of_single_precision_have_the_features_of_the_same_numbers_in_double() -> None:
    X = rows(50, 8).astype(np.float32)
    layer = Layer.of(X, units=100)
    assert layer(X).dtype == np.float32
    np.testing.assert_array_equal(layer(X), layer(X.astype(np.float64)))


def test_a_layer_is_its_numbers() -> None:
    X = rows(30, 4)
    layer = Layer.of(X, units=20)
    assert layer == Layer.of(X, units=20)
    assert hash(layer) == hash(Layer.of(X, units=20))
    changes: list[dict[str, Any]] = [
        {"units": 19},
        {"seed": 1},
        {"factor": 1.0},
        {"mean": layer.mean + 1},
        {"scale": 2 * layer.scale},
    ]
    assert all(dataclasses.replace(layer, **change) != layer for change in changes)
    assert layer != 20


def test_units_answer_to_the_kernel_of_two_rectified_ones() -> None:
    # E |u||v| + E uv = 4 E relu(u) relu(v), which is known: the arc-cosine kernel of degree one.
    z, width = rows(2, 30, seed=9)[:, :30], 30
    z = (z - z.mean(axis=1, keepdims=True)) / np.linalg.norm(z, axis=1, keepdims=True)
    layer = Layer(np.zeros(width), np.ones(width), 1 / np.sqrt(20_000), units=20_000)
    a, b = np.append(z[0], 1.0), np.append(z[1], 1.0)
    units = layer(z)[:, width:]
    length = np.linalg.norm(a) * np.linalg.norm(b)
    angle = np.arccos(a @ b / length)
    relu = length / (2 * np.pi) * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    assert units[0] @ units[1] + a @ b == pytest.approx(4 * relu, rel=0.02)


def test_far_rows_are_as_far_as_a_layer_sees() -> None:
    layer = Layer.of(rows(100, 3), units=10)
    far = layer(np.full((1, 3), 1e30))
    assert np.isfinite(far).all()
    np.testing.assert_array_equal(far[:, 3:], layer(np.full((1, 3), 1e35))[:, 3:])


def test_rows_that_are_all_alike_make_a_layer() -> None:
    layer = Layer.of(np.ones((100, 3)), units=10)
    assert np.isfinite(layer(rows(5, 3))).all()


@pytest.mark.parametrize("X", [[], [[np.nan]], [1.0, 2.0], [["a"]]], ids=str)
def test_no_rows_make_no_layer(X: Any) -> None:
    with pytest.raises(InputError):
        Layer.of(X)


@pytest.mark.parametrize("units", [0, -5, 2.5, True, "many", MOST_UNITS + 1, 10**9])
def test_a_layer_of_no_such_number_of_units_is_refused(units: Any) -> None:
    with pytest.raises(InputError, match="units must be a whole number from 1 to"):
        Layer.of([[0.0], [1.0]], units=units)


@pytest.mark.parametrize("seed", [-1, 1.5, None, 2**64])
def test_a_layer_of_no_such_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="seed must be a whole number from 0 to"):
        Layer.of([[0.0], [1.0]], seed=seed)


def test_the_largest_seed_draws_as_the_generator_does() -> None:
    rows = np.array([[0.0], [1.0], [3.0]])
    layers = [Layer.of(rows, 50, seed) for seed in (2**64 - 1, 2**64 - 2, 2**63, 2**63 + 1)]
    assert len({layer(rows).tobytes() for layer in layers}) == len(layers)
