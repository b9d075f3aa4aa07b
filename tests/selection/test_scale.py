"""The scale of the features, which the penalties follow."""

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifierCV
from tests.streams import blobs


@pytest.mark.parametrize("stream", [False, True])
def test_rows_that_are_all_alike_have_no_scale(stream: bool) -> None:
    """What rounding makes of their spread is no scale for penalties: weights would be noise."""
    X, y = np.tile(np.random.default_rng(0).normal(size=5), (24, 1)), list("aab") * 8
    model = IncrementalRidgeClassifierCV()
    for rows, labels in zip(np.split(X, 24), y, strict=True) if stream else [(X, y)]:
        model.partial_fit(rows, list(labels))
    assert np.abs(model.coef_).max() < 1e-9
    assert model.penalty_ > 1


def test_an_all_zero_beginning_tells_nothing_about_the_scale() -> None:
    X, y = blobs()
    zero = np.zeros((1, 4))
    models = [IncrementalRidgeClassifierCV() for _ in range(2)]
    for model, scale in zip(models, (1.0, 1000.0), strict=True):
        for rows, labels in ((zero, y[:1]), (scale * X, y)):
            model.partial_fit(rows, labels)
    assert models[1].penalty_ == pytest.approx(1e6 * models[0].penalty_)
