"""What parameters may be, in the form that scikit-learn's tools read.

What is raised is worded by `newfound.solvers.settings`, which says what to do; tests hold the two
together.
"""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from newfound.solvers.settings import LARGEST_NUMBER, SMALLEST_NUMBER

_PENALTY = Interval(Real, SMALLEST_NUMBER, LARGEST_NUMBER, closed="both")
_SHARE = Interval(Real, 0, 1, closed="both")
_SHARED: dict[str, list[Any]] = {
    "class_weight": [StrOptions({"balanced"}), Mapping, None],
    "fit_intercept": ["boolean"],
}
_RANDOM_STATE: list[Any] = [
    Interval(Integral, 0, None, closed="left"),
    np.random.RandomState,
    np.random.Generator,
    None,
]
_WITNESSES: list[Any] = [Interval(Integral, 2, None, closed="left")]
CONSTRAINTS: dict[str, list[Any]] = {"penalty": [_PENALTY], "recoding": [_SHARE], **_SHARED}
SELECTION_CONSTRAINTS: dict[str, list[Any]] = {
    "penalties": [StrOptions({"auto"}), _PENALTY, "array-like"],
    "recodings": [_SHARE, "array-like"],
    "rule": [StrOptions({"what-if", "paper"}), None],
    "witnesses": _WITNESSES,
    "min_class_count": [Interval(Integral, 1, None, closed="left")],
    "tolerance": [_SHARE],
    **_SHARED,
    "random_state": _RANDOM_STATE,
}
REGRESSION_CONSTRAINTS: dict[str, list[Any]] = {
    "penalty": [StrOptions({"auto"}), _PENALTY, "array-like"],
    "fit_intercept": ["boolean"],
    "witnesses": _WITNESSES,
    "random_state": _RANDOM_STATE,
}
