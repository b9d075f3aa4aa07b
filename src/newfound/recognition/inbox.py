"""The inbox: what a robot saw and did not know, until somebody says what it is.

A question is a few examples without a label. To name it is an ordinary entry of the journal, which
gives them one; whoever undoes that has the question again.
"""

import json
import time
from collections.abc import Callable, Sequence
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

# Does a statement of SQL, and returns its rows.
Ask = Callable[..., list[Any]]


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
    ask : callable
        Does a statement of SQL, and returns its rows: inside the journal's `write`, as it writes.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def prepare(self, *, temporary: bool) -> None:
        """Make the tables where a journal of before there were questions has none.

        Who may only read makes them beside the file: in a journal without them nothing was asked.
        """
        found = {name for (name,) in self._ask("SELECT name FROM sqlite_schema")}
        create = f"CREATE {'TEMP ' if temporary else ''}TABLE IF NOT EXISTS"
        for name, columns in TABLES.items():
            if name not in found:
                self._ask(f"{create} {name} {columns}")

    def add(self, examples: Sequence[int], source: str, guess: str | None) -> int:
        """Ask what examples show, and return the question's id; inside `write`.

        Where there are too many, the oldest are dismissed. Call `checkpoint` afterwards.
        """
        [(number,)] = self._ask(
            "INSERT INTO questions (time, source, guess) VALUES (?, ?, ?) RETURNING id",
            (time.time(), storable(source), None if guess is None else storable(guess)),
        )
        for example in examples:
            self._ask("INSERT INTO asked VALUES (?, ?)", (example, number))
        old = self._ask(
            "SELECT id FROM questions WHERE open ORDER BY id DESC LIMIT -1 OFFSET ?",
            (MOST_QUESTIONS,),
        )
        for (each,) in old:
            self.dismiss(each)
        return int(number)

    def find(self, number: int) -> Question:
        """Return an open question, or raise NoSuchQuestionError."""
        for question in self.open(number + 1, 1) if 0 < number < 2**62 else ():
            if question.id == number:
                return question
        raise NoSuchQuestionError(f"there is no open question {number}")

    def open(self, before: int | None = None, limit: int = 50) -> list[Question]:
        """Return open questions, newest first, from before an id on."""
        found = self._ask(
            "SELECT id, time, source, guess FROM questions WHERE open AND id < ?"
            " ORDER BY id DESC LIMIT ?",
            (2**62 if before is None else min(2**62, before), min(2**62, limit)),
        )
        return [
            Question(number, when, source, guess, self._frames(number))
            for number, when, source, guess in found
        ]

    def _frames(self, number: int) -> list[int]:
        """Return the examples of a question that are there."""
        found = self._ask(
            "SELECT example FROM asked JOIN examples ON examples.id = example"
            " WHERE question = ? ORDER BY example",
            (number,),
        )
        return [example for (example,) in found]

    @property
    def count(self) -> int:
        """How many questions are open."""
        [(number,)] = self._ask("SELECT count(*) FROM questions WHERE open")
        return int(number)

    @property
    def frames(self) -> int:
        """How many examples the open questions have."""
        [(number,)] = self._ask(f"SELECT count(*) FROM examples WHERE id IN ({OPEN})")
        return int(number)

    def note(self, entry: int, kind: str, detail: dict[str, Any]) -> None:
        """Close the question that an entry names; open it again where that is undone; in `write`.

        What is done again is closed again.
        """
        if kind in ("undo", "redo"):
            self._ask(
                "UPDATE questions SET open = ? WHERE named IN (SELECT value FROM json_each(?))",
                (int(kind == "undo"), json.dumps(detail["of"])),
            )
        elif "question" in detail:
            self._ask(
                "UPDATE questions SET open = 0, named = ? WHERE id = ?",
                (entry, detail["question"]),
            )

    def dismiss(self, number: int) -> None:
        """Let go of a question; inside `write`.

        Its examples go with it, unless entries speak of them, because it was named and that was
        undone: then they are like any that were deleted.
        """
        self._ask(
            "DELETE FROM examples WHERE id IN (SELECT example FROM asked JOIN questions"
            " ON questions.id = question WHERE question = ? AND named IS NULL)",
            (number,),
        )
        self._ask("DELETE FROM asked WHERE question = ?", (number,))
        self._ask("DELETE FROM questions WHERE id = ?", (number,))

    def forget_past(self) -> None:
        """Let go of questions that were answered, once that cannot be undone; inside `write`."""
        self._ask("DELETE FROM questions WHERE NOT open")
        self._ask("DELETE FROM asked WHERE question NOT IN (SELECT id FROM questions)")
        self._ask("UPDATE questions SET named = NULL")


def storable(text: str) -> str:
    r"""Return a text that SQLite can hold, whatever the names of files and classes are.

    >>> storable("caf\udce9")
    'caf\\udce9'
    """
    return text.encode("utf-8", "backslashreplace").decode()
