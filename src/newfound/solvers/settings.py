"""The estimator's parameters, checked and made plain."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np

from newfound.common.errors import InputError
from newfound.sums.labels import as_labels

# Beyond these, products with the sums would leave the range of float64.
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-100, 1e100
# Pairs of a penalty and a recoding to choose from: each costs time at every choice.
MOST_CANDIDATES = 1000
# Examples of a class that are kept to vote.
WITNESSES = 40
_RANGE = f"; from {SMALLEST_NUMBER:.0e} to {LARGEST_NUMBER:.0e} will do"

ClassWeight = Literal["balanced"] | Mapping[Any, float]


class Settings(NamedTuple):
    """Parameters that have passed `checked_settings`."""

    penalty: float
    recoding: float
    class_weight: ClassWeight | None
    fit_intercept: bool

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold: a mapping of labels becomes a list of pairs."""
        values = self._asdict()
        if isinstance(self.class_weight, Mapping):
            values["class_weight"] = [
                [label, weight] for label, weight in self.class_weight.items()
            ]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Settings":
        """Return the settings that `to_json` gave `values` for."""
        return checked_settings(**_with_mapping(values))


def checked_settings(
    penalty: Any, recoding: Any, class_weight: Any, fit_intercept: Any
) -> Settings:
    """Return the parameters as plain Python values, or raise ValueError saying what is wrong.

    >>> checked_settings(0, 0.7, None, True)
    Traceback (most recent call last):
    newfound.InputError: penalty must be a finite number above 0, got 0; ...
    """
    if not _is_number(penalty) or not SMALLEST_NUMBER <= float(penalty) <= LARGEST_NUMBER:
        raise InputError(f"penalty must be a finite number above 0, got {penalty!r}{_RANGE}")
    if not _is_number(recoding) or not 0 <= recoding <= 1:
        raise InputError(f"recoding must be a number from 0 to 1, got {recoding!r}")
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InputError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    if class_weight is not None and isinstance(class_weight, Mapping):
        class_weight = {_plain(label): weight for label, weight in class_weight.items()}
        for label, weight in class_weight.items():
            as_labels([label], "class_weight")
            if not _is_number(weight) or not SMALLEST_NUMBER <= float(weight) <= LARGEST_NUMBER:
                raise InputError(
                    f"class_weight must be finite and above 0, got {weight!r} for {label!r}{_RANGE}"
                )
            class_weight[label] = float(weight)
    elif class_weight is not None and not (
        isinstance(class_weight, str) and class_weight == "balanced"
    ):
        raise InputError(
            f"class_weight must be None, 'balanced' or a mapping of weights, got {class_weight!r}"
        )
    return Settings(float(penalty), float(recoding), class_weight, bool(fit_intercept))


