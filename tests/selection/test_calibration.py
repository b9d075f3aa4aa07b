"""How sure answers may be: witnesses left out, and what sums know of rows on average."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from newfound.common.pieces import at_once
from newfound.engine.engine import Engine
from newfound.heads.probabilities import sharpness_of
from newfound.heads.recoding import recoding_factors
from newfound.selection.calibration import calibrate, calibrated_by_sums
from newfound.selection.panel import Panel
from newfound.solvers.base import solver_for
from newfound.solvers.settings import Settings
from tests import oracles
from tests.choices import basis_of, snapshot_of, to_choose

Floats = NDArray[np.float64]
WIDTH = 7


def rows(counts: list[int], width: int = WIDTH) -> tuple[Floats, Any]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    centres = 1.5 * rng.normal(size=(len(counts), width))
    return centres[y] + rng.normal(size=(len(y), width)) + 1, y


def taught(X: Floats, y: Any, settings: Any) -> Engine:
    engine = Engine.blank(X.shape[1], settings)
    engine.fit(X, *engine.sums.locate(y))
    return engine


def without(X: Floats, y: Any, i: int, penalty: float) -> tuple[Any, Any]:
    """Cosines and leverage of a row, by a model of all other rows."""
    keep = np.arange(len(y)) != i
    targets = oracles.one_hot(y[keep], np.unique(y))
    return oracles.cosines(X[keep], targets, penalty, True, X[i : i + 1])


@pytest.mark.parametrize("counts", [[6, 9, 4], [10, 2], [3, 3, 3, 8, 5]])
def test_what_is_usual_is_what_rows_left_out_have(counts: list[int]) -> None:
    X, y = rows(counts)
    engine = taught(X, y, to_choose(witnesses=20))
    panel = Panel(snapshot_of(engine), 8, what_if=False)
    found = at_once(calibrate(panel, basis_of(panel, 4.0), np.full(len(counts), 0.5)))
    own = []
    for i in range(len(y)):
        cosines, leverage = without(X, y, i, 4.0)
        own.append(cosines[0, y[i]] / np.sqrt(1 + leverage[0]))
    assert found.usual is not None
    assert found.usual.of_all == pytest.approx(np.mean(own), rel=1e-5)
    for label, count in enumerate(counts):
        mine = np.array(own)[y == label].sum() + 10 * np.mean(own)
        assert found.usual.of_class[label] == pytest.approx(mine / (count + 10), rel=1e-5)


def test_the_sharpness_is_that_of_recoded_scores_of_rows_left_out() -> None:
    X, y = rows([6, 9, 4])
    engine = taught(X, y, to_choose(witnesses=20))
    panel = Panel(snapshot_of(engine), 8, what_if=False)
    recoding = np.array([0.2, 0.9, 0.5])
    found = at_once(calibrate(panel, basis_of(panel, 4.0), recoding[engine.sums.labels]))
    scores = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        W, b = oracles.ridge(X[keep], oracles.one_hot(y[keep], np.arange(3)), 4.0)
        scores.append(X[i] @ W + b)
    factors = recoding_factors(np.bincount(y).astype(np.float64), recoding)
    assert found.sharpness == pytest.approx(sharpness_of(np.array(scores) * factors, y), rel=1e-4)


@pytest.mark.parametrize("class_weight", [None, {}, "balanced", {1: 3.0}], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_sums_know_the_mean_leverage_of_what_was_taught(
    class_weight: Any, fit_intercept: bool
) -> None:
    X, y = rows([9, 5, 12])
    engine = Engine.blank(WIDTH, Settings(3.0, 0.7, class_weight, fit_intercept))
    for i in range(len(y)):  # one by one, so that changes wait
        engine.learn(X[i : i + 1], *engine.sums.locate(y[i : i + 1]))
        solver = engine.solver
        seen, mass = y[: i + 1], float(solver.masses.sum())
        share = solver.masses / np.maximum(engine.sums.counts, 1)
        weights = share[[engine.sums.position(label) for label in seen.tolist()]]
        leverage = solver.leverage(X[: i + 1]) - fit_intercept / mass
        expected = float(weights @ leverage / weights.sum())
        assert solver.mean_leverage == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_what_sums_know_of_rows_is_what_these_are_on_average() -> None:
    """Rows that all differ from their means alike are all asked by asking for their average."""
    centres = np.random.default_rng(0).normal(size=(3, WIDTH))
    deviations = 2.0 * np.concatenate([np.eye(WIDTH), -np.eye(WIDTH)])
    X, y = (centres[:, None] + deviations).reshape(-1, WIDTH), np.repeat(np.arange(3), 2 * WIDTH)
    engine = taught(X, y, Settings(5.0, 0.7, None, True))
    found = calibrated_by_sums(engine.solver)
    own = []
    for i in range(len(y)):
        cosines, leverage = without(X, y, i, 5.0)
        own.append(cosines[0, y[i]] / np.sqrt(1 + leverage[0]))
    assert found.usual is not None
    assert found.usual.of_all == pytest.approx(np.mean(own), rel=0.03)


@pytest.mark.parametrize("counts", [[9, 5, 12, 1], [2] * 70 + [3] * 60], ids=len)
def test_what_sums_know_does_not_depend_on_the_order_of_classes(counts: list[int]) -> None:
    """Nor on which of many classes came first, of which some are asked."""
    X, y = rows(counts, width=99)
    shuffled = np.random.default_rng(1).permutation(len(y))
    expected = calibrated_by_sums(taught(X, y, Settings(3.0, 0.7, None, True)).solver)
    engine = taught(X[shuffled], y[shuffled], Settings(3.0, 0.7, None, True))
    found = calibrated_by_sums(solver_for(engine.sums, engine.settings, 3.0))
    assert found.bound is not None
    assert expected.bound is not None
    assert tuple(found.bound) == pytest.approx(tuple(expected.bound), rel=1e-5)
    assert found.usual is not None
    assert expected.usual is not None
    assert found.usual.of_class == pytest.approx(expected.usual.of_class, rel=1e-5)


def test_numbers_are_rounded_so_that_a_file_does_not_tell_how_rows_were_added_up() -> None:
    X, y = rows([9, 5, 12])
    found = [
        taught(X[:, ::step][..., ::step], y, to_choose(witnesses=20)).calibration
        for step in (1, -1)
    ]
    assert found[0] == found[1]
