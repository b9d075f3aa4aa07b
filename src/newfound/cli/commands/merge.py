"""`newfound merge`: one model that has seen what several have."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Console, plural, summary
from newfound.cli.models import locked, open_recogniser, save
from newfound.cli.option_kinds import flag, output_to
from newfound.cli.options import Quiet, Wait
from newfound.cli.outputs import check_replaced
from newfound.common.errors import InputError

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser

Models = Annotated[list[Path], typer.Argument(help="Models to merge.")]
Output = Annotated[Path, output_to("Write the merged model here.")]
Force = Annotated[bool, flag("--force", "Overwrite a model, also one of those that are merged.")]
NoLayer = Annotated[
    bool,
    flag("--no-layer", "Merge into a model without a layer, whatever layers the models have."),
]


def merge(
    models: Models,
    output: Output,
    force: Force = False,
    no_layer: NoLayer = False,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Merge several models into one.

    \b
    newfound merge kitchen.newfound garage.newfound -o house.newfound

    The result knows everything that any of them was taught. Classes of the same name become one. An
    image that several of them were taught counts once for each. To replace
    one of them, or another model, use --force; the undo command brings it back.

    Models made with teach --layer go together if they began as copies of one file of 100 images or
    more. With --no-layer, any go together: the result is exactly what they would know without
    layers.
    """
    if len(models) < 2:
        raise typer.BadParameter("it takes two models at least")
    console = Console(quiet)
    with locked(output, wait, console) as change:
        check_replaced(output, force=force)
        pairs = [(path, open_recogniser(path)) for path in models]
        # One that holds no sums per class cannot become part of one that does.
        pairs.sort(key=lambda pair: pair[1].holds_class_sums)
        mixed = len({recogniser.holds_class_sums for _, recogniser in pairs}) > 1
        layered = [one.knowledge.learner.settings.layer is not None for _, one in pairs]
        merged, twice = _merge(pairs, linear=no_layer or not all(layered))
        save(change, merged, console)
    console.info(f"{output} knows {summary(merged)}.")
    if mixed:
        console.info("Not all hold sums per class, so the result does not: no forget-class.")
    if any(layered) and not all(layered):
        console.info("Not all have a layer, so the result has none.")
    if twice:
        images = plural(twice, "image")
        console.info(f"{images} taught to more than one of them: each counts again.")


def _merge(pairs: "list[tuple[Path, Recogniser]]", linear: bool) -> "tuple[Recogniser, int]":
    """Merge all into the first; return it, and how many images were taught to several."""
    from newfound.memory.memory import OtherLayerError
    from newfound.recognition.knowledge import drop_layer

    (_, merged), *others = pairs
    twice = 0
    if linear:
        drop_layer(merged.knowledge)
    for number, (path, other) in enumerate(others, start=1):
        try:
            twice += merged.merge(other)
        except InputError as error:
            before = " and ".join(str(earlier) for earlier, _ in pairs[:number])
            reason = str(error).removeprefix("cannot merge: ")
            if isinstance(error, OtherLayerError):
                reason = "each has a layer of its own; with --no-layer, the result has none"
            raise type(error)(f"{path} cannot be merged with {before}: {reason}") from error
    return merged, twice
