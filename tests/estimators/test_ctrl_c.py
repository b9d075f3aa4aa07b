"""Ctrl-C leaves the sums as they were, or as they should be."""

import copy
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier

RNG = np.random.default_rng(0)


def state(model: IncrementalRidgeClassifier, folder: Path) -> bytes:
    model.save(folder / "state")
    return (folder / "state").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_ctrl_c_leaves_the_sums_as_they_were_or_as_they_should_be(
    class_weight: Any, tmp_path: Path
) -> None:
    rows, labels = RNG.normal(size=(12_000, 100)), RNG.choice(list("ab"), 12_000)
    before = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows[:500], labels[:500])
    after = copy.deepcopy(before).partial_fit(rows, labels)
    whole = [state(copy.deepcopy(model), tmp_path) for model in (before, after)]
    interrupted = 0
    for delay in np.linspace(0.001, 0.06, 30):
        model = copy.deepcopy(before)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            model.partial_fit(rows, labels)
            timer.join()
            time.sleep(0.001)
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
        assert state(model, tmp_path) in whole
    assert interrupted
