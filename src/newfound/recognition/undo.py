"""The state before the last command, kept beside a model so that `newfound undo` finds it.

A change goes in three steps, and no step loses a state: the present one is put aside under a hidden
name, the model is changed, and what was put aside becomes what is kept. `conclude` does the last
step, also for a process that was killed, and takes the first one back if there was no change.
"""

import errno
import os
import secrets
import shutil
import stat
from functools import partial
from itertools import zip_longest
from pathlib import Path

# Bytes of files that are compared at a time.
_PIECE = 2**20


def undo_file(path: Path) -> Path:
    """Return where the state before is kept; an empty file there: there was no model."""
    return path.with_name(f"{path.name}.undo")


def undo_state(path: Path) -> Path | None:
    """Return the file that an undo of a model would go back to; None: nothing is kept.

    It may be one that a killed process put aside. Links are not what newfound keeps.
    """
    for state in (_aside(path), undo_file(path)):
        if is_own(state) and _differs(state, path):
            return state
    return None


def is_own(path: Path) -> bool:
    """Tell whether there is a file, and neither a link nor anything else."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def put_aside(path: Path) -> None:
    """Put the present state of a model aside, or that there is none, before it is changed."""
    kept, aside = undo_file(path), _aside(path)
    if kept.is_dir() and not kept.is_symlink():  # said while nothing is changed yet
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(kept))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        if path.exists():
            _link(path, temporary)
        else:
            temporary.touch(exist_ok=False)
        temporary.replace(aside)
    finally:
        temporary.unlink(missing_ok=True)


def conclude(path: Path) -> bool:
    """Keep what was put aside if the model was changed since, and tell whether it was."""
    aside = _aside(path)
    if not is_own(aside):
        return False
    changed = _differs(aside, path)
    if changed:
        aside.replace(undo_file(path))
    aside.unlink(missing_ok=True)  # where both names are of one file, to replace does nothing
    return changed


def swap(path: Path) -> None:
    """Let a model be what is kept, and keep what it was. Killed midway, no state is lost."""
    kept = undo_file(path)
    put_aside(path)
    try:
        if kept.stat().st_size:
            kept.replace(path)
        else:
            path.unlink()
    finally:
        conclude(path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


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
