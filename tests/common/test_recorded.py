"""What is recorded does what its function does, again and again; on a GPU, too."""

from typing import Any

import numpy as np
import pytest

from newfound.common.device import Device, on_host
from newfound.common.recorded import CALLS, Recorded
from tests.devices import EVERYWHERE, device


@pytest.mark.slow
@EVERYWHERE
def test_each_call_is_made_once_and_with_what_it_was_given(place: str) -> None:
    there = device(place)
    total = there.zeros(3)

    def add(array: Any) -> Any:
        nonlocal total
        total += array
        return 2.0 * total

    recorded, expected = Recorded(there), np.zeros(3)
    for n in range(3 * CALLS):
        expected += [n, 1.0, -n]
        answer = recorded(add, there.put(np.array([n, 1.0, -n])))
        np.testing.assert_array_equal(on_host(answer), 2 * expected)
        np.testing.assert_array_equal(on_host(total), expected)


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_where_nothing_can_be_recorded_the_function_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    def refuse(*_: Any) -> Any:
        raise RuntimeError("no graphs here")

    monkeypatch.setattr(torch.cuda, "device", refuse)
    calls: list[int] = []

    def call(array: Any) -> Any:
        calls.append(1)
        return array + 1.0

    gpu = Device("array_api_compat.torch", torch.device("cuda"))  # which need not be there
    recorded = Recorded(gpu)
    with pytest.warns(UserWarning, match="not recorded on this GPU.*no graphs here"):
        answers = [recorded(call, torch.tensor([float(n)])).tolist() for n in range(3 * CALLS)]
    assert answers == [[n + 1.0] for n in range(3 * CALLS)]
    assert len(calls) == 3 * CALLS
