"""How good the choice is, on real data, row by row: the protocols of docs/selection.md."""

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="session")
def choosing() -> Any:
    """The protocols; imported here, for collection shall load neither them nor their data."""
    from benchmarks import choosing

    return choosing


@pytest.fixture(scope="session")
def frames() -> Any:
    from benchmarks import streams

    return streams.washington()


@pytest.fixture(scope="session")
def pixels() -> Any:
    from benchmarks import streams

    return streams.pixels()


def assert_good(found: Any) -> None:
    """Hardly below what hindsight finds, and not below a fixed setting."""
    chosen, fixed, hindsight = np.array(found).reshape(-1, 3).mean(axis=0)
    assert chosen > hindsight - 1.0
    assert chosen > fixed - 0.5


@pytest.mark.needs("mnist")
@pytest.mark.usefixtures("pixels")
def test_a_rare_digit_beside_nine_known_ones(choosing: Any) -> None:
    assert_good([choosing.judge(choosing.rare_digit(trial)) for trial in range(2)])


@pytest.mark.needs("washington")
def test_a_long_tail_of_categories(choosing: Any, frames: Any) -> None:
    """Means of several trials: in one of them, who happens to be a witness moves half a point."""
    for data in (frames, choosing.root(frames)):
        found = [choosing.judge(choosing.long_tail(data, trial))[0] for trial in range(3)]
        assert_good(found)
        assert np.mean([each.chosen - each.fixed for each in found]) > 3


@pytest.mark.needs("washington")
def test_categories_one_after_another(choosing: Any, frames: Any) -> None:
    assert_good(choosing.judge(choosing.one_after_another(choosing.root(frames), 0)))


def test_it_is_as_good_as_the_better_of_plain_and_scikit_learn(choosing: Any) -> None:
    for measured in choosing.beside_scikit_learn():
        assert measured.verdict == "yes", measured
