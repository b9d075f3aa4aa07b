"""A slot between who sends and who looks: the newest thing counts, and nothing piles up."""

import threading
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Newest(Generic[Thing]):
    """Holds one thing at most. What is put in replaces what nobody has taken.

    Any number of threads may put; one takes.

    Examples
    --------
    >>> slot = Newest[str]()
    >>> slot.put("old")
    >>> slot.put("new")
    >>> slot.take(), slot.dropped
    ('new', 1)
    """

    # came, dropped: things put in, and those of them that were replaced, since the beginning.

    def __init__(self) -> None:
        self.came = self.dropped = 0
        self._thing: Thing | None = None
        self._changed = threading.Condition()
        self._is_closed = False

    def put(self, thing: Thing) -> None:
        """Put in a thing, which may be anything but None."""
        with self._changed:
            self.came += 1
            self.dropped += self._thing is not None
            self._thing = thing
            self._changed.notify()

    def take(self, seconds: float | None = None) -> Thing | None:
        """Wait for a thing and take it out; None: the time is up, or the slot is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._thing is not None, seconds)
            thing, self._thing = self._thing, None
            return None if self._is_closed else thing

    def close(self) -> None:
        """Let whoever waits go, and let nothing be taken any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
