"""What is derived anew while rows come and go is what would have been derived at once."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.renewal import NEW_PARTS, Rebuild, pieces_of_renewal
from newfound.solvers.state import SolverState
from newfound.sums.sums import Sums
from tests import oracles
from tests.taught import Taught, sample

WIDTH = 40


def learn(sums: Sums, X: Any, y: Any, rebuild: Rebuild | None = None) -> None:
    index, labels = sums.locate(y)
    if rebuild is not None:
        rebuild.change(X, index, len(labels), sign=1)
    sums.add(X, index, labels)


def forget(sums: Sums, X: Any, y: Any, rebuild: Rebuild) -> None:
    index, labels = sums.locate(y)
    remove = sums.prepare_removal(X, index)
    rebuild.change(X, index, len(labels), sign=-1)
    assert not len(remove())


def assert_right(rebuild: Rebuild, sums: Sums, X: Any, y: Any, penalty: float, atol: float) -> None:
    state = rebuild.finish()
    assert state is not None
    assert state.weight_sum == sums.total == len(X)
    expected, _ = oracles.ridge(X, oracles.one_hot(y, sums.labels), penalty)
    np.testing.assert_allclose(state.weights, expected, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(("taught", "size"), [(5, 1), (14, 3), (100, 1), (100, 2), (300, 7)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_come_meanwhile_are_part_of_it(
    taught: int, size: int, dtype: Any, per_class: bool
) -> None:
    """New classes among them; and it may be finished at any moment."""
    X, y = sample(400, WIDTH)
    X = X.astype(dtype)
    y[taught + 9 :: 10] = 9
    sums = Sums(WIDTH, per_class)
    learn(sums, X[:taught], y[:taught])
    rebuild, n = Rebuild(sums, 3.0, fit_intercept=True, single=dtype is np.float32), taught
    while not rebuild.is_done:
        learn(sums, X[n : n + size], y[n : n + size], rebuild)
        n += size
    assert n - taught <= size * (4 + pieces_of_renewal(WIDTH, max(100, taught), 5))
    state = rebuild.finish()
    assert state is not None
    assert state.inverse.is_single == (dtype is np.float32)
    assert_right(rebuild, sums, X[:n], y[:n], 3.0, 1e-12 if dtype is np.float64 else 1e-4)
    for moment in range(NEW_PARTS + 3):
        sums = Sums(WIDTH, per_class)
        learn(sums, X[:taught], y[:taught])
        rebuild, n = Rebuild(sums, 3.0, fit_intercept=True, single=False), taught
        for _ in range(moment):
            learn(sums, X[n : n + size], y[n : n + size], rebuild)
            n += size
        assert_right(rebuild, sums, X[:n], y[:n], 3.0, 1e-12 if per_class else 1e-11)


@pytest.mark.parametrize("window", [8, 20, 100])
@pytest.mark.parametrize("size", [1, 3])
def test_rows_that_come_and_go_by_turns_do_not_hold_it_up(window: int, size: int) -> None:
    """Rows of a new class among them."""
    X, y = sample(300, WIDTH)[0], np.arange(300) % 3
    y[: window + 12] %= 2
    sums, start = Sums(WIDTH), 0
    learn(sums, X[:window], y[:window])
    rebuild = Rebuild(sums, 3.0, fit_intercept=True, single=False)
    while not rebuild.is_done:
        come, go = (slice(at, at + size) for at in (start + window, start))
        learn(sums, X[come], y[come], rebuild)
        forget(sums, X[go], y[go], rebuild)
        start += size
    assert 2 * start <= size * (4 + pieces_of_renewal(WIDTH, 100, 5))
    held = slice(start, start + window)
    assert_right(rebuild, sums, X[held], y[held], 3.0, 1e-11)


def test_rows_that_come_and_go_again_meanwhile_leave_no_trace() -> None:
    """They are so large that what had not come could not go."""
    X, y = sample(200, WIDTH)
    sums, n = Sums(WIDTH), 100
    learn(sums, X[:n], y[:n])
    rebuild = Rebuild(sums, 3.0, fit_intercept=True, single=False)
    while not rebuild.is_done:
        row = 10 * X[n : n + 1]
        learn(sums, row, y[n : n + 1], rebuild)
        forget(sums, row, y[n : n + 1], rebuild)
        row.fill(np.nan)  # for it is the caller's
        n += 1
    assert n > 100 + NEW_PARTS // 2
    assert_right(rebuild, sums, X[:100], y[:100], 3.0, 1e-11)


def test_many_rows_that_came_meanwhile_are_learned_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = sample(400, WIDTH)
    sums, n, changes, change = Sums(WIDTH), 100, list[int](), SolverState.change

    def note(self: SolverState, X: Any, *rest: Any) -> Any:
        changes.append(len(X))
        return change(self, X, *rest)

    monkeypatch.setattr(SolverState, "change", note)
    learn(sums, X[:n], y[:n])
    rebuild = Rebuild(sums, 3.0, fit_intercept=True, single=False)
    for _ in range(NEW_PARTS + 3):
        learn(sums, X[n : n + 20], y[n : n + 20], rebuild)
        n += 20
    assert_right(rebuild, sums, X[:n], y[:n], 3.0, 1e-11)
    assert sum(changes) == 60
    assert max(changes) == 40  # as few as are thirty-two or more


@pytest.mark.parametrize("n", [1, 32, 33, 50])
def test_few_rows_of_many_features_are_all_part_of_it(n: int) -> None:
    X, y = sample(n, 150)
    sums = Sums(150, per_class=True)  # which holds them all as they came
    learn(sums, X, y)
    assert_right(Rebuild(sums, 3.0, fit_intercept=True, single=False), sums, X, y, 3.0, 1e-12)


@pytest.mark.parametrize("place", [0, 49])
def test_a_row_among_few_that_is_too_large_for_it_makes_it_give_up(place: int) -> None:
    X, y = sample(50, 150)
    X[place] *= 1e9
    sums = Sums(150, per_class=True)
    learn(sums, X, np.sort(y))
    assert Rebuild(sums, 1e-3, fit_intercept=False, single=False).finish() is None


def test_a_row_of_float64_is_too_much_for_what_is_made_in_float32() -> None:
    X, y = sample(200, WIDTH)
    sums = Sums(WIDTH)
    learn(sums, X[:100].astype(np.float32), y[:100])
    rebuild = Rebuild(sums, 3.0, fit_intercept=True, single=True)
    for n in range(100, 120):
        learn(sums, X[n : n + 1], y[n : n + 1], rebuild)
    assert rebuild.finish() is None


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_after_a_stiff_row_that_came_meanwhile_all_is_derived_once_more(scale: float) -> None:
    X, y = sample(300, WIDTH)
    X[118] *= scale
    both = Taught(WIDTH)
    both.learn(X[:100], y[:100])
    assert both.solver.weights.any()
    both.solver.foresee(7.0)
    both.learn_each(X[100:120], y[100:120])
    both.solver.use(7.0)
    assert both.solver.rebuilds == 2
    both.learn_each(X[120:], y[120:])
    assert both.solver.rebuilds == 2 + (scale > 1)
    both.assert_right(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("in_time", [True, False])
def test_a_solver_takes_over_a_penalty_that_was_foreseen(in_time: bool) -> None:
    X, y = sample(400, WIDTH)
    both = Taught(WIDTH)
    solver = both.solver
    for n in range(350):
        if n == 300:
            solver.foresee(7.0)
        if n > 300 and not in_time:
            break
        both.learn(X[n : n + 1], y[n : n + 1])
        both.assert_right(X[: n + 1], y[: n + 1], 1e-11)
    solver.use(7.0)
    n = both.sums.total
    both.assert_right(X[:n], y[:n])
    assert solver.rebuilds == 1
    both.learn_each(X[n:], y[n:])
    both.assert_right(X, y)
    assert solver.rebuilds == 1


@pytest.mark.parametrize("event", ["forget", "another penalty", "a batch", "discard"])
def test_what_was_foreseen_gives_way_to_other_events(event: str) -> None:
    X, y = sample(400, WIDTH)
    both = Taught(WIDTH)
    solver = both.solver
    both.learn(X[:200], y[:200])
    assert solver.weights.any()
    solver.foresee(7.0)
    both.learn_each(X[200:212], y[200:212])
    held, penalty = slice(0, 212), 7.0
    if event == "forget":
        both.forget(X[:5], y[:5])
        held = slice(5, 212)
    elif event == "another penalty":
        solver.foresee(3.0)
        penalty = 3.0
    elif event == "a batch":
        both.learn(X[212:], y[212:])
        held = slice(0, 400)
    else:
        solver.discard()
    solver.use(penalty)
    both.assert_right(X[held], y[held], 1e-11)


@pytest.fixture
def _not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: RecursiveSolver) -> None:
        raise AssertionError("all was rebuilt at once")

    monkeypatch.setattr(RecursiveSolver, "rebuild", refuse)


@pytest.mark.slow
@pytest.mark.usefixtures("_not_at_once")
@pytest.mark.parametrize("window", [100, 900])
def test_a_drift_a_little_too_large_is_mended_while_rows_come_and_go(window: int) -> None:
    X, y = sample(900, WIDTH)
    both = Taught(WIDTH)
    both.slide(X[:300], y[:300], window)
    state = both.solver._state  # noqa: SLF001  (poisoned below)
    assert state is not None
    state.inverse.flush()
    state.inverse.matrix *= 1 + 3e-10
    both.slide(X[300:], y[300:], window)
    assert both.solver.rebuilds == 1
    assert both.solver.drift() < 1e-13


@pytest.mark.usefixtures("_not_at_once")
def test_a_stiff_stream_is_mended_while_a_window_slides_over_it() -> None:
    """Its first rows cancel digits of the inverse, which only a rebuild brings back."""
    X, y = sample(400, WIDTH)
    both, window = Taught(WIDTH), 2 * WIDTH
    both.slide(1e4 * X, y, window)
    assert both.solver.rebuilds == 1
    assert both.solver.drift() < 1e-12
    both.assert_right(1e4 * X[-window:], y[-window:], 1e-15)


def test_a_stiff_stream_is_mended_where_every_row_that_goes_takes_its_class_along() -> None:
    X, y = sample(150, WIDTH)[0], np.arange(150)
    both, window = Taught(WIDTH), WIDTH + 5
    both.slide(1e4 * X, y, window)
    both.assert_right(1e4 * X[-window:], y[-window:], 1e-15)
    assert both.solver.rebuilds == 1


def test_a_class_that_vanishes_is_no_part_of_a_penalty_that_was_foreseen() -> None:
    X, y = sample(100, WIDTH)
    y[:2] = 9
    both = Taught(WIDTH)
    both.learn_each(X[:60], y[:60])
    both.solver.foresee(7.0)
    both.learn_each(X[60:75], y[60:75])
    both.forget(X[:2], y[:2])
    both.learn_each(X[75:], y[75:])
    both.solver.use(7.0)
    both.assert_right(X[2:], y[2:])


@pytest.mark.parametrize("where", ["change", "finish"])
@pytest.mark.parametrize("penalty", [1.0, 7.0])
def test_without_memory_for_it_all_is_derived_when_it_is_asked_for(
    where: str, penalty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise MemoryError

    X, y = sample(400, WIDTH)
    both = Taught(WIDTH)
    with monkeypatch.context() as patch:
        patch.setattr(Rebuild, where, refuse)
        both.learn_each(1e4 * X[:30], y[:30])  # stiff, so that all is to be derived anew
        if penalty != 1.0:
            both.solver.foresee(penalty)
        both.learn_each(1e4 * X[30:], y[30:])
        both.solver.use(penalty)
    both.assert_right(1e4 * X, y, 1e-15)


def test_rows_too_large_for_it_make_it_give_up() -> None:
    X, y = sample(100, WIDTH)
    sums = Sums(WIDTH)
    learn(sums, X, y)
    rebuild = Rebuild(sums, 1e-3, fit_intercept=True, single=False)
    for n in range(60):
        huge = 1e9 * X[n : n + 1] if n == 20 else X[n : n + 1]
        learn(sums, huge, y[n : n + 1], rebuild)
    assert rebuild.finish() is None
    solver = RecursiveSolver(sums, 1e-3, fit_intercept=True)
    assert np.isfinite(solver.weights).all()


def test_a_solver_can_be_copied_while_another_penalty_is_foreseen() -> None:
    X, y = sample(400, WIDTH)
    both = Taught(WIDTH)
    both.learn_each(X[:295], y[:295])
    for n in range(295, 310):
        both.learn(X[n : n + 1], y[n : n + 1])
        both.solver.foresee(7.0)
    for twin in (copy.deepcopy(both), pickle.loads(pickle.dumps(both))):
        twin.learn_each(X[310:330], y[310:330])
        twin.solver.use(7.0)
        twin.assert_right(X[:330], y[:330])
