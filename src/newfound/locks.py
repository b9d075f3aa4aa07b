"""One lock an object, so that any number of threads may ask while one teaches."""

import copy
import functools
import os
import threading
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast
from weakref import WeakSet

Method = TypeVar("Method", bound=Callable[..., Any])

# Every lock there is, so that a process that forks can hold them all: a child has no other
# threads, and what these were in the middle of changing would stay half changed in it.
_all_locks: WeakSet[Any] = WeakSet()
_held: list[Any] = []
_making, _forking = threading.Lock(), threading.Lock()


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
                lock = threading.RLock()
                _all_locks.add(lock)
                self.__dict__["_lock"] = lock
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


def _hold_all() -> None:
    """Wait until nobody changes anything."""
    _forking.acquire()
    while True:
        _making.acquire()
        new = [lock for lock in _all_locks if lock not in _held]
        if not new:  # and none can be made before all are released
            return
        _making.release()
        for lock in new:
            lock.acquire()
            _held.append(lock)


def _release_all() -> None:
    _making.release()
    while _held:
        _held.pop().release()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_all, after_in_parent=_release_all, after_in_child=_release_all)
