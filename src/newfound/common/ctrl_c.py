"""Ctrl-C at a chosen moment, to see what it leaves behind."""

import signal
import sys
from collections.abc import Callable
from types import FrameType


class CtrlC:
    """Comes at one of the moments at which Python looks for signals.

    That is wherever a function is called, and wherever one returns that is not Python's.

    Parameters
    ----------
    moment : int, default=0
        The first is 1; with 0, it does not come.

    Attributes
    ----------
    moments : int
        How many there were so far.
    where : str
        File and line that were interrupted.

    Examples
    --------
    >>> numbers = []
    >>> CtrlC(1).during(lambda: numbers.append(1))
    >>> numbers
    []
    """

    def __init__(self, moment: int = 0) -> None:
        self.moment, self.moments, self.where = moment, 0, ""

    def during(self, change: Callable[[], object]) -> None:
        """Do something in the main thread until it is done, or interrupted."""
        handler, profile, hook = (
            signal.getsignal(signal.SIGINT),
            sys.getprofile(),
            sys.unraisablehook,
        )
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = lambda _: None  # it may come where something is thrown away
            sys.setprofile(self)
            change()
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(profile)
            sys.unraisablehook = hook
            signal.signal(signal.SIGINT, handler)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Count a moment, and press Ctrl-C if it is the one."""
        if event in ("call", "c_return"):
            self.moments += 1
            if self.moments == self.moment:
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                signal.raise_signal(signal.SIGINT)
