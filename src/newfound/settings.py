"""The estimator's parameters, checked and made plain."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from newfound.labels import as_labels

# Beyond these, products with the sums would leave the range of float64.
_SMALLEST, _LARGEST = 1e-100, 1e100
_RANGE = f"; from {_SMALLEST:.0e} to {_LARGEST:.0e} will do"

ClassWeight = Literal["balanced"] | Mapping[Any, float]


class Settings(NamedTuple):
    """Parameters that have passed `checked_settings`."""

    penalty: float
    recoding: float
    class_weight: ClassWeight | None
    fit_intercept: bool

    @property
    def that_matter_to_solvers(self) -> tuple[Any, ...]:
        """All but the recoding, which is applied to whatever a solver finds."""
        return self.penalty, self.class_weight, self.fit_intercept

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
        weight = values["class_weight"]
        pairs = dict(map(tuple, weight)) if isinstance(weight, list) else weight
        return checked_settings(**{**values, "class_weight": pairs})


def checked_settings(
    penalty: Any, recoding: Any, class_weight: Any, fit_intercept: Any
) -> Settings:
    """Return the parameters as plain Python values, or raise ValueError saying what is wrong.

    >>> checked_settings(0, 0.7, None, True)
    Traceback (most recent call last):
    ValueError: penalty must be a finite number above 0, got 0; from 1e-100 to 1e+100 will do
    """
    if not _is_number(penalty) or not _SMALLEST <= penalty <= _LARGEST:
        raise ValueError(f"penalty must be a finite number above 0, got {penalty!r}{_RANGE}")
    if not _is_number(recoding) or not 0 <= recoding <= 1:
        raise ValueError(f"recoding must be a number from 0 to 1, got {recoding!r}")
    if not isinstance(fit_intercept, bool | np.bool_):
        raise ValueError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    if class_weight is not None and isinstance(class_weight, Mapping):
        class_weight = {_plain(label): weight for label, weight in class_weight.items()}
        for label, weight in class_weight.items():
            as_labels([label], "class_weight")
            if not _is_number(weight) or not _SMALLEST <= weight <= _LARGEST:
                raise ValueError(
                    f"class_weight must be finite and above 0, got {weight!r} for {label!r}{_RANGE}"
                )
            class_weight[label] = float(weight)
    elif class_weight is not None and not (
        isinstance(class_weight, str) and class_weight == "balanced"
    ):
        raise ValueError(
            f"class_weight must be None, 'balanced' or a mapping of weights, got {class_weight!r}"
        )
    return Settings(float(penalty), float(recoding), class_weight, bool(fit_intercept))


def _is_number(value: Any) -> bool:
    return type(value) is float or (
        isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    )


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
