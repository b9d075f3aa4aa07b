"""`newfound rename`: another name for a class."""

from typing import Annotated

import typer

from newfound.cli.gather import label_from
from newfound.cli.models import changing, must_exist, opened
from newfound.cli.options import Model, Quiet, Wait
from newfound.cli.talk import Talk, shown

Old = Annotated[str, typer.Argument(help="Its name.", show_default=False)]
New = Annotated[str, typer.Argument(help="Its new name.", show_default=False)]


def rename(model: Model, old: Old, new: New, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Give a class another name.

    \b
    newfound rename kitchen.newfound mug beaker

    If a class has that name already, the two become one.
    """
    talk = Talk(quiet)
    must_exist(model)
    with changing(model, wait, talk):
        recogniser = opened(model)
        before = len(recogniser.model.classes_)
        recogniser.rename(recogniser.label(label_from(old)), recogniser.label(label_from(new)))
        recogniser.settle()
        recogniser.save(model)
        joined = len(recogniser.model.classes_) < before
    talk.say(f"{shown(old)} is now {'part of ' if joined else ''}{shown(new)}.")
