"""The journal: every edit of a model, in an SQLite file beside it, before it is acknowledged.

An entry says which examples changed their label: `[id, before, after]`, None being no label. That
is a lesson (None, mug), a deletion (mug, None) or a move (mug, cup), and it can be turned round.
What examples are now follows from the entries, and is written in the same transaction.
"""

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from newfound.common.errors import NewfoundError
from newfound.recognition.actions import Actions
from newfound.recognition.beginning import USUAL, Beginning
from newfound.recognition.example_table import TABLES as EXAMPLES
from newfound.recognition.example_table import Change, ExampleTable
from newfound.recognition.inbox import Inbox

# Which file this is, and how it is laid out: what `file` and `sqlite3` show of it.
APPLICATION, VERSION = 0x6E66_6A72, 1
# So many examples are kept as vectors, and so many as pictures, unless someone says otherwise.
KEEP_VECTORS, KEEP_THUMBNAILS = 20_000, 10_000
# Seconds to wait for another process that writes.
BUSY = 10.0
# So many whole models are kept in it, as what cannot be turned round goes back to.
MOST_STATES = 16
# Of so many edits the keys are remembered, whatever is forgotten of the edits themselves.
KEYS_KEPT = 10_000

ADVICE = "; move it elsewhere to go on with the model's file alone"
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value ANY) STRICT;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    key TEXT UNIQUE,
    detail TEXT NOT NULL
) STRICT;
CREATE TABLE states (entry INTEGER PRIMARY KEY, model BLOB NOT NULL) STRICT;
"""


class JournalError(NewfoundError):
    """A journal cannot be read or written; what it holds is as it was."""


@dataclass(frozen=True)
class Entry:
    """One edit of a model."""

    id: int
    kind: str  # change, rename, drop, state, refresh, undo or redo; gone: let go
    action: str  # entries in a row with the same one are undone together
    detail: dict[str, Any]

    @cached_property
    def rows(self) -> list[Change]:
        """Which examples it gives another label."""
        return [(row[0], row[1], row[2]) for row in self.detail.get("rows", ())]


class Journal:
    """Entries, examples and, now and then, a whole model, in one file.

    Any thread may read. Whoever writes does so inside `write`, one at a time.

    Parameters
    ----------
    path : path-like
        Made, if it is not there.
    keep_vectors, keep_thumbnails : int, optional
        Of how many examples to keep vectors and pictures, from now on; those of the oldest go
        first. By default as many as was said last: 20,000 and 10,000 if nobody said anything.
    read_only : bool, default=False
        Whether only to read a journal that is there.

    Raises
    ------
    JournalError
        If it is no journal, or one of a later version.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from newfound.recognition.sources import NewExample
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder) / "m.journal")
    ...     with journal.write():
    ...         ids = journal.examples.add([NewExample(np.zeros(2), b"0" * 16)], 9)
    ...         entry = journal.append("change", {"rows": [[ids[0], None, "mug"]]})
    ...     journal.examples.kept("mug")[0].id, journal.actions.undoable
    ...     journal.close()
    (1, 'taught mug')
    """

    # id: of this journal, which snapshots carry.
    # last: number of the last entry. floor: entries up to this one cannot be undone.
    # beginning: what the model was made with, before the first entry.
    # found: the digest of the model's file that was last taken in, and the entry that took it.
    # keep_vectors, keep_thumbnails: of how many examples these are kept.
    # actions: what can be undone and redone. examples: what entries speak of. inbox: what nobody
    #     has named yet.
    # _writer: the connection that writes, held by one thread at a time, `_written_by`. _reader:
    #     another, so that who looks at thumbnails does not wait for a lesson.
    # _has_traces: what was deleted is still in the file beside it, because someone else read.

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keep_vectors: int | None = None,
        keep_thumbnails: int | None = None,
        read_only: bool = False,
    ) -> None:
        self.path, self.read_only = Path(path), read_only
        self.last: int = 0
        self._reading = threading.Lock()
        self._written_by: int | None = None
        self._has_traces = False
        self.examples, self.inbox = ExampleTable(self._ask), Inbox(self._ask)
        with self._in_words(), ExitStack() as stack:
            self._writer = self._reader = self._connect()
            stack.callback(self._writer.close)  # unless it can be used
            try:
                if read_only:  # all of one moment, whatever others write
                    self._writer.execute("BEGIN")
                self._prepare()
                if not read_only:
                    self._limit(keep_vectors, keep_thumbnails)
                    self.checkpoint()  # what was deleted just now, or by a process that was killed
                    self._reader = self._connect()
            except (KeyError, TypeError, ValueError) as error:
                raise JournalError(f"{self.path}: damaged ({error!r}){ADVICE}") from error
            stack.pop_all()

    def _limit(self, keep_vectors: int | None, keep_thumbnails: int | None) -> None:
        """Keep other numbers of things from now on, also whoever opens it next."""
        given = {"keep_vectors": keep_vectors, "keep_thumbnails": keep_thumbnails}
        changed = {
            name: value
            for name, value in given.items()
            if value is not None and value != getattr(self, name)
        }
        if changed:
            with self.write():
                for name, value in changed.items():
                    self.set(name, value)
                    setattr(self, name, value)
                self.examples.drop_thumbnails(self.keep_thumbnails)

    def _connect(self) -> sqlite3.Connection:
        if self.path.exists() and not self.path.is_file():
            raise JournalError(f"{self.path}: not a file, and so no journal")
        mode = "ro" if self.read_only else "rwc"
        if self.read_only and not self._can_share():
            mode = "ro&immutable=1"
        address = f"{self.path.resolve().as_uri()}?mode={mode}"
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        if not self.read_only:
            connection.execute("PRAGMA synchronous = FULL")  # acknowledged is on the disk
            connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _can_share(self) -> bool:
        """Tell whether to read beside others that write; where nobody may write, nobody does."""
        beside = self.path.with_name(f"{self.path.name}-wal")
        return beside.exists() or os.access(self.path.parent, os.W_OK)

    def _prepare(self) -> None:
        one = self._writer.execute
        found = one("PRAGMA application_id").fetchone()[0], one("PRAGMA user_version").fetchone()[0]
        if found == (0, 0) and not one("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            if self.read_only:
                raise JournalError(
                    f"{self.path}: an empty file, and no journal; was {self.path.name}-wal, which "
                    "belongs to it, left behind?"
                )
            self._make()
        elif found[0] != APPLICATION:
            raise JournalError(f"{self.path}: not a journal of newfound")
        elif found[1] > VERSION:
            raise JournalError(f"{self.path}: a journal of a later version: upgrade newfound")
        self.inbox.prepare(temporary=self.read_only)
        self._recount()

    def _recount(self) -> None:
        """Find out what the file says of itself."""
        one = self._writer.execute
        settings = dict(one("SELECT name, value FROM settings").fetchall())
        self.id, self.floor = bytes(settings["id"]), int(settings["floor"])
        wishes = USUAL._asdict() | settings
        self.beginning = Beginning(*(bool(wishes[name]) for name in Beginning._fields))
        self.keep_vectors = int(settings.get("keep_vectors", KEEP_VECTORS))
        self.keep_thumbnails = int(settings.get("keep_thumbnails", KEEP_THUMBNAILS))
        found = bytes(settings.get("found", b"")), int(settings.get("found_entry", 0))
        self.found: tuple[bytes, int] = found
        self.last = max(self.floor, one("SELECT ifnull(max(id), 0) FROM entries").fetchone()[0])
        self.actions = Actions()
        for entry in self.entries(self.floor):
            self.actions.note(entry.id, entry.kind, entry.action, entry.detail)

    def _make(self) -> None:
        one = self._writer.execute
        one("PRAGMA journal_mode = WAL")
        one("BEGIN IMMEDIATE")
        for statement in (_TABLES + EXAMPLES).split(";\n"):
            if statement.strip():
                one(statement)
        one("INSERT INTO settings VALUES ('id', ?), ('floor', 0)", (secrets.token_bytes(16),))
        one(f"PRAGMA application_id = {APPLICATION}")
        one(f"PRAGMA user_version = {VERSION}")
        one("COMMIT")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            is_damaged = any(word in str(error) for word in ("not a database", "malformed"))
            raise JournalError(f"{self.path}: {error}{ADVICE if is_damaged else ''}") from error

    def set(self, name: str, value: Any) -> None:
        """Write down a setting; inside `write`."""
        self._writer.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def setting(self, name: str) -> Any:
        """Return a setting as it was written down; None: it never was."""
        found = self._ask("SELECT value FROM settings WHERE name = ?", (name,))
        return found[0][0] if found else None

    @contextmanager
    def write(self) -> Iterator[None]:
        """Write all that is written inside, or nothing of it."""
        with self._in_words():
            self._writer.execute("BEGIN IMMEDIATE")
            self._written_by = threading.get_ident()
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                self._written_by = None
                self._recount()
                raise
            finally:
                self._written_by = None
        with suppress(JournalError):  # it is written, whatever becomes of the traces
            if self._has_traces:
                self.checkpoint(wait=0.0)

    def append(
        self, kind: str, detail: dict[str, Any], action: str | None = None, key: str | None = None
    ) -> Entry:
        """Add an entry, and give the examples that it names their labels; inside `write`."""
        action = action or secrets.token_hex(8)
        text = json.dumps(detail, separators=(",", ":"))
        found = self._writer.execute(
            "INSERT INTO entries (time, kind, action, key, detail) VALUES (?, ?, ?, ?, ?)",
            (time.time(), kind, action, key, text),
        )
        entry = Entry(int(found.lastrowid or 0), kind, action, detail)
        self.examples.relabel(entry.rows)
        self.inbox.note(entry.id, kind, detail)
        self.last = entry.id
        self.actions.note(entry.id, kind, action, detail)
        return entry

    def keep_state(self, entry: int, model: bytes) -> None:
        """Keep the whole model as it is after an entry; inside `write`. Empty: it knows nothing.

        Of an action that makes several, the last is enough. Where there are too many, the oldest
        goes, and with it what could be undone before the next.
        """
        one = self._writer.execute
        one("INSERT OR REPLACE INTO states VALUES (?, ?)", (entry, model))
        if of_action := self.actions.of(entry):  # between its first and its last, nobody else's
            one("DELETE FROM states WHERE entry >= ? AND entry < ?", (of_action[0], entry))
        kept = [row[0] for row in one("SELECT entry FROM states ORDER BY entry").fetchall()]
        if len(kept) > MOST_STATES:
            one("DELETE FROM states WHERE entry < ?", (kept[-MOST_STATES],))
            self.raise_floor(kept[-MOST_STATES])

    def note_found(self, digest: bytes, entry: int) -> None:
        """Note which entry took a model's file in; inside `write`."""
        self.set("found", digest)
        self.set("found_entry", entry)
        self.found = digest, entry

    def raise_floor(self, floor: int) -> None:
        """Let nothing up to an entry be undone any more; inside `write`."""
        self.floor = floor
        self.set("floor", floor)
        self.actions.forget_until(floor)

    def last_state(self, until: int | None = None) -> int:
        """Return the last entry with which the whole model is kept, of all or up to one.

        0: there is none; then a model begins with nothing, before the first entry.
        """
        [(entry,)] = self._ask(
            "SELECT ifnull(max(entry), 0) FROM states WHERE entry <= ?",
            (self.last if until is None else until,),
        )
        return int(entry)

    def state_of(self, entry: int) -> bytes:
        """Return the whole model that was kept with an entry."""
        found = self._ask("SELECT model FROM states WHERE entry = ?", (entry,))
        if not found:
            raise JournalError(f"{self.path}: the model of entry {entry} is not kept any more")
        return bytes(found[0][0])

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Yield entries in order."""
        most = 2**62 if until is None else until
        step = 1000
        while True:
            found = self._ask(
                "SELECT id, kind, action, detail FROM entries"
                " WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
                (after, most, step),
            )
            for number, kind, action, detail in found:
                yield Entry(number, kind, action, json.loads(detail))
            if len(found) < step:
                return
            after = found[-1][0]

    def entry(self, number: int) -> Entry:
        """Return one entry."""
        for entry in self.entries(number - 1, number):
            return entry
        raise JournalError(f"{self.path}: there is no entry {number}")

    def entry_of(self, key: str) -> Entry | None:
        """Return the entry that was written with a key."""
        found = self._ask("SELECT id FROM entries WHERE key = ?", (key,))
        return self.entry(found[0][0]) if found else None

    @property
    def deleted(self) -> int:
        """How many examples are deleted, and not gone yet."""
        return self.examples.count("label IS NULL") - self.inbox.frames

    @property
    def is_full(self) -> bool:
        """Whether there are so many vectors that it is time to let the oldest go."""
        most = self.keep_vectors + self.inbox.frames + max(10, self.keep_vectors // 10)
        return self.examples.count("vector IS NOT NULL") > most

    def forget_past(self, model: bytes) -> None:
        """Begin anew with a whole model, and let go of all that only the past needs; in `write`.

        What was deleted is gone, pictures too; so are vectors beyond their number; nothing that
        came before can be undone. Open questions stay. Call `shrink` afterwards.
        """
        one = self._writer.execute
        one("DELETE FROM states")
        one("INSERT INTO states VALUES (?, ?)", (self.last, model))
        self.examples.forget_past(self.keep_vectors)
        self.inbox.forget_past()
        one("DELETE FROM entries WHERE id <= ? AND key IS NULL", (self.last - 1,))
        one("DELETE FROM entries WHERE id <= ?", (self.last - KEYS_KEPT,))
        one(
            "UPDATE entries SET kind = 'gone', action = '', detail = '{}' WHERE id <= ?",
            (self.last,),
        )
        self.raise_floor(self.last)

    def shrink(self) -> bool:
        """Give back the room of what is gone, and leave no trace of it in the file.

        Returns False if someone else reads just now, as `checkpoint` does.
        """
        with self._in_words(), self._reading:
            self._writer.execute("VACUUM")
        return self.checkpoint()

    def checkpoint(self, wait: float = BUSY) -> bool:
        """Leave no trace of what is deleted in the file beside the journal that SQLite keeps.

        Returns False if someone else still reads after `wait` seconds. Then it is tried again after
        whatever is written next, and the last of all who have it open does so when it closes it.
        """
        one = self._writer.execute
        with self._in_words(), self._reading:
            one(f"PRAGMA busy_timeout = {int(1000 * wait)}")
            try:
                is_busy, *_ = one("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                one(f"PRAGMA busy_timeout = {int(1000 * BUSY)}")
        self._has_traces = bool(is_busy)
        return not is_busy

    def close(self) -> None:
        """Close the file."""
        with self._reading:
            if self._reader is not self._writer:
                self._reader.close()
            self._writer.close()

    def _ask(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; inside `write`, of who writes, and sees what it wrote."""
        if self._written_by == threading.get_ident():
            return self._writer.execute(statement, values).fetchall()
        with self._in_words(), self._reading:
            return self._reader.execute(statement, values).fetchall()
