"""Ctrl-C, kept waiting while the sums are being changed."""

# The module that `signal` wraps: wrapping costs 25 microseconds, a quarter of a small step.
import _signal
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
    handler = _signal.getsignal(_signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[FrameType | None] = []
    _signal.signal(_signal.SIGINT, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        _signal.signal(_signal.SIGINT, handler)
        if came:
            handler(_signal.SIGINT, came[-1])
