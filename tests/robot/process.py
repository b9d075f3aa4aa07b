"""Processes of a test, which end with it, and of which tests await what they say."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from tests.background import PATIENCE


class Process:
    """A process, of this Python unless a program is named; what it says is kept."""

    def __init__(self, *words: object, program: str = sys.executable, **environment: str) -> None:
        self.said: list[str] = []
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            [program, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.said.append(line)
                self._changed.notify_all()

    def wait_for(self, words: str) -> str:
        """Return the first line that holds these words, once it is there."""

        def found() -> str | None:
            return next((line for line in self.said if words in line), None)

        with self._changed:
            line = self._changed.wait_for(found, PATIENCE)
        assert line is not None, f"{words!r} was not said: {''.join(self.said)}"
        return line

    def wait_while(self, do: Callable[[], object], words: str, after: int) -> None:
        """Do something over and over until these words are said, after so many lines."""

        def is_said() -> bool:
            return any(words in line for line in self.said[after:])

        latest = monotonic() + PATIENCE
        with self._changed:
            while not self._changed.wait_for(is_said, 0.1):
                assert monotonic() < latest, f"{words!r} was not said: {''.join(self.said)}"
                do()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def tell(self, line: object) -> None:
        """Write a line to its stdin."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and return the exit code."""
        self._process.send_signal(number)
        code = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.is_alive:
            self.end(signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
