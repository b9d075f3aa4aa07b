"""What is derived anew while rows come is what would have been derived at once."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.renewal import NEW_PARTS, Renewal, pieces_of_renewal
from newfound.sums.sums import Sums
from tests import oracles

WIDTH = 40


def sample(n: int, seed: int = 0, dtype: Any = np.float64) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return (rng.normal(size=(n, WIDTH)) + np.eye(4, WIDTH)[y]).astype(dtype), y


def learn(sums: Sums, X: Any, y: Any, *learners: Any) -> None:
    index, labels = sums.locate(y)
    for learner in learners:
        if isinstance(learner, Renewal):
            learner.learn(X, index, len(labels))
        else:
            learner.learn(X, index, labels)
    sums.add(X, index, labels)


def assert_right(sums: Sums, X: Any, y: Any, penalty: float, weights: Any, atol: float) -> None:
    expected, _ = oracles.ridge(X, oracles.one_hot(y, sums.labels), penalty)
    np.testing.assert_allclose(weights, expected, atol=atol)


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(("taught", "size"), [(5, 1), (14, 3), (100, 1), (100, 2), (300, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_come_meanwhile_are_part_of_it(
    taught: int, size: int, dtype: Any, per_class: bool
) -> None:
    """New classes among them; and it may be finished at any moment."""
    X, y = sample(400, dtype=dtype)
    y[taught + 9 :: 10] = 9
    sums = Sums(WIDTH, per_class)
    learn(sums, X[:taught], y[:taught])
    renewal, n = Renewal(sums, 3.0, fit_intercept=True, single=dtype is np.float32), taught
    while not renewal.is_done:
        learn(sums, X[n : n + size], y[n : n + size], renewal)
        n += size
    assert n - taught <= size * (4 + pieces_of_renewal(WIDTH, max(100, taught), 5))
    carried = renewal.finish()
    assert carried is not None
    assert carried.total == sums.total == n
    assert carried.inverse.is_single == (dtype is np.float32)
    tolerance = 1e-12 if dtype is np.float64 else 1e-4
    assert_right(sums, X[:n], y[:n], 3.0, carried.weights, tolerance)
    for moment in range(NEW_PARTS + 3):
        sums = Sums(WIDTH, per_class)
        learn(sums, X[:taught], y[:taught])
        renewal, n = Renewal(sums, 3.0, fit_intercept=True, single=False), taught
        for _ in range(moment):
            learn(sums, X[n : n + size], y[n : n + size], renewal)
            n += size
        carried = renewal.finish()
        assert carried is not None
        assert_right(sums, X[:n], y[:n], 3.0, carried.weights, 1e-12 if per_class else 1e-11)


@pytest.mark.parametrize("in_time", [True, False])
def test_a_solver_takes_over_a_penalty_that_was_foreseen(in_time: bool) -> None:
    X, y = sample(400)
    sums = Sums(WIDTH)
    solver = RecursiveSolver(sums, 1.0, fit_intercept=True)
    for n in range(350):
        if n == 300:
            solver.foresee(7.0)
        if n > 300 and not in_time:
            break
        learn(sums, X[n : n + 1], y[n : n + 1], solver)
        assert_right(sums, X[: n + 1], y[: n + 1], 1.0, solver.weights, 1e-11)
    solver.use(7.0)
    n = sums.total
    assert_right(sums, X[:n], y[:n], 7.0, solver.weights, 1e-12)
    assert solver.rebuilds == 1
    for row in range(n, 400):
        learn(sums, X[row : row + 1], y[row : row + 1], solver)
    assert_right(sums, X, y, 7.0, solver.weights, 1e-12)
    assert solver.rebuilds == 1


@pytest.mark.parametrize("event", ["forget", "another penalty", "a batch", "discard"])
def test_what_was_foreseen_gives_way_to_other_events(event: str) -> None:
    X, y = sample(400)
    sums = Sums(WIDTH)
    solver = RecursiveSolver(sums, 1.0, fit_intercept=True)
    learn(sums, X[:200], y[:200], solver)
    assert solver.weights.any()
    solver.foresee(7.0)
    for n in range(200, 212):
        learn(sums, X[n : n + 1], y[n : n + 1], solver)
    held, penalty = slice(0, 212), 7.0
    if event == "forget":
        index, _ = sums.locate(y[:5])
        remove = sums.prepare_removal(X[:5], index)
        solver.forget(X[:5], index)
        remove()
        held = slice(5, 212)
    elif event == "another penalty":
        solver.foresee(3.0)
        penalty = 3.0
    elif event == "a batch":
        learn(sums, X[212:400], y[212:400], solver)
        held = slice(0, 400)
    else:
        solver.discard()
    solver.use(penalty)
    assert_right(sums, X[held], y[held], penalty, solver.weights, 1e-11)


def test_a_drift_a_little_too_large_is_mended_while_rows_come() -> None:
    X, y = sample(900)
    sums = Sums(WIDTH)
    solver = RecursiveSolver(sums, 1.0, fit_intercept=True)
    for n in range(300):
        learn(sums, X[n : n + 1], y[n : n + 1], solver)
    carried = solver._carried  # noqa: SLF001  (poisoned below)
    assert carried is not None
    carried.inverse.flush()
    carried.inverse.matrix *= 1 + 3e-10
    rebuilds = []
    for n in range(300, 900):
        learn(sums, X[n : n + 1], y[n : n + 1], solver)
        rebuilds.append(solver.rebuilds)
    assert rebuilds[-1] == 1
    assert solver.drift() < 1e-13


def test_rows_too_large_for_it_make_it_give_up() -> None:
    X, y = sample(100)
    sums = Sums(WIDTH)
    learn(sums, X, y)
    renewal = Renewal(sums, 1e-3, fit_intercept=True, single=False)
    for n in range(60):
        huge = 1e9 * X[n : n + 1] if n == 20 else X[n : n + 1]
        learn(sums, huge, y[n : n + 1], renewal)
    assert renewal.finish() is None
    solver = RecursiveSolver(sums, 1e-3, fit_intercept=True)
    assert np.isfinite(solver.weights).all()


def test_a_solver_can_be_copied_while_another_penalty_is_foreseen() -> None:
    X, y = sample(400)
    sums = Sums(WIDTH)
    solver = RecursiveSolver(sums, 1.0, fit_intercept=True)
    for n in range(310):
        learn(sums, X[n : n + 1], y[n : n + 1], solver)
        solver.foresee(7.0) if n >= 295 else None
    both = copy.deepcopy((sums, solver)), pickle.loads(pickle.dumps((sums, solver)))
    for others, twin in both:
        for n in range(310, 330):
            learn(others, X[n : n + 1], y[n : n + 1], twin)
        twin.use(7.0)
        assert_right(others, X[:330], y[:330], 7.0, twin.weights, 1e-12)
