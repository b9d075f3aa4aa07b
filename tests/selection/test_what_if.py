"""Pretending: the scores of a model that was taught less, without teaching one."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from newfound.selection.what_if import Basis, Pretence, pretended_scores
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.weighted import RebalancedSolver
from newfound.sums.sums import Sums
from tests import oracles

Floats = NDArray[np.float64]
WIDTH, T = 6, 4


def taught(X: Floats, y: Any, penalty: float, intercept: bool, weight: Any = None) -> Any:
    sums = Sums(X.shape[1], per_class=weight is not None)
    sums.add(X, *sums.locate(np.asarray(y)))
    if weight is None:
        return RecursiveSolver(sums, penalty, intercept)
    return RebalancedSolver(sums, penalty, intercept, weight)


def basis_of(solver: Any, probes: Floats, few: list[Floats]) -> Basis:
    sums = solver.sums
    means = sums.cross / sums.counts
    U = np.column_stack([means, *(rows.mean(axis=0) for rows in few)])
    directions = solver.inverse_times(U)
    return Basis(directions.T @ probes.T, U.T @ directions)


def equal_scatter(rng: np.random.Generator, copies: int) -> tuple[Floats, Any]:
    """Classes whose rows scatter all alike: the same deviations around every mean, repeated."""
    deviations = rng.normal(size=(8, WIDTH))
    deviations -= deviations.mean(axis=0)
    means = 2 * rng.normal(size=(T, WIDTH))
    X = np.concatenate([mean + np.tile(deviations, (copies, 1)) for mean in means])
    return X, np.repeat(np.arange(T), 8 * copies)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("rare", [[2], [0, 3]])
@pytest.mark.parametrize("weight", [None, {0: 2.0, 2: 0.5}], ids=str)
def test_pretending_is_teaching_where_classes_scatter_alike(
    intercept: bool, rare: list[int], weight: Any
) -> None:
    rng = np.random.default_rng(0)
    X, y = equal_scatter(rng, copies=5)
    penalty, probes = 3.0, rng.normal(size=(20, WIDTH))
    # The few rows really taught scatter as all do, around a mean that is not quite the class's.
    few = [X[y == t][:8] + 0.3 * rng.normal(size=WIDTH) for t in rare]
    solver = taught(X, y, penalty, intercept, weight)
    pretended = {
        t: Pretence(8.0 * (weight or {}).get(t, 1.0), T + place) for place, t in enumerate(rare)
    }
    scores, masses = pretended_scores(
        basis_of(solver, probes, few), solver.masses, pretended, intercept
    )
    kept = ~np.isin(y, rare)
    really = taught(
        np.concatenate([X[kept], *few]),
        np.concatenate([y[kept], np.repeat(rare, 8)]),
        penalty * masses.sum() / solver.masses.sum(),
        intercept,
        weight,
    )
    order = np.argsort(really.sums.labels)
    expected = (probes @ really.weights + really.intercept)[:, order]
    np.testing.assert_allclose(masses, really.masses[order])
    np.testing.assert_allclose(scores.T, expected, atol=1e-10)
    assert np.abs(scores.T - (probes @ solver.weights + solver.intercept)).max() > 0.05


def test_pretending_that_nothing_is_missing_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, WIDTH)), np.arange(60) % T
    solver = taught(X, y, 1.0, True)
    scores, masses = pretended_scores(basis_of(solver, X, []), solver.masses, {}, True)
    np.testing.assert_allclose(scores.T, X @ solver.weights + solver.intercept, atol=1e-10)
    np.testing.assert_array_equal(masses, solver.masses)


@pytest.mark.parametrize("few", [2, 8, 32])
def test_on_digits_pretending_agrees_closely_with_teaching(few: int) -> None:
    """Classes of digits do not scatter alike, yet the two models answer alike."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(few)
    order = rng.permutation(len(y))
    X, y = X[order], y[order]
    train, test = slice(0, 1200), slice(1200, None)
    agree, correlate = [], []
    for rare in range(10):
        rows = X[train][y[train] == rare][:few]
        kept = y[train] != rare
        solver = taught(X[train], y[train], 50.0, True)
        scores, masses = pretended_scores(
            basis_of(solver, X[test], [rows]), solver.masses, {rare: Pretence(few, 10)}, True
        )
        X_few = np.concatenate([X[train][kept], rows])
        y_few = np.concatenate([y[train][kept], np.full(few, rare)])
        W, b = oracles.ridge(X_few, oracles.one_hot(y_few, np.arange(10)), 50.0)
        order_of = np.argsort(solver.sums.labels)
        ours, theirs = scores.T[:, order_of], X[test] @ W + b
        factors = oracles.recode(masses[order_of], 0.7)
        agree.append(np.mean((ours * factors).argmax(1) == (theirs * factors).argmax(1)))
        correlate.append(np.corrcoef(ours[:, rare], theirs[:, rare])[0, 1])
    assert np.mean(agree) > 0.94
    assert np.mean(correlate) > 0.97
