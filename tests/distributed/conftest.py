"""Schedulers to learn on."""

from collections.abc import Iterator
from typing import Any

import dask
import pytest

from tests.distributed.remote import workers


@pytest.fixture(autouse=True)
def _in_turn() -> Iterator[None]:
    """Run tasks one after the other, unless a test says otherwise."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """Two workers, which end with the tests."""
    with workers() as client:
        yield client
