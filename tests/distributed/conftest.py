"""Schedulers to learn on."""

from collections.abc import Iterator
from typing import Any

import dask
import pytest


@pytest.fixture(autouse=True)
def _in_turn() -> Iterator[None]:
    """Run tasks one after the other, unless a test says otherwise."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two workers in processes of their own, on this machine alone; they end with the module."""
    from distributed import Client, LocalCluster

    with (
        # Workers ask a dead one for its sums until this has passed.
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
