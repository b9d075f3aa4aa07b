"""`newfound redo`: do again what was undone."""

import typer

from newfound.cli.commands.undo import turn_journal
from newfound.cli.console import FAILED, Console
from newfound.cli.models import must_exist
from newfound.cli.options import Model, Quiet, Wait
from newfound.recognition.beside import journal_file


def redo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Do again what the last undo took back.

    \b
    newfound redo kitchen.newfound

    That takes a journal, as the studio keeps it. For a model without one, a second undo takes back
    the first.
    """
    console = Console(quiet)
    must_exist(model)
    if not journal_file(model).exists():
        console.error(f"{model} has no journal: newfound undo {model} takes back the last undo.")
        raise typer.Exit(FAILED)
    turn_journal(model, wait, console, "redo")
