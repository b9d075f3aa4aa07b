"""The state before the last command, kept beside a model so that `newfound undo` finds it."""

import os
import secrets
import shutil
from pathlib import Path


def kept_file(path: Path) -> Path:
    """Return where the state before is kept; an empty file there: there was no model."""
    return path.with_name(f"{path.name}.undo")


def keep(path: Path) -> None:
    """Keep the state that a model is in, or that there is none, instead of what was kept."""
    _let_be(kept_file(path), path)


def has_kept(path: Path) -> bool:
    """Tell whether another state than that of the model is kept."""
    kept = kept_file(path)
    if not kept.is_file():
        return False
    # A process killed between keeping and saving leaves one file with two names.
    return not kept.samefile(path) if path.exists() else kept.stat().st_size > 0


def has_any(path: Path) -> bool:
    """Tell whether any state is kept, also by a swap that was killed."""
    return kept_file(path).is_file() or _aside(path).is_file()


def swap(path: Path) -> None:
    """Let a model be what is kept, and keep what it was. Killed midway, no state is lost."""
    kept, aside = kept_file(path), _aside(path)
    if kept.stat().st_size == 0:
        keep(path)
        path.unlink()
        return
    _let_be(aside, path)
    kept.replace(path)
    aside.replace(kept)


def finish_swap(path: Path) -> None:
    """Do what a swap did not come to that was killed."""
    kept, aside = kept_file(path), _aside(path)
    if kept.exists():
        aside.unlink(missing_ok=True)
    elif aside.exists():
        aside.replace(kept)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.swap")


def _let_be(target: Path, path: Path) -> None:
    """Let `target` be what the model's file is, at once; an empty file if it is not there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        if path.exists():
            _link(path, temporary)
        else:
            temporary.touch(exist_ok=False)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


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
