"""`newfound evaluate`: how often a model is right, and what it takes for what."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import (
    DONE,
    FAILED,
    SOME_UNREADABLE,
    Console,
    emit,
    print_table,
    quoted,
)
from newfound.cli.inputs import find, tell_problems, use_extractor
from newfound.cli.models import open_recogniser
from newfound.cli.options import (
    As,
    ExtractorName,
    Images,
    Json,
    LabelsFrom,
    Model,
    Quiet,
    check_output,
)
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.evaluation import Evaluation

# Confusions that are told, and classes that are told to be unknown to the model.
WORTH_KNOWING, NEVER_TAUGHT_SHOWN = 5, 20
ALL, MEAN = "all images", "mean of classes"

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Save the confusion matrix as a .png, .pdf or .svg figure.",
        show_default=False,
    ),
]


def evaluate(
    model: Model,
    images: Images,
    label: As = None,
    labels: LabelsFrom = "first",
    as_json: Json = False,
    output: Output = None,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Measure how often a model is right.

    \b
    newfound evaluate kitchen.newfound photos/
    newfound evaluate kitchen.newfound photos/ --json
    newfound evaluate kitchen.newfound photos/ --output confusion.png

    Folders are classes, as for teaching. The command prints the accuracy for each class and the
    most frequent confusions. The best guess counts, also for images that predict would call
    unknown; their number is printed, too.
    """
    if output is not None:
        check_output(output, ".png", ".pdf", ".svg")
        from newfound.cli.confusion_plot import draw  # here, so that nobody waits for its absence
    console = Console(quiet)
    recogniser = open_recogniser(model)
    found = find(images, label, labels, console)
    use_extractor(recogniser, found, extractor)
    examples = console.progress(recogniser.examples(found), len(found), "looking")
    result = recogniser.evaluate_examples(examples)
    if not result.n:
        tell_problems(result.unreadable, console)
        console.error("No images there to evaluate on.")
        raise typer.Exit(FAILED)
    if as_json:
        emit(json.dumps(result.to_json()))
    else:
        _print(result, console)
    tell_problems(result.unreadable, console)
    if output is not None:
        with name_in_errors(output):
            draw(result.pairs, output)
        console.info(f"Figure in {output}")
    raise typer.Exit(SOME_UNREADABLE if result.unreadable else DONE)


def _print(result: "Evaluation", console: Console) -> None:
    lines: list[list[object]] = [
        [quoted(label, (ALL, MEAN)), result.per_class_n[label], f"{100 * accuracy:.1f}"]
        for label, accuracy in result.per_class.items()
    ]
    lines.append([ALL, result.n, f"{100 * result.accuracy:.1f}"])
    lines.append([MEAN, "", f"{100 * result.mean_class_accuracy:.1f}"])
    print_table(["class", "images", "right, %"], lines, 2)
    for (label, other), n in list(result.confusions.items())[:WORTH_KNOWING]:
        console.info(f"{n} of {result.per_class_n[label]} {label} are taken for {other}")
    if result.unknown:
        console.info(f"{result.unknown} of {result.n} would be called unknown.")
    if names := result.never_taught:
        more = len(names) - NEVER_TAUGHT_SHOWN
        listed = ", ".join(names[:NEVER_TAUGHT_SHOWN])
        console.info(f"Never taught: {listed}{f' and {more} more' if more > 0 else ''}")
