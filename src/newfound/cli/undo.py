"""`newfound undo`: back to the state before the last command."""

import os
from pathlib import Path
from typing import NoReturn

import typer

from newfound.cli.errors import naming
from newfound.cli.kept import has_any, has_kept, kept_file, swap
from newfound.cli.models import changing
from newfound.cli.options import Model, Quiet, Wait
from newfound.cli.talk import FAILED, Talk, known


def undo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Take back what the last command did to a model.

    \b
    newfound undo kitchen.newfound

    Brings back the model as it was before the last teach, forget, forget-class, rename or merge;
    also one that is gone because all was forgotten. A second undo takes back the first. The other
    state lies beside the model, in a file that ends in .undo; it may be deleted to save space.
    """
    from newfound.recogniser import Recogniser

    talk = Talk(quiet)
    path = Path(os.path.realpath(model))
    if not has_any(path):
        _end(model, talk)
    with changing(model, wait, talk, check=False):  # undo is for damaged models, too
        if not has_kept(path):
            _end(model, talk)
        with naming(kept_file(model)):
            is_model = kept_file(path).stat().st_size > 0
            state = known(Recogniser.load(kept_file(path)).model) if is_model else ""
            swap(path)
            size = kept_file(path).stat().st_size
    now = f"knows {state} again" if is_model else "is gone again, as before it was taught"
    talk.say(f"{model} {now}; undo again to redo ({size / 1e6:.1f} MB kept).")


def _end(model: Path, talk: Talk) -> NoReturn:
    talk.complain(f"There is nothing to undo: no earlier state of {model} is kept beside it.")
    raise typer.Exit(FAILED)
