"""Any sequence of lessons on a device: the closed form of a plain list of rows at every step."""

from typing import Any

import numpy as np
import pytest

from tests.devices import OnStrictElsewhere, OnTorch, OnTorchCV
from tests.estimators import test_state_machine as host

pytestmark = [pytest.mark.usefixtures("array_api"), pytest.mark.slow]


class There(host.Lessons):
    start = OnTorch(penalty=0.5)

    def it_is_there(self) -> None:
        assert not self.taught or self.model.lives_there

    def expected(self) -> Any:
        self.it_is_there()
        return super().expected()


class InSinglePrecision(There):
    dtype = np.float32


class Balanced(There):
    start = OnTorch(class_weight="balanced")


class PerClass(There):
    start = OnStrictElsewhere(class_weight={}, recoding=1.0)


class Choosing(There):
    start = OnTorchCV([0.5, 5.0], [0.0, 0.5, 1.0], witnesses=4, min_class_count=6)


for machine in (There, InSinglePrecision, Balanced, PerClass, Choosing):
    machine.TestCase.settings = host.BOUNDED
    globals()[f"Test{machine.__name__}"] = machine.TestCase
