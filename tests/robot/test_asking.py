"""Asking about what stays unknown: once, with a few frames of it."""

import weakref
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound.common.errors import InputError
from newfound.recognition.editor import Editor
from newfound.recognition.inbox import MOST_FRAMES
from newfound.recognition.knowledge import Answer
from newfound.robot.asking import Asking

KNOWN = Answer("cup", 0.9, 0.1, 0.1, True, [("cup", 0.9)])
UNKNOWN = Answer("cup", 0.6, 0.8, 0.9, False, [("cup", 0.6)])


def view(thing: int, number: int, spread: float = 0.02) -> Any:
    """A vector near that of a thing; those of different things are at right angles."""
    rng = np.random.default_rng([thing, number])
    return np.eye(40)[thing] + spread * rng.normal(size=40)


def picture(number: int) -> Image.Image:
    return Image.new("RGB", (320, 240), (number % 256, number // 256, 7))


def watch(
    asking: Asking, thing: int, seconds: float, start: float, answer: Answer | None = UNKNOWN
) -> list[tuple[float, int]]:
    """Show a thing at 10 frames a second; return when was asked, and with how many frames."""
    asked = []
    for frame in range(round(10 * seconds)):
        time = start + frame / 10
        number = round(10 * time)
        if found := asking.add(answer, view(thing, number), picture(number), time):
            asked.append((round(time, 6), len(found)))
    return asked


def test_what_is_unknown_for_a_second_is_asked_about_once_while_it_stays() -> None:
    assert watch(Asking(after=1.0), 1, 60.0, 5.0) == [(6.0, 6)]  # every other of 11 frames


def test_what_was_known_in_between_or_not_seen_for_long_was_not_unknown_for_a_second() -> None:
    asking = Asking(after=1.0)
    for start in (0.0, 1.0, 2.0):
        assert watch(asking, 1, 0.9, start) == []
        assert watch(asking, 1, 0.1, start + 0.9, KNOWN) == []
    assert watch(asking, 1, 0.9, 20.0) == []
    assert watch(asking, 1, 0.9, 40.0) == []
    assert watch(asking, 1, 0.9, 10.0) == []  # back in time
    assert watch(asking, 1, 0.2, 10.9) == [(11.0, 6)]


def test_the_same_thing_is_not_asked_about_when_it_comes_back_and_another_one_is() -> None:
    asking = Asking(after=1.0)
    assert len(watch(asking, 1, 2.0, 0.0)) == 1
    assert watch(asking, 0, 2.0, 2.0, KNOWN) == []
    assert watch(asking, 1, 5.0, 4.0) == []
    assert len(watch(asking, 2, 5.0, 9.0)) == 1  # put in its place, with nothing known between
    assert watch(asking, 1, 5.0, 14.0) == []


def test_a_model_that_was_taught_nothing_asks_too() -> None:
    assert len(watch(Asking(after=0.5), 1, 2.0, 0.0, None)) == 1
    assert watch(Asking(after=0.0), 1, 0.2, 3.0, None) == [(3.0, 1)]


def test_frames_are_spread_over_the_stretch_and_each_picture_comes_once() -> None:
    asking = Asking(after=10.0, source="camera")
    found = []
    for frame in range(101):
        image = picture(0 if frame < 30 else frame)
        found += asking.add(UNKNOWN, view(1, frame), image, frame / 10)
    # Every 16th of 101 frames; the first two look the same, and so one of them is enough.
    vectors = [view(1, frame) for frame in range(16, 101, 16)]
    assert 1 < len(found) <= MOST_FRAMES
    np.testing.assert_array_equal([each.vector for each in found], vectors)
    assert len({each.digest for each in found}) == len(found)
    assert {each.source for each in found} == {"camera"}
    assert found[0].thumbnail is not None
    assert Image.open(BytesIO(found[0].thumbnail)).size == (256, 192)


def test_of_what_is_seen_now_small_pictures_are_held_and_no_whole_frames() -> None:
    asking, frame = Asking(after=1.0), Image.new("RGB", (320, 240))
    held = weakref.ref(frame)
    asking.add(None, view(1, 0), frame, 0.0)
    del frame
    assert held() is None


def test_what_is_open_in_the_inbox_is_not_asked_about_by_who_starts_again(tmp_path: Path) -> None:
    kitchen = Editor(tmp_path / "kitchen.newfound", None)
    asking = Asking.of(kitchen, after=0.3)
    for frame in range(5):
        if found := asking.add(None, view(1, frame), picture(frame), frame / 10):
            kitchen.ask(found, "camera")
    assert len(kitchen.journal.inbox.open()[0].frames) == 4
    again = Asking.of(kitchen, after=0.3)
    assert watch(again, 1, 2.0, 0.0, None) == []
    assert len(watch(again, 2, 2.0, 2.0, None)) == 1
    kitchen.close()


def test_vectors_of_another_width_are_of_nothing_that_was_asked_about() -> None:
    asking = Asking(after=0.0)
    assert asking.add(None, np.ones(3), picture(1), 0.0)
    assert asking.add(None, np.ones(4), picture(1), 0.1)
    assert not asking.add(None, 2 * np.ones(3), picture(1), 0.2)


@pytest.mark.parametrize("after", [-1.0, float("nan")])
def test_after_is_a_number_of_seconds(after: float) -> None:
    with pytest.raises(InputError, match="seconds from 0"):
        Asking(after)
