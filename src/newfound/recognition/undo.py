"""The state before the last command, kept beside a model so that `newfound undo` finds it.

A change goes in three steps, and no step loses a state: the present one is put aside under a hidden
name, the model is changed, and what was put aside becomes what is kept. `conclude` does the last
step, also for a process that was killed, and takes the first one back if there was no change.

The two states belong together, whichever of them is the model: a hidden file has the digest of
each, as model files carry it. A state that is not of this pair is not undone, nor gone back to.
Which model a killed process led to nobody knows: it is taken to be the one that is there.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path

from newfound.common.errors import ModelFileError
from newfound.common.files import clear_leftovers, temporary_beside
from newfound.recognition.history import Edit, NothingToUndoError

# Bytes of files that are compared at a time.
_PIECE = 2**20
# What stands for the digest where there is no model; and what a pair says whose earlier state is
# the model.
_NO_MODEL, _UNDONE = "no model", "undone"


class FileHistory:
    """The past of a model without a journal: the state before the last command.

    Parameters
    ----------
    path : Path
        Of the model's file, where links lead.
    name : Path
        What to call the kept state in errors.
    """

    def __init__(self, path: Path, name: Path) -> None:
        self.path, self.name = path, name

    def undo(self) -> Edit:
        """Go back to the state before the last command; a second time, forth again."""
        if undo_state(self.path) is None:
            raise NothingToUndoError("there is nothing to undo")
        if undo_file(self.path).stat().st_size:
            self._check_kept()
        what = "did the last command again" if is_undone(self.path) else "undid the last command"
        swap(self.path)
        return Edit(0, False, what, [])

    def redo(self) -> Edit:
        """Do the last command again, if it was undone."""
        if undo_state(self.path) is None or not is_undone(self.path):
            raise NothingToUndoError("there is nothing to redo")
        return self.undo()

    def forget_past(self) -> Edit:
        """Remove all that an undo needs."""
        forget(self.path)
        clear_leftovers(self.path, grace=0.0)
        return Edit(0, False, "forgot what undo would go back to", [])

    def _check_kept(self) -> None:
        """Raise ModelFileError if the state that is kept is damaged."""
        from newfound.storage import format as file_format

        kept = undo_file(self.path)
        try:
            file_format.read(kept)
        except ModelFileError as error:
            what = str(error).removeprefix(f"{kept}: ")
            raise ModelFileError(
                f"{self.name}: {what}; nothing was done, the model is as it was, and {self.name} "
                "may be deleted"
            ) from error


def undo_file(path: Path) -> Path:
    """Return where the state before is kept; an empty file there: there was no model."""
    return path.with_name(f"{path.name}.undo")


def undo_state(path: Path) -> Path | None:
    """Return the file that an undo of a model would go back to; None: nothing is kept.

    It may be one that a killed process put aside. Links are not what newfound keeps, nor is a
    state that belongs to another model.
    """
    aside, kept = _aside(path), undo_file(path)
    if is_own(aside) and _differs(aside, path):
        return aside
    return kept if is_own(kept) and _differs(kept, path) and _belongs(kept, path) else None


def is_foreign(path: Path) -> bool:
    """Tell whether what is kept beside a model is a state of another one, or the model is."""
    kept = undo_file(path)
    return is_own(kept) and _differs(kept, path) and not _belongs(kept, path)


def is_own(path: Path) -> bool:
    """Tell whether there is a file, and neither a link nor anything else."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def put_aside(path: Path, *, present: bool = True) -> None:
    """Put the present state of a model aside, or that there is none, before it is changed.

    If the change is to be undone with that of the command before, not the present state is put
    aside but the one that is kept.
    """
    kept, state = undo_file(path), path if present else undo_state(path)
    if kept.is_dir() and not kept.is_symlink():  # said while nothing is changed yet
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(kept))
    if state is None:
        return
    with _whole(path, _aside(path)) as temporary:
        if state.exists():
            _link(state, temporary)
        else:
            temporary.touch(exist_ok=False)


def conclude(path: Path, mark: str = "") -> bool:
    """Keep what was put aside if the model was changed since, and tell whether it was."""
    aside = _aside(path)
    if not is_own(aside):
        return False
    changed, kept = _differs(aside, path), undo_file(path)
    if changed:
        if is_undone(path) and is_own(kept) and not _differs(aside, kept):
            mark = _UNDONE  # what is kept stays so: nothing was done that takes its place
        _pair_up(aside, path, mark)
        aside.replace(kept)
    aside.unlink(missing_ok=True)  # where both names are of one file, to replace does nothing
    return changed


def swap(path: Path) -> None:
    """Let a model be what is kept, and keep what it was. Killed midway, no state is lost."""
    kept, mark = undo_file(path), "" if is_undone(path) else _UNDONE
    put_aside(path)
    try:
        if kept.stat().st_size:
            kept.replace(path)
        else:
            path.unlink()
    finally:
        conclude(path, mark)


def is_undone(path: Path) -> bool:
    """Tell whether what was last done to a model is undone."""
    return _UNDONE in _pair_lines(path)


def forget(path: Path) -> None:
    """Remove all that an undo of a model needs."""
    for file in (_aside(path), undo_file(path), _pair(path)):
        file.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


def _pair(path: Path) -> Path:
    return path.with_name(f".{path.name}.pair")


def _pair_up(aside: Path, path: Path, mark: str) -> None:
    """Write down that two states belong together: a line for each that can be told by one."""
    lines = [line for line in (_digest(aside), _digest(path), mark) if line]
    with _whole(path, _pair(path)) as temporary, temporary.open("x") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())


def _belongs(kept: Path, path: Path) -> bool:
    """Tell whether a state and a model are a pair.

    A model that is gone, or damaged so that nothing tells which it was, is no other one.
    """
    return {_digest(kept), *({_digest(path)} - {_NO_MODEL})} - {None} <= set(_pair_lines(path))


def _pair_lines(path: Path) -> list[str]:
    pair = _pair(path)
    return pair.read_text(errors="replace").splitlines() if is_own(pair) else []


def _digest(state: Path) -> str | None:
    """Return what tells a state from others; None: it is damaged."""
    from newfound.storage.format import digest_in

    return digest_in(state) if state.exists() and state.stat().st_size else _NO_MODEL


@contextmanager
def _whole(path: Path, target: Path) -> Iterator[Path]:
    """Yield a temporary file of a model, which takes the place of `target` once it is made."""
    temporary = temporary_beside(path)
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _differs(state: Path, path: Path) -> bool:
    """Tell whether a state is another than that of the model, or of no model."""
    if not path.exists():
        return state.stat().st_size > 0
    if state.samefile(path):
        return False
    if state.stat().st_size != path.stat().st_size:
        return True
    with state.open("rb") as one, path.open("rb") as other:  # where there are no links, a copy
        pieces = [iter(partial(file.read, _PIECE), b"") for file in (one, other)]
        return any(a != b for a, b in zip_longest(*pieces))


def _link(source: Path, target: Path) -> None:
    """Link a file, which is replaced and never written to; copy it where that cannot be."""
    try:
        os.link(source, target)
    except OSError:
        with source.open("rb") as old, target.open("xb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
        shutil.copymode(source, target)
