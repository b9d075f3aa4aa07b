"""Models whose layer is to come: what was learned before it came holds when it is there."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import (
    IncrementalClassifier,
    IncrementalRidgeClassifier,
    ModelFileError,
    NotTaughtError,
    load,
)
from newfound.memory.memory import OtherLayerError
from tests.crafted import craft

UNITS = 500


@pytest.fixture
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 3)), np.arange(150) % 2


@pytest.mark.parametrize("class_weight", [None, {}])
def test_weighted_rows_that_came_twice_are_forgotten_and_saved_behind_the_layer(
    data: Any, tmp_path: Path, class_weight: Any
) -> None:
    X, y = data
    X[2], weights = X[0], np.linspace(1, 2, len(X))
    model, without = (IncrementalRidgeClassifier(1.0, 0, class_weight, layer=UNITS) for _ in "ab")
    for part in slice(0, 50), slice(50, None):
        model.partial_fit(X[part], y[part], sample_weight=weights[part])
    model.save(tmp_path / "whole.model")
    assert load(tmp_path / "whole.model").n_samples_seen_ == len(X)
    model.forget(X[:1], y[:1], sample_weight=weights[:1])
    without.set_params(layer=model.layer_).fit(X[1:], y[1:], sample_weight=weights[1:])
    np.testing.assert_allclose(model.scores(X), without.scores(X), atol=1e-9)


@pytest.mark.parametrize("weights", [None, np.linspace(1, 2, 51)])
def test_until_there_is_a_layer_no_row_is_forgotten_that_was_not_taught(
    data: Any, weights: Any
) -> None:
    X, y = data[0] + 1000, data[1]  # from so far, rows look much alike
    model = IncrementalRidgeClassifier(fit_intercept=False, layer=5)
    part = None if weights is None else weights[:50]
    model.partial_fit(X[:50], y[:50], sample_weight=part)
    before = model.scores(X)
    with pytest.raises(NotTaughtError):
        model.forget(X[50:51], y[50:51], sample_weight=None if weights is None else weights[50:])
    np.testing.assert_array_equal(model.scores(X), before)
    model.forget(X[:50], y[:50], sample_weight=part)
    assert not model.partial_fit(X[:1], y[:1]).layer_


@pytest.mark.parametrize("units", [3, 7])
def test_a_layer_of_other_units_is_not_taken_over(data: Any, tmp_path: Path, units: int) -> None:
    X, y = data
    young = IncrementalRidgeClassifier(layer=5).partial_fit(X[:20], y[:20])
    with pytest.raises(OtherLayerError):
        young.merge(IncrementalRidgeClassifier(layer=units).fit(X, y))
    young.merge(IncrementalRidgeClassifier(layer=5).fit(X, y))
    young.save(tmp_path / "whole.model")
    assert load(tmp_path / "whole.model").layer_.units == 5


@pytest.mark.filterwarnings("ignore:a penalty of")  # of rows so large, none is large enough
@pytest.mark.parametrize("first", [1e-160, 1e-120, 1e70, 1e140])
@pytest.mark.parametrize("then", [1.0, None])
def test_first_rows_of_any_size_make_a_layer_that_serves(
    data: Any, tmp_path: Path, first: float, then: float | None
) -> None:
    X, y = data
    sizes = np.where(np.arange(len(X)) < 100, first, then or first)[:, None]
    model = IncrementalClassifier(layer=20).fit(X * sizes, y)
    assert np.isfinite(model.scores(X * sizes)).all()
    model.save(tmp_path / "whole.model")
    assert load(tmp_path / "whole.model").layer_ == model.layer_


@pytest.mark.parametrize("seed", [2**64 - 1, 2**64, 2**70])
def test_any_seed_may_draw_a_layer_and_a_projection(data: Any, tmp_path: Path, seed: int) -> None:
    X, y = data
    for rows in X, np.pad(X, ((0, 0), (0, 10_000))):
        model = IncrementalClassifier(layer=20, random_state=seed).fit(rows, y)
        model.save(tmp_path / "whole.model")
        again = load(tmp_path / "whole.model")
        np.testing.assert_allclose(again.scores(rows), model.scores(rows), atol=1e-9)


def test_a_file_whose_units_would_be_infinite_is_refused(data: Any, tmp_path: Path) -> None:
    path = tmp_path / "crafted.model"
    model = IncrementalClassifier(layer=20).fit(*data)
    craft(model, path, tensors={"layer.factor": lambda factor: 0 * factor + 1e99})
    with pytest.raises(ModelFileError):
        load(path)
