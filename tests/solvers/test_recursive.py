"""The recursive solver: blocks, drift, rebuilding, and what is refused."""

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier
from newfound.solvers.cholesky import factorise
from newfound.solvers.inverse import LIMITS
from newfound.solvers.kernel import Kernel
from newfound.solvers.monitor import CHECK_EVERY
from tests import oracles
from tests.taught import Taught, sample


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("size", [1, 2, 7, 13])
def test_blocks_are_carried_without_rebuilding(size: int, fit_intercept: bool) -> None:
    X, y = sample(260, width=40)
    both = Taught(40, 0.3, fit_intercept)
    for start in range(0, len(X), size):
        both.learn(X[start : start + size], y[start : start + size])
    assert both.solver.rebuilds == 0
    both.assert_right(X, y)
    for start in range(0, 130, size):
        both.forget(X[start : start + size], y[start : start + size])
    assert both.solver.rebuilds == 0
    both.assert_right(X[start + size :], y[start + size :])


def test_a_large_batch_is_left_to_the_sums() -> None:
    X, y = sample(300, width=20)
    both = Taught(20)
    both.learn(X, y)
    assert both.solver.rebuilds == 0
    both.assert_right(X, y)
    assert both.solver.rebuilds == 1


def test_the_drift_of_a_good_stream_is_rounding() -> None:
    X, y = sample(2000, width=20)
    both = Taught(20)
    both.learn_each(X, y)
    assert both.solver.drift() < 1e-13
    assert both.solver.rebuilds == 0


@pytest.mark.parametrize("what", ["inverse", "weights"])
def test_drift_sees_an_error_in_either_part_and_rebuilds(what: str) -> None:
    X, y = sample(500 + 2 * CHECK_EVERY, width=20)
    both = Taught(20)
    both.learn_each(X[:500], y[:500])
    error = 1e-7
    state = both.solver._state  # noqa: SLF001  (poisoned below)
    assert state is not None
    inverse = state.inverse
    inverse.flush()
    part = inverse.matrix if what == "inverse" else state.weights
    part *= 1 + error
    assert error / 30 < both.solver.drift() < error * 30
    both.learn_each(X[500:], y[500:])
    assert both.solver.rebuilds == 1
    assert both.solver.drift() < 1e-13


@pytest.mark.exhaustive
def test_a_window_sliding_in_float32_drifts_and_is_rebuilt_in_float64(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Taking out rows undoes the healing that new rows bring: errors add up until measured."""

    def slide(rows: int = 12_000, window: int = 100, width: int = 12) -> tuple[bool, float]:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(rows, width)).astype(np.float32)
        y = rng.integers(0, 3, rows)
        both = Taught(width, penalty=0.05)
        both.slide(X, y, window)
        targets = oracles.one_hot(y[-window:], both.sums.labels)
        W, _ = oracles.ridge(X[-window:], targets, 0.05)
        error = np.linalg.norm(both.solver.weights - W) / np.linalg.norm(W)
        state = both.solver._state  # noqa: SLF001  (nothing else tells its precision)
        assert state is not None
        return state.inverse.is_single, float(error)

    # A tenth of the usual limit, so that the test need not slide ten times as far.
    single_type = np.dtype(np.float32)
    monkeypatch.setitem(LIMITS, single_type, LIMITS[single_type]._replace(drift=1e-5))
    single, error = slide()
    monkeypatch.setattr(Kernel, "drift_of_weights", lambda *_: 0.0)
    unwatched_single, unwatched_error = slide()
    assert (single, unwatched_single) == (False, True)
    assert error < 1e-10
    assert unwatched_error > 1e-5


def test_what_cannot_have_been_taught_is_refused() -> None:
    X, y = sample(200, width=5)
    model = IncrementalRidgeClassifier().fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="not all taught"):
        model.forget(1e3 * X[:1], y[:1])
    with pytest.raises(ValueError, match="not all taught"):
        model.forget(1e3 * X[:50], y[:50])
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(ValueError, match="cannot forget 201 examples of 0"):
        model.forget(np.ones((201, 5)), [0] * 201)
    with pytest.raises(ValueError, match="no class 9 here; the classes are 0, 1, 2, 3"):
        model.forget(X[:1], [9])
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.filterwarnings("ignore:a penalty of")
def test_rows_beside_which_the_penalty_is_lost_still_give_an_answer() -> None:
    # Twins on a scale of 1e9: the gram is singular, and a penalty of 1e-6 is below its rounding.
    rng = np.random.default_rng(0)
    X = np.repeat(1e9 * rng.normal(size=(50, 4)), 2, axis=1)
    y = (X[:, 0] > 0).astype(int)
    model = IncrementalRidgeClassifier(penalty=1e-6).fit(X, y)
    assert model.score(X, y) > 0.9
    for i in range(50):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model.score(X, y) > 0.9


def test_factorise_raises_only_what_rounding_made_negative() -> None:
    matrix = np.asfortranarray(np.diag([1e20, 1.0, -1e3]))
    factor = np.tril(factorise(matrix))
    np.testing.assert_allclose((factor @ factor.T)[0, 0], 1e20, rtol=1e-12)
    assert (factor.diagonal() > 0).all()
