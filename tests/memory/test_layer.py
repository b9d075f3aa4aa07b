"""Whatever stands between rows and sums: a model with it is one of the features that it makes."""

from typing import Any

import numpy as np
import pytest

from newfound.common.errors import InputError
from newfound.engine.engine import Engine
from newfound.layers.layer import Layer
from newfound.learner.learner import CHOOSING
from newfound.memory.memory import EVERYTHING, OtherLayerError
from newfound.solvers.settings import RegressionSettings, Settings
from newfound.storage.model import engine_of, state_of

D, N = 5, 60
SETTINGS: dict[str, Any] = {
    "fixed": Settings(1.0, 0.7, None, True),
    "per class": Settings(1.0, 0.7, "balanced", True),
    "chosen": CHOOSING,
    "regression": RegressionSettings("auto", True, 500, 0),
}


LAYER = Layer.of(np.random.default_rng(2).normal(size=(100, D)), units=7)


@pytest.fixture
def data() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N, D)), np.array(["cup", "jug", "mug"])[np.arange(N) % 3]
    X[y == "mug"] *= 3  # which its sizes alone tell
    return X, y, np.abs(X[:, :2]) + rng.normal(scale=0.1, size=(N, 2))


def blank(settings: Any, layer: Layer | None) -> Engine:
    targets = 2 if isinstance(settings, RegressionSettings) else 0
    width = D if layer is not None else LAYER.outputs
    return Engine.blank(width, settings._replace(layer=layer), targets=targets)


def taught(settings: Any, layer: Layer | None, data: Any, rows: slice = slice(None)) -> Engine:
    engine = blank(settings, layer)
    engine.learn(batch(engine, data, rows))
    return engine


def batch(engine: Engine, data: Any, rows: slice) -> Any:
    X, y, targets = (part[rows] for part in data)
    X = X if engine.memory.layer is not None else LAYER(X)
    if engine.memory.targets:
        X, y = np.hstack([X, targets]), np.full(len(X), EVERYTHING)
    return engine.memory.batch(X, y)


def answers(engine: Engine, X: Any) -> Any:
    engine.reconsider()  # in a stream, behind a layer, that happens at other moments
    rows = X if engine.memory.layer is not None else LAYER(X)
    predictions = engine.predictor().predict(rows)
    if engine.memory.targets:
        return engine.penalty, predictions.values
    predictions = engine.examine(predictions, rows, True)
    return engine.penalty, predictions.scores, predictions.leverage, predictions.unknown


def assert_same(one: Engine, other: Engine, X: Any) -> None:
    for left, right in zip(answers(one, X), answers(other, X), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_model_with_a_layer_is_one_of_the_features_it_makes(kind: str, data: Any) -> None:
    X = np.random.default_rng(1).normal(size=(20, D)) * 2
    settings = SETTINGS[kind]
    one, other = (taught(settings, layer, data) for layer in (LAYER, None))
    assert_same(one, other, X)
    if kind != "regression":
        left = [engine.left_out(batch(engine, data, slice(9))) for engine in (one, other)]
        assert left[0].tolist() == left[1].tolist()
    for engine in (one, other):
        engine.forget(batch(engine, data, slice(10, 25)))
    assert_same(one, other, X)
    late = taught(settings, LAYER, data, slice(10, 25))
    assert_same(one.merged(late), other.merged(taught(settings, None, data, slice(10, 25))), X)


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_layer_stands_there_again_once_a_model_is_read(kind: str, data: Any) -> None:
    settings = SETTINGS[kind]
    engine = taught(settings, LAYER, data)
    state = state_of("any", engine, None, False)
    again = engine_of(state, type(settings))
    assert again.memory.layer == LAYER
    assert again.memory.width == D
    assert_same(again, engine, data[0])


@pytest.mark.parametrize("kind", ["fixed", "per class", "chosen"])
def test_rows_that_are_still_held_are_those_that_came(kind: str, data: Any) -> None:
    rows = taught(SETTINGS[kind], LAYER, data).memory.rows_of("mug")
    assert rows.shape[1] == D
    assert {tuple(row) for row in rows} <= {tuple(row) for row in data[0]}


def test_models_with_different_layers_are_not_merged(data: Any) -> None:
    other = Layer.of(data[0][:9], units=7)
    one, two = (taught(SETTINGS["fixed"], layer, data) for layer in (LAYER, other))
    with pytest.raises(InputError, match=r"another layer .* layer=None"):
        one.merged(two)


def test_a_linear_model_takes_in_the_linear_part_of_others(data: Any) -> None:
    X = data[0]
    others = [taught(SETTINGS["fixed"], layer, data) for layer in (LAYER, None)]
    linear = Engine.blank(D, SETTINGS["fixed"])
    linear.learn(linear.memory.batch(X[:9], data[1][:9]))
    merged = linear.merged(others[0])
    both = Engine.blank(D, SETTINGS["fixed"])
    both.learn(both.memory.batch(np.vstack([X[:9], X]), np.concatenate([data[1][:9], data[1]])))
    one, two = (engine.predictor().predict(X).scores for engine in (merged, both))
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("witnesses", [40, 500])
def test_before_there_is_a_layer_only_models_that_hold_all_their_rows_come_in(
    witnesses: int, data: Any
) -> None:
    X, y = np.vstack([data[0]] * 3) + np.arange(3 * N)[:, None] / N, np.tile(data[1], 3)
    linear = CHOOSING._replace(witnesses=witnesses)
    young, other = Engine.blank(D, linear._replace(layer=7)), Engine.blank(D, linear)
    young.learn(young.memory.batch(X[:N], y[:N]))
    other.learn(other.memory.batch(X[N:], np.full(2 * N, "jug")))
    if witnesses < 2 * N:
        with pytest.raises(OtherLayerError, match=r"another layer .* or none"):
            young.merged(other)
        return
    memory = young.merged(other).memory
    assert memory.layer is not None
    features = memory.sums.around(memory.features(X))
    gram = np.tril(features.T @ features)
    np.testing.assert_allclose(memory.sums.gram, gram, rtol=1e-9, atol=1e-9)
