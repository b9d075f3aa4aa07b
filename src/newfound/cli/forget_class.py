"""`newfound forget-class`: take back all images of a class."""

from typing import Annotated

import typer

from newfound.cli.gather import check_label
from newfound.cli.models import changing, must_exist, opened
from newfound.cli.options import Model, Quiet, Wait
from newfound.cli.talk import Talk
from newfound.common.errors import InvalidInputError

Label = Annotated[str, typer.Argument(help="The class to forget.", show_default=False)]


def forget_class(model: Model, label: Label, wait: Wait = 0.0, quiet: Quiet = False) -> None:
    """Take back a class, as if it had never been taught.

    \b
    newfound forget-class kitchen.newfound mug

    A model made with teach --lean does not hold what that takes: forget its images instead.
    """
    check_label(label)
    talk = Talk(quiet)
    must_exist(model)
    with changing(model, wait, talk) as change:
        recogniser = opened(model)
        named = recogniser.label(label)
        if not recogniser.model.sums_.per_class:
            raise InvalidInputError(
                f"{model} does not hold its sums per class, so {label} cannot be forgotten "
                f"as a whole: newfound forget {model} IMAGES --as {label}"
            )
        recogniser.forget_class(named)
        recogniser.settle()
        change.save(recogniser)
    talk.say(f"Forgot {label}.")
