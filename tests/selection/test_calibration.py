"""How sure answers may be: witnesses left out, and what sums know of rows on average."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from newfound.common.pieces import at_once
from newfound.engine.engine import Engine
from newfound.heads.probabilities import sharpness_of
from newfound.heads.recoding import recoding_factors
from newfound.heads.unknown import bound_between
from newfound.selection import calibration
from newfound.selection.calibration import Calibration, calibrate, calibrate_by_sums
from newfound.selection.validation import ValidationSet
from newfound.solvers.base import solver_for
from newfound.solvers.settings import RegressionSettings, Settings
from tests import oracles
from tests.choices import basis_of, fit, learn, result_of, snapshot_of, to_choose

Floats = NDArray[np.float64]
WIDTH = 7


def calibrated(*arguments: Any) -> Calibration:
    return at_once(calibrate(*arguments))[0]


def rows(counts: list[int], width: int = WIDTH) -> tuple[Floats, Any]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    centres = 1.5 * rng.normal(size=(len(counts), width))
    return centres[y] + rng.normal(size=(len(y), width)) + 1, y


def taught(X: Floats, y: Any, settings: Any) -> Engine:
    engine = Engine.blank(X.shape[1], settings)
    fit(engine, X, y)
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
    validation = ValidationSet(snapshot_of(engine), 8, what_if=False)
    found = calibrated(validation, basis_of(validation, 4.0), np.full(len(counts), 0.5))
    own = []
    for i in range(len(y)):
        cosines, leverage = without(X, y, i, 4.0)
        own.append(cosines[0, y[i]] / np.sqrt(1 + leverage[0]))
    assert found.typical is not None
    assert found.typical.of_all == pytest.approx(np.mean(own), rel=1e-5)
    for label, count in enumerate(counts):
        mine = np.array(own)[y == label].sum() + 10 * np.mean(own)
        assert found.typical.of_class[label] == pytest.approx(mine / (count + 10), rel=1e-5)


def test_the_sharpness_is_that_of_recoded_scores_of_rows_left_out() -> None:
    X, y = rows([6, 9, 4])
    engine = taught(X, y, to_choose(witnesses=20))
    validation = ValidationSet(snapshot_of(engine), 8, what_if=False)
    recoding = np.array([0.2, 0.9, 0.5])
    found = calibrated(validation, basis_of(validation, 4.0), recoding[engine.memory.sums.labels])
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
        learn(engine, X[i : i + 1], y[i : i + 1])
        solver = engine.solver
        seen, weight_sum = y[: i + 1], float(solver.weight_sums.sum())
        share = solver.weight_sums / np.maximum(engine.memory.sums.counts, 1)
        weights = share[[engine.memory.sums.position(label) for label in seen.tolist()]]
        leverage = solver.leverage(X[: i + 1]) - fit_intercept / weight_sum
        expected = float(weights @ leverage / weights.sum())
        assert solver.mean_leverage == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_what_sums_know_of_rows_is_what_these_are_on_average() -> None:
    """Rows that all differ from their means alike are all asked by asking for their average."""
    centres = np.random.default_rng(0).normal(size=(3, WIDTH))
    deviations = 2.0 * np.concatenate([np.eye(WIDTH), -np.eye(WIDTH)])
    X, y = (centres[:, None] + deviations).reshape(-1, WIDTH), np.repeat(np.arange(3), 2 * WIDTH)
    engine = taught(X, y, Settings(5.0, 0.7, None, True))
    found = calibrate_by_sums(engine.solver)
    own = []
    for i in range(len(y)):
        cosines, leverage = without(X, y, i, 5.0)
        own.append(cosines[0, y[i]] / np.sqrt(1 + leverage[0]))
    assert found.typical is not None
    assert found.typical.of_all == pytest.approx(np.mean(own), rel=0.03)


@pytest.mark.parametrize("counts", [[9, 5, 12, 1], [2] * 70 + [3] * 60], ids=len)
def test_what_sums_know_does_not_depend_on_the_order_of_classes(counts: list[int]) -> None:
    """Nor on which of many classes came first, of which some are asked."""
    X, y = rows(counts, width=99)
    shuffled = np.random.default_rng(1).permutation(len(y))
    expected = calibrate_by_sums(taught(X, y, Settings(3.0, 0.7, None, True)).solver)
    engine = taught(X[shuffled], y[shuffled], Settings(3.0, 0.7, None, True))
    assert not isinstance(engine.settings, RegressionSettings)
    found = calibrate_by_sums(solver_for(engine.memory.sums, engine.settings, 3.0))
    assert found.bound is not None
    assert expected.bound is not None
    assert tuple(found.bound) == pytest.approx(tuple(expected.bound), rel=1e-5)
    assert found.typical is not None
    assert expected.typical is not None
    assert found.typical.of_class == pytest.approx(expected.typical.of_class, rel=1e-5)


def test_numbers_are_rounded_so_that_a_file_does_not_tell_how_rows_were_added_up() -> None:
    X, y = rows([9, 5, 12])
    whole, parts = (
        taught(X, y, to_choose(witnesses=20)),
        Engine.blank(WIDTH, to_choose(witnesses=20)),
    )
    for part in np.array_split(np.arange(len(y)), 9):
        learn(parts, X[part], y[part], defer=True)
    parts.reconsider()
    assert whole.calibration == parts.calibration
    assert whole.memory.sums.gram.tobytes() != parts.memory.sums.gram.tobytes()


def bound_the_long_way(X: Floats, y: Any, penalty: float) -> Any:
    """The bound, by models of all rows but one, and of sums in which a class has no weight_sum."""
    labels, known, unknown = np.unique(y), [], []
    usual = {}
    left_out = [without(X, y, i, penalty) for i in range(len(y))]
    own = np.array([(c[0] / np.sqrt(1 + h[0]))[y[i]] for i, (c, h) in enumerate(left_out)])
    for t in labels.tolist():
        usual[t] = (own[y == t].sum() + 10 * own.mean()) / (np.sum(y == t) + 10)
    scale = np.array([usual[t] for t in labels.tolist()])
    means = np.array([X[y == t].mean(axis=0) for t in labels])
    for i, (c, h) in enumerate(left_out):
        known.append((c[0] / np.sqrt(1 + h[0]) / scale).max())
        # The class as a cloud without weight_sum: its deviations, less the row's own part.
        k, n = y[i], np.sum(y == y[i])
        weight_sums = np.bincount(y) * (labels != k).astype(float)
        mean = weight_sums @ means / weight_sums.sum()
        deviations, around = X - means[y], means - mean
        w = np.where(np.arange(len(y)) == i, 1 - n / (n - 1), 1.0)
        A = (deviations.T * w) @ deviations + (around.T * weight_sums) @ around
        P = np.linalg.inv(A + penalty * np.eye(X.shape[1]))
        u, V = X[i] - mean, (weight_sums[:, None] * around)[labels != k]
        square = u @ P @ u
        angles = V @ P @ u / np.sqrt(square * np.einsum("ij,jk,ik->i", V, P, V))
        unknown.append(
            (angles / np.sqrt(1 + square + 1 / weight_sums.sum()) / scale[labels != k]).max()
        )
    return bound_between(np.array(known), np.array(unknown), len(y), len(labels))


@pytest.mark.parametrize("counts", [[6, 9, 4], [3, 3, 3, 8, 5]])
def test_the_bound_is_that_between_rows_left_out_alone_and_with_their_class(
    counts: list[int],
) -> None:
    X, y = rows(counts)
    engine = taught(X, y, to_choose(witnesses=20))
    validation = ValidationSet(snapshot_of(engine), 8, what_if=False)
    found = calibrated(validation, basis_of(validation, 4.0), np.full(len(counts), 0.5))
    assert found.bound is not None
    assert tuple(found.bound) == pytest.approx(tuple(bound_the_long_way(X, y, 4.0)), rel=1e-4)


def test_what_was_chosen_is_what_is_calibrated() -> None:
    X, y = rows([40, 30, 50])
    engine = taught(X, y, to_choose(witnesses=20))
    validation = ValidationSet(snapshot_of(engine), 8, what_if=True)
    recoding = result_of(engine).recoding(engine.memory.sums.counts.astype(np.float64))
    expected = calibrated(validation, basis_of(validation, engine.penalty).of_first(4), recoding)
    assert engine.calibration == expected
    other = calibrated(validation, basis_of(validation, 100 * engine.penalty).of_first(4), recoding)
    assert other != expected


@pytest.mark.parametrize("counts", [[2, 9, 12], [2, 2, 2], [30, 2, 2, 5]])
@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 50.0}], ids=str)
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 100.0])
def test_sums_of_few_rows_among_many_features_know_what_is_unknown(
    counts: list[int], class_weight: Any, penalty: float
) -> None:
    """No row scatters more than it can, so that all that is left out has a length."""
    X, y = rows(counts, width=60)
    engine = taught(X, y, Settings(penalty, 0.7, class_weight, True))
    found = calibrate_by_sums(engine.solver)
    assert found.bound is not None
    assert found.typical is not None
    assert 0 < found.typical.of_all <= 1


def test_of_many_classes_some_are_asked_and_the_others_stand_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows([8] * 12, width=30)
    solver = taught(X, y, Settings(30.0, 0.7, None, True)).solver
    everybody = calibrate_by_sums(solver)
    monkeypatch.setattr(calibration, "MOST_CLASSES", 8)
    some = calibrate_by_sums(solver)
    assert everybody.typical is not None
    assert some.typical is not None
    assert len(some.typical.of_class) == 8
    # Each is asked of the same model, in which the others are as they were.
    for label, each in some.typical.of_class.items():
        assert each == pytest.approx(everybody.typical.of_class[label], rel=0.05)
    assert some.bound is not None
    assert everybody.bound is not None
    assert some.bound.similarity == pytest.approx(everybody.bound.similarity, abs=0.1)


def test_by_sums_a_class_counts_as_often_as_it_was_taught_and_spreads_are_usual() -> None:
    X, y = rows([40, 5, 12])
    found = calibrate_by_sums(taught(X, y, Settings(3.0, 0.7, None, True)).solver)
    assert found.typical is not None
    assert found.bound is not None
    known = found.typical.of_class
    raw = {  # what each had before it was drawn to what is usual of all
        t: ((n + 10) * known[t] - 10 * found.typical.of_all) / n
        for t, n in ((0, 40), (1, 5), (2, 12))
    }
    assert np.mean(list(raw.values())) == pytest.approx(found.typical.of_all, rel=1e-4)
    again = taught(np.concatenate([X, X]), np.concatenate([y, y]), Settings(6.0, 0.7, None, True))
    assert calibrate_by_sums(again.solver).bound is not None
