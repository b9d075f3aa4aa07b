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
from newfound.recognition.journal import Journal, JournalError, NoSuchExampleError
from newfound.recognition.journalled import (
    ClassExistsError,
    JournalledRecogniser,
    NothingToUndoError,
)
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
)


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[JournalledRecogniser]:
    recogniser = open_at(tmp_path / "kitchen.newfound")
    yield recogniser
    recogniser.journal.close()


def teach(recogniser: JournalledRecogniser, *labels: str, start: int = 0, **options: Any) -> None:
    for number, label in enumerate(labels, start=start):
        recogniser.teach_one(row(number, label), label, digest(number), **options)


@pytest.mark.slow
@settings(max_examples=share_of(5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), close=st.booleans())
def test_any_edits_do_what_a_naive_oracle_does_and_replay_to_the_same_model(
    tmp_path_factory: pytest.TempPathFactory, seed: int, close: bool
) -> None:
    path = tmp_path_factory.mktemp("journal") / "kitchen.newfound"
    recogniser, oracle = open_at(path), Oracle()
    for number in range(45):
        edit(recogniser, oracle, 1000 * seed + number, f"key {number}")
        if number % 15 == 14:
            assert_is(recogniser, oracle)
            assert_replays(recogniser)
            if close:
                recogniser.close()
            else:
                recogniser.journal.close()  # as if it had been killed
            recogniser = open_at(path)
            assert_is(recogniser, oracle)
    assert_replays(recogniser)
    recogniser.journal.close()


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


def test_edits_with_one_action_are_undone_and_redone_as_one(kitchen: JournalledRecogniser) -> None:
    teach(kitchen, "cup", "cup")
    teach(kitchen, "mug", "mug", "mug", start=5, action="hold")
    assert kitchen.undoable == "taught mug (3)"
    assert kitchen.undo().what == "undid: taught mug (3)"
    assert kitchen.counts == {"cup": 2}
    assert kitchen.redoable == "taught mug (3)"
    kitchen.redo()
    assert kitchen.counts == {"cup": 2, "mug": 3}
    kitchen.undo()
    teach(kitchen, "jug", start=9)
    assert kitchen.redoable is None
    with pytest.raises(NothingToUndoError, match="nothing to redo"):
        kitchen.redo()


def test_an_edit_with_a_key_seen_before_is_not_made_again(kitchen: JournalledRecogniser) -> None:
    teach(kitchen, "cup", "mug")
    first = kitchen.teach_one(row(7, "mug"), "mug", digest(7), key="a key")
    again = kitchen.teach_one(row(7, "mug"), "mug", digest(7), key="a key")
    assert not first.repeated
    assert again.repeated
    assert again.examples == first.examples
    kitchen.undo(key="another")
    kitchen.undo(key="another")
    assert kitchen.counts == {"cup": 1, "mug": 1}


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
    then = replay.whole(kitchen)
    for is_joined in (True, False):
        if is_joined:
            kitchen.rename_class("cup", "mug", join=True)
        else:
            kitchen.delete_class("cup")
        assert_replays(kitchen)
        kitchen.undo()
        assert kitchen.counts == {"cup": 3, "jug": 1, "mug": 2}
        assert_replays(kitchen)
        kitchen.redo()
        assert_replays(kitchen)
        kitchen.undo()
    other = replay.Replica(extractor=None)
    replay.become(other, then)
    other.refresh()
    kitchen.refresh()
    assert_same(kitchen, other)
    kitchen.journal.close()
    open_at(path).journal.close()


def test_images_forgotten_by_what_they_are_can_come_back(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    before = Recogniser(path, None)
    before.teach_vectors([row(0, "cup"), row(1, "mug")], ["cup", "mug"], [digest(0), digest(1)])
    before.save()
    kitchen = open_at(path)
    teach(kitchen, "mug", start=2)
    kitchen.forget_vectors([row(0, "cup"), row(2, "mug")], ["cup", "mug"], [digest(0), digest(2)])
    assert kitchen.counts == {"mug": 1}
    kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 2}
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
    assert kitchen.counts == {"jug": 1, "pot": 1}
    assert kitchen.kept() == []
    kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}
    assert len(kitchen.kept()) == 2
    kitchen.journal.close()


def test_a_model_can_be_brought_in_and_taken_back(kitchen: Any, tmp_path: Path) -> None:
    teach(kitchen, "cup", "mug")
    other = Recogniser(None, None)
    other.teach_vectors([row(5, "pot"), row(6, "jug")], ["pot", "jug"])
    other.save(tmp_path / "other.newfound")
    kitchen.replace(tmp_path / "other.newfound")
    teach(kitchen, "pot", start=9)
    assert kitchen.counts == {"jug": 1, "pot": 2}
    assert_replays(kitchen)
    kitchen.undo()
    kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}
    kitchen.redo()
    assert kitchen.counts == {"jug": 1, "pot": 1}
    assert_replays(kitchen)


