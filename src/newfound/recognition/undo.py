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
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path

# Bytes of files that are compared at a time.
_PIECE = 2**20
# What stands for the digest where there is no model.
_NO_MODEL = "no model"


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


def conclude(path: Path) -> bool:
    """Keep what was put aside if the model was changed since, and tell whether it was."""
    aside = _aside(path)
    if not is_own(aside):
        return False
    changed = _differs(aside, path)
    if changed:
        _pair_up(aside, path)
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


def forget(path: Path) -> None:
    """Remove all that an undo of a model needs."""
    for file in (_aside(path), undo_file(path), _pair(path)):
        file.unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.before")


def _pair(path: Path) -> Path:
    return path.with_name(f".{path.name}.pair")


def _pair_up(aside: Path, path: Path) -> None:
    """Write down that two states belong together: a line for each that can be told by one."""
    digests = [digest for digest in map(_digest, (aside, path)) if digest is not None]
    with _whole(path, _pair(path)) as temporary, temporary.open("x") as file:
        file.writelines(f"{digest}\n" for digest in digests)
        file.flush()
        os.fsync(file.fileno())


def _belongs(kept: Path, path: Path) -> bool:
    """Tell whether a state and a model are a pair.

    A model that is gone, or damaged so that nothing tells which it was, is no other one.
    """
    known = _pair(path).read_text(errors="replace").splitlines() if is_own(_pair(path)) else []
    return {_digest(kept), *({_digest(path)} - {_NO_MODEL})} - {None} <= set(known)


def _digest(state: Path) -> str | None:
    """Return what tells a state from others; None: it is damaged."""
    from newfound.storage.format import digest_in

    return digest_in(state) if state.exists() and state.stat().st_size else _NO_MODEL


@contextmanager
def _whole(path: Path, target: Path) -> Iterator[Path]:
    """Yield a temporary file of a model, which takes the place of `target` once it is made."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
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
