"""How good the choice is, on real data: the protocols of docs/selection.md."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from benchmarks import choosing, streams


@cache
def digits() -> Any:
    return streams.pixels()


@cache
def frames() -> Any:
    return streams.washington()


needs_data = pytest.mark.skipif(
    not streams.have_data(),
    reason="needs MNIST and Washington RGB-D: set NEWFOUND_DATA",
)


@needs_data
def test_a_rare_digit_beside_nine_known_ones() -> None:
    trials = [choosing.rare_digit(digits(), trial) for trial in range(10)]
    columns = choosing.columns(trials)
    targets = zip(columns, choosing.TARGETS["total"], choosing.TARGETS["rare"], strict=True)
    for column, total, rare in targets:
        values, of_rare = column.total["what-if"], column.rare["what-if"]
        assert values.mean() > total - choosing.se(values)
        assert of_rare.mean() > rare - choosing.se(of_rare)
    gaps = [column.tuned.max() - column.total["what-if"].mean() for column in columns]
    assert np.mean(gaps) < 0.4


@needs_data
def test_tomato_beside_fifty_known_categories() -> None:
    trials = [choosing.rare_tomato(frames(), trial) for trial in range(3)]
    for column in choosing.columns(trials):
        assert column.total["what-if"].mean() > column.tuned.max() - 0.5


@needs_data
def test_a_long_tail_of_categories() -> None:
    trials = [choosing.long_tail(frames(), trial) for trial in range(5)]
    means = {rule: np.mean([found.total[rule] for found in trials]) for rule in trials[0].total}
    best = np.mean([found.tuned.max() for found in trials])
    assert means["what-if"] > means["naive"] + 15
    assert means["what-if"] > means["rebalanced"] + 2
    assert means["what-if"] > best - 1.5
