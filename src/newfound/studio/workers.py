"""Threads that look and teach for many clients, each in its turn."""

import logging
import threading
from collections import deque
from collections.abc import Callable

log = logging.getLogger("newfound.studio")
# What a thread does; what it returns, if anything, is done by the one thread that writes.
Job = Callable[[], "Callable[[], object] | None"]


class StoppingError(Exception):
    """The service takes no more work."""


class Lane:
    """The jobs of one client, done one after the other."""

    # jobs: those that wait. busy: one is under way, or the lane waits for its turn.

    def __init__(self) -> None:
        self.jobs: deque[Job] = deque()
        self.busy = False


class Workers:
    """A fixed number of threads, and lanes that wait for them first in, first out.

    A lane is served one job at a time and then stands at the end of the line, so that whoever
    sends much waits for itself. What a job returns is written by a single thread: nobody who looks
    waits for a disk.

    Parameters
    ----------
    threads : int

    Examples
    --------
    >>> workers, lane, done = Workers(1), Lane(), []
    >>> for n in range(3):
    ...     workers.submit(lane, lambda n=n: done.append(n))
    >>> workers.close()
    >>> done
    [0, 1, 2]
    """

    # _line: lanes that have a job and are not being served.
    # _writes: what the writer is to do, with the lane that is free afterwards.
    # _unfinished: jobs that were taken and are not done. _stopping: no more are taken.
    # _lock: around all of it. _write_came, _job_ended: who waits for what.
    # _idle: threads that wait for work, each with what wakes it. The one that worked last is woken
    #     first: it has the network's weights in the cache of its core.

    def __init__(self, threads: int) -> None:
        self._lock = threading.Lock()
        self._write_came = threading.Condition(self._lock)
        self._job_ended = threading.Condition(self._lock)
        self._idle: list[threading.Condition] = []
        self._line: deque[Lane] = deque()
        self._writes: deque[tuple[Lane, Callable[[], object]]] = deque()
        self._unfinished = 0
        self._stopping = self._closed = False
        work = {f"newfound-studio-{n}": self._work for n in range(threads)}
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True)
            for name, target in (work | {"newfound-studio-writer": self._write}).items()
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, lane: Lane, job: Job) -> None:
        """Put a job at the end of a lane, or raise StoppingError."""
        with self._lock:
            self._put(lane, job)

    def submit_newest(self, lane: Lane, job: Job) -> int:
        """Put a job in place of all that wait in a lane; return how many these were."""
        with self._lock:
            self._put(lane, job)
            dropped = len(lane.jobs) - 1
            lane.jobs = deque([job])
            self._unfinished -= dropped
            return dropped

    def _put(self, lane: Lane, job: Job) -> None:
        if self._stopping:
            raise StoppingError
        self._unfinished += 1
        lane.jobs.append(job)
        if not lane.busy:
            lane.busy = True
            self._line_up(lane)

    def _line_up(self, lane: Lane) -> None:
        self._line.append(lane)
        if self._idle:
            self._idle.pop().notify()

    def stop(self) -> None:
        """Take no more jobs, and wait until those that were taken are done."""
        with self._job_ended:
            self._stopping = True
            self._job_ended.wait_for(lambda: not self._unfinished)

    def close(self) -> None:
        """Do what is left, and end all threads."""
        self.stop()
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().notify()
            self._write_came.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        wake = threading.Condition(self._lock)
        while True:
            with self._lock:
                while not self._line:
                    if self._closed:
                        return
                    self._idle.append(wake)
                    wake.wait()
                lane = self._line.popleft()
                job = lane.jobs.popleft()
            write = None
            try:
                write = job()
            except Exception:  # jobs answer for themselves; whatever it is, the thread goes on
                log.exception("a job failed")
            if write is None:
                self._end(lane)
                continue
            with self._write_came:
                self._writes.append((lane, write))
                self._write_came.notify()

    def _write(self) -> None:
        while True:
            with self._write_came:
                self._write_came.wait_for(lambda: self._writes or self._closed)
                if not self._writes:
                    return
                lane, write = self._writes.popleft()
            try:
                write()
            except Exception:
                log.exception("a lesson failed")
            self._end(lane)

    def _end(self, lane: Lane) -> None:
        with self._lock:
            self._unfinished -= 1
            lane.busy = bool(lane.jobs)
            if lane.busy:
                self._line_up(lane)
            if not self._unfinished:
                self._job_ended.notify_all()
