"""Settings for all tests."""

import signal
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, settings

from newfound.common import interrupts


def pytest_configure() -> None:
    """Let Hypothesis try as hard as the tier says, with the seed that is asked for."""
    from tests.effort import SEED, share_of  # which are known now, and were not before

    # No deadline: tests must not depend on how busy the machine is.
    settings.register_profile(
        "newfound",
        deadline=None,
        derandomize=SEED == "fixed",
        database=None,  # a run depends on its seed alone
        print_blob=True,
        max_examples=share_of(100),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("newfound")
    if SEED != "fixed":
        hypothesis.core.global_force_seed = int(SEED)  # type: ignore[assignment]


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's cache out of the tests, and the tests out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEWFOUND_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> Iterator[None]:
    """Take Ctrl-C as in a terminal, here and in children: in the background it comes ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_block_is_left_open() -> Iterator[None]:
    """See which test leaves signals waiting for ever; others would fail for it."""
    yield
    inside = interrupts._inside  # noqa: SLF001 - nobody else needs to know
    left, inside[0] = inside[0], None
    assert left is None, "a block that keeps signals waiting was never left"


@pytest.fixture(scope="module")
def array_api() -> Iterator[None]:
    """Let scikit-learn take arrays that are not numpy's for what they are."""
    from sklearn import config_context

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCIPY_ARRAY_API", "1")
        with config_context(array_api_dispatch=True):
            yield


@pytest.fixture(scope="session")
def local_cluster() -> Iterator[Any]:
    """A client of two processes of Dask, which end with the tests."""
    from newfound.recognition.cluster import connected

    with connected("local") as client:
        yield client
