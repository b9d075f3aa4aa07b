"""Ctrl-C and signals like it, kept waiting while something is being changed."""

# Written for speed: it is part of every lesson, and a small one takes 30 microseconds. The module
# that `signal` wraps is used because wrapping takes 25 of them.
import _signal
import os
import threading
from _signal import SIGINT, SIGTERM, getsignal
from _thread import get_ident
from types import FrameType
from typing import Any, Self

# What handlers may raise for, beside Ctrl-C and a request to end: a time limit, a closed terminal.
# Windows has neither.
SIGALRM = getattr(_signal, "SIGALRM", SIGTERM)
SIGHUP = getattr(_signal, "SIGHUP", SIGTERM)
SIGNALS = tuple(sorted({SIGINT, SIGTERM, SIGALRM, SIGHUP}))
# The block that the main thread is in, or None. It is set once all handlers are replaced, and taken
# back before any is put back: a signal that comes meanwhile does not wait, nor does the next. In a
# list, for to set an attribute of a class takes longer.
_inside: "list[uninterrupted | None]" = [None]


class uninterrupted:
    """Let signals whose handlers may raise take effect only once the block is done.

    A change is short, but it has several parts, and half of them would be wrong for ever. Python
    runs handlers in the main thread alone, so elsewhere there is nothing to do; nor is there inside
    another such block.

    Examples
    --------
    >>> with uninterrupted():
    ...     halves = ["one"]
    ...     halves.append("two")
    """

    # main: what the main thread is known by.
    # handlers: of the signals that are kept waiting, to be put back.
    # came: signals that wait, and where they came. None: none came.

    __slots__ = ("came", "handlers")

    main = threading.main_thread().ident

    def __enter__(self) -> Self:
        self.came: dict[int, FrameType | None] | None = None
        self.handlers: tuple[tuple[int, Any], ...] = ()
        if _inside[0] is not None or get_ident() != uninterrupted.main:
            return self
        handler = getsignal(SIGINT)
        is_left = type(handler) is uninterrupted
        if is_left or getsignal(SIGTERM) or getsignal(SIGALRM) or getsignal(SIGHUP):
            pairs = [(number, _handler(number)) for number in SIGNALS]
            self.handlers = tuple([pair for pair in pairs if callable(pair[1])])
        elif callable(handler):  # nearly always
            self.handlers = ((SIGINT, handler),)
        try:
            for number, _ in self.handlers:
                _signal.signal(number, self)
        except BaseException:  # of a handler that was not replaced yet
            self.__exit__()
            raise
        if self.handlers:  # where all signals are ignored, none waits
            _inside[0] = self
        return self

    def __exit__(self, *_: object) -> None:
        if not self.handlers:
            return
        _inside[0] = None
        try:
            for number, handler in self.handlers:
                _signal.signal(number, handler)
        except BaseException:  # of one that is back already
            self.__exit__()
            raise
        if self.came:
            self._let_through(self.came)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Keep a signal waiting; but let it through if the block is done, or has not begun."""
        if _inside[0] is self:
            self.came = {**(self.came or {}), number: frame}
        else:
            dict(self.handlers)[number](number, frame)

    def _let_through(self, came: dict[int, FrameType | None]) -> None:
        """Call the handler of each signal that came, though another's may raise."""
        number, frame = came.popitem()
        try:
            dict(self.handlers)[number](number, frame)
        finally:
            if came:
                self._let_through(came)


def _handler(number: int) -> Any:
    """Return the handler of a signal, also where an interrupted block has left itself as that."""
    handler = getsignal(number)
    return dict(handler.handlers)[number] if type(handler) is uninterrupted else handler


def _note_main_thread() -> None:
    """Know the main thread of a process that was forked: the one that did."""
    uninterrupted.main = get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_main_thread)
