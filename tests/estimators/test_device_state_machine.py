"""Any sequence of lessons on a device: the closed form of a plain list of rows at every step."""

from typing import Any

import numpy as np
import pytest

from tests.devices import NEEDS, OnStrictElsewhere, OnStrictElsewhereCV, OnTorch, OnTorchCV
from tests.estimators import test_state_machine as host

pytestmark = [pytest.mark.usefixtures("array_api"), pytest.mark.slow]

GRIDS: Any = {"penalties": [0.5, 5.0], "recodings": [0.0, 0.5, 1.0], "min_class_count": 6}


class There(host.Lessons):
    start = OnStrictElsewhere(penalty=0.5)

    def it_is_there(self) -> None:
        assert not self.taught or self.model.lives_there

    def expected(self) -> Any:
        self.it_is_there()
        return super().expected()


class PerClass(There):
    start = OnStrictElsewhere(class_weight={}, recoding=1.0)


class Choosing(There):
    start = OnStrictElsewhereCV(**GRIDS, witnesses=4)


class OnTensors(There):
    start = OnTorch(penalty=0.5)


class InSinglePrecision(OnTensors):
    dtype = np.float32


class Balanced(OnTensors):
    start = OnTorch(class_weight="balanced")


class ChoosingOnTensors(OnTensors):
    start = OnTorchCV(**GRIDS, witnesses=4)


for machine in (
    There,
    PerClass,
    Choosing,
    OnTensors,
    InSinglePrecision,
    Balanced,
    ChoosingOnTensors,
):
    machine.TestCase.settings = host.BOUNDED
    if issubclass(machine, OnTensors):
        machine.TestCase.pytestmark = NEEDS["torch"]  # type: ignore[attr-defined]
    globals()[f"Test{machine.__name__}"] = machine.TestCase
