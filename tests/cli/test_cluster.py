"""`newfound teach --cluster`: what it says, and what is left when it is broken off."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import Recogniser
from newfound.features import catalog
from newfound.recognition import remote
from newfound.recognition.cluster import connected
from tests.command_line import newfound, on_terminal, write_pictures
from tests.covering import first_of
from tests.recognition.watched import DIE, WAIT, Watched, write_plain
from tests.tree import PYTHONPATH

pytestmark = pytest.mark.slow

PIXELS = ("--extractor", "pixels:size=8")
# The command line, with few images a chunk and an extractor whose workers wait over some pictures.
PROGRAM = """
import sys
from functools import partial
from pathlib import Path
from newfound.cli import main
from newfound.features import catalog
from newfound.recognition import remote
from tests.recognition.watched import Watched

if __name__ == "__main__":
    remote.CHUNK = 4
    catalog.Pixels = partial(Watched, Path(sys.argv.pop(1)))
    main()
"""


@pytest.fixture
def address(local_cluster: Any) -> str:
    return str(local_cluster.scheduler.address)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number, thing in enumerate(("cup", "jug", "mug")):
        write_pictures(tmp_path / "photos" / thing, number, range(40))
    return tmp_path


def test_it_says_what_one_machine_says(world: Path, address: str) -> None:
    (world / "photos" / "mug" / "damaged.png").write_bytes(b"no image")
    here = newfound("teach", "here", "photos", *PIXELS)
    there = newfound("teach", "there", "photos", *PIXELS, "--cluster", address)
    assert (here.code, there.code) == (3, 3)
    assert there.err.splitlines()[1:] == [
        line.replace("here knows", "there knows") for line in here.err.splitlines()[1:]
    ]
    assert "photos/mug/damaged.png: not an image" in there.err
    assert newfound("inspect", "here").out == newfound("inspect", "there").out
    again = newfound("teach", "there", "photos", "--cluster", address)
    assert again.code == 3
    assert "Learned 0 images" in again.err
    assert "Skipped 120 that were taught already" in again.err
    assert newfound("undo", "there").code == 0
    assert not Path("there").exists()


def test_on_a_terminal_there_is_a_bar_and_nothing_of_the_machinery(world: Path) -> None:
    code, shown = on_terminal("teach", "m", "photos", *PIXELS, "--cluster", "local")
    assert code == 0, shown
    assert "teaching" in shown
    assert "120/120" in shown
    for word in ("distributed", "dask", "nanny", "Warning", "Traceback"):
        assert word not in shown
    quiet = on_terminal("teach", "m", "photos", "--cluster", "local", "--quiet")
    assert quiet == (0, "")


def test_where_nobody_is_a_sentence_says_so(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.recognition.cluster.PATIENCE", 0.5)
    done = newfound("teach", "m", "photos", *PIXELS, "--cluster", "tcp://127.0.0.1:9")
    assert done.code == 1
    (line,) = done.err.splitlines()
    assert line.startswith("newfound: no cluster answers at tcp://127.0.0.1:9: is a scheduler")
    assert not Path("m").exists()


def test_who_lacks_dask_is_told_how_to_get_it(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = newfound("teach", "m", "photos", *PIXELS, "--cluster", "local")
    assert done.code == 1
    assert "pip install 'newfound[dask]'" in done.err


@pytest.mark.parametrize("how", first_of([signal.SIGKILL, signal.SIGINT]))
def test_a_lesson_that_is_broken_off_goes_on_where_it_was(world: Path, how: signal.Signals) -> None:
    write_plain(world / "photos" / "mug" / "020 wait.png", WAIT)
    (world / "hold").touch()
    (world / "program.py").write_text(PROGRAM)
    words = ["teach", "m", "photos", *PIXELS, "--cluster", "local", "--save-every", "0"]
    process: Any = subprocess.Popen(
        [sys.executable, "program.py", world, *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        start_new_session=True,
    )
    while not (Path("m").exists() and list(world.glob("*.waits"))):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does, to workers, too
    else:
        process.kill()
    (world / "hold").unlink()
    _, err = process.communicate()
    assert "Traceback" not in err
    if how == signal.SIGINT:
        assert process.returncode == 130, err
        assert "run it again to go on" in err
    learned = Recogniser("m")
    assert sum(learned.counts.values()) == len(learned.taught)
    assert 0 < len(learned.taught) < 121
    assert len(learned.taught) % 8 == 0
    rest = newfound("teach", "m", "photos", "--cluster", "local")
    assert rest.code == 0, rest.err
    assert f"Skipped {len(learned.taught)} that were taught already" in rest.err
    assert newfound("teach", "whole", "photos", *PIXELS).code == 0
    one, other = Recogniser("m"), Recogniser("whole")
    assert one.counts == other.counts == {"cup": 40, "jug": 40, "mug": 41}
    assert one.taught.digests == other.taught.digests
    sums, others = one.model.learner_.to_state().sums, other.model.learner_.to_state().sums
    np.testing.assert_allclose(sums.gram, others.gram, rtol=1e-12)
    np.testing.assert_allclose(sums.cross, others.cross, rtol=1e-12)


@pytest.mark.skipif(sys.platform != "linux", reason="sees in /proc that processes were started")
def test_ctrl_c_while_a_cluster_starts_is_one_sentence(world: Path) -> None:
    (world / "program.py").write_text(PROGRAM)
    words = ["teach", "m", "photos", *PIXELS, "--cluster", "local"]
    process: Any = subprocess.Popen(
        [sys.executable, "program.py", world, *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        start_new_session=True,
    )
    children = Path(f"/proc/{process.pid}/task")
    while not any(b"spawn_main" in words for words in _command_lines(children)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert err == "Interrupted after 0 images; run it again to go on.\n"
    assert not Path("m").exists()


def _command_lines(tasks: Path) -> Iterator[bytes]:
    """Yield the command lines of what the threads of a process started."""
    for each in tasks.glob("*/children"):
        with contextlib.suppress(OSError):
            for child in each.read_text().split():
                yield Path(f"/proc/{child}/cmdline").read_bytes()


def test_of_a_local_cluster_no_files_remain(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (world / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(world / "temporary"))
    done = newfound("teach", "m", "photos", *PIXELS, "--cluster", "LOCAL")
    assert done.code == 0, done.err
    assert list((world / "temporary").iterdir()) == []


def test_processes_of_a_local_cluster_end_with_it(world: Path) -> None:
    with connected("local") as client:
        processes = list(client.run(os.getpid).values())
    for process in processes:
        with pytest.raises(ProcessLookupError), contextlib.ExitStack():
            os.kill(process, 0)


def test_a_file_that_kills_its_workers_is_named_and_what_comes_before_is_saved(
    world: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "CHUNK", 4)
    monkeypatch.setattr(catalog, "Pixels", lambda size: Watched(world, size))
    write_plain(world / "photos" / "mug" / "999.png", DIE)
    done = newfound("teach", "m", "photos", *PIXELS, "--cluster", address)
    assert done.code == 1
    first, *named = done.err.splitlines()
    assert first.startswith("newfound: 4 workers died, one after the other, over the same files")
    assert named == ["  photos/mug/999.png"]  # alone in its chunk: 120 come before it
    learned = Recogniser("m")
    assert sum(learned.counts.values()) == len(learned.taught) >= 96
    monkeypatch.undo()
    (world / "photos" / "mug" / "999.png").unlink()
    with contextlib.chdir(world):
        assert newfound("teach", "m", "photos", "--cluster", address).code == 0
    assert Recogniser(world / "m").counts == {"cup": 40, "jug": 40, "mug": 40}
