"""Model files as commands use them: opened with clear words, changed by one process at a time."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import typer

from newfound.cli.console import FAILED, Console, printable
from newfound.cli.errors import naming
from newfound.cli.kept import kept_file, kept_state, put_aside, settle
from newfound.common.files import open_regular
from newfound.common.interrupts import uninterrupted

if TYPE_CHECKING:
    from newfound.features import Extractor, Identity
    from newfound.recognition.recogniser import Recogniser


# Files that a save began and did not end are left alone for so many seconds: it may be going on.
STALE = 60.0
# How a model's file begins, after eight bytes.
BEGINNING = b'{"__metadata__":{"newfound":'


class Change:
    """A model's file while a command changes it. The state before is kept, once, for undo."""

    # path: the file itself, where links lead. named: as the user calls it.

    def __init__(self, path: Path, named: Path, console: Console) -> None:
        self.path, self.named, self.console = path, named, console
        self.is_kept = False

    def save(self, recogniser: "Recogniser", undoable: bool = True) -> None:
        """Save a recogniser; remove the file if it knows nothing any more."""
        first = undoable and not self.is_kept
        with uninterrupted():
            if first:
                with naming(kept_file(beside(self.named))):
                    put_aside(self.path)
            try:
                with naming(self.named):
                    recogniser.save(self.path) if recogniser.is_taught else self.path.unlink()
            finally:
                if first:
                    with naming(kept_file(beside(self.named))):
                        self.is_kept = settle(self.path)
        if not recogniser.is_taught:
            self.console.info(
                f"That was all it knew: the model is gone. newfound undo {self.named} "
                "brings it back."
            )


def beside(path: Path) -> Path:
    """Return what to call a model where files beside it are named: where it is, if it is a link."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def opened(path: Path) -> "Recogniser":
    """Return the recogniser in a file, or end with a word that there is none."""
    from newfound.recognition.recogniser import Recogniser

    must_exist(path)
    with naming(path):
        return Recogniser.load(path)


def must_exist(path: Path) -> None:
    """End with a word if there is no model."""
    if not path.exists():
        kept = kept_state(Path(os.path.realpath(path)))
        more = f", newfound undo {path} brings back the last" if kept else ""
        Console().error(f"There is no model {path}: newfound teach makes one{more}.")
        raise typer.Exit(FAILED)


@contextmanager
def changing(path: Path, wait: float, console: Console, check: bool = True) -> Iterator[Change]:
    """Keep other processes from changing a model meanwhile, or end with a word that one does.

    With `check`, a file that is there must begin as a model does.
    """
    from filelock import FileLock, Timeout

    named, path = path, Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {printable(path.parent)}")
    if check and path.exists():
        _check_is_model(named)  # before a lock is left beside what is none
    place = path.with_name(f".{path.name}.lock")
    lock = FileLock(place)
    with naming(beside(named).with_name(place.name) if place.is_dir() else named):
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if wait:
                console.info(f"Another process is changing {path.name}; waiting up to {wait:g} s.")
            try:
                lock.acquire(timeout=wait)
            except Timeout:
                console.error(
                    f"Another process is changing {path.name}, so nothing was done. "
                    "Try again later, or wait for it with --wait SECONDS."
                )
                raise typer.Exit(FAILED) from None
    try:
        with naming(kept_file(beside(named))):
            settle(path)  # what a process did not come to that was killed
        # What a process left behind that was killed while it wrote.
        left = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{16}\.tmp")
        for other in path.parent.iterdir():
            with suppress(OSError):
                if left.fullmatch(other.name) and time() - other.stat().st_mtime > STALE:
                    other.unlink()
        yield Change(path, named, console)
    finally:
        lock.release()


def _check_is_model(path: Path) -> None:
    """Raise OSError or ModelFileError if a file is no model, as far as its beginning tells."""
    with naming(path), open_regular(path) as file:
        if file.read(8 + len(BEGINNING))[8:] != BEGINNING:
            opened(path)  # which says what is wrong with it


def extractor_for(known: "Identity | None", name: str | None) -> "Extractor":
    """Return the extractor that a model needs, or the one named if it needs none in particular."""
    from newfound.features.catalog import DEFAULT, named, remembered
    from newfound.features.vectors import same_extractor

    if known is None:
        return named(name or DEFAULT)
    if name is None or (known.name in ("onnx", "caffenet") and Path(name).is_file()):
        return remembered(known, name)
    extractor = named(name)
    same_extractor(known, extractor.identity, f"--extractor {name} makes those")
    return extractor
