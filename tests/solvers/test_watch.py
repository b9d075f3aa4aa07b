"""The watch over what a solver carries: when it measures, and what it asks for."""

import pytest

from newfound.solvers.inverse import Limits
from newfound.solvers.watch import CHECK_EVERY, CHECK_OFFSET, LITTLE, Watch

LIMITS = Limits(
    largest_pivot=1e10, stiff_pivot=1e5, smallest_pivot=1e-3, drift=1e-10, drift_growth=10.0
)


@pytest.mark.parametrize("size", [1, 3, 100, 1000])
def test_the_drift_is_measured_once_in_so_many_rows(size: int) -> None:
    watch, measured, rows = Watch(8, LIMITS), 0, 0
    while rows < 100 * CHECK_EVERY:
        watch.count(size)
        rows += size
        if watch.is_due:
            assert not watch.asks_for_rebuild(0.0)
            measured += 1
    steps = -(-CHECK_EVERY // size)  # with fewer rows than that, it is not due again
    assert measured in {(rows + CHECK_OFFSET) // (size * steps) + extra for extra in (0, 1)}


def test_what_is_too_much_depends_on_the_last_rebuild() -> None:
    watch = Watch(8, LIMITS)
    assert [watch.asks_for_rebuild(drift) for drift in (9e-11, 2e-10)] == [False, True]
    watch.floor = 1e-9  # badly conditioned: no solver does better
    assert [watch.asks_for_rebuild(drift) for drift in (9e-9, 2e-8)] == [False, True]
    watch.restart(LIMITS._replace(drift_growth=0.0))
    watch.floor = 1e-9
    assert watch.asks_for_rebuild(9e-9)


def test_two_measures_are_taken_by_turns() -> None:
    watch, turns = Watch(8, LIMITS), []
    for _ in range(4):
        turns.append(watch.turn)
        watch.asks_for_rebuild(0.0)
        watch.restart(LIMITS)
    assert turns == [False, True, False, True]


def test_after_a_stiff_change_weights_are_rough_until_as_many_rows_as_features_came() -> None:
    watch = Watch(8, LIMITS)
    watch.note(2e5)
    for _ in range(8):
        watch.count(1)
        watch.note(1.5)
        assert watch.is_rough
        assert not watch.is_recovered
    watch.note(2e5)  # another: it begins anew
    watch.count(8)
    assert not watch.is_recovered
    watch.count(1)
    assert watch.is_recovered
    watch.restart(LIMITS)
    assert not watch.is_rough
    assert not watch.is_recovered


def test_while_weights_are_refined_no_drift_is_measured() -> None:
    watch = Watch(10 * CHECK_EVERY, LIMITS)
    watch.note(2e5)
    watch.count(5 * CHECK_EVERY)
    assert not watch.is_due


def test_little_is_left_where_rounding_of_what_was_held_would_show() -> None:
    watch = Watch(8, LIMITS)
    assert not watch.leaves_little(held=1.0, going=1 - 2 * LITTLE)
    assert watch.leaves_little(held=1.0, going=1 - LITTLE / 2)
    assert watch.leaves_little(held=LITTLE / 2, going=0.0)  # for more was held before
    watch.restart(LIMITS)
    assert not watch.leaves_little(held=LITTLE / 2, going=0.0)