class SelectionSettings(NamedTuple):
    """Parameters of a choice in the stream that have passed `checked_selection_settings`."""

    penalties: tuple[float, ...] | Literal["auto"]  # rising
    recodings: tuple[float, ...]  # rising
    rule: Literal["what-if", "paper"] | None
    witnesses: int
    min_class_count: int
    tolerance: float
    class_weight: ClassWeight | None
    fit_intercept: bool
    random_state: int

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        shared = Settings(1.0, 0.0, self.class_weight, self.fit_intercept).to_json()
        return {**self._asdict(), "class_weight": shared["class_weight"]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "SelectionSettings":
        """Return the settings that `to_json` gave `values` for, now or in version 0.1."""
        values = _with_mapping(values)
        if "holdout_every" in values:
            gone = ("holdout_every", "holdout_cap", "validation")
            values = {name: value for name, value in values.items() if name not in gone}
            values["witnesses"] = WITNESSES
            if values["tolerance"] == "one-se":
                values["tolerance"] = 0.0
        return checked_selection_settings(**values)


def checked_selection_settings(
    penalties: Any,
    recodings: Any,
    rule: Any,
    witnesses: Any,
    min_class_count: Any,
    tolerance: Any,
    class_weight: Any,
    fit_intercept: Any,
    random_state: Any,
) -> SelectionSettings:
    """Return the parameters as plain Python values, or raise ValueError saying what is wrong."""
    automatic = isinstance(penalties, str) and penalties == "auto"
    rising = (
        ("auto",) if automatic else _rising(penalties, "penalties", SMALLEST_NUMBER, LARGEST_NUMBER)
    )
    levels = _rising(recodings, "recodings", 0.0, 1.0)
    if len(rising) * len(levels) > MOST_CANDIDATES:
        raise InputError(
            f"{len(rising)} penalties times {len(levels)} recodings are more candidates than the "
            f"{MOST_CANDIDATES} there may be: give fewer of them"
        )
    if rule is None and len(levels) > 1:
        raise InputError(
            "rule=None chooses the penalty alone: give recodings one number, such as "
            f"recodings=0.7, got {len(levels)} of them"
        )
    _one_of(rule, "rule", ("what-if", "paper", None))
    if rule == "paper" and levels[0] != 0:
        raise InputError("rule='paper' compares with no recoding at all: recodings must hold 0")
    if not (_is_number(tolerance) and 0 <= tolerance <= 1):
        raise InputError(f"tolerance must be a number from 0 to 1, got {tolerance!r}")
    shared = checked_settings(1.0, 0.0, class_weight, fit_intercept)
    return SelectionSettings(
        "auto" if automatic else rising,
        levels,
        rule,
        _whole(witnesses, "witnesses", 2),
        _whole(min_class_count, "min_class_count", 1),
        float(tolerance),
        shared.class_weight,
        shared.fit_intercept,
        _whole(random_state, "random_state", 0),
    )


class RegressionSettings(NamedTuple):
    """Parameters of a regressor that have passed `checked_regression_settings`."""

    penalties: tuple[float, ...] | None  # rising; None: around the usual one
    fit_intercept: bool
    witnesses: int


def checked_regression_settings(
    penalty: Any, fit_intercept: Any, witnesses: Any
) -> RegressionSettings:
    """Return the parameters as plain Python values, or raise ValueError saying what is wrong.

    >>> checked_regression_settings("much", True, 500)
    Traceback (most recent call last):
    newfound.InputError: penalty must be "auto", a number or several, got 'much'
    """
    penalties = None
    if isinstance(penalty, str):
        if penalty != "auto":
            raise InputError(f'penalty must be "auto", a number or several, got {penalty!r}')
    else:
        penalties = _rising(penalty, "penalty", SMALLEST_NUMBER, LARGEST_NUMBER)
    shared = checked_settings(1.0, 0.0, None, fit_intercept)
    return RegressionSettings(penalties, shared.fit_intercept, _whole(witnesses, "witnesses", 2))


def _with_mapping(values: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON gave back with the class weights as a mapping again, if they were one."""
    weight = values["class_weight"]
    pairs = dict(map(tuple, weight)) if isinstance(weight, list) else weight
    return {**values, "class_weight": pairs}


def _rising(values: Any, name: str, least: float, most: float) -> tuple[Any, ...]:
    if _is_number(values):
        values = [values]
    is_some = isinstance(values, Iterable) and not isinstance(values, str)
    numbers = list(values) if is_some and getattr(values, "ndim", 1) == 1 else []
    if not numbers or not all(map(_is_number, numbers)):
        raise InputError(f"{name} must be a number or several, got {values!r}")
    wrong = [number for number in numbers if not least <= float(number) <= most]
    if wrong:
        raise InputError(f"{name} must be from {least:g} to {most:g}, got {wrong[0]!r}")
    return tuple(sorted({float(number) for number in numbers}))


def _one_of(value: Any, name: str, allowed: tuple[Any, ...]) -> None:
    if not isinstance(value, str | None) or value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number from {least}, got {value!r}")
    return int(value)


def _is_number(value: Any) -> bool:
    return type(value) is float or (
        isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
