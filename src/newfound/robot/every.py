"""Every Nth frame, or one every S seconds."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from newfound.common.errors import InputError
from newfound.robot.frames import Frame

if TYPE_CHECKING:
    from newfound.recognition.sources import Problem

# What frames that are left out are counted under.
BY_EVERY = "by --every"
_EVERY = re.compile(r"(\d{1,9})|(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6}) ?s")


class Every(NamedTuple):
    """Which frames of footage to take.

    Examples
    --------
    >>> frames = [Frame(None, time, f"at {time}", b"") for time in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    >>> skipped = Counter()
    >>> [frame.time for frame in Every.parse("4").of(frames, skipped)]
    [0.0, 0.8]
    >>> [frame.time for frame in Every.parse("0.5s").of(frames, skipped)]
    [0.0, 0.6, 1.0]
    >>> skipped
    Counter({'by --every': 7})
    """

    frames: int  # every Nth
    seconds: float = 0.0  # if above 0, one every S seconds instead

    @classmethod
    def parse(cls, text: str) -> "Every":
        """Return what "5" (frames) or "0.5s" (seconds) means.

        >>> Every.parse("often")
        Traceback (most recent call last):
        newfound.InputError: 'often' is neither a number of frames, as 5, nor of seconds, as 0.5s
        """
        match = _EVERY.fullmatch(text.strip())
        frames, seconds = (int(match[1] or 0), float(match[2] or 0)) if match else (0, 0.0)
        if not (frames or seconds):
            raise InputError(
                f"{text!r} is neither a number of frames, as 5, nor of seconds, as 0.5s"
            )
        return cls(frames, seconds)

    def of(
        self, frames: "Iterable[Frame | Problem]", skipped: Counter[str]
    ) -> "Iterator[Frame | Problem]":
        """Yield the frames to take, and all problems; count the others in `skipped`."""
        number, last = 0, None
        for frame in frames:
            if not isinstance(frame, Frame):
                yield frame
                continue
            # On a grid of times, so that what is taken does not drift.
            length, at = (self.seconds, frame.time) if self.seconds else (self.frames, number)
            place, number = math.floor(at / length + 1e-6), number + 1
            if place != last:
                yield frame
            else:
                skipped[BY_EVERY] += 1
            last = place
