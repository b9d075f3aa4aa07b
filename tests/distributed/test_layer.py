"""All partitions need one layer: that of the first rows, wherever these are."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from newfound import IncrementalClassifier, IncrementalRidgeClassifier
from newfound.layers.layer import FIRST_ROWS

dask_array = pytest.importorskip("dask.array")
N, D = 260, 3


@pytest.fixture
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, D)) + 5
    return X, (np.linalg.norm(X - 5, axis=1) > 1.5).astype(int)


def cut(X: Any, *chunks: int) -> Any:
    return dask_array.from_array(X, chunks=(chunks, D))


def assert_same(one: Any, other: Any, X: NDArray[Any]) -> None:
    assert one.layer_ == other.layer_
    np.testing.assert_allclose(one.scores(X), other.scores(X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("chunks", [(N,), (40, 70, 150), (0, 99, 1, 0, 160), (13,) * 20])
@pytest.mark.parametrize("layer", ["auto", 40])
def test_partitions_have_the_layer_of_the_first_rows(
    data: Any, chunks: tuple[int, ...], layer: Any
) -> None:
    X, y = data
    whole = IncrementalClassifier(layer).fit(X, y)
    assert whole.layer_ is not None
    assert_same(IncrementalClassifier(layer).fit(cut(X, *chunks), y), whole, X)


@pytest.mark.parametrize("before", [1, 60, FIRST_ROWS - 1, FIRST_ROWS, 150])
def test_partitions_go_on_where_a_stream_in_memory_is(data: Any, before: int) -> None:
    X, y = data
    model = IncrementalRidgeClassifier(layer=40).partial_fit(X[:before], y[:before])
    weights = np.random.default_rng(1).integers(1, 4, N - before)
    model.partial_fit(cut(X[before:], 50, N - before - 50), y[before:], sample_weight=weights)
    here = IncrementalRidgeClassifier(layer=40).partial_fit(X[:before], y[:before])
    here.partial_fit(X[before:], y[before:], sample_weight=weights)
    assert_same(model, here, X)


def test_partitions_of_too_few_rows_wait_for_more(data: Any) -> None:
    X, y = data
    model = IncrementalRidgeClassifier(layer=40).fit(cut(X[:60], 20, 40), y[:60])
    assert model.layer_ is None
    assert_same(model, IncrementalRidgeClassifier(layer=40).fit(X[:60], y[:60]), X)
    model.partial_fit(X[60:], y[60:])
    assert_same(model, IncrementalRidgeClassifier(layer=40).fit(X, y), X)


def test_rows_that_weigh_nothing_are_none_of_the_first(data: Any) -> None:
    X, y = data
    weights = np.arange(N) % 3 / 2
    lazy = dask_array.from_array(weights, chunks=65)
    model = IncrementalRidgeClassifier(layer=40).fit(cut(X, 65, 65, 65, 65), y, sample_weight=lazy)
    assert_same(model, IncrementalRidgeClassifier(layer=40).fit(X, y, sample_weight=weights), X)


def test_what_is_wrong_with_the_first_partition_changes_nothing(data: Any) -> None:
    X, y = data
    model = IncrementalRidgeClassifier(layer=40).partial_fit(X[:50], y[:50])
    wrong = X[50:].copy()
    wrong[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(cut(wrong, 100, N - 150), y[50:])
    assert_same(model, IncrementalRidgeClassifier(layer=40).partial_fit(X[:50], y[:50]), X)
