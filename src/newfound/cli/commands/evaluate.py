"""`newfound evaluate`: how often a model is right, and what it takes for what."""

import json
import os
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import (
    DONE,
    FAILED,
    SOME_UNREADABLE,
    Console,
    doubts,
    emit,
    plural,
    print_table,
    quoted,
)
from newfound.cli.footage import MOST_LISTED, choose
from newfound.cli.footage_options import Centre, Crop, Every, Labels, Smooth, Topic
from newfound.cli.inputs import find, folder_labels, tell_problems, use_extractor
from newfound.cli.models import open_recogniser
from newfound.cli.options import (
    As,
    ExtractorName,
    Images,
    Json,
    Model,
    Quiet,
    UnknownAbove,
    check_output,
)
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.evaluation import Evaluation
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Sources
    from newfound.robot.timeline import FootageEvaluation

# Confusions that are told, and classes that are told to be unknown to the model.
WORTH_KNOWING, NEVER_TAUGHT_SHOWN = 5, 20
FIGURES = (".png", ".pdf", ".svg")
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
Unknown = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FOLDER",
        help="Images of things that were never taught, whatever they are; say how many of them are "
        "called by a known name. May be given several times.",
        show_default=False,
    ),
]
Roc = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save a .png, .pdf or .svg figure of what other bounds would call unknown: the ROC "
        "curve. It needs --unknown, or classes that were never taught.",
        show_default=False,
    ),
]
TimelineFigure = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        metavar="FILE",
        help="Save a .png, .pdf or .svg figure of what is said of a video or recording, and "
        "whether it is right, against time.",
        show_default=False,
    ),
]


def evaluate(
    model: Model,
    images: Images,
    label: As = None,
    labels: Labels = "first",
    unknown: Unknown = None,
    unknown_above: UnknownAbove = None,
    as_json: Json = False,
    output: Output = None,
    roc: Roc = None,
    timeline: TimelineFigure = None,
    every: Every = None,
    crop: Crop = None,
    centre: Centre = False,
    topic: Topic = None,
    smooth: Smooth = False,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Measure how often a model is right.

    \b
    newfound evaluate kitchen.newfound photos/
    newfound evaluate kitchen.newfound photos/ --json
    newfound evaluate kitchen.newfound photos/ --output confusion.png
    newfound evaluate kitchen.newfound photos/ --unknown garage/ --roc roc.png
    newfound evaluate kitchen.newfound run.mcap --labels labels.csv --timeline timeline.png

    Folders are classes, as for teaching. The command prints the accuracy for each class and the
    most frequent confusions. The best guess counts, also for images that predict would call
    unknown. How many of the known things are called unknown is printed, too, and how many of those
    that were never taught are called by a known name: images in --unknown, and of classes that the
    model does not know. The AUC is how often an unknown thing is found more likely unknown than a
    known one.

    Of videos and recordings, the frames that --as or --labels says a label of are looked at. The
    accuracy is told for ten parts of their time, too, and with --smooth also that of answers to
    which the frames before add their evidence.
    """
    chosen = choose(
        images,
        crop=crop,
        centre=centre,
        every=every,
        topic=topic,
        labels=None if labels in FOLDERS else labels,
        smooth=smooth,
        timeline=timeline,
    )
    _check_figures({"--output": output, "--roc": roc, "--timeline": timeline})
    console = Console(quiet)
    recogniser = open_recogniser(model)
    footage: FootageEvaluation | None = None
    if chosen is None:
        found = find(images, label, folder_labels(labels), console)
        strangers = [find(unknown, None, "first", console, need_labels=False)] if unknown else []
        if roc is not None:
            _check_roc(recogniser, found, bool(strangers))
        use_extractor(recogniser, extractor, found, *strangers)
        examples, *others = [
            console.progress(recogniser.examples(each), len(each), "looking")
            for each in (found, *strangers)
        ]
        result = recogniser.evaluate_examples(examples, chain(*others), unknown_above)
    else:
        from newfound.cli.timeline import evaluate_footage

        if unknown:
            raise typer.BadParameter("that is for photos", param_hint="--unknown")
        if extractor is not None:
            recogniser.use(extractor)
        footage = evaluate_footage(recogniser, chosen, label, unknown_above, smooth, console)
        result = footage.plain
    if not result.n:
        tell_problems(result.unreadable, console)
        console.error("No images there to evaluate on.")
        raise typer.Exit(FAILED)
    if as_json:
        emit(json.dumps(result.to_json()))
    else:
        _print(result, console)
        if doubt := doubts(recogniser):
            console.info(doubt)
    tell_problems(result.unreadable, console)
    _save_figures(result, output, roc, console)
    raise typer.Exit(SOME_UNREADABLE if result.unreadable else DONE)


def _check_figures(output: Path | None, roc: Path | None) -> None:
    """End if a figure cannot be saved, or drawn: nobody waits for that."""
    if output is not None:
        check_output(output, *FIGURES)
        import_module("newfound.cli.confusion_plot")
    if roc is not None:
        if output is not None and os.path.realpath(roc) == os.path.realpath(output):
            raise typer.BadParameter("that is where --output goes", param_hint="--roc")
        check_output(roc, *FIGURES, option="--roc")
        import_module("newfound.cli.roc_plot")


def _save_figures(
    result: "Evaluation", output: Path | None, roc: Path | None, console: Console
) -> None:
    if output is not None:
        from newfound.cli.confusion_plot import draw

        with name_in_errors(output):
            draw(result.pairs, output)
        console.info(f"Figure in {output}")
    if roc is not None and result.auc is None:
        console.error("No ROC curve: that takes images of known things and of unknown ones.")
        raise typer.Exit(FAILED)
    if roc is not None:
        from newfound.cli.roc_plot import draw_roc

        with name_in_errors(roc):
            draw_roc(result, roc)
        console.info(f"ROC curve in {roc}")


def _check_roc(recogniser: "Recogniser", found: "Sources", strangers: bool) -> None:
    """End with wrong usage if there would be no curve to draw, before any work is done."""
    problem, why = None, recogniser.cannot_tell_unknown
    taught = [recogniser.label(each) in recogniser.counts for each in found.labels]
    if why is not None:
        problem = f"the model cannot tell yet what is unknown: {why}"
    elif not any(taught):
        problem = "there are no images of classes that were taught"
    elif not strangers and all(taught):
        problem = "all classes there were taught; name images of others with --unknown FOLDER"
    if problem is not None:
        raise typer.BadParameter(problem, param_hint="--roc")


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
    for part, whole, things, verdict in (
        (result.known_called_unknown, len(result.of_known), "known things", "unknown"),
        (result.unknown_called_known, len(result.of_unknown), "things never taught", "known"),
    ):
        if whole:
            of = f"{part} of {plural(whole, 'image')} of {things}"
            console.info(f"{of} ({100 * part / whole:.1f} %) would be called {verdict}.")
    if result.auc is not None:
        console.info(f"AUC {result.auc:.3f}: how well the two are told apart, 1 being best.")
    if names := result.never_taught:
        more = len(names) - NEVER_TAUGHT_SHOWN
        listed = ", ".join(names[:NEVER_TAUGHT_SHOWN])
        console.info(f"Never taught: {listed}{f' and {more} more' if more > 0 else ''}")
