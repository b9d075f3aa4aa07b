"""One lock an object, so that any number of threads may ask while one teaches."""

import copy
import os
import threading
from collections import deque
from itertools import compress
from operator import methodcaller
from typing import Any, Self
from weakref import WeakSet

# Every lock there is, so that a process that forks can hold them all: a child has no other
# threads, and what these were in the middle of changing would stay half changed in it.
_all_locks: WeakSet[Any] = WeakSet()
_making = threading.Lock()
# What the thread that forks holds: all locks, and for each whether it has it.
_of_thread = threading.local()


def new_lock() -> Any:
    """Return a reentrant lock that a process can fork with, whoever holds it."""
    with _making:
        lock = threading.RLock()
        _all_locks.add(lock)
        return lock


class Locked:
    """What is changed by one thread at a time; pickled, copied and forked between two changes.

    Examples
    --------
    >>> class Counter(Locked):
    ...     n = 0
    >>> counter = Counter()
    >>> with counter.lock:  # nobody else counts meanwhile
    ...     counter.n += 2
    >>> copy.deepcopy(counter).n
    2
    """

    # lock: hold it to ask or change several things as one; reentrant, and the same for ever.

    def __init__(self) -> None:
        self.lock = new_lock()

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            # A copy, because it is written after the lock has been given back.
            return copy.deepcopy({**self.__dict__, "lock": None})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=new_lock())

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = memo[id(self)] = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other


# How often a fork tries to hold all locks at once: threads that hold one or the other all the time
# must not keep it for ever.
TRIES = 1000
# In one call of C, so that no handler of a signal comes between two locks.
_try_to_hold, _release = methodcaller("acquire", False), methodcaller("release")


def _hold_all() -> None:
    """Wait until nobody changes anything. Who waits holds nothing, so nobody waits for it."""
    for _ in range(TRIES):
        with _making:
            locks = list(_all_locks)
        is_held: list[bool] = []
        _of_thread.locks, _of_thread.is_held = locks, is_held
        is_held.extend(map(_try_to_hold, locks))
        if all(is_held):
            return
        _release_all()
        with locks[is_held.index(False)]:
            pass


def _release_all() -> None:
    deque(map(_release, compress(_of_thread.locks, _of_thread.is_held)), maxlen=0)
    _of_thread.locks = []


def _renew_all() -> None:
    """In a child, make the locks of others anew: they are not there to release them."""
    global _making
    _making = threading.Lock()
    _release_all()
    for lock in list(_all_locks):
        # The names that the standard library's own locks use after a fork; it has no public ones.
        # Whoever forked with a lock in hand owns it, and will release it.
        if not lock._is_owned():  # noqa: SLF001
            lock._at_fork_reinit()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_renew_all)
