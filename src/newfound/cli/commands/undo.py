"""`newfound undo`: back to the state before the last command."""

import os
from pathlib import Path
from typing import NoReturn

import typer

from newfound.cli.console import FAILED, Console, size, summary
from newfound.cli.models import locked
from newfound.cli.options import Model, Quiet, Wait
from newfound.recognition.locking import beside, name_in_errors
from newfound.recognition.undo import is_own, swap, undo_file, undo_state


def undo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Take back what the last command did to a model.

    \b
    newfound undo kitchen.newfound

    The model is again as it was before the last teach, forget, forget-class, rename or merge; it
    comes back if it is gone because all was forgotten. A second undo takes back the first. The
    other state is kept beside the model, in a file that ends in .undo; delete it to save space.
    """
    console = Console(quiet)
    path = Path(os.path.realpath(model))
    if undo_state(path) is None:
        _end(model, console)
    with locked(model, wait, console, check=False):  # undo is for damaged models, too
        if undo_state(path) is None:  # another process was faster
            _end(model, console)
        name = undo_file(beside(model))
        with name_in_errors(name):
            is_model = undo_file(path).stat().st_size > 0
            state = _known(undo_file(path), name) if is_model else ""
            swap(path)
            kept = undo_file(path).stat().st_size
    now = f"knows {state} again" if is_model else "is gone again, as before it was taught"
    room = f" ({size(kept)} kept)" if kept else ""  # none: that there was no model takes no room
    console.info(f"{model} {now}; undo again to redo{room}.")


def _known(kept: Path, name: Path) -> str:
    """Return how much a kept model knows, or raise ModelFileError if it is damaged."""
    from newfound.common.errors import ModelFileError
    from newfound.recognition.recogniser import Recogniser

    try:
        return summary(Recogniser(kept))
    except ModelFileError as error:
        what = str(error).removeprefix(f"{kept}: ")
        raise ModelFileError(
            f"{name}: {what}; nothing was done, the model is as it was, and {name} may be deleted"
        ) from error


def _end(model: Path, console: Console) -> NoReturn:
    name = undo_file(beside(model))
    why = f"no earlier state of {model} is kept beside it"
    if name.is_symlink() or (name.exists() and not is_own(name)):
        why = f"{name} is a link, a folder or the like, and not what newfound keeps"
    console.error(f"There is nothing to undo: {why}.")
    raise typer.Exit(FAILED)
