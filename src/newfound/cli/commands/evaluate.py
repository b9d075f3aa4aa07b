"""`newfound evaluate`: how often a model is right, and what it takes for what."""

import json
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
from newfound.cli.evaluation_figures import check_figures, save_figures
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
)
from newfound.cli.timeline import evaluate_footage, print_over_time, to_json

if TYPE_CHECKING:
    from newfound.recognition.evaluation import Evaluation
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Sources
    from newfound.robot.timeline import FootageEvaluation

# Confusions that are told, and classes that are told to be unknown to the model.
WORTH_KNOWING, NEVER_TAUGHT_SHOWN = 5, 20
MEAN = "mean of classes"

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
        labels=None if labels == "first" else labels,
        smooth=smooth,
        timeline=timeline,
    )
    check_figures({"--output": output, "--roc": roc, "--timeline": timeline})
    console = Console(quiet)
    recogniser = open_recogniser(model)
    footage: FootageEvaluation | None = None
    if chosen is None:
        found = find(images, label, folder_labels(labels), console)
        strangers = [find(unknown, None, "first", console, need_labels=False)] if unknown else []
        if roc is not None:
            _check_roc(recogniser, found, bool(strangers))
        use_extractor(recogniser, extractor, found, *strangers)
        result = _of_images(recogniser, found, strangers, unknown_above, console)
    else:
        if unknown:
            raise typer.BadParameter("that is for photos", param_hint="--unknown")
        if extractor is not None:
            recogniser.use(extractor)
        footage = evaluate_footage(recogniser, chosen, label, unknown_above, smooth, console)
        result = footage.plain
    most = None if footage is None else MOST_LISTED
    if not result.n:
        tell_problems(result.unreadable, console, most)
        console.error("No images there to evaluate on.")
        raise typer.Exit(FAILED)
    if as_json:
        emit(json.dumps(result.to_json() if footage is None else to_json(footage)))
    else:
        _print(result, footage, console)
        if doubt := doubts(recogniser):
            console.info(doubt)
    tell_problems(result.unreadable, console, most)
    save_figures(result, footage, output, roc, timeline, console)
    raise typer.Exit(SOME_UNREADABLE if result.unreadable else DONE)


def _of_images(
    recogniser: "Recogniser",
    found: "Sources",
    strangers: "list[Sources]",
    unknown_above: float | None,
    console: Console,
) -> "Evaluation":
    examples, *others = [
        console.progress(recogniser.examples(each), len(each), "looking")
        for each in (found, *strangers)
    ]
    return recogniser.evaluate_examples(examples, chain(*others), unknown_above)


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


def _print(result: "Evaluation", footage: "FootageEvaluation | None", console: Console) -> None:
    beside = [result] if footage is None or not footage.smooth else [result, footage.smoothed]
    thing = "image" if footage is None else "frame"
    every = f"all {thing}s"
    lines: list[list[object]] = [
        [quoted(label, (every, MEAN)), n, *(_percent(each.per_class[label]) for each in beside)]
        for label, n in result.per_class_n.items()
    ]
    lines.append([every, result.n, *(_percent(each.accuracy) for each in beside)])
    lines.append([MEAN, "", *(_percent(each.mean_class_accuracy) for each in beside)])
    shares = ["right, %", "smoothed, %"][: len(beside)]
    print_table(["class", f"{thing}s", *shares], lines, 1 + len(shares))
    if footage is not None:
        print_over_time(footage)
    for (label, other), n in list(result.confusions.items())[:WORTH_KNOWING]:
        console.info(f"{n} of {result.per_class_n[label]} {label} are taken for {other}")
    for part, whole, things, verdict in (
        (result.known_called_unknown, len(result.of_known), "known things", "unknown"),
        (result.unknown_called_known, len(result.of_unknown), "things never taught", "known"),
    ):
        if whole:
            of = f"{part} of {plural(whole, thing)} of {things}"
            console.info(f"{of} ({100 * part / whole:.1f} %) would be called {verdict}.")
    if result.auc is not None:
        console.info(f"AUC {result.auc:.3f}: how well the two are told apart, 1 being best.")
    if names := result.never_taught:
        more = len(names) - NEVER_TAUGHT_SHOWN
        listed = ", ".join(names[:NEVER_TAUGHT_SHOWN])
        console.info(f"Never taught: {listed}{f' and {more} more' if more > 0 else ''}")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
