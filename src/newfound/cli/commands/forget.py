"""`newfound forget`: take back images, as if they had never been taught."""

import typer

from newfound.cli.console import Console, exit_code, plural
from newfound.cli.inputs import find, looked_at, tell_problems, use_extractor
from newfound.cli.models import locked, must_exist, save
from newfound.cli.options import As, ExtractorName, ForGood, Images, LabelsFrom, Model, Quiet, Wait


def forget(
    model: Model,
    images: Images,
    label: As = None,
    labels: LabelsFrom = "first",
    extractor: ExtractorName = None,
    for_good: ForGood = False,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """Take back images, as if they had never been taught.

    \b
    newfound forget kitchen.newfound a.jpg --as mug

    Give the label of the images with --as, or name folders, as for teach. Images that were not
    taught under that label are listed, and the exit code is 3. A model without any image left is
    deleted. The undo command brings it back, unless --for-good is given.
    """
    console = Console(quiet)
    sources = find(images, label, labels, console)
    must_exist(model)
    with locked(model, wait, console) as change:
        from newfound.recognition.lesson import forget as forget_examples

        recogniser = change.open()
        use_extractor(recogniser, extractor, sources)
        examples = looked_at(recogniser, sources, console)
        forgotten, problems = forget_examples(recogniser, examples)
        # What was forgotten before goes for good, too, also by a command that was killed.
        if forgotten or for_good:
            save(change, recogniser, console, for_good)
    console.info(f"Forgot {plural(forgotten, 'image')}.")
    tell_problems(problems, console)
    raise typer.Exit(exit_code(problems))
