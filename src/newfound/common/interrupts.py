"""Ctrl-C, kept waiting while the sums are being changed."""

# The module that `signal` wraps: wrapping costs 25 microseconds, a quarter of a small step.
import _signal
import threading
from types import FrameType
from typing import Any, Self


class uninterrupted:
    """Let a keyboard interrupt take effect only once the block is done.

    A change of the sums is short, but it has several parts, and half of them would be wrong for
    ever. Python raises KeyboardInterrupt in the main thread alone, so elsewhere there is nothing
    to do.

    Examples
    --------
    >>> with uninterrupted():
    ...     halves = ["one"]
    ...     halves.append("two")
    """

    def __enter__(self) -> Self:
        self.came: list[FrameType | None] = []
        self.handler: Any = None
        if threading.current_thread() is threading.main_thread():
            handler = _signal.getsignal(_signal.SIGINT)
            if callable(handler):
                self.handler = handler
                _signal.signal(_signal.SIGINT, self._keep)
        return self

    def __exit__(self, *_: object) -> None:
        if self.handler is not None:
            _signal.signal(_signal.SIGINT, self.handler)
            if self.came:
                self.handler(_signal.SIGINT, self.came[-1])

    def _keep(self, _: int, frame: FrameType | None) -> None:
        self.came.append(frame)
