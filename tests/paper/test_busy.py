"""Busy programs: at work before anything is measured, and gone afterwards, whatever happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from newfound.common.threads import cores
from newfound.paper.busy import KINDS, busy, environment

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to read")
PATIENCE = 60.0  # seconds until what never happens is a failure
PARENT = """
import sys
from newfound.paper.busy import busy
with busy("loops", 2) as programs:
    print(*(each.pid for each in programs), flush=True)
    sys.stdin.read()
"""


def ticks(pid: int) -> int:
    """Return how much of a core a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_until_it_works_on(pid: int) -> None:
    before, deadline = ticks(pid), time.monotonic() + PATIENCE
    while ticks(pid) < before + 3:
        assert time.monotonic() < deadline


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_at_work_when_the_context_begins(kind: str) -> None:
    with busy(kind, 1) as (program,):
        wait_until_it_works_on(program.pid)
        assert program.poll() is None


def test_there_is_one_for_each_core() -> None:
    with busy("loops") as programs:
        assert len(programs) == cores() >= 1


def test_they_end_with_the_context() -> None:
    with busy("loops", 2) as programs:
        pass
    assert all(each.returncode for each in programs)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_they_end_when_something_goes_wrong(error: type[BaseException]) -> None:
    with pytest.raises(error), busy("loops", 2) as programs:
        raise error
    assert all(each.returncode for each in programs)


def test_one_that_cannot_start_is_no_background(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="busy with dreams ended"), busy("dreams", 1):
        pass
    assert "KeyError" in capfd.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
def test_they_end_by_themselves_when_who_started_them_is_killed() -> None:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stderr is not None
        programs = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(programs) == 2
        os.kill(parent.pid, signal.SIGKILL)
        # They hold its stderr open, which so ends with the last of them.
        assert parent.stderr.read() == ""
        assert parent.wait() == -signal.SIGKILL


@needs_proc
def test_ctrl_c_is_left_to_who_started_them() -> None:
    with busy("loops", 1) as (program,):
        os.kill(program.pid, signal.SIGINT)
        wait_until_it_works_on(program.pid)
    assert program.returncode == -signal.SIGKILL


def test_threads_are_those_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    default, one = environment(), environment(blas_threads=1)
    assert not {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} & default.keys()
    assert one["OPENBLAS_NUM_THREADS"] == "1"
    assert default["PATH"] == one["PATH"] == os.environ["PATH"]
