"""A model without a face: one solver, and a selection only when it is due."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from newfound.engine.engine import Engine
from newfound.selection.selector import Selector
from newfound.solvers.settings import Settings
from tests.choices import fit, forget, learn, result_of, to_choose, witnesses_of
from tests.streams import reloaded

FIXED = Settings(1.0, 0.7, None, True)


def rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 4)) + 2 * np.eye(3, 4)[y], y


def taught(settings: Any, X: Any, y: Any) -> Engine:
    return fit(Engine.blank(X.shape[1], settings), X, y)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many examples there were whenever a selection began."""
    totals: list[int] = []
    original = Selector.begin

    def begin(self: Selector, memory: Any, anew: bool = False) -> Any:
        totals.append(memory.sums.total)
        return original(self, memory, anew)

    monkeypatch.setattr(Selector, "begin", begin)
    return totals


@pytest.mark.slow
def test_an_engine_needs_no_scikit_learn() -> None:
    code = "import sys, newfound.engine.engine; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_class_weights_that_the_sums_cannot_serve_are_refused_and_nothing_changes() -> None:
    X, y = rows(60)
    engine = taught(FIXED, X, y)
    with pytest.raises(ValueError, match="class_weight needs the sums of each class"):
        engine.configure(FIXED._replace(class_weight="balanced"))
    assert engine.settings is FIXED
    with pytest.raises(ValueError, match="class_weight needs the sums of each class"):
        Engine(engine.memory, to_choose(class_weight="balanced"))


def test_storing_begins_no_selection_however_often_it_was_asked(calls: list[int]) -> None:
    X, y = rows(200)
    engine = taught(to_choose(), X[:100], y[:100])
    _ = engine.solver.weights
    calls.clear()
    for row in range(100, 200):
        learn(engine, X[row : row + 1], y[row : row + 1], defer=True)
    assert calls == []
    _ = engine.solver.weights
    assert calls == [200]


def test_reconsidering_selects_by_everything_there_is(calls: list[int]) -> None:
    X, y = rows(150)
    engine = taught(to_choose(), X, y)
    calls.clear()
    engine.reconsider()
    assert calls == [150]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [False, True])
def test_what_is_forgotten_row_by_row_leaves_the_same_choice_asked_or_not(asked: bool) -> None:
    X, y = rows(120)
    wrong, labels = 3 * rows(40, seed=1)[0], rows(40, seed=2)[1]
    engine = taught(to_choose(), np.vstack([X, wrong]), np.concatenate([y, labels]))
    for row in range(40):
        forget(engine, wrong[row : row + 1], labels[row : row + 1])
        if asked:
            _ = engine.solver.weights
    never = taught(to_choose(witnesses=200), X, y)
    engine.configure(to_choose(witnesses=200))
    assert result_of(engine).total == 120
    assert result_of(engine).expected == pytest.approx(result_of(never).expected)


def test_a_label_that_brings_another_weight_begins_a_selection(calls: list[int]) -> None:
    X, y = rows(150)
    settings = to_choose(class_weight={0: 1000.0})
    engine, fresh = taught(settings, X, y), taught(settings, X, np.where(y == 0, 7, y))
    calls.clear()
    engine.rename(0, np.array([7]))
    assert engine.penalty == pytest.approx(fresh.penalty)
    assert calls == [150]
    plain = taught(to_choose(), X, y)
    calls.clear()
    plain.rename(0, np.array([7]))
    _ = plain.penalty
    assert calls == []


def test_a_failure_after_rows_are_gone_leaves_no_stale_witness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows(60)
    y[:1], y[1:] = 9, y[1:] % 3
    engine = taught(to_choose(), X, y)
    _ = engine.solver.weights

    def fail(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("newfound.solvers.recursive.RecursiveSolver.remove_classes", fail)
    with pytest.raises(MemoryError):
        forget(engine, X[:1], y[:1])
    monkeypatch.undo()
    assert engine.memory.sums.total == 59
    learn(engine, X[:1] + 1, y[:1])
    kept, labels = witnesses_of(engine)
    assert (kept[labels == 9] == X[:1] + 1).all()
    assert np.count_nonzero(labels == 9) == 1


@pytest.mark.filterwarnings("ignore:a penalty of")  # there is none above 1e100
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-51, 1e-20, 1e50, 1e70])
@pytest.mark.parametrize("rule", ["what-if", "paper"])
def test_features_of_any_size_can_be_saved_and_loaded(scale: float, rule: Any) -> None:
    from newfound import IncrementalRidgeClassifierCV

    X, y = rows(90)
    model = IncrementalRidgeClassifierCV(rule=rule, min_class_count=10).fit(scale * X, y)
    again = reloaded(model)
    assert again.penalty_ == model.penalty_
    np.testing.assert_array_equal(again.predict(scale * X), model.predict(scale * X))


def test_a_result_is_kept_for_the_settings_it_was_found_for() -> None:
    X, y = rows(90)
    engine = taught(to_choose(), X, y)
    result = result_of(engine)
    assert result_of(engine.configure(to_choose())) is result
    assert result_of(engine.configure(to_choose(recodings=(0.0, 1.0)))) is not result
