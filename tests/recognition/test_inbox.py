"""The inbox: what a robot did not know, until somebody names it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.common.errors import InputError
from newfound.recognition import inbox
from newfound.recognition.beside import journal_file
from newfound.recognition.editor import Editor
from newfound.recognition.example_table import NoSuchExampleError
from newfound.recognition.inbox import NoSuchQuestionError
from newfound.recognition.journal import Journal
from newfound.recognition.opening import open_to_look
from newfound.recognition.sources import NewExample
from tests.recognition.edits import assert_replays, digest, open_at, row, teach_one


@pytest.fixture
def kitchen(tmp_path: Path) -> Iterator[Editor]:
    editor = open_at(tmp_path / "kitchen.newfound")
    for number, label in enumerate(["cup", "cup", "pot", "pot"]):
        teach_one(editor, row(number, label), label, digest(number))
    yield editor
    editor.journal.close()


def frames(*numbers: int, thumbnail: bytes | None = None) -> list[NewExample]:
    return [
        NewExample(row(number, "mug"), digest(number), None, "camera", thumbnail)
        for number in numbers
    ]


def test_what_is_asked_is_not_learned_until_it_is_named(kitchen: Editor) -> None:
    position, counts = kitchen.history.position, kitchen.recogniser.counts
    first = kitchen.ask(frames(10, 11), "cam\udce9ra", "cup")
    second = kitchen.ask(frames(12))
    newest, oldest = kitchen.journal.inbox.open()
    assert (oldest.id, oldest.source, oldest.guess) == (first, "cam\\udce9ra", "cup")
    assert (newest.id, newest.guess) == (second, None)
    assert kitchen.journal.inbox.open(before=second, limit=1) == [oldest]
    assert (kitchen.history.position, kitchen.recogniser.counts) == (position, counts)
    assert {each.label for each in kitchen.journal.examples.kept()} == {"cup", "pot"}
    edit = kitchen.name(first, "mug")
    assert (edit.what, edit.examples) == ("taught mug (2)", oldest.frames)
    assert kitchen.recogniser.counts == {**counts, "mug": 2}
    assert kitchen.journal.inbox.open() == [newest]
    with pytest.raises(NoSuchQuestionError, match="no open question"):
        kitchen.name(first, "mug")


def test_a_question_is_open_again_when_its_name_is_undone_but_not_when_that_is_deleted(
    kitchen: Editor,
) -> None:
    asked = kitchen.ask(frames(10, 11))
    kitchen.name(asked, "mug")
    kitchen.delete(kitchen.journal.examples.ids_of("mug"))
    assert kitchen.journal.inbox.open() == []
    assert kitchen.journal.deleted == 2
    kitchen.history.undo()
    kitchen.history.undo()
    assert [each.id for each in kitchen.journal.inbox.open()] == [asked]
    assert kitchen.journal.deleted == 0
    kitchen.history.redo()
    assert kitchen.journal.inbox.open() == []
    assert kitchen.recogniser.counts["mug"] == 2
    assert_replays(kitchen)


def test_the_same_key_names_once_and_what_was_taught_already_is_not_taught_again(
    kitchen: Editor,
) -> None:
    asked, again = kitchen.ask(frames(10, 11)), kitchen.ask(frames(11))
    assert not kitchen.name(asked, "mug", key="a key").repeated
    assert kitchen.name(asked, "mug", key="a key").repeated
    assert kitchen.name(again, "mug").what == "mug was taught this already"
    assert kitchen.recogniser.counts["mug"] == 2
    assert kitchen.journal.inbox.open() == []


def test_a_dismissed_question_is_in_no_file_and_what_was_named_once_can_be_redone(
    kitchen: Editor, tmp_path: Path
) -> None:
    asked = kitchen.ask(frames(10, thumbnail=b"a picture that nobody wants"))
    (example,) = kitchen.journal.inbox.open()[0].frames
    assert kitchen.journal.examples.thumbnail(example) == b"a picture that nobody wants"
    kitchen.dismiss(asked)
    with pytest.raises(NoSuchExampleError):
        kitchen.journal.examples.thumbnail(example)
    with pytest.raises(NoSuchQuestionError):
        kitchen.dismiss(asked)
    other = kitchen.ask(frames(12))
    kitchen.name(other, "mug")
    kitchen.history.undo()
    kitchen.dismiss(other)
    assert kitchen.journal.deleted == 1
    assert kitchen.history.redo().what == "did again: taught mug"
    assert_replays(kitchen)
    kitchen.close()
    assert not any(b"that nobody wants" in file.read_bytes() for file in tmp_path.iterdir())


def test_letting_the_past_go_keeps_open_questions_and_only_these(tmp_path: Path) -> None:
    kitchen = open_at(tmp_path / "kitchen.newfound", keep_vectors=0)
    answered, asked = kitchen.ask(frames(10, 11)), kitchen.ask(frames(12, 13))
    kitchen.name(answered, "mug")
    kitchen.name(asked, "pot")
    kitchen.history.undo()
    kitchen.delete(kitchen.journal.examples.ids_of("mug")[-1:])
    assert not kitchen.journal.is_full
    kitchen.forget_for_good()
    assert [each.id for each in kitchen.journal.inbox.open()] == [asked]
    assert kitchen.journal.deleted == 0
    assert [each.has_vector for each in kitchen.journal.examples.kept()] == [False]
    kitchen.name(asked, "jug")
    assert kitchen.recogniser.counts == {"mug": 1, "jug": 2}
    kitchen.history.undo()
    kitchen.dismiss(asked)
    kitchen.close()


def test_only_so_many_questions_are_open_and_the_oldest_makes_room(
    kitchen: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "MOST_QUESTIONS", 3)
    asked = [kitchen.ask(frames(number)) for number in range(10, 15)]
    assert [each.id for each in kitchen.journal.inbox.open()] == asked[:1:-1]
    assert kitchen.journal.inbox.count == kitchen.journal.inbox.frames == 3


@pytest.mark.parametrize(
    "given", [[], frames(*range(10, 19)), [NewExample(np.ones(3), digest(1), None)]]
)
def test_frames_that_no_question_can_have_are_refused(
    kitchen: Editor, given: list[NewExample]
) -> None:
    with pytest.raises(InputError):
        kitchen.ask(given)
    assert kitchen.journal.inbox.open() == []


def test_a_name_that_cannot_be_one_leaves_the_question_open(kitchen: Editor) -> None:
    asked = kitchen.ask(frames(10))
    for label in ("", "x" * 100_000):
        with pytest.raises(InputError):
            kitchen.name(asked, label)
    assert [each.id for each in kitchen.journal.inbox.open()] == [asked]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_journal_of_before_there_were_questions_has_none(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen = open_at(path)
    teach_one(kitchen, row(1, "cup"), "cup", digest(1))
    kitchen.close()
    with sqlite3.connect(journal_file(path)) as connection:
        for table in inbox.TABLES:
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    journal = Journal(journal_file(path), read_only=read_only)
    assert journal.inbox.open() == []
    assert (journal.inbox.count, journal.deleted) == (0, 0)
    journal.close()
    assert open_to_look(path, None).counts == {"cup": 1}
    again = open_at(path)
    assert again.ask(frames(10)) == 1
    again.close()


def test_who_looks_reads_questions_while_another_asks(kitchen: Any, tmp_path: Path) -> None:
    kitchen.ask(frames(10))
    with_all = open_at(tmp_path / "kitchen.newfound", read_only=True)
    kitchen.ask(frames(11))
    assert len(with_all.journal.inbox.open()) == 1
    with pytest.raises(InputError, match="to look only"):
        with_all.name(1, "mug")
    with_all.journal.close()
