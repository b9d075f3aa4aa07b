"""Model files as commands use them: opened with clear words, changed by one process at a time."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import typer

from newfound.cli.talk import FAILED, Talk, shown

if TYPE_CHECKING:
    from newfound.features import Extractor, Identity
    from newfound.recogniser import Recogniser


# Files that a save began and did not end are left alone for so many seconds: it may be going on.
STALE = 60.0


def opened(path: Path) -> "Recogniser":
    """Return the recogniser in a file, or end with a word that there is none."""
    from newfound.recogniser import Recogniser

    must_exist(path)
    return Recogniser.load(path)


def must_exist(path: Path) -> None:
    """End with a word if there is no model."""
    if not path.exists():
        Talk().complain(f"There is no model {shown(path)}: newfound teach makes one.")
        raise typer.Exit(FAILED)


@contextmanager
def changing(path: Path, wait: float, talk: Talk) -> Iterator[None]:
    """Keep other processes from changing a model meanwhile, or end with a word that one does."""
    from filelock import FileLock, Timeout

    path = Path(os.path.realpath(path))
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {shown(path.parent)}")
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if wait:
            talk.say(f"Another process is changing {shown(path.name)}; waiting up to {wait:g} s.")
        try:
            lock.acquire(timeout=wait)
        except Timeout:
            talk.complain(
                f"Another process is changing {shown(path.name)}, so nothing was done. "
                "Try again later, or wait for it with --wait SECONDS."
            )
            raise typer.Exit(FAILED) from None
    try:
        # What a process left behind that was killed while it wrote.
        left = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{16}\.tmp")
        for other in path.parent.iterdir():
            with suppress(OSError):
                if left.fullmatch(other.name) and time() - other.stat().st_mtime > STALE:
                    other.unlink()
        yield
    finally:
        lock.release()


def extractor_for(known: "Identity | None", name: str | None) -> "Extractor":
    """Return the extractor that a model needs, or the one named if it needs none in particular."""
    from newfound.features.named import DEFAULT, named, remembered
    from newfound.vectors import same_extractor

    if known is None:
        return named(name or DEFAULT)
    if name is None or (known.name in ("onnx", "caffenet") and Path(name).is_file()):
        return remembered(known, name)
    extractor = named(name)
    same_extractor(known, extractor.identity, f"--extractor {name} makes those")
    return extractor
