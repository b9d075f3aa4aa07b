"""`newfound redo`: do again what was undone."""

from newfound.cli.commands.undo import turn
from newfound.cli.console import Console
from newfound.cli.options import Model, Quiet, Wait


def redo(model: Model, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Redo what the last undo took back.

    \b
    newfound redo kitchen.newfound

    A model with a journal, as the studio keeps one, goes forward one change with each redo, until
    all that was undone is done again. Without a journal, the last command is done again.
    """
    turn(model, wait, Console(quiet), "redo")
