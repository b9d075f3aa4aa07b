"""The solver of a device: the closed form of what was taught, whatever it carries."""

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from newfound import checks
from newfound.common.device import on_host
from newfound.common.errors import NotTaughtError
from newfound.solvers.base import solver_for
from newfound.solvers.cholesky import solve
from newfound.solvers.device import DeviceKernel
from newfound.solvers.device_state import MOST_PENDING, DeviceInverse, DeviceState
from newfound.solvers.monitor import CHECK_EVERY
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.settings import ClassWeight, Settings
from newfound.sums.device import blocks, invert_in_place
from tests import oracles
from tests.covering import covering
from tests.devices import EVERYWHERE, device, placed
from tests.taught import TaughtThere, sample


def solver_there(
    sums: Any, penalty: float, fit_intercept: bool, class_weight: ClassWeight | None = None
) -> Any:
    return solver_for(sums, Settings(penalty, 0.0, class_weight, fit_intercept), penalty)


SOLVERS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "plain": (lambda sums: solver_there(sums, 2.0, True), False),
    "through the origin": (lambda sums: solver_there(sums, 0.1, False), False),
    "sums per class": (lambda sums: solver_there(sums, 2.0, True), True),
    "balanced": (lambda sums: solver_there(sums, 2.0, True, "balanced"), True),
    "weighted": (lambda sums: solver_there(sums, 2.0, False, {"mug": 3.0}), True),
}


def wide_stream(dtype: Any) -> tuple[Any, Any]:
    """As `small_stream`, with so many features that small batches change what is carried."""
    X, y = checks.small_stream(dtype)
    more = np.random.default_rng(1).normal(size=(len(X), 35)).astype(dtype)
    return np.hstack([X, more]), y


STREAMS = checks.small_stream, wide_stream


@EVERYWHERE
@covering("name, dtype, stream", SOLVERS.keys(), (np.float64, np.float32), STREAMS)
def test_it_keeps_the_laws_of_solvers(name: str, dtype: Any, stream: Any, place: str) -> None:
    make, per_class = SOLVERS[name]
    X, y = stream(dtype)
    checks.check_solver(make, per_class, placed(X, place), y)


class Deaf(RecursiveSolver):
    """Learns nothing from small batches once it has answered."""

    def learn(self, X: Any, index: Any, labels: Any, sample_weight: Any = None) -> None:
        if X.shape[0] != 3:
            super().learn(X, index, labels, sample_weight)


@pytest.mark.needs("torch")
def test_one_that_breaks_a_law_on_a_device_is_caught() -> None:
    def deaf(sums: Any) -> Deaf:
        return Deaf(sums, 2.0, True, DeviceKernel(sums, True, sums.device))

    X, y = wide_stream(np.float64)
    with pytest.raises(AssertionError, match="weights from scratch and from the solver"):
        checks.check_solver(deaf, False, placed(X, "torch"), y)


BORDERS = [1, 2, 5, 63, 64, 65, 127, 128, 129, 200, 511, 512, 513, 520]


def positive(width: int, seed: int = 0) -> Any:
    rows = np.random.default_rng(seed).normal(size=(width + 5, width))
    return rows.T @ rows / width + 0.1 * np.eye(width)


@EVERYWHERE
@pytest.mark.parametrize("width", BORDERS)
def test_a_matrix_is_inverted_in_its_own_memory(width: int, place: str) -> None:
    whole = positive(width)
    matrix = placed(whole, place)
    assert invert_in_place(matrix, device(place))
    inverse = on_host(matrix)
    np.testing.assert_allclose(inverse @ whole, np.eye(width), atol=1e-10)
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-11)
    columns = list(blocks(width))
    assert columns[0].start == 0
    assert columns[-1].stop == width
    assert all(one.stop == other.start for one, other in pairwise(columns))


@EVERYWHERE
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("where", [0, 63, 64, 129])
def test_what_is_not_positive_definite_has_no_inverse(where: int, value: float, place: str) -> None:
    matrix = np.eye(130)
    matrix[where, where] = value
    assert not invert_in_place(placed(matrix, place), device(place))


