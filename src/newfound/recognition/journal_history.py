"""Edits that are written into a journal and done: both, or neither; and taken back again."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from newfound.common.errors import InputError
from newfound.common.interrupts import uninterrupted
from newfound.recognition import replay
from newfound.recognition.actions import describe
from newfound.recognition.beginning import Beginning
from newfound.recognition.history import Edit, NothingToUndoError
from newfound.recognition.journal import Entry, Journal, JournalError
from newfound.recognition.knowledge import Knowledge, new_knowledge

# What is said of a model that somebody else put in the place of the one that the journal is of.
FOUND = "found another model"
# What is said where traces of what was deleted stay for a while.
STILL_READ = "; another program reads the journal: it is in there until the next edit after that"


class JournalHistory:
    """Writes entries, and lets what a recogniser knows follow from them.

    Edits are made one at a time, whoever asks for them. Who looks does not wait for them.

    Parameters
    ----------
    knowledge : Knowledge
    journal : Journal
    """

    # lock: held by the one thread that edits. action: if set, edits in a row are undone as one.
    # undoable, redoable: what undo would take back, and redo would do again, in words.
    # _is_astray: something is known that is not in the journal; then no more edits are taken.
    # _unwritten: what was learned that is no entry yet, in words: sums from elsewhere.

    def __init__(self, knowledge: Knowledge, journal: Journal) -> None:
        self.knowledge, self.journal = knowledge, journal
        self.lock = threading.RLock()
        self.action: str | None = None
        self._is_astray = False
        self._unwritten: str | None = None
        self.tell()

    @property
    def position(self) -> int:
        """Number of the journal's last entry."""
        return self.journal.last

    def tell(self) -> None:
        """See anew what can be undone and redone."""
        actions = self.journal.actions
        self.undoable, self.redoable = actions.undoable, actions.redoable

    def catch_up(self, position: int) -> None:
        """Do all that was written after an entry."""
        for entry in self.journal.entries(position):
            replay.apply(self.knowledge, self.journal, entry)

    def begin(self, beginning: Beginning) -> None:
        """Write down what the model is made with, before the first entry."""
        with self.journal.write():
            for name, value in beginning._asdict().items():
                self.journal.set(name, int(value))
        self.journal.beginning = beginning

    def blank(self) -> Knowledge:
        """Return what is known before the first entry of the journal."""
        return new_knowledge(self.journal.beginning)

    def rebuild(self) -> None:
        """Know what the journal says."""
        self.knowledge.replace(replay.rebuilt(self.journal, self.blank()))

    @contextmanager
    def edit(self) -> Iterator[None]:
        """Let nobody else edit meanwhile."""
        with self.lock, uninterrupted():
            self.check_writable()
            self.write_rest()
            yield

    def once(self, key: str | None, make: Callable[[], Edit]) -> Edit:
        """Make an edit while nobody else does, once for each key."""
        with self.edit():
            entry = None if key is None else self.journal.entry_of(key)
            return make() if entry is None else self._edit_of(entry, "done before", repeated=True)

    def nothing(self, what: str) -> Edit:
        """Return what became of an edit that wrote no entry."""
        return Edit(self.position, False, what, [])

    def _edit_of(self, entry: Entry, what: str, *, repeated: bool = False) -> Edit:
        return Edit(self.position, repeated, what, [number for number, _, _ in entry.rows])

    def write(self, write: Callable[[], Entry], what: str | None = None) -> Edit:
        """Write an entry and do what it says: both, or neither."""
        before = self.knowledge.learner.version
        try:
            with self.journal.write():
                entry = write()
                if replay.removes(entry):  # who looks meanwhile sees the model as it was
                    other = self.knowledge.copy()
                    replay.apply(other, self.journal, entry)
                    self.knowledge.replace(other)
                else:
                    replay.apply(self.knowledge, self.journal, entry)
        except BaseException:
            if self.knowledge.learner.version != before:
                self._is_astray = True
                self.rebuild()
                self._is_astray = False
            raise
        finally:
            self.tell()
        with suppress(JournalError):  # the edit is made, whatever becomes of the room it takes
            if self.journal.is_full:
                self.forget_entries()
        return self._edit_of(entry, what or describe(entry.kind, entry.detail))

    def append(self, kind: str, detail: dict[str, Any], key: str | None = None) -> Entry:
        """Write an entry; before one that cannot be turned round, what there is, to go back to."""
        entry = Entry(0, kind, "", detail)
        if not replay.can_take_back(entry) and self.position:
            self.journal.keep_state(self.position, replay.whole(self.knowledge))
        return self.journal.append(kind, detail, self.action, key)

    def write_model(self, what: str, model: bytes | None = None, key: str | None = None) -> Edit:
        """Write down a whole model: what is known, or another that takes its place."""
        data, rows, table = model, list[list[Any]](), self.journal.examples
        if data is None:
            data = replay.whole(self.knowledge)
        if model is not None or what == FOUND:
            for label in table.counts():
                rows += [[number, label, None] for number in sorted(table.ids_of(label))]

        def write() -> Entry:
            entry = self.journal.append("state", {"what": what, "rows": rows}, self.action, key)
            self.journal.keep_state(entry.id, data)
            return entry

        return self.write(write)

    def merge(self, other: Knowledge) -> int:
        """Learn sums from elsewhere; they are written down before the next edit, or snapshot."""
        with self.lock, uninterrupted():
            self.check_writable()
            both = self.knowledge.merge(other)
            self._unwritten = "learned what another model knows"
            return both

    def write_rest(self) -> None:
        """Write down what was learned that is no entry yet."""
        if self._unwritten is not None:
            with uninterrupted():
                self.write_model(self._unwritten)
                self._unwritten = None

    def check_writable(self) -> None:
        """Raise an error if nothing can be edited."""
        if self.journal.read_only:
            raise InputError("this recogniser was opened to look only")
        if self._is_astray:
            raise JournalError(
                f"{self.journal.path}: what was last learned could not be written down, nor taken "
                "back: open it again"
            )

    def undo(self, *, key: str | None = None) -> Edit:
        """Take the last action back that was not taken back yet.

        Parameters
        ----------
        key : str, optional
            Made by whoever asks: an edit with a key that was seen before is not made again.

        Returns
        -------
        Edit

        Raises
        ------
        NothingToUndoError
        """
        return self.once(key, lambda: self._turn("undo", key))

    def redo(self, *, key: str | None = None) -> Edit:
        """Do again what was undone last, if nothing else was done since.

        Parameters
        ----------
        key : str, optional
            As for `undo`.

        Returns
        -------
        Edit

        Raises
        ------
        NothingToUndoError
        """
        return self.once(key, lambda: self._turn("redo", key))

    def _turn(self, kind: Literal["undo", "redo"], key: str | None) -> Edit:
        """Undo or redo an action: examples go back or forth, or a whole model is made again."""
        journal, is_undo = self.journal, kind == "undo"
        actions = journal.actions.done if is_undo else journal.actions.undone
        if not actions:
            raise NothingToUndoError(f"there is nothing to {kind}")
        action = actions[-1]
        entries = [journal.entry(number) for number in action.ids]
        if is_undo:
            rows = [row for entry in reversed(entries) for row in replay.inverse(entry.rows)]
            is_rebuilt = not all(map(replay.can_take_back, entries))
        else:
            rows = [row for entry in entries for row in entry.rows]
            is_rebuilt = any(entry.kind == "state" for entry in entries)
        detail = {"of": action.ids, "rows": rows, "rebuilt": is_rebuilt}

        def write() -> Entry:
            entry = journal.append(kind, detail, None, key)
            if is_rebuilt:
                remade = replay.undone if is_undo else replay.redone
                journal.keep_state(entry.id, remade(journal, self.blank(), entries))
            return entry

        return self.write(write, f"{'undid' if is_undo else 'did again'}: {action}")

    def forget_entries(self) -> bool:
        """Let go of all entries so far; return whether their traces are gone, too."""
        with self.journal.write():
            self.journal.forget_past(replay.whole(self.knowledge))
        self.tell()
        return self.journal.shrink()

    def forget_past(self) -> Edit:
        """Let what was deleted leave the journal, too; nothing before this can be undone."""
        with self.edit():
            gone = self.journal.deleted
            what = f"forgot {gone} deleted for good"
            if not self.forget_entries():
                what += STILL_READ
            return self.nothing(what)
