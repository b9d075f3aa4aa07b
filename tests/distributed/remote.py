"""What tests have done in other processes: blocks of rows, made by seed where they are needed."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

WIDTH, ROWS = 40, 50
LABELS = np.array(["cup", "mug", "jug", "a longer name"])


@contextmanager
def workers() -> Iterator[Any]:
    """Start two workers in processes of their own, on this machine alone."""
    from distributed import Client, LocalCluster

    with (
        # Workers ask a dead one for its sums until this has passed.
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Staying(np.ndarray):
    """Rows that cannot be sent anywhere."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise AssertionError("rows were about to leave the process that made them")


def block(number: int) -> tuple[Any, Any]:
    """Return the rows and labels of a partition."""
    rng = np.random.default_rng(number)
    y = rng.integers(0, 4, ROWS)
    return rng.normal(size=(ROWS, WIDTH)) + 3 * np.eye(4, WIDTH)[y], LABELS[y]


def rows_of(block_id: Any, client: int | None = None, folder: Any = None) -> Any:
    """Return rows that stay where they are: not in the process `client`.

    With a folder, note there who makes them, and wait to be killed where that is asked for.
    """
    assert os.getpid() != client, "rows were made in the client"
    number = block_id[0]
    if folder is not None:
        note = Path(folder, f"made-{number}-{os.getpid()}-{time.monotonic_ns()}")
        note.touch()
        asked = Path(folder, f"wait-{number}")
        if asked.exists():
            Path(folder, f"ready-{number}-{os.getpid()}").touch()
        while asked.exists():  # the test kills this process, and then takes the note away
            time.sleep(0.01)
        if Path(folder, f"die-{number}").exists():
            os.kill(os.getpid(), signal.SIGKILL)
    return block(number)[0].view(Staying)


def labels_of(block_id: Any) -> Any:
    return block(block_id[0])[1]


def collections(partitions: int, **options: Any) -> tuple[Any, Any]:
    """Return lazy rows and labels."""
    lengths = (ROWS,) * partitions
    X = da.map_blocks(
        rows_of, chunks=(lengths, (WIDTH,)), dtype=float, meta=np.empty((0, 0)), **options
    )
    y = da.map_blocks(
        labels_of, chunks=(lengths,), dtype=LABELS.dtype, meta=np.empty(0, dtype=LABELS.dtype)
    )
    return X, y


def in_memory(partitions: int) -> tuple[Any, Any]:
    """Return the same rows and labels, all of them."""
    X, y = zip(*(block(number) for number in range(partitions)), strict=True)
    return np.concatenate(X), np.concatenate(y)
