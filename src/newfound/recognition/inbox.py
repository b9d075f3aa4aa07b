"""The inbox: what a robot saw and did not know, until somebody says what it is.

A question is a few examples without a label. To name it is an ordinary entry of the journal, which
gives them one; whoever undoes that has the question again.
"""

import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from newfound.common.errors import InputError

# So many questions are open at most; the oldest makes room. A question has so many frames.
MOST_QUESTIONS, MOST_FRAMES = 200, 8
# named: the entry that named it, also if that was undone; whether it is open says `open`.
TABLES = {
    "questions": """(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    source TEXT NOT NULL,
    guess TEXT,
    named INTEGER,
    open INTEGER NOT NULL DEFAULT 1
) STRICT""",
    "asked": "(example INTEGER PRIMARY KEY, question INTEGER NOT NULL) STRICT",
}
# The examples of open questions: they have no label, and were not deleted either.
OPEN = "SELECT example FROM asked JOIN questions ON questions.id = question WHERE open"

Execute = Callable[..., Any]


class NoSuchQuestionError(InputError):
    """There is no such question, or it was answered."""


class Question(NamedTuple):
    """Something that was not known, and of which nobody has said what it is."""

    id: int
    time: float  # when it was asked, in seconds since 1970
    source: str  # where it came from, in words
    guess: str | None  # the nearest of what is known
    frames: list[int]  # examples that show it


class Inbox:
    """The questions of a journal.

    Parameters
    ----------
    connection : callable
        Returns a context with what executes SQL: inside the journal's `write`, what writes.
    """

    def __init__(self, connection: Callable[[], AbstractContextManager[Execute]]) -> None:
        self._connection = connection

    def prepare(self, one: Execute, *, temporary: bool) -> None:
        """Make the tables where a journal of before there were questions has none.

        Who may only read makes them beside the file: in a journal without them nothing was asked.
        """
        found = {row[0] for row in one("SELECT name FROM sqlite_schema").fetchall()}
        for name, columns in TABLES.items():
            if name not in found:
                one(f"CREATE {'TEMP ' if temporary else ''}TABLE IF NOT EXISTS {name} {columns}")

    def add(self, examples: Sequence[int], source: str, guess: str | None) -> int:
        """Ask what examples show, and return the question's id; inside `write`."""
        with self._connection() as one:
            asked = one(
                "INSERT INTO questions (time, source, guess) VALUES (?, ?, ?)",
                (time.time(), storable(source), None if guess is None else storable(guess)),
            )
            number = int(asked.lastrowid)
            for example in examples:
                one("INSERT INTO asked VALUES (?, ?)", (example, number))
            old = one(
                "SELECT id FROM questions WHERE open ORDER BY id DESC LIMIT -1 OFFSET ?",
                (MOST_QUESTIONS,),
            )
            for (each,) in old.fetchall():
                self.dismiss(each)
        return number

    def find(self, number: int) -> Question:
        """Return an open question, or raise NoSuchQuestionError."""
        for question in self.open(number + 1, 1) if 0 < number < 2**62 else ():
            if question.id == number:
                return question
        raise NoSuchQuestionError(f"there is no open question {number}")

    def open(self, before: int | None = None, limit: int = 50) -> list[Question]:
        """Return open questions, newest first, from before an id on."""
        with self._connection() as one:
            found = one(
                "SELECT id, time, source, guess FROM questions WHERE open AND id < ?"
                " ORDER BY id DESC LIMIT ?",
                (2**62 if before is None else min(2**62, before), min(2**62, limit)),
            ).fetchall()
            return [
                Question(number, when, source, guess, _frames(one, number))
                for number, when, source, guess in found
            ]

    @property
    def count(self) -> int:
        """How many questions are open."""
        with self._connection() as one:
            return int(one("SELECT count(*) FROM questions WHERE open").fetchone()[0])

    @property
    def frames(self) -> int:
        """How many examples the open questions have."""
        with self._connection() as one:
            found = one(f"SELECT count(*) FROM examples WHERE id IN ({OPEN})").fetchone()
        return int(found[0])

    def note(self, entry: int, kind: str, detail: dict[str, Any]) -> None:
        """Close the question that an entry names; open it again where that is undone; in `write`.

        What is done again is closed again.
        """
        with self._connection() as one:
            if kind in ("undo", "redo"):
                one(
                    "UPDATE questions SET open = ? WHERE named IN (SELECT value FROM json_each(?))",
                    (int(kind == "undo"), json.dumps(detail["of"])),
                )
            elif "question" in detail:
                one(
                    "UPDATE questions SET open = 0, named = ? WHERE id = ?",
                    (entry, detail["question"]),
                )

    def dismiss(self, number: int) -> None:
        """Let go of a question; inside `write`.

        Its examples go with it, unless entries speak of them, because it was named and that was
        undone: then they are like any that were deleted.
        """
        with self._connection() as one:
            one(
                "DELETE FROM examples WHERE id IN (SELECT example FROM asked JOIN questions"
                " ON questions.id = question WHERE question = ? AND named IS NULL)",
                (number,),
            )
            one("DELETE FROM asked WHERE question = ?", (number,))
            one("DELETE FROM questions WHERE id = ?", (number,))

    def forget_past(self) -> None:
        """Let go of questions that were answered, once that cannot be undone; inside `write`."""
        with self._connection() as one:
            one("DELETE FROM questions WHERE NOT open")
            one("DELETE FROM asked WHERE question NOT IN (SELECT id FROM questions)")
            one("UPDATE questions SET named = NULL")


def storable(text: str) -> str:
    r"""Return a text that SQLite can hold, whatever the names of files and classes are.

    >>> storable("caf\udce9")
    'caf\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _frames(one: Execute, number: int) -> list[int]:
    """Return the examples of a question that are there."""
    found = one(
        "SELECT example FROM asked JOIN examples ON examples.id = example"
        " WHERE question = ? ORDER BY example",
        (number,),
    )
    return [row[0] for row in found.fetchall()]
