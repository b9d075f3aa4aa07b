"""`newfound undo`: back to the state before the last command."""

import os
from pathlib import Path
from typing import Literal, NoReturn

from newfound.cli.console import Console, knowledge, sentence, size
from newfound.cli.models import locked
from newfound.cli.options import Model, Quiet, Wait
from newfound.recognition.beside import journal_file
from newfound.recognition.locking import beside, name_in_errors
from newfound.recognition.undo import is_foreign, is_own, is_undone, undo_file, undo_state


def undo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Undo the last change of a model.

    \b
    newfound undo kitchen.newfound

    The model becomes what it was before the last teach, forget, forget-class, rename or merge, even
    if it was deleted because everything was forgotten. The redo command, or a second undo, takes
    back the first. The other state is kept beside the model, in a file that ends in .undo; delete
    it to save space. If something else has saved the model since, such as a Python program, nothing
    is undone. A model with a journal, as the studio keeps one, goes back one change with each undo,
    and forward with redo.
    """
    turn(model, wait, Console(quiet), "undo")


def turn(model: Path, wait: float, console: Console, which: Literal["undo", "redo"]) -> None:
    """Undo or redo what was done, or undone, to a model last."""
    from newfound.recognition.history import NothingToUndoError

    path = Path(os.path.realpath(model))
    if not journal_file(path).exists() and undo_state(path) is None:
        _end(model, console, which)
    with locked(model, wait, console, check=False) as change:  # undo is for damaged models, too
        more = ""
        try:
            with name_in_errors(undo_file(beside(model))):
                history = change.history
                what = (history.undo() if which == "undo" else history.redo()).what
        except NothingToUndoError as error:
            if not change.has_journal and undo_state(path) is None:  # another process was faster
                _end(model, console, which)
            console.fail(sentence(str(error)))
        recogniser = change.open()
        if change.has_journal:
            change.save(recogniser)
        else:
            kept, back = undo_file(path).stat().st_size, "redo" if is_undone(path) else "undo"
            # That there was no model takes no room.
            more = f"; newfound {back} {model} takes this back" + f" ({size(kept)} kept)" * (
                kept > 0
            )
    state = knowledge(recogniser)
    if not recogniser.is_taught:
        state = "knows nothing" if change.has_journal else "is gone, as before it was taught"
    console.info(f"{sentence(what)} {model} {state}{more}.")


def _end(model: Path, console: Console, which: Literal["undo", "redo"]) -> NoReturn:
    name = undo_file(beside(model))
    why = f"no other state of {model} is kept beside it"
    if name.is_symlink() or (name.exists() and not is_own(name)):
        why = f"{name} is a link, a folder or the like, and not what newfound keeps"
    elif is_foreign(Path(os.path.realpath(model))):
        why = (
            f"{name} does not belong to {model}: one of the two was moved or replaced by something "
            f"else than a newfound command. Delete {name}"
        )
        why += ", or rename it to open it as a model" * (name.stat().st_size > 0)
    console.fail(f"There is nothing to {which}: {why}.")
