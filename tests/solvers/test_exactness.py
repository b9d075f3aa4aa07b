"""Exactness over long streams, against solutions in extended precision."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from newfound import IncrementalRidgeClassifier, load
from tests import oracles
from tests.effort import share_of

# The condition number is the same for any number of rows.
ROWS, WIDTH, CLASSES, PENALTY = share_of(100_000, 0.1), 64, 10, 1e-3

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(np.finfo(oracles.Extended).eps > 1e-18), reason="numpy has no extended precision here"
    ),
]


class Problem(NamedTuple):
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    held_out: NDArray[np.float64]
    exact: NDArray[Any]  # weights, in extended precision
    condition: float
    cholesky_error: float  # of one float64 solve from the exact sums


def relative_error(weights: NDArray[Any], exact: NDArray[Any]) -> float:
    difference = (weights - exact).astype(np.float64)
    return float(np.linalg.norm(difference) / np.linalg.norm(exact.astype(np.float64)))


@cache
def problem(condition: float, fit_intercept: bool) -> Problem:
    """Correlated features on scales that spread over the root of the condition number."""
    rng = np.random.default_rng(7)
    left, right = (np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0] for _ in range(2))
    scales = np.logspace(0, -np.log10(condition) / 2, WIDTH)
    mixing = (left * scales) @ right.T * np.sqrt(PENALTY * condition / ROWS)
    centres = rng.normal(size=(CLASSES, WIDTH))
    y = rng.integers(0, CLASSES, ROWS + 2000)
    X = (rng.normal(size=(len(y), WIDTH)) + 0.5 * centres[y]) @ mixing.T
    # Through float32, so that both precisions can be taught the same numbers.
    X = X.astype(np.float32).astype(np.float64)
    X, y, held_out = X[:ROWS], y[:ROWS], X[ROWS:]
    targets = np.eye(CLASSES)[y]

    gram, cross = oracles.extended_sum(X, X), oracles.extended_sum(X, targets)
    if fit_intercept:
        total, counts = cross.sum(axis=1), targets.sum(axis=0).astype(oracles.Extended)
        gram = gram - np.outer(total, total) / ROWS
        cross = cross - np.outer(total, counts) / ROWS
    matrix = gram + oracles.Extended(PENALTY) * np.eye(WIDTH)
    exact = oracles.extended_solve(matrix, cross)
    rounded = matrix.astype(np.float64)
    solved = cho_solve(cho_factor(rounded), cross.astype(np.float64))
    return Problem(
        X, y, held_out, exact, float(np.linalg.cond(rounded)), relative_error(solved, exact)
    )


@cache
def streamed(condition: float, fit_intercept: bool, dtype: Any) -> IncrementalRidgeClassifier:
    X, y, *_ = problem(condition, fit_intercept)
    X = X.astype(dtype)
    model = IncrementalRidgeClassifier(PENALTY, recoding=0.0, fit_intercept=fit_intercept)
    model.partial_fit(X[:1], y[:1], classes=range(CLASSES))
    for i in range(1, ROWS):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_ill_conditioned_stream_is_as_good_as_one_cholesky_solve(fit_intercept: bool) -> None:
    expected = problem(1e8, fit_intercept)
    assert 1e7 < expected.condition < 1e9
    model = streamed(1e8, fit_intercept, np.float64)
    assert relative_error(model.coef_.T, expected.exact) <= 10 * expected.cholesky_error


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_sums_of_a_long_stream_are_as_good_as_exact(fit_intercept: bool, tmp_path: Any) -> None:
    expected = problem(1e8, fit_intercept)
    path = tmp_path / "long.newfound"
    streamed(1e8, fit_intercept, np.float64).save(path)
    rebuilt = load(path)  # which holds nothing but the sums
    assert relative_error(rebuilt.coef_.T, expected.exact) <= 10 * expected.cholesky_error


def test_well_scaled_stream_is_exact_to_ten_digits() -> None:
    expected = problem(1e4, True)
    assert 1e3 < expected.condition < 1e5
    model = streamed(1e4, True, np.float64)
    assert relative_error(model.coef_.T, expected.exact) <= 1e-10


@pytest.mark.parametrize("condition", [1e4, 1e8])
def test_float32_predicts_as_float64(condition: float) -> None:
    X = problem(condition, True).held_out
    double, single = (streamed(condition, True, kind) for kind in (np.float64, np.float32))
    assert single.coef_.dtype == np.float32
    agreement = np.mean(double.predict(X) == single.predict(X.astype(np.float32)))
    assert agreement >= 0.999


def test_a_thousand_classes_one_at_a_time() -> None:
    rng = np.random.default_rng(1)
    classes, width = 1000, 256
    X = rng.normal(size=(2 * classes, width))
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, classes)])
    model = IncrementalRidgeClassifier(recoding=0.7)
    for row, label in zip(X, y, strict=True):
        model.partial_fit(row[None], [label])
    assert model.classes_.tolist() == list(range(classes))
    targets = oracles.one_hot(y, model.classes_)
    W, b = oracles.ridge(X, targets, 1.0)
    factors = oracles.recode(targets.sum(axis=0), 0.7)
    np.testing.assert_allclose(model.coef_.T, W * factors, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, b * factors, atol=1e-11)