def test_a_merged_model_is_written_down_whole(kitchen: JournalledRecogniser) -> None:
    teach(kitchen, "cup", "mug")
    other = Recogniser(None, None)
    other.teach_vectors([row(5, "pot"), row(6, "mug")], ["pot", "mug"])
    kitchen.merge(other)
    kitchen.snapshot()
    assert kitchen.undoable == "learned what another model knows"
    assert_replays(kitchen)
    kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}


def test_what_is_refused_changes_nothing(kitchen: JournalledRecogniser) -> None:
    teach(kitchen, "cup", "mug")
    position, then = kitchen.position, replay.whole(kitchen)
    refused: list[tuple[type[Exception], Any]] = [
        (NoSuchExampleError, lambda: kitchen.delete([1, 99])),
        (NoSuchExampleError, lambda: kitchen.move([-1], "mug")),
        (NoSuchExampleError, lambda: kitchen.delete([2**70])),
        (InputError, lambda: kitchen.move([1], "")),
        (InputError, lambda: kitchen.move([1], "cup")),
        (InputError, lambda: kitchen.move([1], 7)),
        (InputError, lambda: kitchen.delete_class("pot")),
        (InputError, lambda: kitchen.rename_class("pot", "jug")),
        (InputError, lambda: kitchen.rename_class("cup", "cup")),
        (ClassExistsError, lambda: kitchen.rename_class("cup", "mug")),
        (InputError, lambda: kitchen.teach_one([1.0], "mug", digest(9))),
        (InputError, lambda: kitchen.teach_one([np.nan] * 6, "mug", digest(9))),
        (InputError, lambda: kitchen.teach_one(row(9, "mug"), "x" * 2000, digest(9))),
        (InputError, lambda: kitchen.teach_one(row(9, "mug"), "mug", b"short")),
        (InputError, lambda: kitchen.teach_vectors([row(9, "mug")], ["mug"], [b"short"])),
        (NotTaughtError, lambda: kitchen.forget_vectors([row(9, "mug")], ["mug"], [digest(9)])),
        (NotTaughtError, lambda: kitchen.forget_vectors([row(1, "mug")] * 2, ["mug"] * 2)),
        (NothingToUndoError, kitchen.redo),
    ]
    for error, do in refused:
        with pytest.raises(error):
            do()
        assert kitchen.position == position
        assert replay.whole(kitchen) == then
        assert len(kitchen.kept()) == 2
    teach(kitchen, "mug", start=3)
    assert_replays(kitchen)


def test_a_journal_that_cannot_be_written_leaves_the_model_as_it_was(
    kitchen: JournalledRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug", "mug")
    then = kitchen.counts
    monkeypatch.setattr(replay, "apply", _then_fail(replay.apply))
    with pytest.raises(JournalError, match="disk"):
        teach(kitchen, "jug", start=7)
    monkeypatch.undo()
    assert kitchen.counts == then
    assert_replays(kitchen)
    teach(kitchen, "jug", start=7)
    assert kitchen.counts == {**then, "jug": 1}


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
    kitchen.teach_one(row(7, "private"), "private", known, thumbnail=secret[16:], source="mine")
    mark, vector = secret[1000:1040], row(7, "private").tobytes()[:32]
    assert mark in _everything(tmp_path)
    kitchen.delete_class("private")
    kitchen.snapshot()
    assert mark in _everything(tmp_path)  # it could still be brought back
    assert kitchen.journal.deleted == 1
    kitchen.forget_for_good()
    left = _everything(tmp_path)
    assert len(left) < len(secret)  # the room is given back, too
    for trace in (mark, vector, known, b"private", b"mine"):
        assert trace not in left
    assert kitchen.undoable is None
    assert kitchen.counts == {"cup": 1, "mug": 2}
    assert_replays(kitchen)
    kitchen.close()
    assert open_to_look(path).counts == {"cup": 1, "mug": 2}


def test_thumbnails_beyond_their_number_are_in_no_file(tmp_path: Path) -> None:
    kitchen = open_at(tmp_path / "kitchen.newfound", keep_thumbnails=1)
    first, second = os.urandom(3000), os.urandom(3000)
    kitchen.teach_one(row(0, "cup"), "cup", digest(0), thumbnail=first)
    kitchen.teach_one(row(1, "mug"), "mug", digest(1), thumbnail=second)
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
    for recogniser in kitchen, oracle:
        teach(recogniser, *labels, thumbnail=b"a picture")
    kept = kitchen.kept(limit=100)
    assert len(kept) == 50
    assert 20 <= sum(each.has_vector for each in kept) <= 30
    assert [each.has_thumbnail for each in kept] == [True] * 7 + [False] * 43
    assert_replays(kitchen)
    with pytest.raises(NoSuchExampleError, match="no vector is kept"):
        kitchen.delete([1])
    kitchen.delete([50])
    oracle.delete([50])
    kitchen.rename_class("cup", "mug", join=True)
    oracle.rename_class("cup", "mug", join=True)
    for recogniser in kitchen, oracle:
        recogniser.refresh()
    assert_same(kitchen, oracle, 1e-9)
    kitchen.undo()
    assert kitchen.counts == {"cup": 13, "jug": 12, "mug": 12, "pot": 12}
    for recogniser in kitchen, oracle:
        recogniser.journal.close()
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
        patch.setattr(JournalledRecogniser, "snapshot", lambda _: None)
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
    assert kitchen.undoable is None
    teach(kitchen, "jug", start=5)
    kitchen.undo()
    with pytest.raises(NothingToUndoError):
        kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}
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
        counts.append(kitchen.counts)
        kitchen.replace(other)
        counts.append(kitchen.counts)
        teach(kitchen, "cup", start=70 + number)
        assert_replays(kitchen)
    for _ in range(2):
        undone = 0
        while kitchen.undoable and undone < 8:
            kitchen.undo()
            undone += 1
            assert kitchen.counts == counts[-undone]
            assert_replays(kitchen)
        kitchen.journal.close()  # killed
        kitchen = open_at(path)
        while kitchen.redoable:
            kitchen.redo()
            undone -= 1
            assert_replays(kitchen)
            assert undone == 0 or kitchen.counts == counts[-undone]
        kitchen.journal.close()
        kitchen = open_at(path)
        assert_replays(kitchen)
    kitchen.journal.close()


