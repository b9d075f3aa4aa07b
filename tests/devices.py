"""Models that learn and answer on a device, for tests that speak numpy.

What is numpy's goes to the device before a model sees it, and what the model answers comes back. So
whatever holds on the host can be asked of a device in the same words. Everything is at module
level, for models are pickled.
"""

import os
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.common.device import Device, device_of, on_host
from newfound.common.errors import InputError
from newfound.estimators.torch_device import torch_device

# What torch calls the device that tests run on: `make test-gpu` names another.
TORCH_DEVICE = os.environ.get("NEWFOUND_TEST_DEVICE", "cpu")
# Devices by what tests call them. A second device of array_api_strict is not the host's memory: it
# refuses whatever would read it as if it were.
PLACES = ("strict elsewhere", "torch")
NEEDS = {"torch": [pytest.mark.needs("torch")]}
EVERYWHERE = pytest.mark.parametrize(
    "place", [pytest.param(place, marks=NEEDS.get(place, [])) for place in PLACES]
)


@cache
def device(place: str) -> Device:
    """Return one of the devices; a test fails, and is not skipped, where its GPU is not there."""
    if place == "torch":
        import torch

        torch.set_num_threads(1)  # on a busy machine they wait for each other
        try:
            return torch_device(TORCH_DEVICE)
        except InputError as error:
            pytest.fail(f"NEWFOUND_TEST_DEVICE={TORCH_DEVICE}: {error}")
    import array_api_strict

    named = {"strict": "CPU_DEVICE", "strict elsewhere": "device1"}
    return Device("array_api_strict", array_api_strict.Device(named[place]))


def placed(X: Any, place: str) -> Any:
    """Return numbers of numpy's on a device, in their own type; what is not that, as it is."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub":
        return device(place).put(X, double=False)
    return X


class _There:
    """Puts what it is given on a device, and brings back what it answers.

    It stands before an estimator, so what it calls its own is that one's: mypy cannot know.
    """

    place: ClassVar[str]

    def _asked(self, question: str, X: Any) -> Any:
        rows = placed(X, self.place)
        answer = getattr(super(), question)(rows)
        if rows is X:  # asked from within, or nonsense
            return answer
        words = isinstance(answer, np.ndarray) and answer.dtype.kind == "U"
        assert words or device_of(answer) == device(self.place), f"{question} answers elsewhere"
        return on_host(answer)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(placed(X, self.place), y, sample_weight)  # type: ignore[misc]

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        rows = placed(X, self.place)
        return super().partial_fit(rows, y, classes, sample_weight)  # type: ignore[misc]

    def store(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().store(placed(X, self.place), y, sample_weight)  # type: ignore[misc]

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().forget(placed(X, self.place), y, sample_weight)  # type: ignore[misc]

    def scores(self, X: Any) -> Any:
        return self._asked("scores", X)

    def predict(self, X: Any) -> Any:
        return self._asked("predict", X)

    def decision_function(self, X: Any) -> Any:
        return self._asked("decision_function", X)

    def predict_proba(self, X: Any) -> Any:
        return self._asked("predict_proba", X)

    def novelty(self, X: Any) -> Any:
        return self._asked("novelty", X)

    def unknown_proba(self, X: Any) -> Any:
        return self._asked("unknown_proba", X)

    @classmethod
    def from_state(cls, state: Any) -> Any:
        return super().from_state(state).move_to(device(cls.place))  # type: ignore[misc]

    @property
    def lives_there(self) -> bool:
        """Whether its sums are on the device, as they should be."""
        engine = self.learner_.engine  # type: ignore[attr-defined]
        return bool(engine.memory.device == device(self.place))

    @property
    def coef_(self) -> Any:
        return on_host(super().coef_)  # type: ignore[misc]

    @property
    def intercept_(self) -> Any:
        return on_host(super().intercept_)  # type: ignore[misc]


class OnTorch(_There, IncrementalRidgeClassifier):
    place = "torch"


class OnStrictElsewhere(_There, IncrementalRidgeClassifier):
    place = "strict elsewhere"


class OnTorchCV(_There, IncrementalRidgeClassifierCV):
    place = "torch"


class OnStrictElsewhereCV(_There, IncrementalRidgeClassifierCV):
    place = "strict elsewhere"


PLAIN: dict[str, Any] = {
    "torch": OnTorch,
    "strict elsewhere": OnStrictElsewhere,
}
CHOOSING: dict[str, Any] = {
    "torch": OnTorchCV,
    "strict elsewhere": OnStrictElsewhereCV,
}