@EVERYWHERE
def test_an_inverse_follows_rows_and_refuses_what_would_spoil_it(place: str) -> None:
    rng, there = np.random.default_rng(0), device(place)
    A = positive(30)
    inverse = DeviceInverse(there.put(np.linalg.inv(A)), there)
    nothing = (there.zeros(30, 1), there.zeros(30), np.zeros(1))
    state = DeviceState(inverse, *nothing, fit_intercept=False)
    for _ in range(2 * MOST_PENDING + 3):  # some are made together, and some wait
        z = rng.normal(size=30)
        pivot = state.learn_row(there.put(z[None]), 0)
        assert pivot == pytest.approx(1 + z @ np.linalg.inv(A) @ z)
        A += np.outer(z, z)
    assert inverse.waiting == 3
    assert inverse.trace == pytest.approx(np.trace(np.linalg.inv(A)))
    np.testing.assert_allclose(on_host(inverse.times(there.put(A))), np.eye(30), atol=1e-9)
    weights = on_host(state.columns).copy()
    assert state.learn_row(there.put(1e12 * z[None]), 0) is None
    assert state.learn_row(there.put(np.nan * z[None]), 0) is None
    np.testing.assert_array_equal(on_host(state.columns), weights)
    assert inverse.change(there.put(np.stack([z, z])) * 1e9, 1) is None
    assert inverse.change(there.put(np.stack([z] * 50)), -1) is None  # more than there are
    np.testing.assert_allclose(on_host(inverse.times(there.put(A))), np.eye(30), atol=1e-9)


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_long_stream_of_few_features_is_as_good_as_new(place: str, fit_intercept: bool) -> None:
    rows = 8 * CHECK_EVERY + 100
    X, y = sample(rows, width=3)
    both = TaughtThere(place, 3, 1e-3, fit_intercept)
    both.learn_each(X, y)
    both.assert_right(X, y, atol=1e-10)
    assert both.solver.drift() < 1e-10


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("part", ["inverse", "weights"])
def test_what_is_carried_and_wrong_is_noticed(place: str, part: str) -> None:
    X, y = sample(3 * CHECK_EVERY, width=8)
    both = TaughtThere(place, 8)
    both.learn(X[:40], y[:40])
    state = both.solver.rebuild()
    if part == "inverse":
        state.inverse.matrix *= 1.001
    else:
        state.columns[:, :] *= 1.001
    assert both.solver.drift() > 1e-6
    before = both.solver.rebuilds
    both.learn_each(X[40:], y[40:])
    assert both.solver.rebuilds > before
    both.assert_right(X, y, atol=1e-9)


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("scale", [1e3, 1e4, 1e5])
def test_rows_of_enormous_leverage_are_answered_for_at_once(place: str, scale: float) -> None:
    """Each costs the inverse as many digits as its leverage has; weights are refined meanwhile."""
    X, y = sample(120, width=12)
    X[[30, 31, 60]] *= scale
    both = TaughtThere(place, 12, penalty=1.0, fit_intercept=False)
    both.learn(X[:30], y[:30])
    assert both.solver.leverage(placed(X[30:31], place))[0] > 1e5 * (scale / 1e4) ** 2
    for n in range(30, 120):
        both.learn(X[n : n + 1], y[n : n + 1])
        both.assert_right(X[: n + 1], y[: n + 1], atol=1e-7)


@EVERYWHERE
@pytest.mark.parametrize("scale", [1e3, 1e4])
def test_first_rows_that_are_large_beside_the_penalty_are_exact(place: str, scale: float) -> None:
    """Each costs what is carried most digits; without refinement, scores would keep six."""
    X, y = sample(40, width=6)
    X *= scale
    both = TaughtThere(place, 6, fit_intercept=False)
    for n in range(1, 41):
        both.learn(X[n - 1 : n], y[n - 1 : n])
        W, _ = oracles.ridge(X[:n], oracles.one_hot(y[:n], both.sums.labels), 1.0, False)
        np.testing.assert_allclose(X[:n] @ on_host(both.solver.weights), X[:n] @ W, atol=1e-11)


@EVERYWHERE
def test_a_row_that_would_cost_all_digits_has_everything_rebuilt(place: str) -> None:
    X, y = sample(40, width=6)
    X *= 1e4
    both = TaughtThere(place, 6, penalty=1e-3)
    for n in range(1, 41):
        both.learn(X[n - 1 : n], y[n - 1 : n])
        if n > 7:
            both.assert_right(X[:n], y[:n], atol=1e-11)
    assert both.solver.rebuilds > 0


@EVERYWHERE
def test_some_rows_after_one_of_enormous_leverage_all_is_rebuilt_once(place: str) -> None:
    X, y = sample(60, width=8)
    X[20] *= 1e4
    both = TaughtThere(place, 8)
    both.learn(X[:20], y[:20])
    both.assert_right(X[:20], y[:20])
    before = both.solver.rebuilds
    both.learn_each(X[20:29], y[20:29])
    assert both.solver.rebuilds == before
    both.learn_each(X[29:], y[29:])
    assert both.solver.rebuilds == before + 1
    both.assert_right(X, y, atol=1e-9)


