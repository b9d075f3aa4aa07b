"""A `newfound studio` of its own: a process on a port of the loopback address."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import httpx

# Longer than any start takes, also on a machine that is busy with other work.
PATIENCE = 120.0


class Studio:
    """A server that is started, killed and started again on the same port."""

    # words: the command and its options, all but the model and the port.
    # log: what it said on stdout and stderr, of all its lives.

    def __init__(self, model: Path, *words: str) -> None:
        self.model = model
        self.words = words or ("studio",)
        self.port = free_port()
        self.log = model.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where its page is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def live(self) -> str:
        """Where its WebSocket is."""
        return f"ws://127.0.0.1:{self.port}/api/live"

    def start(self) -> float:
        """Start it, and return after how many seconds it answered."""
        command, *options = self.words
        port = ("--port", str(self.port))
        began = monotonic()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "newfound", command, self.model, *port, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Nobody's browser opens.
                env={**os.environ, "BROWSER": "true", "PYTHONUNBUFFERED": "1"},
            )
        while not self.answers():
            assert self.process.poll() is None, f"it ended: {self.said()}"
            assert monotonic() - began < PATIENCE, f"it does not answer: {self.said()}"
            sleep(0.02)
        return monotonic() - began

    def answers(self) -> bool:
        """Whether it is there and well."""
        try:
            return httpx.get(f"{self.url}/api/health", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            return False

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it by a signal, and return its exit code."""
        assert self.process is not None
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self.process = None
        return code

    def kill(self) -> None:
        """End it as a power cut would."""
        self.end(signal.SIGKILL)

    def pause(self) -> None:
        """Let it stand still, as if it were busy for ever."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def memory(self) -> int:
        """Return the bytes that it holds in memory."""
        assert self.process is not None
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def busy(self) -> float:
        """Return the seconds that it kept cores busy."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def said(self) -> str:
        """Return what it printed."""
        return self.log.read_text(errors="replace")


@contextmanager
def studio(model: Path, *words: str) -> Iterator[Studio]:
    """Start a studio, which ends with the context at the latest."""
    served = Studio(model, *words)
    try:
        served.start()
        yield served
    finally:
        if served.process is not None:
            served.process.kill()
            served.process.wait(PATIENCE)


def free_port() -> int:
    """Return a port of the loopback address that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
