"""Model files, changed by one process at a time, with the state before kept for undo."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from newfound.common.errors import NewfoundError
from newfound.common.files import clear_leftovers
from newfound.common.interrupts import uninterrupted
from newfound.recognition.beginning import USUAL, Beginning
from newfound.recognition.beside import journal_file
from newfound.recognition.history import History
from newfound.recognition.undo import FileHistory, conclude, put_aside, undo_file

if TYPE_CHECKING:
    from newfound.recognition.editor import Editor
    from newfound.recognition.recogniser import Recogniser


class ModelBusyError(NewfoundError):
    """Another process is changing the model; nothing was done."""


class Change:
    """A model's file while it is changed. The state before is kept, once, for undo."""

    # path: the file itself, where links lead. named: as the user calls it.

    def __init__(self, path: Path, named: Path) -> None:
        self.path, self.named = path, named
        # What was put aside: nothing yet, what was kept before (False), the present state (True).
        self._aside: bool | None = None
        self._editor: Editor | None = None

    @property
    def has_journal(self) -> bool:
        """Whether there is a journal beside the model."""
        return journal_file(self.path).exists()

    def open(self, beginning: Beginning = USUAL) -> "Recogniser":
        """Return the model's recogniser, or a new one.

        Where there is a journal, it writes to that, and all it is taught is undone as one.

        Parameters
        ----------
        beginning : Beginning, optional
            What a new one is made with.

        Returns
        -------
        Recogniser
        """
        from newfound.recognition.recogniser import Recogniser

        if self.has_journal:
            return self.editor(beginning).recogniser
        with name_in_errors(self.named):
            return Recogniser(self.named, **beginning._asdict())

    def editor(self, beginning: Beginning = USUAL) -> "Editor":
        """Return the model's editor, where there is a journal."""
        from newfound.recognition.editor import Editor

        if self._editor is None:
            with name_in_errors(self.named):
                self._editor = Editor(self.named, beginning=beginning)
            self._editor.history.action = secrets.token_hex(8)
        return self._editor

    @property
    def history(self) -> History:
        """The model's past: that of its journal, or the state before the last command."""
        if self.has_journal:
            return self.editor().history
        return FileHistory(self.path, undo_file(beside(self.named)))

    def close(self) -> None:
        """Close the journal, if one was opened, and keep the state before all that was saved."""
        try:
            if self._editor is not None:
                self._editor.journal.close()
        finally:
            self.conclude()

    def conclude(self) -> None:
        """Keep the state before, if one was put aside, also by a process that was killed."""
        with uninterrupted(), name_in_errors(undo_file(beside(self.named))):
            conclude(self.path)

    def save(
        self, recogniser: "Recogniser", *, undoable: bool = True, refresh: bool = True
    ) -> None:
        """Save a recogniser, or remove the file if it knows nothing any more.

        Parameters
        ----------
        recogniser : Recogniser
        undoable : bool, default=True
            Whether the state before is to be kept, unless it is of an earlier save. Otherwise what
            is kept stays so, and belongs to what is saved.
        refresh : bool, default=True
            As for `Recogniser.save`.
        """
        if refresh and recogniser.knowledge.changes:
            recogniser.refresh()
        if self.has_journal:
            with name_in_errors(self.named):
                if recogniser is not self.editor().recogniser:
                    self.editor().replace(recogniser)
                self.editor().snapshot()
            return
        with uninterrupted():
            if self._aside is None or undoable > self._aside:
                with name_in_errors(undo_file(beside(self.named))):
                    put_aside(self.path, present=undoable)
                self._aside = undoable
            with name_in_errors(self.named):
                if recogniser.is_taught:
                    recogniser.save(self.path, refresh=False)
                else:
                    self.path.unlink()

    def forget_past(self) -> str:
        """Let go of all that undo could bring back of a model that was saved; say what was done."""
        if self.has_journal:
            return self.editor().forget_for_good().what
        return self.history.forget_past().what


@contextmanager
def locked(
    path: str | os.PathLike[str],
    wait: float = 0.0,
    on_wait: Callable[[], None] | None = None,
    check: bool = True,
) -> Iterator[Change]:
    """Keep other processes from changing a model's file meanwhile.

    Parameters
    ----------
    path : str or path-like
    wait : float, default=0.0
        Seconds to wait for another process.
    on_wait : callable, optional
        Called before it waits.
    check : bool, default=True
        Whether a file that is there must begin as a model does.

    Yields
    ------
    Change
        Saves a recogniser in the file, and keeps the state before for undo.

    Raises
    ------
    ModelBusyError
        If another process is still changing it after `wait` seconds.
    ModelFileError
        If there is a file that is no model.
    """
    named, path = Path(path), Path(os.path.realpath(path))
    if check and path.exists():
        _check_is_model(named)  # before a lock is left beside what is none
    with _lock(path, named, wait, on_wait):
        change = Change(path, named)
        change.conclude()  # what a process did not come to that was killed
        clear_leftovers(path, grace=0.0)
        try:
            yield change
        finally:
            change.close()


@contextmanager
def _lock(
    path: Path, named: Path, wait: float, on_wait: Callable[[], None] | None
) -> Iterator[None]:
    from filelock import FileLock, Timeout

    file = path.with_name(f".{path.name}.lock")
    lock = FileLock(file)
    with name_in_errors(beside(named).with_name(file.name) if file.is_dir() else named):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if wait and on_wait is not None:
                on_wait()
            try:
                lock.acquire(timeout=wait)
            except Timeout:
                raise ModelBusyError(
                    f"another process is changing {path.name}, so nothing was done"
                ) from None
    try:
        yield
    finally:
        lock.release()


def _check_is_model(path: Path) -> None:
    """Raise OSError or ModelFileError if a file is no model, as far as its beginning tells."""
    from newfound.storage import format as file_format

    with name_in_errors(path):
        if file_format.digest_in(path) is None:
            file_format.read(path)  # which says what is wrong with it


def beside(path: Path) -> Path:
    """Return what to call a model where files beside it are named: where it is, if it is a link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def name_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let what goes wrong with a file be said with this name, whatever name the system gave.

    Examples
    --------
    >>> with name_in_errors("kitchen.newfound"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'kitchen.newfound'
    """
    try:
        yield
    except OSError as error:
        error.filename = os.fspath(path)
        raise
