"""What there is to choose from, and what votes are cast on, in tests of choosing."""

from typing import Any

import numpy as np

from newfound.common.pieces import at_once
from newfound.engine.engine import Engine
from newfound.selection.panel import Panel
from newfound.selection.snapshot import Snapshot, snapshot_in_stages
from newfound.selection.what_if import Basis
from newfound.selection.witnesses import Witnesses
from newfound.solvers.settings import SelectionSettings, checked_selection_settings


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
    return checked_selection_settings(**(given | changes))


def snapshot_of(engine: Engine, witnesses: Witnesses | None = None) -> Snapshot:
    """Return what its witnesses, or others, have to vote on."""
    assert engine.selector is not None
    assert isinstance(engine.settings, SelectionSettings)
    voting, cap = witnesses or engine.selector.witnesses, engine.settings.witnesses
    return at_once(snapshot_in_stages(engine.solver, voting, cap))


def basis_of(panel: Panel, penalty: float) -> Basis:
    """Return what all scores of a penalty are made of."""
    room = np.empty_like(panel.snapshot.matrix)
    factor = at_once(panel.snapshot.factor_in_stages(penalty, room))
    return at_once(panel.basis_in_stages(factor))
