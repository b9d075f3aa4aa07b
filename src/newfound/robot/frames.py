"""A frame of a video, a recording or a live topic: the picture, its time, and what it shows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

    from newfound.recognition.sources import Problem


class Frame(NamedTuple):
    """A picture, and when it was taken."""

    image: "Image"  # RGB, cropped if that was asked for
    time: float  # in seconds: of a video since its beginning, of a recording Unix time
    name: str  # for people: "clip.mp4 at 1:02.40"
    digest: bytes  # what it is known by, 16 bytes
    label: Any = None  # what it shows, if anyone says so


class Footage(Protocol):
    """Pictures in the order of their time: a video, a camera, a topic of a recording."""

    name: str  # what it is called
    total: int | None  # frames that it says it has; None: it does not know, or never ends
    is_live: bool  # whether frames come as they are taken: then the newest counts
    start: float  # the time at which it begins: names of frames count from there

    def frames(self) -> "Iterator[Frame | Problem]":
        """Yield frames, and what could not be read as one; it can be called once."""


def clock(seconds: float) -> str:
    """Return a time since the beginning as people write it.

    >>> clock(62.4), clock(3723), clock(-1.5)
    ('1:02.40', '1:02:03.00', '-0:01.50')
    """
    hundredths = round(abs(seconds) * 100)
    minutes, rest = divmod(hundredths, 6000)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if seconds < 0 and hundredths else ""
    before = f"{hours}:{minutes:02d}" if hours else f"{minutes}"
    return f"{sign}{before}:{rest / 100:05.2f}"
