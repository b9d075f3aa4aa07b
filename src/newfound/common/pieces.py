"""Work that is done at once on all threads, or a piece at a time on the caller's."""

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Generic, NamedTuple, TypeVar, cast

from newfound.common.threads import alone, one_thread, spread


class Task(NamedTuple):
    """A bit of work that cannot be cut any further."""

    cost: float  # about how many operations it takes
    run: Callable[[], object]


# Operations of a stage, a millisecond or two, below which waking up other threads does not pay.
WORTH_SPREADING = 5e7

Result = TypeVar("Result")
# Lists of tasks that do not depend on each other. The next one is asked for when all are done.
Stages = Generator[list[Task], None, Result]


class Pieces(Generic[Result]):
    """Work in pieces of about the same size.

    How many pieces it takes depends on the work alone, and not on how it is done.

    Parameters
    ----------
    stages : generator of lists of Task
        What it returns is the result.
    size : float
        Operations in a piece; a larger task is a piece of its own.

    Raises
    ------
    RuntimeError
        If a task has failed, or was interrupted, and the work is to go on all the same.

    Examples
    --------
    >>> done = []
    >>> def stages():
    ...     yield [Task(2.0, lambda: done.append("a")), Task(1.0, lambda: done.append("b"))]
    ...     yield [Task(1.0, lambda: done.append("c"))]
    ...     return "result"
    >>> pieces = Pieces(stages(), size=2.0)
    >>> pieces.step()
    >>> done, pieces.number
    (['a'], 1)
    >>> pieces.finish(), pieces.number, done
    ('result', 3, ['a', 'b', 'c'])
    """

    # number: pieces done. is_done: whether all are. has_failed: whether any has.
    # _tasks: of the present stage, those to do. _spent: operations of the present piece.

    def __init__(self, stages: Stages[Result], size: float) -> None:
        self.number = 0
        self.is_done = self.has_failed = False
        self.result: Result | None = None
        self._stages, self._size = stages, size
        self._tasks: deque[Task] = deque()
        self._spent = 0.0

    def step(self) -> None:
        """Do the next piece, on this thread."""
        before = self.number
        with self._watched(), alone(), one_thread:
            while self.number == before and not self.is_done:
                if not self._tasks:
                    self._begin_stage()
                    continue
                task = self._tasks.popleft()
                task.run()
                self._count(task)

    def finish(self) -> Result:
        """Do all that is left, on as many threads as there may be; return the result."""
        with self._watched(), one_thread:
            while not self.is_done:
                tasks, self._tasks = self._tasks, deque()
                if sum([task.cost for task in tasks]) >= WORTH_SPREADING:
                    spread([task.run for task in tasks])
                else:
                    for task in tasks:
                        task.run()
                for task in tasks:
                    self._count(task)
                self._begin_stage()
        return cast(Result, self.result)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """See to it that nobody goes on where a task was left half done."""
        if self.has_failed:
            raise RuntimeError("this work was interrupted, and cannot go on")
        self.has_failed = True
        yield
        self.has_failed = False

    def _begin_stage(self) -> None:
        try:
            self._tasks.extend(next(self._stages))
        except StopIteration as end:
            self.result, self.is_done = end.value, True
            self.number += 1

    def _count(self, task: Task) -> None:
        self._spent += task.cost
        if self._spent >= self._size:
            self._spent = 0.0
            self.number += 1


def at_once(stages: Stages[Result]) -> Result:
    """Do all of it now, on as many threads as there may be; return the result."""
    return Pieces(stages, float("inf")).finish()
