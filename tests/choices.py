"""What there is to choose from, in tests of choosing."""

from typing import Any

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
