"""Model files as commands use them: opened and locked, or an error message and an exit code."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from newfound.cli.console import FAILED, Console, printable
from newfound.recognition import locking
from newfound.recognition.undo import undo_state

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser


def open_recogniser(path: Path) -> "Recogniser":
    """Return the recogniser in a file, or exit with an error message if there is none."""
    from newfound.recognition.recogniser import Recogniser

    must_exist(path)
    with locking.name_in_errors(path):
        return Recogniser(path)


def must_exist(path: Path) -> None:
    """Exit with an error message if there is no model."""
    if not path.exists():
        kept = undo_state(Path(os.path.realpath(path)))
        more = f", newfound undo {path} brings back the last" if kept else ""
        Console().error(f"There is no model {path}: newfound teach makes one{more}.")
        raise typer.Exit(FAILED)


@contextmanager
def locked(
    path: Path, wait: float, console: Console, check: bool = True
) -> Iterator[locking.Change]:
    """Lock a model's file, or exit with an error message if another process has locked it."""
    folder, name = Path(os.path.realpath(path)).parent, Path(os.path.realpath(path)).name
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder {printable(folder)}")

    def tell() -> None:
        console.info(f"Another process is changing {name}; waiting up to {wait:g} s.")

    try:
        with locking.locked(path, wait, tell, check) as change:
            yield change
    except locking.ModelBusyError:
        console.error(
            f"Another process is changing {name}, so nothing was done. "
            "Try again later, or wait for it with --wait SECONDS."
        )
        raise typer.Exit(FAILED) from None


def save(change: locking.Change, recogniser: "Recogniser", console: Console) -> None:
    """Save a model, and say so if nothing is left of it."""
    change.save(recogniser)
    if not recogniser.is_taught:
        console.info(
            f"That was all it knew: the model is gone. newfound undo {change.named} brings it back."
        )
