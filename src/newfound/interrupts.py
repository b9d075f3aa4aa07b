"""Ctrl-C, kept waiting while the sums are being changed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
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
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(signal.SIGINT, came[-1])
