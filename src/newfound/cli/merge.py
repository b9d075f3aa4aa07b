"""`newfound merge`: one model that has seen what several have."""

from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.models import changing, opened
from newfound.cli.options import Quiet, Wait
from newfound.cli.talk import Talk, known, many, shown
from newfound.common.errors import InvalidInputError

Models = Annotated[list[Path], typer.Argument(help="Models to merge.", show_default=False)]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to put the result.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing model.")]


def merge(
    models: Models, output: Output, force: Force = False, wait: Wait = 0.0, quiet: Quiet = False
) -> None:
    """Make one model of several.

    \b
    newfound merge kitchen.newfound garage.newfound -o house.newfound

    It is as if it had been taught all that any of them was. Classes of the same name become one.
    Images that were taught to several of them count as often as they were taught. The result
    may replace one of them; over another model it takes --force.
    """
    if len(models) < 2:
        raise typer.BadParameter("it takes two models at least")
    talk = Talk(quiet)
    is_input = output.resolve() in [path.resolve() for path in models]
    if output.exists() and not force and not is_input:
        raise typer.BadParameter(f"{shown(output)} is there already: --force replaces it")
    with changing(output, wait, talk) as change:
        pairs = [(path, opened(path)) for path in models]
        # One that holds no sums per class cannot become part of one that does.
        pairs.sort(key=lambda pair: pair[1].model.sums_.per_class)
        names, recognisers = [path for path, _ in pairs], [each for _, each in pairs]
        merged, twice = recognisers[0], 0
        for place, other in enumerate(recognisers[1:], start=1):
            try:
                twice += merged.merge(other)
            except InvalidInputError as error:
                before = " and ".join(map(str, names[:place]))
                reason = str(error).removeprefix("cannot merge: ")
                raise InvalidInputError(
                    f"{names[place]} cannot be merged with {before}: {reason}"
                ) from error
        merged.settle()
        change.save(merged)
    talk.say(f"{output} knows {known(merged.model)}.")
    if len({each.model.sums_.per_class for each in recognisers}) > 1:
        talk.say("Not all of them hold sums per class, so the result does not: no forget-class.")
    if twice:
        talk.say(f"{many(twice, 'image')} taught to more than one of them: each counts again.")
