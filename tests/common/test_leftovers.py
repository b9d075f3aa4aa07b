"""Temporary files: those of writers that were killed go, those that are being written stay."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from newfound import Recogniser, load
from newfound.common import files
from newfound.common.files import clear_leftovers, write_whole
from newfound.recognition.editor import Editor
from tests.command_line import newfound
from tests.recognition.edits import row

# Writes a file until it is killed: half of it, as whoever watches sees.
WRITER = """
import os, sys, time
from newfound.common import files

def stop(temporary, path, of):
    print(temporary, flush=True)
    sys.stdin.read()

files._place = stop
files.write_whole(sys.argv[1], b"secret")
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "kitchen.newfound"
    recogniser = Recogniser(path, None)
    recogniser.teach_vectors([row(0, "cup"), row(1, "mug")], ["cup", "mug"])
    recogniser.save()
    return path


def begin_to_write(path: Path) -> tuple[subprocess.Popen[str], Path]:
    """Return a process that has written a temporary file beside a path, and that file."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def killed(path: Path) -> Path:
    """Return the temporary file of a writer that was killed, as old as a second."""
    process, left = begin_to_write(path)
    process.kill()
    process.communicate()
    assert left.read_bytes() == b"secret"
    while time.time() - left.stat().st_ctime < 1.0:
        time.sleep(0.01)
    return left


def test_what_is_being_written_stays_and_what_was_left_goes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    process, written = begin_to_write(path)
    clear_leftovers(path, grace=0.0)
    assert written.exists()
    process.kill()
    process.communicate()
    clear_leftovers(path, grace=3600.0)  # it may have been made just now
    assert written.exists()
    clear_leftovers(path, grace=0.0)
    assert not written.exists()


def test_only_temporary_files_of_this_path_go(tmp_path: Path) -> None:
    others = [".b.0123456789abcdef.tmp", ".a.0123.tmp", "a.0123456789abcdef.tmp", ".a.lock"]
    for name in others:
        (tmp_path / name).touch()
    (tmp_path / ".a.0123456789abcdee.tmp").symlink_to(tmp_path / ".a.lock")
    clear_leftovers(tmp_path / "a", grace=0.0)
    assert names_in(tmp_path) == sorted([*others, ".a.0123456789abcdee.tmp"])


@pytest.mark.slow
@pytest.mark.parametrize("who", ["load", "Recogniser", "inspect", "rename", "for good", "Editor"])
def test_whoever_opens_a_model_next_clears_what_a_killed_save_left(model: Path, who: str) -> None:
    editor = Editor(model, None) if who == "for good" else None
    left = killed(model)
    if editor is not None:
        editor.forget_for_good()
        editor.close()
    elif who == "Editor":
        Editor(model, None).close()
    elif who == "load":
        load(model)
    elif who == "Recogniser":
        Recogniser(model)
    else:
        words = ("rename", model, "mug", "jug") if who == "rename" else ("inspect", model)
        assert newfound(*words).code == 0
    assert not left.exists()


def test_a_file_taken_for_left_behind_before_it_was_locked_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, names = files._lock, list[str]()  # noqa: SLF001 - where the moment is

    def removed_first(file: object, *, wait: bool) -> None:
        if wait and not names:
            names.extend(names_in(tmp_path))
            clear_leftovers(tmp_path / "a", grace=0.0)
        lock(file, wait=wait)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "_lock", removed_first)
    write_whole(tmp_path / "a", b"whole")
    assert len(names) == 1
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"whole"