def test_several_merges_of_one_action_are_undone_and_redone_as_one(tmp_path: Path) -> None:
    path, (first, second) = tmp_path / "kitchen.newfound", other_models(tmp_path, 2)
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.snapshot()
    kitchen.action = "a lesson on a cluster"
    for other in first, second:
        kitchen.merge(Recogniser(other, None))
        kitchen._write_what_is_left()  # noqa: SLF001 - as a save does, without the snapshot
    then = kitchen.counts
    kitchen.journal.close()  # killed
    kitchen = open_at(path)
    assert kitchen.counts == then
    kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}
    kitchen.redo()
    assert kitchen.counts == then
    assert_replays(kitchen)
    kitchen.journal.close()


def test_a_model_and_a_lesson_of_one_action_are_redone_whatever_came_between(
    tmp_path: Path,
) -> None:
    path, (other,) = tmp_path / "kitchen.newfound", other_models(tmp_path, 1)
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug")
    kitchen.action = "both"
    kitchen.replace(other)
    teach(kitchen, "cup", start=5)
    then, kitchen.action = kitchen.counts, None
    kitchen.delete_class("pot")  # which is in no journal, so that the whole model is kept before
    for _ in range(2):
        kitchen.undo()
    assert kitchen.counts == {"cup": 1, "mug": 1}
    kitchen.redo()
    assert kitchen.counts == then
    assert_replays(kitchen)
    kitchen.journal.close()


def test_what_was_merged_is_written_down_as_soon_as_that_can_be(
    kitchen: JournalledRecogniser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug")
    kitchen.merge(Recogniser(other_models(tmp_path, 1)[0], None))
    then = kitchen.counts
    monkeypatch.setattr(replay, "apply", _then_fail(replay.apply))
    with pytest.raises(JournalError):
        kitchen.snapshot()
    monkeypatch.undo()
    teach(kitchen, "cup", start=90)
    assert kitchen.counts == {**then, "cup": 2}
    assert_replays(kitchen)


def test_who_has_no_vector_any_more_can_be_forgotten_by_the_image_and_is_gone(
    tmp_path: Path,
) -> None:
    path, secret = tmp_path / "kitchen.newfound", os.urandom(500)
    kitchen = open_at(path, keep_vectors=0)
    kitchen.teach_one(row(0, "cup"), "cup", digest(0), thumbnail=secret)
    teach(kitchen, *["mug"] * 15, start=1)
    assert not kitchen.example(1).has_vector
    kitchen.forget_vectors([row(0, "cup")], ["cup"], [digest(0)])
    assert kitchen.kept("cup") == []
    assert_replays(kitchen)
    kitchen.undo()
    assert [each.id for each in kitchen.kept("cup")] == [1]
    kitchen.redo()
    kitchen.forget_for_good()
    assert secret[100:140] not in _everything(tmp_path)
    assert len(kitchen.kept(limit=100)) == 15
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
    for do in kitchen.snapshot, kitchen.undo, lambda: teach(kitchen, "cup", start=11):
        with pytest.raises(JournalError, match="open it again"):
            do()
    kitchen.journal.close()
    kitchen = open_at(path)
    assert kitchen.counts == {"cup": 1, "mug": 1}
    kitchen.journal.close()


def test_limits_stay_with_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path, keep_thumbnails=3)
    teach(kitchen, *["cup"] * 5, thumbnail=b"a picture")
    kitchen.journal.close()
    kitchen = open_at(path)
    teach(kitchen, "mug", start=9, thumbnail=b"a picture")
    assert sum(each.has_thumbnail for each in kitchen.kept()) == 3
    kitchen.journal.close()
    kitchen = open_at(path, keep_thumbnails=0)
    assert not any(each.has_thumbnail for each in kitchen.kept())
    kitchen.journal.close()


