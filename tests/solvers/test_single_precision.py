"""float32 features of any size are learned as well as the same numbers in float64."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.covering import first_of

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=(150, 4))
Y = np.where(BASE[:, 0] + 0.3 * BASE[:, 1] > 0, "a", "b")
SIZES = [1e36, 1e25, 1e22, 1e15, 1.0, 1e-15, 1e-25, 1e-36]


def taught(model: Any, X: Any, stream: bool) -> Any:
    if not stream:
        return model.fit(X, Y)
    for row, label in zip(X, Y, strict=True):
        model.partial_fit(row[None], [label])
    return model


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("stream", first_of([True, False]))
def test_features_of_any_size_are_learned(size: float, stream: bool) -> None:
    X = (BASE * size).astype(np.float32)
    penalty = 10 * size**2
    for model in (
        IncrementalRidgeClassifier(penalty=penalty),
        IncrementalRidgeClassifier(penalty=penalty, class_weight="balanced"),
        IncrementalRidgeClassifierCV(),
    ):
        single = taught(clone(model), X, stream)
        double = taught(clone(model), X.astype(np.float64), stream)
        np.testing.assert_array_equal(single.predict(X), double.predict(X))
        assert (single.predict(X) == Y).mean() > 0.93
        found, expected = single.decision_function(X), double.decision_function(X)
        np.testing.assert_allclose(found, expected, atol=1e-3)
        np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-2, atol=1e-3 / size)
        np.testing.assert_allclose(single.novelty(X), double.novelty(X), atol=1e-3)


@pytest.mark.filterwarnings("ignore:a penalty of")
@pytest.mark.parametrize("jump", [1e22, 1e-22])
def test_a_stream_whose_size_jumps_is_learned(jump: float) -> None:
    """The first rows say nothing about the range of those that follow."""
    sizes = np.where(np.arange(150) < 50, 1.0, jump)[:, None]
    X = (BASE * sizes).astype(np.float32)
    single, double = (
        taught(IncrementalRidgeClassifier(), rows, True) for rows in (X, X.astype(np.float64))
    )
    scale = 1 / max(1.0, jump)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-2, atol=1e-3 * scale)
    assert (single.predict(X[50:] / np.float32(jump)) == Y[50:]).mean() > 0.9 or jump > 1


def test_weights_that_leave_the_range_of_float32_are_given_in_float64() -> None:
    X = (BASE * 1e-41).astype(np.float32)  # denormal numbers
    model = IncrementalRidgeClassifier(penalty=1e-81).fit(X, Y)
    assert np.isfinite(model.coef_).all()
    assert (model.predict(X) == Y).mean() > 0.9
