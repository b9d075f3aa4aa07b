"""Whose threads compute: the caller's alone, or a few that sleep while there is nothing to do.

The threads that BLAS libraries bring wait for each other busily. On a machine that is busy with
other programs one of them often does not run, and the others wait for it at full speed: a product
of 0.3 ms takes 25. So BLAS is kept to the thread that calls it, and what is worth more than that
one is cut into tasks for a pool. Whoever is free takes the next task, and nobody waits for a thread
that has not begun.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator, contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController

# The frame some calls above. inspect.currentframe() calls it, too, and takes four times as long.
_frame = sys._getframe  # noqa: SLF001  (there is no public name for it)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Library(NamedTuple):
    """How to ask a BLAS library for its number of threads, and how to set it."""

    get: Callable[[], int | None]
    set: Callable[[int], Any]

    @classmethod
    def of(cls, controller: Any) -> "_Library":
        """Return it for a library that threadpoolctl has found."""
        # threadpoolctl looks functions up by name at every call, which takes longer than they do.
        for prefix in ("scipy_openblas_", "openblas_"):
            for suffix in ("", "64_", "_64"):
                names = (f"{prefix}{what}_num_threads{suffix}" for what in ("get", "set"))
                get, put = (getattr(controller.dynlib, name, None) for name in names)
                if get is not None and put is not None:
                    return cls(get, put)
        return cls(controller.get_num_threads, controller.set_num_threads)


class OneThread(ContextDecorator):
    """While any thread is inside, BLAS runs on the threads that call it; it can be nested.

    There is no other way to say so than for all of the process: a product of somebody else's that
    begins meanwhile runs on one thread, too. Afterwards every library is as it was, or as somebody
    else has set it meanwhile. A limit that is 1 already is left alone. Enter it by `with`, or as a
    decorator: an `ExitStack` leaves in another frame than it enters, and is not known there.

    Examples
    --------
    >>> with one_thread:
    ...     one_thread.allowed >= 1
    True
    """

    # _inside: for each thread, the frame that entered first, and how often it did.
    # _limits: of each library, from before the first thread entered.
    # An interrupt can come anywhere, so that a thread never leaves. Then that frame is not on its
    # stack when it enters again, and it is put right. A signal's handler that comes between any two
    # steps, and enters and leaves itself, does no harm: at worst it computes with more threads.

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: dict[int, tuple[FrameType | None, int]] = {}
        self._libraries: list[_Library] = []
        self._limits: list[int] = []

    @property
    def allowed(self) -> int:
        """How many threads the user lets BLAS have: 1 where no library can be asked."""
        return min(self._limits if self._inside else self._current(), default=1)

    def __enter__(self) -> None:
        me, frame = threading.get_ident(), _frame(1)
        first, times = self._inside.get(me, (None, 0))
        if first is frame:
            self._inside[me] = first, times + 1
        elif first is None or not _is_on_stack(first, frame):
            with self._lock:
                if not self._inside:
                    self._limits = self._current()
                self._inside[me] = frame, 1
                for library, before in zip(self._libraries, self._limits, strict=True):
                    if before > 1:
                        library.set(1)

    def __exit__(self, *_: object) -> None:
        me = threading.get_ident()
        first, times = self._inside.get(me, (None, 0))
        if first is not _frame(1):
            return
        if times > 1:
            self._inside[me] = first, times - 1
            return
        with self._lock:
            if len(self._inside) == 1:
                self._restore()
            del self._inside[me]

    def _restore(self) -> None:
        for library, before in zip(self._libraries, self._limits, strict=True):
            if before > 1 and library.get() == 1:
                library.set(before)

    def find_libraries(self) -> None:
        """Find the libraries of numpy and scipy, once these are imported; it takes a while."""
        controllers = ThreadpoolController().select(user_api="blas").lib_controllers
        self._libraries = [_Library.of(controller) for controller in controllers]

    def _current(self) -> list[int]:
        return [library.get() or 1 for library in self._libraries]

    def begin_anew(self) -> None:
        """In a child of a fork, leave in the name of threads that are not there."""
        self._lock = threading.RLock()
        me = threading.get_ident()
        if self._inside and me not in self._inside:
            self._restore()
        self._inside = {me: self._inside[me]} if me in self._inside else {}


def _is_on_stack(wanted: FrameType, frame: FrameType | None) -> bool:
    while frame is not None and frame is not wanted:
        frame = frame.f_back
    return frame is not None


one_thread = OneThread()
_here = threading.local()


@contextmanager
def alone() -> Iterator[None]:
    """Let `spread` keep to this thread: what is done in here shall not wait for another."""
    before, _here.alone = getattr(_here, "alone", False), True
    try:
        yield
    finally:
        _here.alone = before


class _Helpers:
    """Threads that are made when they are first needed, and sleep until there is work.

    They wait at a queue of C, which neither an interrupt nor a signal's handler can leave locked.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._number = 0

    def ask(self, job: Callable[[], None], times: int) -> None:
        """Have a job done by `times` of them, or by fewer if there cannot be as many."""
        while self._number < times:
            self._number += 1
            try:
                threading.Thread(target=self._serve, name="newfound", daemon=True).start()
            except RuntimeError:  # there may be no more threads
                self._number -= 1
                break
        for _ in range(min(times, self._number)):
            self._jobs.put(job)

    def _serve(self) -> None:
        while True:
            self._jobs.get()()


