"""Whose threads compute: the caller's alone, or a few that sleep while there is nothing to do.

The threads that BLAS libraries bring wait for each other busily. On a machine that is busy with
other programs one of them often does not run, and the others wait for it at full speed: a product
of 0.3 ms takes 25. So BLAS is kept to the thread that calls it, and what is worth more than that
one is cut into tasks for a pool. Whoever is free takes the next task, and nobody waits for a thread
that has not begun.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController


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
    else has set it meanwhile. A limit that is 1 already is left alone.

    Examples
    --------
    >>> with one_thread:
    ...     one_thread.allowed >= 1
    True
    """

    # _users: how often it was entered and not left. _limits: of each library, before the first.
    # Steps are in such an order that a signal's handler that comes between any two, and enters and
    # leaves itself, does no harm: at worst it computes with more threads.

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._libraries: list[_Library] = []
        self._limits: list[int] = []

    @property
    def allowed(self) -> int:
        """How many threads the user lets BLAS have: 1 where no library can be asked."""
        return min(self._limits if self._users else self._current(), default=1)

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limits = self._current()
                self._set(self._limits, 1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._users == 1:
                self._set(self._limits)
            self._users -= 1

    def find_libraries(self) -> None:
        """Find the libraries of numpy and scipy, once these are imported; it takes a while."""
        found = ThreadpoolController().select(user_api="blas").lib_controllers
        self._libraries = [_Library.of(controller) for controller in found]

    def _current(self) -> list[int]:
        return [library.get() or 1 for library in self._libraries]

    def _set(self, limits: list[int], limit: int | None = None) -> None:
        for library, before in zip(self._libraries, limits, strict=True):
            if before > 1 and (limit or library.get() == 1):
                library.set(limit or before)

    def begin_anew(self) -> None:
        """In a child of a fork, leave in the name of threads that are not there."""
        self._lock = threading.RLock()
        if self._users:
            self._set(self._limits)
            self._users = 0


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


class _Pool:
    """Threads that are made when they are first needed, and sleep between tasks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._size = 0

    def submit(self, task: Callable[[], None], times: int) -> list[Future[None]]:
        with self._lock:
            if self._size < times:
                if self._executor is not None:
                    self._executor.shutdown(wait=False)
                self._executor, self._size = ThreadPoolExecutor(times, "newfound"), times
            assert self._executor is not None
            try:
                return [self._executor.submit(task) for _ in range(times)]
            except RuntimeError:  # the interpreter is about to end
                return []


_pool = _Pool()


def spread(tasks: Sequence[Callable[[], object]]) -> None:
    """Do tasks that do not depend on each other, on as many threads as BLAS is allowed.

    Parameters
    ----------
    tasks : sequence of callables
        They should spend their time in calls that give up the interpreter's lock, and must not
        raise.

    Examples
    --------
    >>> found = []
    >>> spread([lambda: found.append(1), lambda: found.append(2)])
    >>> sorted(found)
    [1, 2]
    """
    helpers = 0 if getattr(_here, "alone", False) else min(one_thread.allowed, len(tasks)) - 1
    left = deque(tasks)

    def work() -> None:
        while True:
            try:
                task = left.popleft()
            except IndexError:
                return
            task()

    with one_thread:
        futures = _pool.submit(work, helpers) if helpers > 0 else []
        try:
            work()
        finally:
            left.clear()
            for future in futures:
                if not future.cancel():  # one that has not begun is not waited for
                    future.result()


def _begin_anew() -> None:
    global _pool
    _pool = _Pool()
    _here.__dict__.clear()
    one_thread.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
