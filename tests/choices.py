"""What there is to choose from, and what it is scored on, in tests of choosing."""

from typing import Any

import numpy as np

from newfound.common.pieces import at_once
from newfound.engine.engine import Engine
from newfound.memory.witnesses import Witnesses
from newfound.selection.result import SelectionResult
from newfound.selection.selector import Selector
from newfound.selection.snapshot import Snapshot, snapshot_in_stages
from newfound.selection.validation import ValidationSet
from newfound.selection.what_if import Basis
from newfound.solvers.settings import SelectionSettings, checked


def to_choose(**changes: Any) -> SelectionSettings:
    """Return settings that suit a few dozen rows, but for these changes."""
    given: dict[str, Any] = {
        "penalties": "auto",
        "recodings": (0.0, 0.5, 1.0),
        "rule": "what-if",
        "witnesses": 10,
        "min_class_count": 8,
        "tolerance": 0.0,
        "class_weight": None,
        "fit_intercept": True,
        "random_state": 0,
    }
    return checked(SelectionSettings, given | changes)


def snapshot_of(engine: Engine, witnesses: Witnesses | None = None) -> Snapshot:
    """Return what its witnesses, or others, are scored by."""
    memory = engine.memory
    return at_once(snapshot_in_stages(engine.solver, witnesses or memory.witnesses, memory.cap))


def learn(engine: Engine, X: Any, y: Any, weights: Any = None, *, defer: bool = False) -> Engine:
    """Have an engine learn rows."""
    if len(X):
        engine.learn(engine.memory.batch(np.asarray(X), np.asarray(y), weights), defer)
    return engine


def fit(engine: Engine, X: Any, y: Any, weights: Any = None) -> Engine:
    """Have an engine learn the first rows, all there are."""
    learn(engine, X, y, weights, defer=True).reconsider()
    return engine


def forget(engine: Engine, X: Any, y: Any, weights: Any = None) -> float:
    """Have an engine forget rows."""
    return engine.forget(engine.memory.batch(np.asarray(X), np.asarray(y), weights))


def selector_of(engine: Engine) -> Selector:
    """Return what chooses its parameters."""
    assert isinstance(engine.choice, Selector)
    return engine.choice


def result_of(engine: Engine) -> SelectionResult:
    """Return what its choice rests on."""
    return selector_of(engine).result(engine.memory)


def recoding_of(engine: Engine) -> Any:
    """Return the recoding of each class."""
    return engine.choice.parameters(engine.memory).recoding


def witnesses_of(engine: Engine) -> tuple[Any, Any]:
    """Return its witnesses, and their labels."""
    memory = engine.memory
    rows, index = memory.witnesses.stack(memory.sums.labels, memory.sums.width)
    return rows, memory.sums.labels[index]


def basis_of(validation: ValidationSet, penalty: float) -> Basis:
    """Return what all scores of a penalty are made of."""
    workspace = np.empty_like(validation.snapshot.matrix)
    factor = at_once(validation.snapshot.factor_in_stages(penalty, workspace))
    return at_once(validation.basis_in_stages(factor))
