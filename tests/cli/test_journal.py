"""The command line on a model with a journal: every command is in it, and undone from it."""

import os
from pathlib import Path

import pytest

from newfound.recognition.editor import Editor
from newfound.recognition.opening import open_to_look
from tests.cli.test_undo import CHANGES, done
from tests.command_line import newfound, write_pictures, write_rows
from tests.recognition.edits import assert_replays


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "mug", "pot"] * 10)
    write_rows(Path("more.npz"), ["cup", "jug"] * 5, seed=1)
    Editor("m").journal.close()
    done("teach", "m", "first.npz")
    return Path("m")


def counts() -> dict[str, int]:
    return open_to_look("m").counts


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=" ".join)
def test_every_change_is_taken_back_and_made_again(model: Path, change: tuple[str, ...]) -> None:
    done("teach", "other", "more.npz")
    done("teach", "another", "more.npz")
    before = counts()
    assert newfound(*change).code in (0, 3)
    after = counts()
    assert after != before
    editor = Editor("m")
    assert_replays(editor)
    editor.journal.close()
    assert "Undid: " in done("undo", "m").err
    assert counts() == before
    assert "Did again: " in done("redo", "m").err
    assert counts() == after
    done("undo", "m")
    assert counts() == before
    assert not Path("m.undo").exists()


@pytest.mark.slow
def test_undo_goes_back_step_by_step_until_nothing_is_left(model: Path) -> None:
    done("teach", "m", "more.npz")
    done("rename", "m", "jug", "vase")
    said = [newfound("undo", "m").err for _ in range(4)]
    assert said[0].startswith("Undid: renamed jug to vase. m knows 4 classes from 40 images.")
    assert said[1].startswith("Undid: taught 10 examples of 2 classes. m knows 3 classes")
    assert said[2].startswith("Undid: taught 30 examples of 3 classes. m knows nothing.")
    assert said[3].startswith("There is nothing to undo.")
    assert not model.exists()
    gone = newfound("predict", "m", "more.npz")
    assert gone.code == 1
    assert "There is no model m: newfound teach makes one, newfound undo m brings back" in gone.err
    for _ in range(3):
        done("redo", "m")
    assert counts() == {"cup": 15, "mug": 10, "pot": 10, "vase": 5}
    assert newfound("redo", "m").err.startswith("There is nothing to redo.")


def test_photos_taught_from_files_have_thumbnails_and_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Editor("m").journal.close()
    write_pictures(Path("photos/cup"), 1, range(3))
    write_pictures(Path("photos/mug"), 2, range(3))
    done("teach", "m", "photos", "--extractor", "pixels:size=4")
    editor = Editor("m")
    kept = editor.journal.examples.kept("mug")
    assert [Path(each.source).name for each in kept] == ["002.png", "001.png", "000.png"]
    picture = editor.journal.examples.thumbnail(kept[0].id)
    assert picture is not None
    assert picture.startswith(b"\xff\xd8\xff")
    editor.journal.close()
    assert "Skipped 6" in done("teach", "m", "photos").err


def test_what_others_read_is_up_to_date_before_any_snapshot(model: Path) -> None:
    editor = Editor("m")
    editor.forget_class("pot")
    assert done("inspect", "m").out.count("pot") == 0
    assert "journal" in done("inspect", "m").out
    editor.journal.close()


@pytest.mark.slow
@pytest.mark.parametrize("has_journal", [True, False])
@pytest.mark.parametrize(
    "words", [("forget", "m", "first.npz", "--as", "cup"), ("forget-class", "m", "mug")]
)
def test_what_is_forgotten_for_good_cannot_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], has_journal: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "mug", "pot"] * 10)
    if has_journal:
        Editor("m").journal.close()
    done("teach", "m", "first.npz")
    done("rename", "m", "pot", "pan")
    assert newfound(*words, "--for-good").code in (0, 3)
    assert newfound("undo", "m").code == 1
    assert sum(counts().values()) == 20


def test_a_journal_that_is_none_is_named_in_a_line(model: Path) -> None:
    os.truncate("m.journal", 0)
    Path("m.journal").write_bytes(b"no database" * 1000)
    for command in ("predict", "teach"):
        said = newfound(command, "m", "more.npz")
        assert said.code == 1
        assert "m.journal: file is not a database" in said.err
