"""`newfound forget-class`: take back all images of a class."""

from typing import Annotated

import typer

from newfound.cli.gather import label_from
from newfound.cli.models import changing, must_exist, opened
from newfound.cli.options import Model, Quiet, Wait
from newfound.cli.talk import Talk, shown

Label = Annotated[str, typer.Argument(help="The class to forget.", show_default=False)]


def forget_class(model: Model, label: Label, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Take back a class, as if it had never been taught.

    \b
    newfound forget-class kitchen.newfound mug

    A model made with teach --lean does not hold what that takes: forget its images instead.
    """
    talk = Talk(quiet)
    must_exist(model)
    with changing(model, wait, talk):
        recogniser = opened(model)
        named = recogniser.label(label_from(label))
        if not recogniser.model._statistics.per_class:
            raise ValueError(
                f"{shown(model)} does not hold its sums per class, so {label} cannot be forgotten "
                f"as a whole: newfound forget {shown(model)} IMAGES --as {label}"
            )
        if recogniser.model.classes_.tolist() == [named]:
            raise ValueError(f"{label} is all that {shown(model)} knows: delete the file instead")
        recogniser.forget_class(named)
        recogniser.settle()
        recogniser.save(model)
    talk.say(f"Forgot {shown(label)}.")
