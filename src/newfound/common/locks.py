"""One lock an object, so that any number of threads may ask while one teaches."""

import copy
import functools
import os
import threading
from collections import deque
from collections.abc import Callable
from itertools import compress
from operator import methodcaller
from typing import Any, Self, TypeVar, cast
from weakref import WeakSet

Method = TypeVar("Method", bound=Callable[..., Any])

# Every lock there is, so that a process that forks can hold them all: a child has no other
# threads, and what these were in the middle of changing would stay half changed in it.
_all_locks: WeakSet[Any] = WeakSet()
_making = threading.Lock()
# What the thread that forks holds: all locks, and for each whether it has it.
_of_thread = threading.local()


def new_lock() -> Any:
    """Return a reentrant lock that a process can fork with, whoever holds it."""
    with _making:
        return _new_lock()


def _new_lock() -> Any:
    lock = threading.RLock()
    _all_locks.add(lock)
    return lock


class Locked:
    """What is changed by one thread at a time; pickled, copied and forked between two changes.

    Examples
    --------
    >>> class Counter(Locked):
    ...     n = 0
    ...     @locked
    ...     def count(self):
    ...         self.n += 1
    >>> counter = Counter()
    >>> with counter.lock:  # nobody else counts meanwhile
    ...     counter.count()
    ...     counter.count()
    >>> copy.deepcopy(counter).n
    2
    """

    @property
    def lock(self) -> Any:
        """Hold it to ask or change several things as one: a reentrant lock."""
        # Made at the first use: scikit-learn wants nothing but parameters from a constructor.
        found = self.__dict__.get("_lock")
        if found is not None:
            return found
        with _making:
            if "_lock" not in self.__dict__:
                self.__dict__["_lock"] = _new_lock()
        return self.__dict__["_lock"]

    def __getstate__(self) -> dict[str, Any]:
        with self.lock:
            state = dict(cast(dict[str, Any], super().__getstate__()))
            del state["_lock"]
            # A copy, because it is written after the lock has been given back.
            return copy.deepcopy(state)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = memo[id(self)] = type(self).__new__(type(self))
        other.__dict__.update(self.__getstate__())
        return other


def locked(method: Method) -> Method:
    """Let a method hold the lock of its object."""

    @functools.wraps(method)
    def holding(self: Locked, *args: Any, **options: Any) -> Any:
        with self.__dict__.get("_lock") or self.lock:  # a property costs as much as the lock
            return method(self, *args, **options)

    return cast(Method, holding)


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
        held: list[bool] = []
        _of_thread.locks, _of_thread.held = locks, held
        held.extend(map(_try_to_hold, locks))
        if all(held):
            return
        _release_all()
        with locks[held.index(False)]:
            pass


def _release_all() -> None:
    deque(map(_release, compress(_of_thread.locks, _of_thread.held)), maxlen=0)
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