_helpers = _Helpers()


class _Shared:
    """Tasks that several threads share."""

    # left: those to do. begun, over: one entry for every helper that has begun, and has ended.
    # failed: what went wrong, in whichever thread. bell: rung by every helper that ends.

    def __init__(self, tasks: Sequence[Callable[[], object]]) -> None:
        self.left = deque(tasks)
        self.begun, self.over = list[None](), list[None]()
        self.failed: list[BaseException] = []
        self.bell: SimpleQueue[None] = SimpleQueue()

    def help(self) -> None:
        self.begun.append(None)  # before a task is taken: who finds none left counts no more
        try:
            self.work()
        finally:
            self.over.append(None)
            self.bell.put(None)

    def work(self) -> None:
        try:
            while self.left:
                try:
                    task = self.left.popleft()
                except IndexError:  # another thread was faster
                    return
                task()
        except BaseException as error:
            self.left.clear()
            self.failed.append(error)

    def wait(self) -> None:
        """Sleep until all helpers that have begun have ended, whatever else happens."""
        while len(self.over) < len(self.begun):
            try:
                # Not for ever: an interrupt may come just when the bell was heard.
                self.bell.get(timeout=0.1)
            except Empty:
                pass
            except BaseException as error:
                self.failed.append(error)


def spread(tasks: Sequence[Callable[[], object]]) -> None:
    """Do tasks that do not depend on each other, on as many threads as BLAS is allowed.

    When it returns or raises, none of them is under way.

    Parameters
    ----------
    tasks : sequence of callables
        They should spend their time in calls that give up the interpreter's lock.

    Raises
    ------
    BaseException
        What a task raised; then some of the others have not been done.

    Examples
    --------
    >>> found = []
    >>> spread([lambda: found.append(1), lambda: found.append(2)])
    >>> sorted(found)
    [1, 2]
    """
    is_alone = len(tasks) < 2 or getattr(_here, "alone", False)
    helpers = 0 if is_alone else min(one_thread.allowed, len(tasks)) - 1
    with one_thread:
        if not helpers:
            for task in tasks:
                task()
            return
        shared = _Shared(tasks)
        _helpers.ask(shared.help, helpers)
        shared.work()
        shared.wait()
    if shared.failed:
        raise shared.failed[0]


def _begin_anew() -> None:
    global _helpers
    _helpers = _Helpers()
    one_thread.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
