"""`newfound rename`: another name for a class."""

from typing import Annotated, Any

import typer

from newfound.cli.console import Console, can_ask, printable
from newfound.cli.inputs import check_label
from newfound.cli.models import locked, must_exist, save
from newfound.cli.option_kinds import flag
from newfound.cli.options import Model, Quiet, Wait

Old = Annotated[str, typer.Argument(help="Class to rename.")]
New = Annotated[str, typer.Argument(help="New name.")]
Force = Annotated[bool, flag("--force", "Merge the class into one that already has the new name.")]


def rename(
    model: Model, old: Old, new: New, force: Force = False, wait: Wait = 0.0, quiet: Quiet = False
) -> None:
    """Rename a class.

    \b
    newfound rename kitchen.newfound mug beaker

    If another class has the new name, the two are merged. On a terminal the command asks first;
    elsewhere it needs --force.
    """
    check_label(new)
    console = Console(quiet)
    must_exist(model)
    with locked(model, wait, console) as change:
        from newfound.recognition.labels import rename_labels

        recogniser = change.open()
        taught = recogniser.classes
        before, after = rename_labels(recogniser.label, old, new)
        if before in taught and before == after:
            console.info(f"{before} is its name already.")
            return
        joined = before in taught and after in taught and before != after
        if joined and not force:
            _ask(before, after, console)
        recogniser.rename(before, after)
        save(change, recogniser, console)
    console.info(f"{before} is now {'part of ' if joined else ''}{after}.")


def _ask(old: Any, new: Any, console: Console) -> None:
    """Exit unless someone says that two classes are to be joined."""
    if not can_ask():
        console.fail(f"There is a class {new} already, so nothing was done: --force joins the two.")
    question = f"There is a class {new} already. Should {old} become part of it?"
    typer.confirm(printable(question), abort=True, err=True)
