"""`newfound undo`: back to the state before the last command."""

import os
from pathlib import Path
from typing import Literal, NoReturn

import typer

from newfound.cli.console import FAILED, Console, size, summary
from newfound.cli.models import locked
from newfound.cli.options import Model, Quiet, Wait
from newfound.recognition.beside import journal_file
from newfound.recognition.locking import beside, name_in_errors
from newfound.recognition.undo import is_foreign, is_own, swap, undo_file, undo_state


def undo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Take back what the last command did to a model.

    \b
    newfound undo kitchen.newfound

    The model is again as it was before the last teach, forget, forget-class, rename or merge; it
    comes back if it is gone because all was forgotten. A second undo takes back the first. The
    other state is kept beside the model, in a file that ends in .undo; delete it to save space.
    If something else has saved the model since, as Python may, nothing is undone. A model with a
    journal, as the studio keeps it, goes back further with each undo, and forth again with redo.
    """
    console = Console(quiet)
    path = Path(os.path.realpath(model))
    if journal_file(path).exists():
        turn_journal(model, wait, console, "undo")
        return
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


def turn_journal(model: Path, wait: float, console: Console, turn: Literal["undo", "redo"]) -> None:
    """Undo or redo what the journal of a model says was done, or undone, last."""
    from newfound.recognition.journalled import JournalledRecogniser, NothingToUndoError

    with locked(model, wait, console, check=False) as change:
        recogniser = change.open()
        assert isinstance(recogniser, JournalledRecogniser)
        try:
            what = (recogniser.undo if turn == "undo" else recogniser.redo)().what
        except NothingToUndoError as error:
            said = str(error)
            console.error(f"{said[0].upper()}{said[1:]}.")
            raise typer.Exit(FAILED) from None
        change.save(recogniser)
    state = f"knows {summary(recogniser)}" if recogniser.is_taught else "knows nothing"
    console.info(f"{what[0].upper()}{what[1:]}. {model} {state}.")


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
    elif is_foreign(Path(os.path.realpath(model))):
        why = (
            f"{name} does not belong to {model}: one of the two was moved or replaced by something "
            f"else than a newfound command. Delete {name}"
        )
        why += ", or rename it to open it as a model" * (name.stat().st_size > 0)
    console.error(f"There is nothing to undo: {why}.")
    raise typer.Exit(FAILED)
