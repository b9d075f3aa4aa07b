"""Undo: the state before the last command, kept beside the model."""

import itertools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier
from newfound.cli.console import size
from newfound.recognition import locking, undo
from newfound.recognition.beside import journal_file
from newfound.recognition.editor import Editor
from newfound.recognition.history import Edit, History, NothingToUndoError
from newfound.recognition.journal_history import JournalHistory
from newfound.recognition.opening import open_to_look
from newfound.recognition.recogniser import Recogniser
from tests.command_line import Done, newfound, write_rows


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_rows(Path("first.npz"), ["cup", "mug", "pot"] * 10)
    write_rows(Path("more.npz"), ["cup", "jug"] * 5, seed=1)
    assert done("teach", "m", "first.npz")
    return Path("m")


def done(*words: object) -> Done:
    """Run a command that must succeed."""
    result = newfound(*words)
    assert result.code == 0, result
    return result


CHANGES: list[tuple[str, ...]] = [
    ("teach", "m", "more.npz"),
    ("forget", "m", "first.npz"),
    ("forget", "m", "first.npz", "--as", "cup"),
    ("forget-class", "m", "mug"),
    ("rename", "m", "mug", "beaker"),
    ("rename", "m", "mug", "cup", "--force"),
    ("merge", "m", "other", "-o", "m", "--force"),
    ("merge", "other", "another", "-o", "m", "--force"),
]


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=" ".join)
def test_every_change_is_taken_back_and_made_again(model: Path, change: tuple[str, ...]) -> None:
    done("teach", "other", "more.npz")
    done("teach", "another", "more.npz")
    before = model.read_bytes()
    assert newfound(*change).code in (0, 3)  # 3: not all of them were cups
    after = model.read_bytes() if model.exists() else None
    assert after != before
    said = done("undo", "m").err
    room = f" ({size(len(after))} kept)" if after else ""
    state = "m knows 3 classes from 30 images"
    assert said == f"Undid the last command. {state}; newfound redo m takes this back{room}.\n"
    assert model.read_bytes() == before
    for again in ("redo", "undo"):  # a second undo takes back the first
        said = done(again, "m").err
        assert said.startswith("Did the last command again. m ")
        assert f"; newfound undo m takes this back ({size(len(before))} kept)." in said
        assert (model.read_bytes() if model.exists() else None) == after
        done("undo", "m")
        assert model.read_bytes() == before


def test_the_first_lesson_is_taken_back_too(model: Path) -> None:
    before = model.read_bytes()
    gone = "m is gone, as before it was taught; newfound redo m takes this back"
    for again in ("redo", "undo"):
        assert gone in done("undo", "m").err
        assert not model.exists()
        done(again, "m")
        assert model.read_bytes() == before


@pytest.mark.parametrize("change", [(), *CHANGES[:2]], ids=" ".join)
def test_redo_without_an_undo_is_refused(model: Path, change: tuple[str, ...]) -> None:
    """Neither after a command, nor after one that was done again."""
    if change:
        done(*change)
    assert_no_redo()
    done("undo", "m")
    done("redo", "m")
    assert_no_redo()
    assert not journal_file("m").exists()


@pytest.mark.parametrize("change", ["rename m mug beaker", "forget m first.npz"])
def test_what_was_undone_is_not_done_again_once_something_else_is(model: Path, change: str) -> None:
    done("teach", "m", "more.npz")
    done("undo", "m")
    before = model.read_bytes()
    done(*change.split())
    assert_no_redo()
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_command_that_changes_nothing_leaves_what_can_be_done_again(model: Path) -> None:
    done("teach", "m", "more.npz")
    after = model.read_bytes()
    done("undo", "m")
    assert "Learned 0 " in done("teach", "m", "first.npz").err
    done("rename", "m", "mug", "mug")
    done("redo", "m")
    assert model.read_bytes() == after
    assert_no_redo()


def assert_no_redo() -> None:
    """Redo must do nothing, and say so."""
    before = folder()
    result = newfound("redo", "m")
    assert (result.code, result.out, result.err) == (1, "", "There is nothing to redo.\n")
    assert folder() == before


