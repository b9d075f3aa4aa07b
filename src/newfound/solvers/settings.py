"""The estimator's parameters, checked and made plain."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from newfound.common.errors import InputError
from newfound.common.scatter import BITS
from newfound.layers.layer import MOST_UNITS, UNITS, Layer
from newfound.memory.memory import Quota
from newfound.sums.labels import as_labels

# Beyond these, products with the sums would leave the range of float64.
SMALLEST_NUMBER, LARGEST_NUMBER = 1e-100, 1e100
# What stands in a file for a layer that was given.
GIVEN = "given"
# Pairs of a penalty and a recoding to choose from: each costs time at every choice.
MOST_CANDIDATES = 1000
# Exemplars of a class that are kept, by default and at most: each is scored under every candidate.
WITNESSES, MOST_WITNESSES = 40, 10_000
# Those of all classes together that choose behind a layer, and tell whether it pays: a few of each
# would be too few where classes are few and features many.
VOTERS = 1000
_TOO_MANY = f"more candidates than the {MOST_CANDIDATES} there may be: give fewer of them"
_RANGE = f"; from {SMALLEST_NUMBER:.0e} to {LARGEST_NUMBER:.0e} will do"

ClassWeight = Literal["balanced"] | Mapping[Any, float]
Penalties = tuple[float, ...] | Literal["auto"]  # rising; "auto": around the expected one
# Of units to come, or given; "auto": of some units, used where it pays.
LayerSetting = Layer | int | Literal["auto"] | None


class Settings(NamedTuple):
    """Fixed parameters of a classifier."""

    penalty: float
    recoding: float
    class_weight: ClassWeight | None
    fit_intercept: bool
    layer: LayerSetting = None

    @property
    def quota(self) -> Quota:
        """How many witnesses are kept: none, for nothing is chosen."""
        return Quota()

    @property
    def seed(self) -> int:
        """What they would be drawn by."""
        return 0


class SelectionSettings(NamedTuple):
    """Parameters of a classifier that chooses others in the stream."""

    penalties: Penalties
    recodings: tuple[float, ...]  # rising
    rule: Literal["what-if", "paper"] | None
    witnesses: int
    min_class_count: int
    tolerance: float
    class_weight: ClassWeight | None
    fit_intercept: bool
    random_state: int
    layer: LayerSetting = None

    @property
    def quota(self) -> Quota:
        """How many witnesses are kept."""
        return Quota(self.witnesses, 0 if self.layer is None else VOTERS)

    @property
    def seed(self) -> int:
        """What they are drawn by, below 2^64."""
        return self.random_state & BITS


class RegressionSettings(NamedTuple):
    """Parameters of a regressor."""

    penalty: Penalties
    fit_intercept: bool
    witnesses: int
    random_state: int
    layer: LayerSetting = None

    @property
    def class_weight(self) -> None:
        """None: its examples all weigh the same, but for their own weights."""

    @property
    def quota(self) -> Quota:
        """How many copies of rows are kept: none, if there is nothing to choose."""
        return Quota(0 if len(self.penalty) == 1 else self.witnesses)

    @property
    def seed(self) -> int:
        """What they are drawn by, below 2^64."""
        return self.random_state & BITS


# Parameters of a model, of whatever kind.
AnySettings = Settings | SelectionSettings | RegressionSettings
Kind = TypeVar("Kind", Settings, SelectionSettings, RegressionSettings)


def checked(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """Return parameters by name as plain Python values, or raise ValueError saying what is wrong.

    >>> values = {"penalty": 0, "recoding": 0.7, "class_weight": None, "fit_intercept": True}
    >>> checked(Settings, values)
    Traceback (most recent call last):
    newfound.InputError: penalty must be a finite number above 0, got 0; ...
    """
    checks = _REGRESSION_CHECKS if kind is RegressionSettings else _CHECKS
    settings = kind(**{name: checks[name](value, name) for name, value in values.items()})
    if settings.layer == "auto" and not isinstance(settings, SelectionSettings):
        raise InputError(
            'layer="auto" is for estimators that choose: give a number of units, a Layer or None'
        )
    if isinstance(settings, SelectionSettings):
        _check_candidates(settings.penalties, len(settings.recodings))
        _check_rule(settings.rule, settings.recodings)
    return settings


def to_json(settings: AnySettings) -> dict[str, Any]:
    """Return what JSON can hold: a mapping of labels becomes a list of pairs."""
    values = settings._asdict()
    if isinstance(settings.class_weight, Mapping):
        values["class_weight"] = list(map(list, settings.class_weight.items()))
    if isinstance(settings.layer, Layer):  # which the arrays tell
        values["layer"] = GIVEN
    return values


def from_json(kind: type[Kind], values: Mapping[str, Any], layer: Layer | None = None) -> Kind:
    """Return the settings that `to_json` gave `values` for, or raise ValueError.

    `layer` is that of the model, which may have been given.
    """
    weight, more = values.get("class_weight"), dict[str, Any]()
    if isinstance(weight, list):
        more["class_weight"] = dict(map(tuple, weight))
    if values.get("layer") == GIVEN:
        more["layer"] = layer
    return checked(kind, {**values, **more})


def layer_of(settings: AnySettings) -> tuple[Layer | None, int]:
    """Return the layer that settings give, or how many units one that is to come has.

    >>> layer_of(Settings(1.0, 0.7, None, True, layer=500))
    (None, 500)
    """
    layer = settings.layer
    if isinstance(layer, Layer):
        return layer, layer.units
    return None, (UNITS if layer == "auto" else layer or 0)


def _check_candidates(penalties: Penalties, recodings: int) -> None:
    number = 1 if penalties == "auto" else len(penalties)
    if number * recodings > MOST_CANDIDATES:
        raise InputError(f"{number} penalties times {recodings} recodings are {_TOO_MANY}")


def _check_rule(rule: str | None, recodings: tuple[float, ...]) -> None:
    if rule is None and len(recodings) > 1:
        raise InputError(
            "rule=None chooses the penalty alone: give recodings one number, such as "
            f"recodings=0.7, got {len(recodings)} of them"
        )
    if rule == "paper" and recodings[0] != 0:
        raise InputError("rule='paper' compares with no recoding at all: recodings must hold 0")


def _penalty(value: Any, name: str) -> float:
    if not _is_number(value) or not SMALLEST_NUMBER <= float(value) <= LARGEST_NUMBER:
        raise InputError(f"{name} must be a finite number above 0, got {value!r}{_RANGE}")
    return float(value)


def _penalties(value: Any, name: str) -> Penalties:
    if isinstance(value, str) and value == "auto":
        return "auto"
    return _rising(value, name, SMALLEST_NUMBER, LARGEST_NUMBER)


def _some_penalties(value: Any, name: str) -> Penalties:
    if isinstance(value, str) and value != "auto":
        raise InputError(f'{name} must be "auto", a number or several, got {value!r}')
    return _penalties(value, name)


def _share(value: Any, name: str) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def _layer(value: Any, name: str) -> LayerSetting:
    if value is None or isinstance(value, Layer):
        return value
    if isinstance(value, str) and value == "auto":
        return "auto"
    if isinstance(value, str) or not _is_number(value):
        raise InputError(
            f'{name} must be "auto", None, a Layer or a number of units, got {value!r}'
        )
    return _whole(value, name, least=1, most=MOST_UNITS)


def _flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _class_weight(value: Any, name: str) -> ClassWeight | None:
    if isinstance(value, Mapping):
        return {_plain(label): _weight(label, weight) for label, weight in value.items()}
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value  # type: ignore[return-value]
    raise InputError(f"{name} must be None, 'balanced' or a mapping of weights, got {value!r}")


def _weight(label: Any, weight: Any) -> float:
    as_labels([_plain(label)], "class_weight")
    if not _is_number(weight) or not SMALLEST_NUMBER <= float(weight) <= LARGEST_NUMBER:
        raise InputError(
            f"class_weight must be finite and above 0, got {weight!r} for {_plain(label)!r}{_RANGE}"
        )
    return float(weight)


def _rising(values: Any, name: str, least: float, most: float) -> tuple[float, ...]:
    if _is_number(values):
        values = [values]
    is_some = isinstance(values, Iterable) and not isinstance(values, str)
    is_some = is_some and getattr(values, "ndim", 1) == 1
    # No more are looked at than it takes to see that they are too many.
    numbers = list(islice(values, MOST_CANDIDATES + 1)) if is_some else []
    if not numbers or not all(map(_is_number, numbers)):
        raise InputError(f"{name} must be a number or several, got {values!r}")
    if len(numbers) > MOST_CANDIDATES:
        raise InputError(f"{name} has {_TOO_MANY}")
    wrong = [number for number in numbers if not least <= float(number) <= most]
    if wrong:
        raise InputError(f"{name} must be from {least:g} to {most:g}, got {wrong[0]!r}")
    return tuple(sorted({float(number) for number in numbers}))


def _rule(value: Any, name: str) -> Any:
    rules = ("what-if", "paper", None)
    if not isinstance(value, str | None) or value not in rules:
        raise InputError(f"{name} must be one of {', '.join(map(repr, rules))}, got {value!r}")
    return value


def _whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not is_whole or value < least or (most is not None and value > most):
        upto = "" if most is None else f" to {most}"
        raise InputError(f"{name} must be a whole number from {least}{upto}, got {value!r}")
    return int(value)


def _is_number(value: Any) -> bool:
    return type(value) is float or (
        isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


# What checks each parameter, given its value and its name, and returns it as a plain value.
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "penalty": _penalty,
    "penalties": _penalties,
    "recoding": _share,
    "recodings": partial(_rising, least=0.0, most=1.0),
    "rule": _rule,
    "witnesses": partial(_whole, least=2, most=MOST_WITNESSES),
    "min_class_count": partial(_whole, least=1),
    "tolerance": _share,
    "class_weight": _class_weight,
    "fit_intercept": _flag,
    "random_state": partial(_whole, least=0),
    "layer": _layer,
}
_REGRESSION_CHECKS = {**_CHECKS, "penalty": _some_penalties}
