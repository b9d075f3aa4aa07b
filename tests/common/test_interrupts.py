"""Signals wait while something is being changed, and none is lost."""

import _signal
import itertools
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from newfound.common.ctrl_c import CtrlC
from newfound.common.interrupts import SIGNALS, uninterrupted


class Ended(BaseException):
    """What a handler raises."""


def end(number: int, frame: Any) -> None:
    raise Ended(number)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = {number: signal.signal(number, end) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS, ids=str)
def test_a_signal_takes_effect_once_the_block_is_done(number: int) -> None:
    halves: list[str] = []
    with pytest.raises(Ended, match=str(int(number))):
        press_inside(halves, number)
    assert halves == ["one", "two", "three"]
    assert all(signal.getsignal(number) is end for number in SIGNALS)


def press_inside(halves: list[str], *numbers: int) -> None:
    with uninterrupted():
        halves.append("one")
        with uninterrupted():
            for number in numbers:
                signal.raise_signal(number)
            halves.append("two")
        halves.append("three")


def test_of_several_signals_each_takes_effect() -> None:
    came = []
    signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    with pytest.raises(Ended):
        press_inside([], signal.SIGTERM, signal.SIGINT)
    assert came == [signal.SIGTERM]


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        signal.raise_signal(signal.SIGINT)


def test_signals_that_were_ignored_once_wait_from_when_they_are_not() -> None:
    """As in a program in the background that installs its handlers late."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    with uninterrupted():
        pass
    signal.signal(signal.SIGINT, end)
    halves: list[str] = []
    with pytest.raises(Ended):
        press_inside(halves, signal.SIGINT)
    assert halves == ["one", "two", "three"]


@pytest.mark.parametrize("place", range(2 * len(SIGNALS)))
def test_two_signals_in_a_row_leave_no_block_that_keeps_them_for_ever(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes before anything can be put back because of the first."""
    calls, leave, really_replace = itertools.count(), uninterrupted.__exit__, _signal.signal

    def replace(number: int, handler: Any) -> None:
        if next(calls) == place:
            monkeypatch.setattr(uninterrupted, "__exit__", interrupted)
            raise Ended(number)
        really_replace(number, handler)

    def interrupted(*_: object) -> None:
        monkeypatch.setattr(uninterrupted, "__exit__", leave)
        raise Ended

    with monkeypatch.context() as patch:
        patch.setattr(_signal, "signal", replace)
        with pytest.raises(Ended):
            press_inside([])
    monkeypatch.setattr(uninterrupted, "__exit__", leave)
    for number in SIGNALS:
        with pytest.raises(Ended):  # at once
            signal.raise_signal(number)
        halves: list[str] = []
        with pytest.raises(Ended):
            press_inside(halves, number)
        assert halves == ["one", "two", "three"]


def test_in_other_threads_there_is_nothing_to_do() -> None:
    seen = []

    def change() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=change)
    thread.start()
    thread.join()
    assert seen == [end]


def test_handlers_are_back_whenever_a_signal_comes() -> None:
    """Also while they are taken away and put back, one after the other."""

    def change() -> None:
        with uninterrupted():
            pass

    whole = CtrlC()
    whole.during(change)
    for moment in range(1, whole.moments + 1):
        CtrlC(moment).during(change)
        assert all(signal.getsignal(number) is end for number in SIGNALS)