@pytest.mark.parametrize("has_journal", [False, True])
def test_every_history_goes_back_and_forth_until_the_past_is_forgotten(
    model: Path, has_journal: bool
) -> None:
    if has_journal:
        Editor(model, None).close()
    before = open_to_look(model).counts
    done("rename", "m", "mug", "beaker")
    with locking.locked(model) as change:
        history: History = change.history
        assert type(history) is (JournalHistory if has_journal else undo.FileHistory)
        for _ in range(2):
            assert_nothing_to("redo", history.redo)
            assert history.undo().what.startswith("undid")
            assert change.open().counts == before
            assert history.redo().what.startswith("did ")
            assert change.open().counts == {"beaker": 10, "cup": 10, "pot": 10}
        history.undo()
        assert history.forget_past().what.startswith("forgot ")
        assert_nothing_to("redo", history.redo)
        assert_nothing_to("undo", history.undo)
        assert change.open().counts == before
    assert open_to_look(model).counts == before


def assert_nothing_to(which: str, turn: Callable[[], Edit]) -> None:
    with pytest.raises(NothingToUndoError, match=f"there is nothing to {which}"):
        turn()


def test_a_lesson_saved_on_the_way_is_taken_back_whole(model: Path) -> None:
    before = model.read_bytes()
    write_rows(Path("long.npz"), ["jug", "jar"] * 100, seed=2)
    done("teach", "m", "long.npz", "--save-every", 0)
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_lesson_that_teaches_nothing_is_nothing_to_undo(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    assert "Learned 0 " in done("teach", "m", "more.npz").err
    done("rename", "m", "mug", "mug")
    assert newfound("forget", "m", "first.npz", "--as", "nobody").code == 3
    done("undo", "m")
    assert model.read_bytes() == before


def test_where_nothing_is_kept_nothing_is_done(model: Path) -> None:
    Path("m.undo").unlink()
    before = model.read_bytes()
    for name in ("m", "nowhere"):
        for which in ("undo", "redo"):
            result = newfound(which, name)
            assert (result.code, result.out) == (1, "")
            said = f"There is nothing to {which}: no other state of {name} is kept beside it."
            assert said in result.err
    assert model.read_bytes() == before
    assert not Path(".nowhere.lock").exists()


def test_the_kept_state_lies_where_a_link_leads(model: Path) -> None:
    before = model.read_bytes()
    Path("elsewhere").mkdir()
    Path("m.undo").unlink()
    model.rename("elsewhere/real")
    model.symlink_to("elsewhere/real")
    done("teach", "m", "more.npz")
    assert (Path("elsewhere/real.undo").exists(), Path("m.undo").exists()) == (True, False)
    done("undo", "m")
    assert model.is_symlink()
    assert Path("elsewhere/real").read_bytes() == before


def test_without_links_the_state_is_copied(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refuse)
    before = model.read_bytes()
    model.chmod(0o600)
    done("teach", "m", "more.npz")
    assert Path("m.undo").stat().st_mode & 0o777 == 0o600
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_damaged_state_is_not_brought_back_but_a_damaged_model_is_mended(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    after = model.read_bytes()
    Path("m.undo").write_bytes(b"junk")
    result = newfound("undo", "m")
    assert (result.code, "newfound: m.undo: not a model file" in result.err) == (1, True)
    assert "the model is as it was, and m.undo may be deleted" in result.err
    assert model.read_bytes() == after
    Path("m.undo").write_bytes(before)
    model.write_bytes(b"junk")
    done("undo", "m")
    assert model.read_bytes() == before


def test_inspect_tells_how_large_the_kept_state_is(model: Path) -> None:
    done("teach", "m", "more.npz")
    length = Path("m.undo").stat().st_size
    assert 0 < length < 100_000
    assert f"undo\t{-(-length // 1000)} KB" in done("inspect", "m").out
    Path("m.undo").unlink()
    assert "undo" not in done("inspect", "m").out


def test_inspect_and_undo_agree_on_whether_anything_is_kept(model: Path) -> None:
    Path("m.undo").unlink()
    os.link("m", "m.undo")
    assert newfound("undo", "m").code == 1
    assert "undo" not in done("inspect", "m").out


class Killed(BaseException):
    """Stands for a kill: nothing after it is done."""


def refuse(*_: Any, **__: Any) -> None:
    raise PermissionError("no links here")


def state_of(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


STEPS: list[tuple[Any, str]] = [
    (os, "link"),
    *((Path, name) for name in ("replace", "unlink", "touch", "open")),
]


def run_until(last: int, links: bool, act: Any, patch: pytest.MonkeyPatch) -> bool:
    """Do something that is killed after so many changes of files; return whether it ended."""
    left = iter(range(last))

    def until_killed(step: Any) -> Any:
        def act(*given: Any, **options: Any) -> Any:
            reads = step is opened and given[1:] == ("rb",)
            if not reads and next(left, None) is None:
                raise Killed
            return step(*given, **options)

        return act

    opened = Path.open
    with patch.context() as patched:
        if not links:
            patched.setattr(os, "link", refuse)
        for owner, name in STEPS:
            patched.setattr(owner, name, until_killed(getattr(owner, name)))
        try:
            act()
        except Killed:
            return False
    return True


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(
    ("change", "back"),
    [("teach m more.npz", False), ("forget m first.npz", False), ("", True)],
)
def test_undo_killed_at_any_step_loses_no_state(
    model: Path, monkeypatch: pytest.MonkeyPatch, change: str, back: bool, links: bool
) -> None:
    """Whatever step of undo is the last one, both states are there, and undo goes on."""
    if change:
        done(*change.split())
    states = {model: state_of(model), Path("m.undo"): Path("m.undo").read_bytes()}
    assert (states[Path("m.undo")] == b"") == back
    for last in itertools.count():
        for path, state in states.items():
            path.unlink(missing_ok=True)
            if state or path != model:
                path.write_bytes(state)
        whole = model.resolve()
        ended = run_until(last, links, lambda at=whole: undo.swap(at), monkeypatch)
        found = undo.undo_state(whole)
        expected = found.read_bytes() if found else None
        undo.conclude(whole)
        assert {state_of(model), Path("m.undo").read_bytes()} == set(states.values()), last
        assert expected == Path("m.undo").read_bytes()  # what would be undone is known before
        assert undo.undo_state(whole) == undo.undo_file(whole)  # and is still this model's
        assert not Path(".m.before").exists()
        if ended:
            break
    assert last >= 3
    assert state_of(model) == states[Path("m.undo")]


@pytest.mark.slow
@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize(
    "change", ["teach m more.npz", "forget m first.npz", "rename m mug pot --force", "first"]
)
def test_a_change_killed_at_any_step_happened_with_its_undo_or_not_at_all(
    model: Path, monkeypatch: pytest.MonkeyPatch, change: str, links: bool
) -> None:
    done("rename", "m", "mug", "beaker")
    done("rename", "m", "beaker", "mug")
    older, before = Path("m.undo").read_bytes(), model.read_bytes()
    pair = Path(".m.pair").read_bytes()
    if change == "first":  # a lesson that makes the model, while an older one can be brought back
        model.unlink()
        change, before = "teach m first.npz", b""
    outcomes = set()
    for last in itertools.count():
        model.unlink(missing_ok=True)
        if before:
            model.write_bytes(before)
        Path("m.undo").write_bytes(older)
        Path(".m.pair").write_bytes(pair)
        words = change.split()
        ended = run_until(last, links, lambda words=words: done(*words), monkeypatch)
        undo.conclude(model.resolve())
        happened = state_of(model) != before
        assert Path("m.undo").read_bytes() == (before if happened else older), last
        assert undo.undo_state(model.resolve()) is not None, last
        assert not Path(".m.before").exists()
        outcomes.add(happened)
        for left in Path().glob(".m.*.tmp"):
            left.unlink()
        if ended:
            break
    assert outcomes == {False, True}


@pytest.mark.parametrize("links", [True, False])
def test_a_save_that_fails_leaves_what_can_be_undone(
    model: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    first = model.read_bytes()
    done("teach", "m", "more.npz")
    before = model.read_bytes()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    for words in (("rename", "m", "mug", "beaker"), ("teach", "m", "first.npz", "--again")):
        with monkeypatch.context() as patch:
            patch.setattr(Recogniser, "save", fail)
            result = newfound(*words)
        assert (result.code, "newfound: m: No space left" in result.err) == (1, True)
        assert (model.read_bytes(), Path("m.undo").read_bytes()) == (before, first)
        assert not Path(".m.before").exists()
    done("undo", "m")
    assert model.read_bytes() == first


def test_what_a_killed_command_put_aside_is_settled_by_the_next(model: Path) -> None:
    before = model.read_bytes()
    done("rename", "m", "mug", "beaker")
    Path("m.undo").rename(".m.before")  # as if killed after saving
    assert "undo\t" in done("inspect", "m").out
    done("undo", "m")
    assert model.read_bytes() == before
    os.link("m", ".m.before")  # as if killed before saving
    after = Path("m.undo").read_bytes()
    done("rename", "m", "mug", "mug")
    assert Path("m.undo").read_bytes() == after
    assert not Path(".m.before").exists()


def test_a_link_is_not_taken_for_the_kept_state(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "other", "more.npz")
    Path("m.undo").unlink()
    Path("m.undo").symlink_to("other")
    result = newfound("undo", "m")
    assert (result.code, "nothing to undo: m.undo is a link, " in result.err) == (1, True)
    assert "undo" not in done("inspect", "m").out
    assert (model.read_bytes(), model.is_symlink()) == (before, False)
    done("rename", "m", "mug", "beaker")  # which puts a file in its place
    done("undo", "m")
    assert model.read_bytes() == before


@pytest.mark.parametrize("name", ["m.undo", ".m.lock"])
def test_a_folder_where_a_file_of_ours_belongs_is_named(model: Path, name: str) -> None:
    before = model.read_bytes()
    Path(name).unlink(missing_ok=True)
    Path(name).mkdir()
    result = newfound("rename", "m", "mug", "beaker")
    assert (result.code, f"newfound: {name}: Is a directory" in result.err) == (1, True), result
    assert model.read_bytes() == before
    assert not Path(".m.before").exists()


def save_another(path: Path) -> bytes:
    """Save another model, as Python does, and return what is in its file."""
    IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["apple", "pear"]).save(path)
    return path.read_bytes()


def folder() -> dict[str, bytes]:
    """Return what the files here hold, but for those that take a turn of their own."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.suffix != ".lock"}


def assert_refused() -> None:
    """Undo must do nothing, say so, and not be offered."""
    before = folder()
    for which in ("undo", "redo"):
        result = newfound(which, "m")
        assert (result.code, result.out) == (1, "")
        assert "m.undo does not belong to m: one of the two was moved or replaced" in result.err
        assert folder() == before
    if Path("m").exists():
        assert "undo" not in done("inspect", "m").out
        assert json.loads(done("inspect", "m", "--json").out)["undo_bytes"] is None


@pytest.mark.parametrize("change", ["", *map(" ".join, CHANGES[:2])])
def test_a_model_that_another_program_saved_is_not_undone(model: Path, change: str) -> None:
    """Not even where there was no model before, or none after."""
    if change:
        done(*change.split())
    kept = Path("m.undo").read_bytes()
    save_another(model)
    assert_refused()
    assert ("rename it to open it as a model" in newfound("undo", "m").err) == bool(kept)


def test_a_model_that_python_taught_since_is_not_undone_but_what_commands_do_then_is(
    model: Path,
) -> None:
    done("teach", "m", "more.npz")
    recogniser = Recogniser("m")
    recogniser.save()  # what it was
    assert "undo\t" in done("inspect", "m").out
    recogniser.rename("mug", "beaker")
    recogniser.save()
    assert_refused()
    before = model.read_bytes()
    done("rename", "m", "beaker", "cup", "--force")
    done("undo", "m")
    assert model.read_bytes() == before


def test_a_copy_of_another_model_is_not_undone(model: Path) -> None:
    done("teach", "other", "more.npz")
    done("rename", "other", "jug", "vase")
    before = Path("other.undo").read_bytes()
    shutil.copy("m", "other")
    assert "other.undo does not belong to other: " in newfound("undo", "other").err
    assert Path("other").read_bytes() == model.read_bytes()
    Path("other.undo").rename("renamed")  # as it is told
    assert Path("renamed").read_bytes() == before
    assert Recogniser("renamed").classes == ["cup", "jug"]


@pytest.mark.parametrize("removed", [False, True])
def test_what_is_kept_of_another_model_is_not_brought_here(model: Path, removed: bool) -> None:
    done("teach", "m", "more.npz")
    done("teach", "other", "more.npz")
    done("rename", "other", "jug", "vase")
    shutil.copy("other.undo", "m.undo")
    if removed:
        model.unlink()
    assert_refused()


@pytest.mark.slow
def test_a_state_that_nothing_ties_to_the_model_is_not_brought_back(model: Path) -> None:
    done("teach", "m", "more.npz")
    Path(".m.pair").write_bytes(b"\xff\n")
    assert_refused()
    Path(".m.pair").unlink()
    assert_refused()


def test_no_model_is_no_state_before_another(model: Path) -> None:
    done("teach", "m", "more.npz")
    Path("m.undo").write_bytes(b"")
    assert_refused()


def test_a_model_that_is_gone_or_damaged_within_is_mended_by_undo(model: Path) -> None:
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    spoiled = bytearray(model.read_bytes())
    spoiled[-1] ^= 1
    for damage in (
        model.unlink,
        lambda: model.write_bytes(spoiled),
        lambda: model.write_bytes(b""),
    ):
        states = folder()
        damage()
        done("undo", "m")
        assert model.read_bytes() == before
        for name, state in states.items():
            Path(name).write_bytes(state)


def test_a_lesson_killed_between_two_saves_is_taken_back_whole(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = model.read_bytes()
    write_rows(Path("long.npz"), ["jug", "jar"] * 100, seed=2)
    save, saves = Recogniser.save, itertools.count()

    def save_twice(self: Recogniser, *given: Any, **options: Any) -> None:
        if next(saves) == 2:
            raise Killed
        save(self, *given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Recogniser, "save", save_twice)
        patch.setattr("newfound.recognition.lesson.SAVING_SHARE", np.inf)  # with every block
        patch.setattr(locking, "conclude", lambda path: False)  # nothing is, after a kill
        with pytest.raises(Killed):
            newfound("teach", "m", "long.npz", "--save-every", 0)
    assert model.read_bytes() != before
    assert "undo\t" in done("inspect", "m").out
    done("undo", "m")
    assert model.read_bytes() == before
    done("undo", "m")
    part = model.read_bytes()
    done("teach", "m", "long.npz")
    assert model.read_bytes() != part
    done("undo", "m")
    assert model.read_bytes() == part


def test_what_is_saved_without_an_undo_of_its_own_is_undone_with_the_command_before(
    model: Path,
) -> None:
    """As by a lesson that teaches nothing new, and only ends one that was killed."""
    before = model.read_bytes()
    done("teach", "m", "more.npz")
    with locking.locked("m") as change:
        recogniser = change.open()
        recogniser.unknown_above = 0.75
        change.save(recogniser, undoable=False)
    after = model.read_bytes()
    done("undo", "m")
    assert model.read_bytes() == before
    done("undo", "m")
    assert model.read_bytes() == after


def test_forgetting_for_good_leaves_no_file_of_undo(model: Path) -> None:
    done("forget-class", "m", "mug", "--for-good")
    assert {path.name for path in Path().glob("*m.*")} == {".m.lock"}


def test_the_last_image_and_the_last_class_go_the_same_way(model: Path) -> None:
    before = model.read_bytes()
    gone = "That was all it knew: the model is gone. newfound undo m brings it back."
    by_image = done("forget", "m", "first.npz").err
    assert not model.exists()
    assert "newfound undo m brings back the last" in newfound("inspect", "m").err
    done("undo", "m")
    assert model.read_bytes() == before
    for label in ("cup", "mug"):
        done("forget-class", "m", label)
    last = model.read_bytes()
    by_class = done("forget-class", "m", "pot").err
    assert not model.exists()
    assert (gone in by_image, gone in by_class) == (True, True)
    done("undo", "m")
    assert model.read_bytes() == last
    np.testing.assert_array_equal(Recogniser("m").model.classes_, ["pot"])