def test_who_looks_sees_one_moment_while_another_lets_the_past_go(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach(kitchen, "cup", "mug", "cup", "mug")
    reader = open_at(path, read_only=True)  # begun, and not done
    kitchen.delete([1])
    said = threading.Thread(target=kitchen.forget_for_good)
    said.start()
    assert len(reader.kept()) == 4
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


def test_confusions_are_what_refits_without_each_example_say(kitchen: JournalledRecogniser) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(40, 3)), ["cup", "mug"] * 20
    rows[::2, 0] += 1.5
    for number, (x, label) in enumerate(zip(rows, labels, strict=True)):
        kitchen.teach_one(x, label, digest(number))
    model = kitchen.model
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
    assert {(a, b): count for a, b, count in kitchen.confusions()} == expected


def test_who_looks_does_not_wait_for_an_edit(kitchen: JournalledRecogniser) -> None:
    teach(kitchen, "cup", "mug", "cup", "mug")
    with kitchen.editing:
        found: list[Any] = []
        ask = threading.Thread(
            target=lambda: found.append(
                (
                    kitchen.look_at_vectors([row(0, "cup")])[0].label,
                    kitchen.kept(limit=1),
                    kitchen.undoable,
                )
            )
        )
        ask.start()
        ask.join(timeout=60)
        assert not ask.is_alive()
    assert found[0][0] == "cup"


def test_who_looks_while_something_is_taken_out_sees_the_model_as_it_was(
    kitchen: JournalledRecogniser, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach(kitchen, "cup", "mug", "cup", "mug")
    apply, seen = replay.apply, list[dict[Any, int]]()

    def watched(recogniser: Recogniser, *arguments: Any) -> None:
        apply(recogniser, *arguments)
        seen.append(kitchen.counts)
        assert recogniser.counts != kitchen.counts

    monkeypatch.setattr(replay, "apply", watched)
    kitchen.delete([1])
    kitchen.rename_class("mug", "cup", join=True)
    kitchen.undo()
    kitchen.delete_class("mug")
    states = [(2, 2), (1, 2), (3, 0), (1, 2)]
    assert [(each.get("cup", 0), each.get("mug", 0)) for each in seen] == states


def test_several_threads_teach_and_nothing_is_lost(kitchen: JournalledRecogniser) -> None:
    def work(first: int) -> None:
        for number in range(first, first + 25):
            label = LABELS[number % 4]
            kitchen.teach_one(row(number, label), label, digest(number))
            kitchen.look_at_vectors([row(number, label)])
            if number % 5 == 4:
                kitchen.snapshot()

    threads = [threading.Thread(target=work, args=(100 * each,)) for each in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert sum(kitchen.counts.values()) == 75
    assert len(kitchen.kept(limit=100)) == 75
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
    assert kitchen.counts == {"cup": 1, "jug": 1, "mug": 1}
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
    assert kitchen.counts == {"cup": 1, "jug": 1, "mug": 1}
    kitchen.journal.close()


def test_labels_of_any_kind_come_back_as_they_were(tmp_path: Path) -> None:
    kinds: list[list[Any]] = [[1, 2], [True, False], ["1", "\ud800"], ["a'b", '"c']]
    for number, labels in enumerate(kinds):
        path = tmp_path / f"{number}.newfound"
        kitchen = open_at(path)
        kitchen.teach_vectors([row(0, "cup"), row(1, "mug")], labels)
        kitchen.journal.close()
        kitchen = open_at(path)
        assert sorted(kitchen.counts) == sorted(labels)
        assert {type(each) for each in kitchen.counts} == {type(labels[0])}
        assert [each.label for each in kitchen.kept(labels[0])] == [labels[0]]
        kitchen.undo()
        assert kitchen.counts == {}
        kitchen.journal.close()
