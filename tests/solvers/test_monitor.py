"""The monitor of what a solver carries: when it measures, and what it asks for."""

from typing import Any

import pytest

from newfound.solvers.inverse import Limits
from newfound.solvers.monitor import CHECK_EVERY, CHECK_OFFSET, LITTLE, DriftMonitor

LIMITS = Limits(
    largest_pivot=1e10, stiff_pivot=1e5, smallest_pivot=1e-3, drift=1e-10, drift_growth=10.0
)


@pytest.mark.parametrize("size", [1, 3, 100, 1000])
def test_the_drift_is_measured_once_in_so_many_rows(size: int) -> None:
    monitor, measured, rows = DriftMonitor(8, LIMITS), 0, 0
    while rows < 100 * CHECK_EVERY:
        is_due = monitor.count(size)
        rows += size
        if is_due:
            assert not monitor.asks_for_rebuild(0.0)
            measured += 1
    steps = -(-CHECK_EVERY // size)  # with fewer rows than that, it is not due again
    assert measured in {(rows + CHECK_OFFSET) // (size * steps) + extra for extra in (0, 1)}


def test_what_is_too_much_depends_on_the_last_rebuild() -> None:
    monitor = DriftMonitor(8, LIMITS)
    assert [monitor.asks_for_rebuild(drift) for drift in (9e-11, 2e-10)] == [False, True]
    monitor.floor = 1e-9  # badly conditioned: no solver does better
    assert [monitor.asks_for_rebuild(drift) for drift in (9e-9, 2e-8)] == [False, True]
    monitor.restart(LIMITS._replace(drift_growth=0.0))
    monitor.floor = 1e-9
    assert monitor.asks_for_rebuild(9e-9)


def test_two_measures_are_taken_by_turns() -> None:
    monitor, turns = DriftMonitor(8, LIMITS), []
    for _ in range(4):
        turns.append(monitor.turn)
        monitor.asks_for_rebuild(0.0)
        monitor.restart(LIMITS)
    assert turns == [False, True, False, True]


def test_after_a_stiff_change_weights_are_rough_until_as_many_rows_as_features_came() -> None:
    monitor = DriftMonitor(8, LIMITS)
    monitor.note(2e5)
    for _ in range(8):
        assert not monitor.count(1)
        monitor.note(1.5)
        assert monitor.is_rough
    monitor.note(2e5)  # another: it begins anew
    assert not monitor.count(8)
    assert monitor.count(1)
    monitor.restart(LIMITS)
    assert not monitor.is_rough
    assert not monitor.count(1)


def test_while_weights_are_refined_no_drift_is_measured() -> None:
    monitor = DriftMonitor(10 * CHECK_EVERY, LIMITS)
    monitor.note(2e5)
    assert not monitor.count(5 * CHECK_EVERY)


@pytest.mark.parametrize("of", [lambda size: (size, 1.0), lambda size: (1.0, size)])
def test_little_is_left_where_rounding_of_what_was_held_would_show(of: Any) -> None:
    """Of squares, or of weights."""
    monitor = DriftMonitor(8, LIMITS)
    assert not monitor.leaves_little(held=of(1.0), left=of(2 * LITTLE))
    assert monitor.leaves_little(held=of(1.0), left=of(LITTLE / 2))
    assert monitor.leaves_little(held=of(LITTLE / 2), left=of(LITTLE / 2))  # more was held before
    monitor.restart(LIMITS)
    assert not monitor.leaves_little(held=of(LITTLE / 2), left=of(LITTLE / 2))
