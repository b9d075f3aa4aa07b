"""The thread that writes a model's file while nobody teaches."""

import logging
import threading
from collections.abc import Callable
from time import monotonic


class SnapshotThread:
    """Writes some seconds after the last change, or during many now and then.

    The journal holds every change already: if this fails, nothing is lost but time at the next
    start.

    Parameters
    ----------
    write : callable
        Writes the file.
    log : logging.Logger
        Is told if that fails.
    idle, every : float
        Seconds without a change after which that is done, and between two times if changes never
        end.
    """

    def __init__(
        self,
        write: Callable[[], None],
        log: logging.Logger,
        idle: float = 5.0,
        every: float = 60.0,
    ) -> None:
        self._write, self._log, self._idle, self._every = write, log, idle, every
        self._changed, self._is_closed = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="newfound-snapshots", daemon=True)
        self._thread.start()

    def tell(self) -> None:
        """Say, from whatever thread, that something changed."""
        self._changed.set()

    def close(self) -> None:
        """End the thread, which writes nothing any more unless it is just about it."""
        self._is_closed = True
        self._changed.set()
        self._thread.join()

    def _run(self) -> None:
        while self._next_change(None):
            latest = monotonic() + self._every
            while (left := min(self._idle, latest - monotonic())) > 0 and self._next_change(left):
                pass
            if self._is_closed:
                return
            try:
                self._write()
            except Exception:
                self._log.exception("the model could not be written")

    def _next_change(self, seconds: float | None) -> bool:
        """Wait for a change; tell whether one came, and not the end."""
        came = self._changed.wait(seconds)
        self._changed.clear()
        return came and not self._is_closed