@EVERYWHERE
def test_what_is_rebuilt_solves_its_equations_to_the_last_digits(place: str) -> None:
    """The inverse of a badly conditioned matrix alone would leave half of them wrong."""
    X, y = sample(60, width=20)
    X[:, 0] *= 1e4
    X[:, 1] += X[:, 0]
    both = TaughtThere(place, 20, penalty=0.01, fit_intercept=False)
    both.learn(X, y)
    right = X.T @ oracles.one_hot(y, both.sums.labels)
    image = (X.T @ X + 0.01 * np.eye(20)) @ on_host(both.solver.weights)
    np.testing.assert_allclose(image, right, atol=1e-10 * np.abs(right).max())


@EVERYWHERE
def test_sums_that_rounding_made_indefinite_are_solved_on_the_host(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All features are the same but for rounding, and far larger than the penalty."""
    rng = np.random.default_rng(0)
    rows = 1e9 * rng.normal(size=(60, 1)) @ np.ones((1, 40)) * (1 + 1e-16 * np.arange(40))
    y = np.arange(60) % 3
    both, solved = TaughtThere(place, 40, penalty=1e-9), []

    def noted(*args: Any) -> Any:
        solved.append(solve(*args))
        return solved[-1]

    monkeypatch.setattr("newfound.solvers.device.solve", noted)
    both.learn(rows, y)
    weights = on_host(both.solver.weights)
    assert len(solved) == 1
    np.testing.assert_allclose(weights, solved[0].weights)
    np.testing.assert_allclose(on_host(both.solver.intercept), solved[0].intercept, atol=1e-6)
    targets = oracles.one_hot(y, both.sums.labels)
    fitted = rows @ weights + on_host(both.solver.intercept)
    W, b = oracles.ridge(rows[:, :1], targets, 1e-9)  # as good as one feature
    np.testing.assert_allclose(fitted, rows[:, :1] @ W + b, atol=1e-4)
    both.learn_each(rows[:5], y[:5])  # and it goes on
    assert np.isfinite(on_host(both.solver.weights)).all()


@pytest.mark.slow
@EVERYWHERE
def test_two_hundred_classes_arrive_one_by_one(place: str) -> None:
    X, _ = sample(400, width=9)
    y = np.repeat(np.arange(200), 2)[np.random.default_rng(0).permutation(400)]
    both = TaughtThere(place, 9)
    both.learn_each(X, y)
    assert both.sums.n_classes == 200
    both.assert_right(X, y)
    for label in range(0, 200, 2):  # and half of them leave again
        both.forget(X[y == label], y[y == label])
    both.assert_right(X[y % 2 == 1], y[y % 2 == 1], atol=1e-10)


@EVERYWHERE
def test_one_feature_will_do(place: str) -> None:
    X, y = sample(50, width=1)
    both = TaughtThere(place, 1)
    both.slide(X, y, window=20)
    both.assert_right(X[-20:], y[-20:])
    leverage = oracles.leverage(X[-20:], 1.0, True, X)
    np.testing.assert_allclose(on_host(both.solver.leverage(placed(X, place))), leverage)


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_window_that_slides_for_long_is_as_good_as_new(place: str, fit_intercept: bool) -> None:
    X, y = sample(200, width=5)
    both = TaughtThere(place, 5, fit_intercept=fit_intercept)
    both.slide(X, y, window=30)
    both.assert_right(X[-30:], y[-30:], atol=1e-9)


@EVERYWHERE
def test_rows_that_were_not_taught_cannot_be_forgotten(place: str) -> None:
    X, y = sample(60, width=5)
    both = TaughtThere(place, 5)
    both.learn(X, y)
    both.assert_right(X, y)
    for row in (1e3 + X[:1], 50.0 * X[:1]):
        with pytest.raises(NotTaughtError, match="those of no data"):
            both.forget(row, y[:1])
        both.assert_right(X, y)
    both.forget(X[:1], y[:1])
    both.assert_right(X[1:], y[1:])


@EVERYWHERE
def test_another_penalty_is_answered_for_from_the_sums(place: str) -> None:
    X, y = sample(60, width=20)
    both = TaughtThere(place, 20)
    both.learn(X, y)
    for penalty in (3.0, 0.01):
        both.solver.foresee(penalty)
        both.solver.use(penalty)
        both.assert_right(X, y)
        trace = np.trace(np.linalg.inv(centred(X) + penalty * np.eye(20)) @ centred(X))
        assert both.solver.mean_leverage == pytest.approx(trace / 60)


def centred(X: Any) -> Any:
    Z = X - X.mean(axis=0)
    return Z.T @ Z


@EVERYWHERE
def test_a_copy_goes_its_own_way(place: str) -> None:
    X, y = sample(60, width=20)
    both = TaughtThere(place, 20)
    both.learn(X[:50], y[:50])
    both.assert_right(X[:50], y[:50])
    other = copy.deepcopy(both)
    other.learn_each(X[50:], y[50:])
    other.assert_right(X, y)
    both.assert_right(X[:50], y[:50])
