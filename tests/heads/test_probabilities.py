"""Scores to probabilities: in the order of the scores, and as sharp as they deserve."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.special import softmax as softmax_of_scipy

from newfound.heads.probabilities import (
    LIKELY_RATIO,
    USUAL_SHARPNESS,
    sharpness_of,
    softmax,
)

SCORES = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 7)),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False),
)


@given(SCORES, st.floats(0.1, 100))
def test_probabilities_are_those_of_scipy(scores: NDArray[Any], sharpness: float) -> None:
    expected = softmax_of_scipy(sharpness * scores, axis=1)
    np.testing.assert_allclose(softmax(scores, sharpness), expected, atol=1e-12)


@given(SCORES, st.floats(0.1, 100), st.sampled_from([np.float32, np.float64]))
def test_probabilities_keep_the_order_and_none_is_zero(
    scores: NDArray[Any], sharpness: float, dtype: Any
) -> None:
    given_scores = scores.astype(dtype)
    probabilities = softmax(given_scores, sharpness)
    assert probabilities.dtype == dtype
    assert (probabilities > 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    order = np.argsort(given_scores, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(probabilities, order, axis=1), axis=1) >= 0).all()


def test_classes_that_cannot_be_have_no_probability() -> None:
    scores = np.array([[0.3, -np.inf, 0.1], [-np.inf, -5.0, -np.inf]])
    found = softmax(scores, sharpness=2.0)
    np.testing.assert_array_equal(found == 0, scores == -np.inf)
    np.testing.assert_allclose(found[0, 0] / found[0, 2], np.exp(0.4))
    assert found[1, 1] == 1


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.floats(0.01, 3), st.booleans())
def test_the_sharpness_is_where_the_posterior_is_largest(
    seed: int, m: int, noise: float, is_weighted: bool
) -> None:
    """Also where every row is right, or every row is wrong, so that no likelihood would tell.

    Rows that stand for more count for more, and together they count for as many as they are.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, m)
    scores = 0.3 * np.eye(4)[truth] + noise * rng.normal(size=(m, 4))

    def lost(log_sharpness: float) -> float:
        likely = log_softmax(np.exp(log_sharpness) * scores, axis=1)[np.arange(m), truth]
        away = (log_sharpness - np.log(USUAL_SHARPNESS)) / np.log(LIKELY_RATIO)
        return float(away**2 / 2 - weights @ likely * m / weights.sum())

    weights = rng.integers(1, 9, m).astype(float) if is_weighted else np.ones(m)
    found = np.log(sharpness_of(scores, truth, weights if is_weighted else None))
    best = min(
        (minimize_scalar(lost, bounds=(low, low + 2), method="bounded") for low in range(-7, 14)),
        key=lambda result: float(result.fun),
    )
    assert lost(found) == pytest.approx(float(best.fun), abs=1e-6)


def test_without_rows_the_sharpness_is_the_usual_one() -> None:
    found = sharpness_of(np.zeros((0, 3)), np.zeros(0, dtype=np.intp))
    assert found == pytest.approx(USUAL_SHARPNESS)


def test_rows_drawn_from_their_probabilities_tell_the_sharpness_they_were_drawn_with() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=0.3, size=(20_000, 5))
    for sharpness in (2.0, 15.0, 60.0):
        likely = softmax(scores, sharpness)
        truth = (likely.cumsum(axis=1) > rng.random(len(scores))[:, None]).argmax(axis=1)
        assert sharpness_of(scores, truth) == pytest.approx(sharpness, rel=0.05)
