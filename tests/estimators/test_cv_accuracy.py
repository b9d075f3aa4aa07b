"""How good the choice is, on real data: the protocols of docs/selection.md."""

from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.needs_data]


@pytest.fixture(scope="session")
def choosing() -> Any:
    """The protocols; imported here, for collection shall load neither them nor their data."""
    from benchmarks import choosing

    return choosing


@pytest.fixture(scope="session")
def digits() -> Any:
    from benchmarks import streams

    return streams.pixels() or pytest.skip("needs MNIST: set NEWFOUND_DATA")


@pytest.fixture(scope="session")
def frames() -> Any:
    from benchmarks import streams

    return streams.washington() or pytest.skip("needs Washington RGB-D: set NEWFOUND_DATA")


def test_a_rare_digit_beside_nine_known_ones(choosing: Any, digits: Any) -> None:
    trials = [choosing.rare_digit(digits, trial) for trial in range(10)]
    columns = choosing.columns(trials)
    targets = zip(columns, choosing.TARGETS["total"], choosing.TARGETS["rare"], strict=True)
    for column, total, rare in targets:
        values, of_rare = column.total["what-if"], column.rare["what-if"]
        assert values.mean() > total - choosing.se(values)
        assert of_rare.mean() > rare - choosing.se(of_rare)
    gaps = [column.tuned.max() - column.total["what-if"].mean() for column in columns]
    assert np.mean(gaps) < 0.4


def test_tomato_beside_fifty_known_categories(choosing: Any, frames: Any) -> None:
    trials = [choosing.rare_tomato(frames, trial) for trial in range(3)]
    for column in choosing.columns(trials):
        assert column.total["what-if"].mean() > column.tuned.max() - 0.5


def test_a_long_tail_of_categories(choosing: Any, frames: Any) -> None:
    trials = [choosing.long_tail(frames, trial) for trial in range(5)]
    means = {rule: np.mean([found.total[rule] for found in trials]) for rule in trials[0].total}
    best = np.mean([found.tuned.max() for found in trials])
    assert means["what-if"] > means["naive"] + 15
    assert means["what-if"] > means["rebalanced"] + 2
    assert means["what-if"] > best - 1.5
