"""Ctrl-C at any moment leaves what a recogniser knows, and its journal, whole."""

import shutil
import signal
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import Recogniser
from newfound.checks import check_interrupted
from newfound.recognition import replay
from newfound.recognition.editor import Editor
from newfound.recognition.journal_history import JournalHistory
from newfound.recognition.knowledge import Knowledge
from newfound.recognition.sources import NewExample
from tests.effort import share_of
from tests.recognition.edits import LABELS, digest, open_at, row

NUMBERS = range(24)
SHOWN = [LABELS[number % 3] for number in NUMBERS]
ROWS = np.array([row(number, label) for number, label in zip(NUMBERS, SHOWN, strict=True)])

VERBS: dict[str, Callable[[Any], object]] = {
    "teach": lambda one: one.teach_vectors(ROWS[16:18] + 1, SHOWN[16:18]),
    "teach a class": lambda one: one.teach_vectors(ROWS[:1] - 1, ["pot"]),
    "forget": lambda one: one.forget_vectors(ROWS[8:10], SHOWN[8:10]),
    "forget a class": lambda one: one.forget_class("mug"),
    "rename": lambda one: one.rename("mug", "beaker"),
    "join": lambda one: one.rename("mug", "cup"),
    "merge": lambda one: one.merge(taught(16, 24)),
    "refresh": lambda one: one.refresh(),
}


def through_its_recogniser(verb: Callable[[Any], object], editor: Editor) -> None:
    verb(editor.recogniser)


EDITS: dict[str, Callable[[Editor], object]] = {
    **{name: partial(through_its_recogniser, verb) for name, verb in VERBS.items()},
    "delete": lambda one: one.delete([2, 5]),
    "move": lambda one: one.move([2, 5], "pot"),
    "undo": lambda one: one.history.undo(),
    "redo": lambda one: one.history.redo(),
    "replace": lambda one: one.replace(taught(16, 24)),
    "name": lambda one: one.name(1, "cup"),
    "forget for good": lambda one: one.forget_for_good(),
    "snapshot": lambda one: one.snapshot(),
}


def taught(start: int, stop: int) -> Recogniser:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(ROWS[start:stop], SHOWN[start:stop])
    return recogniser


def look(knowledge: Knowledge) -> list[Any]:
    known = [knowledge.counts, knowledge.taught.digests, knowledge.identity, knowledge.changes]
    answers = knowledge.look(ROWS) if knowledge.is_taught else []
    scores = np.array([[answer.score, answer.unknown] for answer in answers])
    return [*known, replay.whole(knowledge), scores]


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_recogniser_knows_all_of_a_change_or_nothing(verb: Any) -> None:
    def look_and_go_on(recogniser: Recogniser) -> list[Any]:
        seen = look(recogniser.knowledge)
        recogniser.teach_vectors(ROWS[20:], SHOWN[20:])
        return [*seen, *look(recogniser.knowledge)]

    check_interrupted(lambda: taught(0, 16), verb, look_and_go_on, moments=share_of(20))


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_editor_makes_an_edit_and_writes_it_down_or_does_neither(
    edit: Any, tmp_path: Path
) -> None:
    """Opened again as if it had been killed, it knows what it knew."""
    folders = map(tmp_path.joinpath, map(str, count()))
    begun = begin(next(folders))

    def make() -> Editor:
        return open_at(shutil.copytree(begun, next(folders)) / "kitchen.newfound")

    def look_at(editor: Editor) -> list[Any]:
        entries = [(entry.kind, entry.detail) for entry in editor.journal.entries()]
        history = editor.history
        seen = [entries, history.undoable, history.redoable, *look(editor.knowledge)]
        copied = shutil.copytree(editor.path.parent, next(folders))
        editor.recogniser.teach_vectors(ROWS[20:], SHOWN[20:])  # and it goes on
        seen += look(editor.knowledge)
        editor.journal.close()
        again = open_at(copied / "kitchen.newfound")
        seen += look(again.knowledge)
        again.journal.close()
        return seen

    check_interrupted(make, edit, look_at, moments=share_of(20))


def test_what_was_merged_is_written_down_once_though_that_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor, write = open_at(begin(tmp_path / "0") / "kitchen.newfound"), JournalHistory.write_model

    def write_and_interrupt(history: JournalHistory, what: str) -> None:
        write(history, what)
        signal.raise_signal(signal.SIGINT)

    before = len(list(editor.journal.entries()))
    editor.recogniser.merge(taught(16, 24))
    monkeypatch.setattr(JournalHistory, "write_model", write_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        editor.snapshot()
    monkeypatch.undo()
    editor.snapshot()
    assert len(list(editor.journal.entries())) == before + 1
    editor.journal.close()


def begin(folder: Path) -> Path:
    """Make a model with a journal, in which something can be undone, redone and named."""
    folder.mkdir()
    editor = open_at(folder / "kitchen.newfound")
    editor.recogniser.teach_vectors(ROWS[:16], SHOWN[:16])
    editor.ask([NewExample(ROWS[23], digest(23))])
    editor.snapshot()
    editor.delete([4])
    editor.delete([7])
    editor.history.undo()
    editor.journal.close()
    return folder
