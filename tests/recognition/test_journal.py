"""The journal: what it promises of every edit."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newfound import Recogniser
from newfound.common.errors import InputError, NotTaughtError
from newfound.recognition import replay
from newfound.recognition.beside import journal_file
from newfound.recognition.editor import ClassExistsError, Editor
from newfound.recognition.evaluation import confusions
from newfound.recognition.example_table import NoSuchExampleError
from newfound.recognition.history import NothingToUndoError
from newfound.recognition.journal import Journal, JournalError
from newfound.recognition.knowledge import Knowledge, new_knowledge
from newfound.recognition.opening import open_to_look
from tests.effort import share_of
from tests.recognition.edits import (
    LABELS,
    Oracle,
    assert_is,
    assert_replays,
    assert_same,
    digest,
    edit,
    open_at,
    row,
    teach_one,
)


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[Editor]:
    editor = open_at(tmp_path / "kitchen.newfound")
    yield editor
    editor.journal.close()


def teach(editor: Editor, *labels: str, start: int = 0, **options: Any) -> None:
    for number, label in enumerate(labels, start=start):
        teach_one(editor, row(number, label), label, digest(number), **options)


@pytest.mark.slow
@settings(max_examples=share_of(5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), close=st.booleans())
def test_any_edits_do_what_a_naive_oracle_does_and_replay_to_the_same_model(
    tmp_path_factory: pytest.TempPathFactory, seed: int, close: bool
) -> None:
    path = tmp_path_factory.mktemp("journal") / "kitchen.newfound"
    editor, oracle = open_at(path), Oracle()
    for number in range(45):
        edit(editor, oracle, 1000 * seed + number, f"key {number}")
        if number % 15 == 14:
            assert_is(editor, oracle)
            assert_replays(editor)
            if close:
                editor.close()
            else:
                editor.journal.close()  # as if it had been killed
            editor = open_at(path)
            assert_is(editor, oracle)
    assert_replays(editor)
    editor.journal.close()


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    wanted = share_of(200, 0.1)
    done = subprocess.run(
        [sys.executable, "-m", "tests.recognition.kill_journal", tmp_path, str(wanted)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kills, edits = map(int, done.stdout.split())
    assert kills == wanted
    assert edits > wanted


def test_edits_with_one_action_are_undone_and_redone_as_one(kitchen: Editor) -> None:
    teach(kitchen, "cup", "cup")
    teach(kitchen, "mug", "mug", "mug", start=5, action="hold")
    assert kitchen.history.undoable == "taught mug (3)"
    assert kitchen.history.undo().what == "undid: taught mug (3)"
    assert kitchen.recogniser.counts == {"cup": 2}
    assert kitchen.history.redoable == "taught mug (3)"
    kitchen.history.redo()
    assert kitchen.recogniser.counts == {"cup": 2, "mug": 3}
    kitchen.history.undo()
    teach(kitchen, "jug", start=9)
    assert kitchen.history.redoable is None
    with pytest.raises(NothingToUndoError, match="nothing to redo"):
        kitchen.history.redo()


def test_what_was_moved_twice_in_one_action_comes_back_to_where_it_was(kitchen: Editor) -> None:
    teach(kitchen, "cup", "cup", "mug")
    kitchen.history.action = "both"
    kitchen.move([1], "mug")
    kitchen.move([1], "jug")
    kitchen.history.action = None
    kitchen.history.undo()
    assert kitchen.journal.examples.example(1).label == "cup"
    assert kitchen.recogniser.counts == {"cup": 2, "mug": 1}
    kitchen.history.redo()
    assert kitchen.journal.examples.example(1).label == "jug"
    assert kitchen.recogniser.counts == {"cup": 1, "jug": 1, "mug": 1}
    assert_replays(kitchen)


def test_an_edit_with_a_key_seen_before_is_not_made_again(kitchen: Editor) -> None:
    teach(kitchen, "cup", "mug")
    first = teach_one(kitchen, row(7, "mug"), "mug", digest(7), key="a key")
    again = teach_one(kitchen, row(7, "mug"), "mug", digest(7), key="a key")
    assert not first.repeated
    assert again.repeated
    assert again.examples == first.examples
    kitchen.history.undo(key="another")
    kitchen.history.undo(key="another")
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_what_was_there_before_the_journal_can_be_joined_dropped_and_brought_back(
    tmp_path: Path, whole: bool
) -> None:
    path = tmp_path / "kitchen.newfound"
    if not whole:
        before = Recogniser(path, None)
        labels = ["cup", "cup", "mug", "mug", "jug"]
        before.teach_vectors([row(n, label) for n, label in enumerate(labels)], labels)
        before.save()
    kitchen = open_at(path)
    if whole:
        teach(kitchen, "cup", "cup", "mug", "mug", "jug")
    teach(kitchen, "cup", start=9)
    then = replay.whole(kitchen.knowledge)
    for is_joined in (True, False):
        if is_joined:
            kitchen.rename("cup", "mug", join=True)
        else:
            kitchen.forget_class("cup")
        assert_replays(kitchen)
        kitchen.history.undo()
        assert kitchen.recogniser.counts == {"cup": 3, "jug": 1, "mug": 2}
        assert_replays(kitchen)
        kitchen.history.redo()
        assert_replays(kitchen)
        kitchen.history.undo()
    other = new_knowledge()
    replay.become(other, then)
    other.refresh()
    kitchen.refresh()
    assert_same(kitchen.knowledge, other)
    kitchen.journal.close()
    open_at(path).journal.close()


def test_images_forgotten_by_what_they_are_can_come_back(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    before = Recogniser(path, None)
    before.teach_vectors([row(0, "cup"), row(1, "mug")], ["cup", "mug"], [digest(0), digest(1)])
    before.save()
    kitchen = open_at(path)
    teach(kitchen, "mug", start=2)
    kitchen.recogniser.forget_vectors(
        [row(0, "cup"), row(2, "mug")], ["cup", "mug"], [digest(0), digest(2)]
    )
    assert kitchen.recogniser.counts == {"mug": 1}
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 2}
    assert_replays(kitchen)
    kitchen.journal.close()


def test_another_model_put_in_its_place_counts_and_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.close()
    other = Recogniser(None, None)
    other.teach_vectors([row(5, "pot"), row(6, "jug")], ["pot", "jug"])
    other.save(path)
    kitchen = open_at(path)
    assert kitchen.recogniser.counts == {"jug": 1, "pot": 1}
    assert kitchen.journal.examples.kept() == []
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    assert len(kitchen.journal.examples.kept()) == 2
    kitchen.journal.close()


def test_a_model_can_be_brought_in_and_taken_back(kitchen: Any, tmp_path: Path) -> None:
    teach(kitchen, "cup", "mug")
    other = Recogniser(None, None)
    other.teach_vectors([row(5, "pot"), row(6, "jug")], ["pot", "jug"])
    other.save(tmp_path / "other.newfound")
    kitchen.replace(tmp_path / "other.newfound")
    teach(kitchen, "pot", start=9)
    assert kitchen.recogniser.counts == {"jug": 1, "pot": 2}
    assert_replays(kitchen)
    kitchen.history.undo()
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    kitchen.history.redo()
    assert kitchen.recogniser.counts == {"jug": 1, "pot": 1}
    assert_replays(kitchen)


def test_a_merged_model_is_written_down_whole(kitchen: Editor) -> None:
    teach(kitchen, "cup", "mug")
    other = Recogniser(None, None)
    other.teach_vectors([row(5, "pot"), row(6, "mug")], ["pot", "mug"])
    kitchen.recogniser.merge(other)
    kitchen.snapshot()
    assert kitchen.history.undoable == "learned what another model knows"
    assert_replays(kitchen)
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}


def test_what_is_refused_changes_nothing(kitchen: Editor) -> None:
    teach(kitchen, "cup", "mug")
    position, then = kitchen.history.position, replay.whole(kitchen.knowledge)
    teach_vectors = kitchen.recogniser.teach_vectors
    forget_vectors = kitchen.recogniser.forget_vectors
    refused: list[tuple[type[Exception], Any]] = [
        (NoSuchExampleError, lambda: kitchen.delete([1, 99])),
        (NoSuchExampleError, lambda: kitchen.move([-1], "mug")),
        (NoSuchExampleError, lambda: kitchen.delete([2**70])),
        (InputError, lambda: kitchen.move([1], "")),
        (InputError, lambda: kitchen.move([1], "cup")),
        (InputError, lambda: kitchen.move([1], 7)),
        (InputError, lambda: kitchen.forget_class("pot")),
        (InputError, lambda: kitchen.rename("pot", "jug", join=False)),
        (InputError, lambda: kitchen.rename("cup", "cup", join=False)),
        (ClassExistsError, lambda: kitchen.rename("cup", "mug", join=False)),
        (InputError, lambda: teach_one(kitchen, [1.0], "mug", digest(9))),
        (InputError, lambda: teach_one(kitchen, [np.nan] * 6, "mug", digest(9))),
        (InputError, lambda: teach_one(kitchen, row(9, "mug"), "x" * 2000, digest(9))),
        (InputError, lambda: teach_one(kitchen, row(9, "mug"), "mug", b"short")),
        (
            InputError,
            lambda: teach_vectors([row(9, "mug")], ["mug"], [b"short"]),
        ),
        (
            NotTaughtError,
            lambda: forget_vectors([row(9, "mug")], ["mug"], [digest(9)]),
        ),
        (
            NotTaughtError,
            lambda: forget_vectors([row(1, "mug")] * 2, ["mug"] * 2),
        ),
        (NothingToUndoError, kitchen.history.redo),
    ]
    for error, do in refused:
        with pytest.raises(error):
            do()
        assert kitchen.history.position == position
        assert replay.whole(kitchen.knowledge) == then
        assert len(kitchen.journal.examples.kept()) == 2
    teach(kitchen, "mug", start=3)
    assert_replays(kitchen)


def test_a_journal_that_cannot_be_written_leaves_the_model_as_it_was(
    kitchen: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug", "mug")
    then = kitchen.recogniser.counts
    monkeypatch.setattr(replay, "apply", _then_fail(replay.apply))
    with pytest.raises(JournalError, match="disk"):
        teach(kitchen, "jug", start=7)
    monkeypatch.undo()
    assert kitchen.recogniser.counts == then
    assert_replays(kitchen)
    teach(kitchen, "jug", start=7)
    assert kitchen.recogniser.counts == {**then, "jug": 1}


def _then_fail(apply: Any) -> Any:
    failed: list[bool] = []

    def failing(*arguments: Any) -> None:
        apply(*arguments)
        if not failed:
            failed.append(True)
            raise sqlite3.OperationalError("database or disk is full")

    return failing


def test_what_is_forgotten_for_good_is_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    secret = os.urandom(200_000)
    teach(kitchen, "cup", "mug", "mug")
    known = secret[:16]
    teach_one(kitchen, row(7, "private"), "private", known, thumbnail=secret[16:], source="mine")
    mark, vector = secret[1000:1040], row(7, "private").tobytes()[:32]
    assert mark in _everything(tmp_path)
    kitchen.forget_class("private")
    kitchen.snapshot()
    assert mark in _everything(tmp_path)  # it could still be brought back
    assert kitchen.journal.deleted == 1
    kitchen.forget_for_good()
    left = _everything(tmp_path)
    assert len(left) < len(secret)  # the room is given back, too
    for trace in (mark, vector, known, b"private", b"mine"):
        assert trace not in left
    assert kitchen.history.undoable is None
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 2}
    assert_replays(kitchen)
    kitchen.close()
    assert open_to_look(path).counts == {"cup": 1, "mug": 2}


def test_thumbnails_beyond_their_number_are_in_no_file(tmp_path: Path) -> None:
    kitchen = open_at(tmp_path / "kitchen.newfound", keep_thumbnails=1)
    first, second = os.urandom(3000), os.urandom(3000)
    teach_one(kitchen, row(0, "cup"), "cup", digest(0), thumbnail=first)
    teach_one(kitchen, row(1, "mug"), "mug", digest(1), thumbnail=second)
    kitchen.close()
    assert second[100:140] in _everything(tmp_path)
    assert first[100:140] not in _everything(tmp_path)


def _everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


@pytest.mark.slow
def test_only_so_many_vectors_and_thumbnails_are_kept_and_the_model_knows_all(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path, keep_vectors=20, keep_thumbnails=7)
    oracle = open_at(tmp_path / "oracle.newfound")
    labels = [LABELS[number % 4] for number in range(50)]
    for editor in kitchen, oracle:
        teach(editor, *labels, thumbnail=b"a picture")
    kept = kitchen.journal.examples.kept(limit=100)
    assert len(kept) == 50
    assert 20 <= sum(each.has_vector for each in kept) <= 30
    assert [each.has_thumbnail for each in kept] == [True] * 7 + [False] * 43
    assert_replays(kitchen)
    with pytest.raises(NoSuchExampleError, match="no vector is kept"):
        kitchen.delete([1])
    kitchen.delete([50])
    oracle.delete([50])
    kitchen.rename("cup", "mug", join=True)
    oracle.rename("cup", "mug", join=True)
    for editor in kitchen, oracle:
        editor.refresh()
    assert_same(kitchen.knowledge, oracle.knowledge, 1e-9)
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 13, "jug": 12, "mug": 12, "pot": 12}
    for editor in kitchen, oracle:
        editor.journal.close()
    assert_replays(again := open_at(path, keep_vectors=20, keep_thumbnails=7))
    again.journal.close()


def test_what_a_model_is_taught_before_its_first_snapshot_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    before = Recogniser(path, None)
    before.teach_vectors([row(0, "cup"), row(1, "mug")], ["cup", "mug"])
    before.save()
    for number in range(3):
        kitchen = open_at(path)
        teach(kitchen, "jug", start=10 + number)
        assert open_to_look(path).counts == {"cup": 1, "jug": number + 1, "mug": 1}
        kitchen.journal.close()  # killed
    with pytest.MonkeyPatch.context() as patch:  # killed between the entry and the snapshot
        other = tmp_path / "other.newfound"
        before.save(other)
        patch.setattr(Editor, "snapshot", lambda _: None)
        for number in range(3):
            kitchen = open_at(other)
            teach(kitchen, "jug", start=10 + number)
            assert open_to_look(other).counts == {"cup": 1, "jug": number + 1, "mug": 1}
            kitchen.journal.close()


def test_that_there_was_a_model_cannot_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    before = Recogniser(path, None)
    before.teach_vectors([row(0, "cup"), row(1, "mug")], ["cup", "mug"])
    before.save()
    kitchen = open_at(path)
    assert kitchen.history.undoable is None
    teach(kitchen, "jug", start=5)
    kitchen.history.undo()
    with pytest.raises(NothingToUndoError):
        kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    kitchen.journal.close()


def other_models(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"other {number}.newfound" for number in range(count)]
    for number, path in enumerate(paths):
        other = Recogniser(None, None)
        labels = ["pot", f"jar {number}"]
        other.teach_vectors([row(50 + number, "pot"), row(60 + number, "jar")], labels)
        other.save(path)
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("states", [2, 3, 16])
def test_models_brought_in_undone_and_redone_come_back_whatever_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, states: int
) -> None:
    monkeypatch.setattr("newfound.recognition.journal.MOST_STATES", states)
    path, others = tmp_path / "kitchen.newfound", other_models(tmp_path, 4)
    kitchen, counts = open_at(path), list[dict[Any, int]]()
    teach(kitchen, "cup", "mug")
    for number, other in enumerate(others):
        counts.append(kitchen.recogniser.counts)
        kitchen.replace(other)
        counts.append(kitchen.recogniser.counts)
        teach(kitchen, "cup", start=70 + number)
        assert_replays(kitchen)
    for _ in range(2):
        undone = 0
        while kitchen.history.undoable and undone < 8:
            kitchen.history.undo()
            undone += 1
            assert kitchen.recogniser.counts == counts[-undone]
            assert_replays(kitchen)
        kitchen.journal.close()  # killed
        kitchen = open_at(path)
        while kitchen.history.redoable:
            kitchen.history.redo()
            undone -= 1
            assert_replays(kitchen)
            assert undone == 0 or kitchen.recogniser.counts == counts[-undone]
        kitchen.journal.close()
        kitchen = open_at(path)
        assert_replays(kitchen)
    kitchen.journal.close()


def test_several_merges_of_one_action_are_undone_and_redone_as_one(tmp_path: Path) -> None:
    path, (first, second) = tmp_path / "kitchen.newfound", other_models(tmp_path, 2)
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.snapshot()
    kitchen.history.action = "a lesson on a cluster"
    for other in first, second:
        kitchen.recogniser.merge(Recogniser(other, None))
        kitchen.history.write_rest()  # as a save does, without the snapshot
    then = kitchen.recogniser.counts
    kitchen.journal.close()  # killed
    kitchen = open_at(path)
    assert kitchen.recogniser.counts == then
    kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    kitchen.history.redo()
    assert kitchen.recogniser.counts == then
    assert_replays(kitchen)
    kitchen.journal.close()


def test_a_model_and_a_lesson_of_one_action_are_redone_whatever_came_between(
    tmp_path: Path,
) -> None:
    path, (other,) = tmp_path / "kitchen.newfound", other_models(tmp_path, 1)
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.history.action = "both"
    kitchen.replace(other)
    teach(kitchen, "cup", start=5)
    then, kitchen.history.action = kitchen.recogniser.counts, None
    kitchen.forget_class("pot")  # which is in no journal, so that the whole model is kept before
    for _ in range(2):
        kitchen.history.undo()
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    kitchen.history.redo()
    assert kitchen.recogniser.counts == then
    assert_replays(kitchen)
    kitchen.journal.close()


def test_what_was_merged_is_written_down_as_soon_as_that_can_be(
    kitchen: Editor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug")
    kitchen.recogniser.merge(Recogniser(other_models(tmp_path, 1)[0], None))
    then = kitchen.recogniser.counts
    monkeypatch.setattr(replay, "apply", _then_fail(replay.apply))
    with pytest.raises(JournalError):
        kitchen.snapshot()
    monkeypatch.undo()
    teach(kitchen, "cup", start=90)
    assert kitchen.recogniser.counts == {**then, "cup": 2}
    assert_replays(kitchen)


def test_who_has_no_vector_any_more_can_be_forgotten_by_the_image_and_is_gone(
    tmp_path: Path,
) -> None:
    path, secret = tmp_path / "kitchen.newfound", os.urandom(500)
    kitchen = open_at(path, keep_vectors=0)
    teach_one(kitchen, row(0, "cup"), "cup", digest(0), thumbnail=secret)
    teach(kitchen, *["mug"] * 15, start=1)
    assert not kitchen.journal.examples.example(1).has_vector
    kitchen.recogniser.forget_vectors([row(0, "cup")], ["cup"], [digest(0)])
    assert kitchen.journal.examples.kept("cup") == []
    assert_replays(kitchen)
    kitchen.history.undo()
    assert [each.id for each in kitchen.journal.examples.kept("cup")] == [1]
    kitchen.history.redo()
    kitchen.forget_for_good()
    assert secret[100:140] not in _everything(tmp_path)
    assert len(kitchen.journal.examples.kept(limit=100)) == 15
    kitchen.journal.close()


def test_what_can_be_neither_written_nor_taken_back_is_never_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")

    def fail(*_: Any) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(replay, "apply", _then_fail(replay.apply))
    monkeypatch.setattr(replay, "rebuilt", fail)
    with pytest.raises((JournalError, sqlite3.OperationalError)):
        teach(kitchen, "ghost", start=9)
    monkeypatch.undo()
    for do in kitchen.snapshot, kitchen.history.undo, lambda: teach(kitchen, "cup", start=11):
        with pytest.raises(JournalError, match="open it again"):
            do()
    kitchen.journal.close()
    kitchen = open_at(path)
    assert kitchen.recogniser.counts == {"cup": 1, "mug": 1}
    kitchen.journal.close()


def test_limits_stay_with_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path, keep_thumbnails=3)
    teach(kitchen, *["cup"] * 5, thumbnail=b"a picture")
    kitchen.journal.close()
    kitchen = open_at(path)
    teach(kitchen, "mug", start=9, thumbnail=b"a picture")
    assert sum(each.has_thumbnail for each in kitchen.journal.examples.kept()) == 3
    kitchen.journal.close()
    kitchen = open_at(path, keep_thumbnails=0)
    assert not any(each.has_thumbnail for each in kitchen.journal.examples.kept())
    kitchen.journal.close()


def test_who_looks_sees_one_moment_while_another_lets_the_past_go(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug", "cup", "mug")
    reader = open_at(path, read_only=True)  # begun, and not done
    kitchen.delete([1])
    said = threading.Thread(target=kitchen.forget_for_good)
    said.start()
    assert len(reader.journal.examples.kept()) == 4
    assert len(list(reader.journal.entries())) == 4
    reader.journal.close()
    said.join(timeout=60)
    assert open_to_look(path).counts == {"cup": 1, "mug": 2}
    kitchen.journal.close()


def test_what_lies_where_a_journal_would_and_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kitchen.newfound.journal")
    with pytest.raises(JournalError, match="not a file"):
        open_at(tmp_path / "kitchen.newfound")


def test_a_folder_that_nobody_may_write_to_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.close()
    before = sorted(each.name for each in tmp_path.iterdir())
    monkeypatch.setattr("newfound.recognition.journal.os.access", lambda *_: False)
    assert open_to_look(path).counts == {"cup": 1, "mug": 1}
    assert sorted(each.name for each in tmp_path.iterdir()) == before


def test_confusions_are_what_refits_without_each_example_say(kitchen: Editor) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 3)), ["cup", "mug"] * 20
    rows[::2, 0] += 1.5
    for number, (x, label) in enumerate(zip(rows, labels, strict=True)):
        teach_one(kitchen, x, label, digest(number))
    model = kitchen.recogniser.model
    said = []
    for number in range(40):
        others = np.arange(40) != number
        penalised = rows[others] - rows[others].mean(axis=0)
        targets = np.eye(2)[[int(label == "mug") for label in np.array(labels)[others]]]
        gram = penalised.T @ penalised + model.penalty_ * np.eye(3)
        weights = np.linalg.solve(gram, penalised.T @ targets)
        scores = (rows[number] - rows[others].mean(axis=0)) @ weights + targets.mean(axis=0)
        said.append(("cup", "mug")[int(scores.argmax())])
    expected: dict[tuple[str, str], int] = {}
    for pair in zip(labels, said, strict=True):
        expected[pair] = expected.get(pair, 0) + 1
    found = confusions(kitchen.knowledge, kitchen.journal.examples)
    assert {(a, b): count for a, b, count in found} == expected


def test_who_looks_does_not_wait_for_an_edit(kitchen: Editor) -> None:
    teach(kitchen, "cup", "mug", "cup", "mug")
    with kitchen.lock:
        found: list[Any] = []
        ask = threading.Thread(
            target=lambda: found.append(
                (
                    kitchen.recogniser.look_at_vectors([row(0, "cup")])[0].label,
                    kitchen.journal.examples.kept(limit=1),
                    kitchen.history.undoable,
                )
            )
        )
        ask.start()
        ask.join(timeout=60)
        assert not ask.is_alive()
    assert found[0][0] == "cup"


def test_who_looks_while_something_is_taken_out_sees_the_model_as_it_was(
    kitchen: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug", "cup", "mug")
    apply, seen = replay.apply, list[dict[Any, int]]()

    def watched(knowledge: Knowledge, *arguments: Any) -> None:
        apply(knowledge, *arguments)
        seen.append(kitchen.recogniser.counts)
        assert knowledge.counts != kitchen.recogniser.counts

    monkeypatch.setattr(replay, "apply", watched)
    kitchen.delete([1])
    kitchen.rename("mug", "cup", join=True)
    kitchen.history.undo()
    kitchen.forget_class("mug")
    states = [(2, 2), (1, 2), (3, 0), (1, 2)]
    assert [(each.get("cup", 0), each.get("mug", 0)) for each in seen] == states


def test_the_lock_is_one_whatever_is_edited(kitchen: Editor) -> None:
    """Who waits for it while something is taken out holds the same as whoever comes later."""
    teach(kitchen, "cup", "mug", "cup", "mug")
    recogniser, entered, leave = kitchen.recogniser, threading.Event(), threading.Event()
    lock = recogniser.lock

    def hold() -> None:
        with lock:
            entered.set()
            leave.wait(60)

    with lock:
        holder = threading.Thread(target=hold)
        holder.start()
        kitchen.delete([1])
        kitchen.forget_class("mug")
        kitchen.history.undo()
        kitchen.rename("mug", "cup")
        assert recogniser.lock is lock
    assert entered.wait(60)
    try:
        assert not recogniser.lock.acquire(blocking=False)
    finally:
        leave.set()
        holder.join()


def test_several_threads_teach_and_nothing_is_lost(kitchen: Editor) -> None:
    def work(first: int) -> None:
        for number in range(first, first + 25):
            label = LABELS[number % 4]
            teach_one(kitchen, row(number, label), label, digest(number))
            kitchen.recogniser.look_at_vectors([row(number, label)])
            if number % 5 == 4:
                kitchen.snapshot()

    threads = [threading.Thread(target=work, args=(100 * each,)) for each in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert sum(kitchen.recogniser.counts.values()) == 75
    assert len(kitchen.journal.examples.kept(limit=100)) == 75
    assert_replays(kitchen)


def test_others_can_read_while_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    assert open_to_look(path).counts == {"cup": 1, "mug": 1}  # no snapshot was written yet
    kitchen.snapshot()
    teach(kitchen, "jug", start=5)
    looking = open_to_look(path)
    assert looking.counts == {"cup": 1, "jug": 1, "mug": 1}
    looking.teach_vectors([row(9, "pot")], ["pot"])  # it is nobody else's
    assert kitchen.recogniser.counts == {"cup": 1, "jug": 1, "mug": 1}
    kitchen.journal.close()


def test_a_reader_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.close()
    reader = open_at(path, read_only=True)
    with pytest.raises(InputError, match="to look only"):
        teach(reader, "cup", start=5)
    reader.journal.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no database at all" * 100, "not a database"), (b"", "an empty file, and no journal")],
)
def test_what_is_no_journal_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "kitchen.newfound.journal"
    file.write_bytes(content)
    with pytest.raises(JournalError, match=said):
        Journal(file, read_only=True)
    assert file.read_bytes() == content


def test_a_journal_of_another_program_or_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    open_at(path).journal.close()
    for change, said in ("user_version = 99", "later version"), ("application_id = 1", "not a"):
        database = sqlite3.connect(journal_file(path))
        database.execute(f"PRAGMA {change}")
        database.close()
        with pytest.raises(JournalError, match=said):
            open_at(path)


def test_a_journal_without_what_it_must_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup")
    kitchen.journal.close()
    for damage in "UPDATE entries SET detail = 'no JSON'", "DELETE FROM settings":
        database = sqlite3.connect(journal_file(path))
        database.execute(damage)
        database.commit()
        database.close()
        with pytest.raises(JournalError, match=r"damaged .*; move it elsewhere"):
            open_at(path)


def test_a_damaged_snapshot_is_made_again_from_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug", "jug")
    kitchen.close()
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.warns(UserWarning, match=r"made again from its journal"):
        kitchen = open_at(path)
    assert kitchen.recogniser.counts == {"cup": 1, "jug": 1, "mug": 1}
    kitchen.journal.close()


def test_labels_of_any_kind_come_back_as_they_were(tmp_path: Path) -> None:
    kinds: list[list[Any]] = [[1, 2], [True, False], ["1", "\u8336"], ["a'b", '"c']]
    for number, labels in enumerate(kinds):
        path = tmp_path / f"{number}.newfound"
        kitchen = open_at(path)
        kitchen.recogniser.teach_vectors([row(0, "cup"), row(1, "mug")], labels)
        kitchen.journal.close()
        kitchen = open_at(path)
        assert sorted(kitchen.recogniser.counts) == sorted(labels)
        assert {type(each) for each in kitchen.recogniser.counts} == {type(labels[0])}
        assert [each.label for each in kitchen.journal.examples.kept(labels[0])] == [labels[0]]
        kitchen.history.undo()
        assert kitchen.recogniser.counts == {}
        kitchen.journal.close()
