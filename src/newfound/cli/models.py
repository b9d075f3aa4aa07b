"""Model files as commands use them: opened and locked, or an error message and an exit code."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

from newfound.cli.console import FAILED, Console, printable
from newfound.recognition import locking
from newfound.recognition.beside import exists, journal_file
from newfound.recognition.undo import undo_state

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser


def open_recogniser(path: Path) -> "Recogniser":
    """Return the recogniser of a model, or exit with an error message if there is none."""
    from newfound.recognition.opening import open_to_look

    must_exist(path)
    with locking.name_in_errors(path):
        recogniser = open_to_look(path)
    if not recogniser.is_taught:  # there is a journal, which says so
        _end(path)
    return recogniser


def must_exist(path: Path) -> None:
    """Exit with an error message if there is no model."""
    if not exists(path):
        _end(path)


def _end(path: Path) -> NoReturn:
    if journal_file(path).exists():
        more = f", newfound undo {path} brings back what was forgotten last"
    else:
        kept = undo_state(Path(os.path.realpath(path)))
        more = f", newfound undo {path} brings back the last" if kept else ""
    Console().error(f"There is no model {path}: newfound teach makes one{more}.")
    raise typer.Exit(FAILED)


@contextmanager
def locked(
    path: Path, wait: float, console: Console, check: bool = True, advice: str = ""
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
            + (advice or "Try again later, or wait for it with --wait SECONDS.")
        )
        raise typer.Exit(FAILED) from None


def save(
    change: locking.Change, recogniser: "Recogniser", console: Console, for_good: bool = False
) -> None:
    """Save a model, and say so if nothing is left of it."""
    change.save(recogniser, undoable=not for_good)
    if for_good:
        said = change.forget_past(recogniser)
        console.info(f"{said[0].upper()}{said[1:]}. Nothing before this can be undone.")
    if not recogniser.is_taught:
        back = "" if for_good else f" newfound undo {change.named} brings it back."
        console.info(f"That was all it knew: the model is gone.{back}")
