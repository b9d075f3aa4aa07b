"""Workers that are killed in the middle: no row is lost, and none is counted twice."""

import copy
import os
import signal
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.background import PATIENCE, in_the_background
from tests.covering import first_of
from tests.distributed import remote
from tests.distributed.sameness import assert_identical, assert_same

pytestmark = pytest.mark.slow
PARTITIONS = 24


@pytest.fixture(autouse=True)
def _on_a_new_cluster() -> Iterator[None]:
    """Whoever starts workers anew gives up after a few times: each test has its own."""
    with dask.config.set(scheduler="distributed"), remote.workers():
        yield


def kill_each(folder: Path, victims: tuple[int, ...]) -> None:
    """Kill every worker that begins with one of these partitions, in whichever order they do."""
    end, left = time.monotonic() + PATIENCE, set(victims)
    while left:
        assert time.monotonic() < end, f"partitions {left} were never begun"
        for note in folder.glob("ready-*"):
            number, process = map(int, note.name.split("-")[1:])
            if number in left:
                os.kill(process, signal.SIGKILL)
                (folder / f"wait-{number}").unlink()
                left.remove(number)
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("kind", "call"),
    first_of(
        product((IncrementalRidgeClassifierCV, IncrementalRidgeClassifier), ("partial_fit", "fit"))
    ),
)
def test_workers_die_and_every_row_is_counted_once(kind: Any, call: str, tmp_path: Path) -> None:
    whole = remote.in_memory(PARTITIONS)
    victims = (1, 11, 20)
    model, expected = kind(), kind()
    if call == "partial_fit":
        for each in (model, expected):
            each.fit(*remote.in_memory(2))
    for number in victims:
        (tmp_path / f"wait-{number}").touch()

    with in_the_background(lambda: kill_each(tmp_path, victims)):
        getattr(model, call)(*remote.collections(PARTITIONS, client=os.getpid(), folder=tmp_path))
    made = [path.name.split("-")[1] for path in tmp_path.glob("made-*")]
    assert set(map(int, made)) == set(range(PARTITIONS))
    assert len(made) > PARTITIONS, "what was lost was made again"
    getattr(expected, call)(*whole)
    assert_same(model, expected)
    undisturbed = kind().fit(*remote.in_memory(2)) if call == "partial_fit" else kind()
    getattr(undisturbed, call)(*remote.collections(PARTITIONS))
    assert model.class_count_.tolist() == undisturbed.class_count_.tolist()
    for one, other in zip(model.witnesses_, undisturbed.witnesses_, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.exhaustive
def test_a_partition_that_kills_every_worker_fails_the_fit_and_leaves_the_model(
    tmp_path: Path,
) -> None:
    from distributed import KilledWorker

    model = IncrementalRidgeClassifier().fit(*remote.in_memory(2))
    before = copy.deepcopy(model)
    (tmp_path / "die-3").touch()
    with pytest.raises(KilledWorker, match=r"newfound-sums-\w+', 3, 0\)"):
        model.partial_fit(*remote.collections(6, client=os.getpid(), folder=tmp_path))
    assert_identical(model, before)
