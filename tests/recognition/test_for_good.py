"""What is deleted for good is in no file of the folder: at once, and after a kill."""

import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.common.files import digest_of
from newfound.recognition import inbox
from newfound.recognition.editor import Editor
from newfound.recognition.knowledge import Knowledge
from newfound.recognition.sources import NewExample
from tests.cli.test_undo import done
from tests.command_line import newfound, write_rows
from tests.recognition.edits import open_at, row, teach_one

SECRET = b"a picture that nobody wants"
# Dismisses a question, and is killed before it could clear up.
DISMISS_AND_DIE = """
import os, signal, sys
from newfound.recognition.editor import Editor

editor = Editor(sys.argv[1], None)
editor.journal.checkpoint = lambda: os.kill(os.getpid(), signal.SIGKILL)
editor.dismiss(1)
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Editor:
    editor = open_at(tmp_path / "kitchen.newfound")
    teach_one(editor, row(0, "cup"), "cup", digest(0))
    return editor


def digest(number: int) -> bytes:
    return digest_of(bytes([number]))


def ask(editor: Editor, number: int, picture: bytes = SECRET) -> int:
    frame = NewExample(row(number, "mug"), digest(number), None, "camera", picture)
    return editor.ask([frame], "camera")


def traces(folder: Path, *secrets: bytes) -> list[str]:
    """Return the files of a folder in which any of the secrets is."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return sorted(name for name, data in files.items() if any(each in data for each in secrets))


def test_a_dismissed_question_is_in_no_file_at_once(kitchen: Editor, tmp_path: Path) -> None:
    asked = ask(kitchen, 10)
    secrets = SECRET, row(10, "mug").tobytes(), digest(10)
    assert traces(tmp_path, *secrets) == ["kitchen.newfound.journal-wal"]
    assert kitchen.dismiss(asked).what == f"dismissed question {asked}"
    assert traces(tmp_path, *secrets) == []
    kitchen.close()


def test_nor_is_one_that_made_room_for_another(
    kitchen: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_QUESTIONS", 2)
    for number in (10, 11, 12):
        ask(kitchen, number, SECRET if number == 10 else b"another")
    assert traces(tmp_path, SECRET, digest(10)) == []
    assert traces(tmp_path, digest(11)) == ["kitchen.newfound.journal"]
    kitchen.close()


def test_while_another_reads_that_is_said_and_the_next_edit_clears_up(
    kitchen: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, journal = ask(kitchen, 10), kitchen.journal
    monkeypatch.setattr(journal, "checkpoint", partial(journal.checkpoint, wait=0.0))
    reader = open_at(tmp_path / "kitchen.newfound", read_only=True)  # begun, and not done
    assert "another program reads the journal" in kitchen.dismiss(asked).what
    assert traces(tmp_path, SECRET)
    teach_one(kitchen, row(1, "cup"), "cup", digest(1))  # which does not wait for it either
    assert traces(tmp_path, SECRET)
    reader.journal.close()
    teach_one(kitchen, row(2, "cup"), "cup", digest(2))
    assert traces(tmp_path, SECRET) == []
    kitchen.close()


def test_what_a_killed_process_dismissed_is_gone_when_the_model_is_opened_next(
    kitchen: Editor, tmp_path: Path
) -> None:
    ask(kitchen, 10)
    kitchen.close()
    words = [sys.executable, "-c", DISMISS_AND_DIE, str(tmp_path / "kitchen.newfound")]
    assert subprocess.run(words, check=False).returncode < 0
    assert traces(tmp_path, SECRET)
    opened = open_at(tmp_path / "kitchen.newfound")
    assert opened.journal.inbox.open() == []
    assert traces(tmp_path, SECRET) == []
    opened.close()


def test_pictures_that_are_not_to_be_kept_any_more_are_gone_at_once(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach_one(kitchen, row(0, "cup"), "cup", digest(0), thumbnail=SECRET)
    kitchen.close()
    assert traces(tmp_path, SECRET)
    kitchen = open_at(path, keep_thumbnails=0)
    assert traces(tmp_path, SECRET) == []
    kitchen.close()


@pytest.mark.parametrize("rest", [[], ["cup"]])
def test_a_snapshot_of_before_that_comes_late_brings_nothing_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: list[str]
) -> None:
    kitchen = open_at(tmp_path / "kitchen.newfound")
    for number, label in enumerate(["private", *rest]):
        teach_one(kitchen, row(number, label), label, digest(number))
    begun, go_on, to_state = threading.Event(), threading.Event(), Knowledge.to_state

    def late(self: Knowledge) -> Any:
        if threading.current_thread() is thread:
            begun.set()
            go_on.wait(60)
        return to_state(self)

    thread = threading.Thread(target=kitchen.snapshot)
    monkeypatch.setattr(Knowledge, "to_state", late)
    thread.start()
    assert begun.wait(60)
    kitchen.forget_class("private")
    kitchen.forget_for_good()
    go_on.set()
    thread.join(60)
    assert (tmp_path / "kitchen.newfound").exists() == bool(rest)
    assert traces(tmp_path, b"private", digest(0)) == []
    kitchen.close()


@pytest.mark.slow
@pytest.mark.parametrize("has_journal", [True, False])
@pytest.mark.parametrize(("command", "code"), [("forget", 3), ("forget-class", 1)])
def test_what_was_forgotten_before_goes_with_the_next_that_is_forgotten_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_journal: bool, command: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = write_rows(Path("all.npz"), ["cup", "zzprivate"] * 10)
    np.savez("private.npz", vectors=rows[1::2], labels=["zzprivate"] * 10)
    if has_journal:
        Editor("m").journal.close()
    done("teach", "m", "all.npz")
    # Perhaps that was to be for good, and was killed before it was.
    done(command, "m", "private.npz" if code == 3 else "zzprivate")
    for file in ("all.npz", "private.npz"):
        Path(file).rename(tmp_path.parent / file)
    assert traces(tmp_path, b"zzprivate")
    again = tmp_path.parent / "private.npz" if code == 3 else "zzprivate"
    assert newfound(command, "m", again, "--for-good").code == code
    assert traces(tmp_path, b"zzprivate") == []
    assert newfound("undo", "m").code == 1
