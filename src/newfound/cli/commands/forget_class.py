"""`newfound forget-class`: take back all images of a class."""

from typing import Annotated

import typer

from newfound.cli.console import Console
from newfound.cli.models import locked, must_exist, save
from newfound.cli.options import ForGood, Model, Quiet, Wait
from newfound.common.errors import InputError

Label = Annotated[str, typer.Argument(help="Class to forget.")]


def forget_class(
    model: Model, label: Label, for_good: ForGood = False, wait: Wait = 0.0, quiet: Quiet = False
) -> None:
    """Take back a class, as if it had never been taught.

    \b
    newfound forget-class kitchen.newfound mug

    A model made with teach --no-class-sums cannot do this: forget the images of the class instead.
    The undo command brings the class back, unless --for-good is given.
    """
    console = Console(quiet)
    must_exist(model)
    with locked(model, wait, console) as change:
        recogniser = change.open()
        if not recogniser.holds_class_sums:
            raise InputError(
                f"{model} does not hold its sums per class, so {label} cannot be forgotten "
                f"as a whole: newfound forget {model} IMAGES --as {label}"
            )
        try:
            recogniser.forget_class(recogniser.label(label))
        except InputError:
            if for_good:  # also what was forgotten before, by a command that was killed, say
                save(change, recogniser, console, for_good)
            raise
        save(change, recogniser, console, for_good)
    console.info(f"Forgot {label}.")
