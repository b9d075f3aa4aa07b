"""A layer on a device: the same bits, and models behind it as they are on the host."""

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from newfound import IncrementalClassifier, IncrementalRidgeClassifier, Layer
from newfound.common.device import device_of, on_host
from newfound.solvers import settings
from tests.devices import EVERYWHERE, device, placed

pytestmark = pytest.mark.usefixtures("array_api")
N = 240


@pytest.fixture
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, 4))
    y = np.array(["cup", "jug", "mug"])[np.digitize(np.linalg.norm(X, axis=1), [1.5, 2.2])]
    return X + 3, y


@EVERYWHERE
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_row_has_the_same_features_there(place: str, dtype: Any, data: Any) -> None:
    X = data[0].astype(dtype)
    layer = Layer.of(X[:100], units=150, seed=3)
    there = layer(placed(X, place))
    assert device_of(there) == device(place)
    np.testing.assert_array_equal(on_host(there), layer(X))


@EVERYWHERE
@pytest.mark.parametrize(
    "model",
    [
        IncrementalRidgeClassifier(layer=30),
        IncrementalRidgeClassifier(layer=30, class_weight="balanced"),
        IncrementalClassifier(layer=30),
        IncrementalClassifier(),
    ],
    ids=str,
)
def test_models_there_are_those_of_the_host(
    place: str, model: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "UNITS", 40)
    X, y = data
    here, there = clone(model), clone(model)
    for part in np.split(np.arange(N), [40, 99, 130]):
        here.partial_fit(X[part], y[part])
        there.partial_fit(placed(X[part], place), y[part])
        assert there.layer_ == here.layer_
        assert_same(there, here, X, place)
    here.forget(X[20:50], y[20:50])
    there.forget(placed(X[20:50], place), y[20:50])
    assert_same(there, here, X, place)
    moved = copy.deepcopy(there)
    moved.move_to(None)
    assert moved.layer_ == here.layer_
    np.testing.assert_allclose(moved.scores(X), here.scores(X), rtol=1e-8, atol=1e-9)
    assert device_of(moved.coef_) is None


def assert_same(there: Any, here: Any, X: Any, place: str) -> None:
    for ask in ("scores", "unknown_proba"):
        found = on_host(getattr(there, ask)(placed(X, place)))
        np.testing.assert_allclose(found, getattr(here, ask)(X), rtol=1e-7, atol=1e-8, err_msg=ask)
