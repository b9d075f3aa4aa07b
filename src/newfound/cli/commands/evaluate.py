"""`newfound evaluate`: how often a model is right, and what it takes for what."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Console, doubts, emit, exit_code, plural, print_table, quoted
from newfound.cli.evaluation_figures import check_figures, check_replaced_by, save_figures
from newfound.cli.footage import MOST_LISTED, choose
from newfound.cli.footage_options import Centre, Crop, Every, Labels, Smooth, Topic
from newfound.cli.inputs import (
    files_of,
    find,
    folder_labels,
    looked_at,
    tell_problems,
    use_extractor,
)
from newfound.cli.models import open_recogniser
from newfound.cli.option_kinds import output_to
from newfound.cli.options import As, ExtractorName, Force, Images, Json, Model, Quiet, UnknownAbove
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
    Path | None, output_to("Save the confusion matrix as a .png, .pdf or .svg figure.")
]
Unknown = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FOLDER",
        help="Images of things that were never taught: print how many of them get a known label. "
        "May be repeated.",
    ),
]
Roc = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save the ROC curve, known against unknown, as a .png, .pdf or .svg figure. It needs "
        "--unknown, or classes that were never taught.",
    ),
]
TimelineFigure = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Save a .png, .pdf or .svg figure of the answers to a video or recording over time, "
        "right and wrong.",
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
    force: Force = False,
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

    Folders are classes, as for teach. The command prints the accuracy for each class and the most
    frequent confusions. The best guess counts, even if predict would call the image unknown. The
    command also prints how many known things are called unknown, and how many things that were
    never taught get a known label: images in --unknown, and images of classes that the model does
    not know. The AUC is the share of pairs, one thing known and one unknown, in which the unknown
    one has the higher probability of being unknown.

    For videos and recordings, only frames with a label are evaluated: give it with --as or
    --labels. The accuracy is also printed for ten parts of their time. With --smooth, so is the
    accuracy of answers that combine the evidence of earlier frames.
    """
    chosen = choose(images, every, crop, centre, topic, labels, smooth=smooth, timeline=timeline)
    figures = {"--output": output, "--roc": roc, "--timeline": timeline}
    check_figures(figures)
    console = Console(quiet)
    recogniser = open_recogniser(model)
    footage: FootageEvaluation | None = None
    if chosen is None:
        from newfound.recognition import evaluation

        sources = find(images, label, folder_labels(labels), console)
        strangers = [find(unknown, None, "first", console, need_labels=False)] if unknown else []
        check_replaced_by(
            figures, model, files_of([*images, *(unknown or ())], sources, *strangers), force
        )
        if roc is not None:
            _check_roc(recogniser, sources, bool(strangers))
        use_extractor(recogniser, extractor, sources, *strangers)
        examples, *others = [looked_at(recogniser, part, console) for part in (sources, *strangers)]
        result = evaluation.evaluate(recogniser, examples, chain(*others), unknown_above)
    else:
        if unknown:
            raise typer.BadParameter("that is for photos", param_hint="--unknown")
        check_replaced_by(figures, model, [*chosen.names, labels], force)
        use_extractor(recogniser, extractor)
        footage = evaluate_footage(recogniser, chosen, label, unknown_above, smooth, console)
        result = footage.plain
    if result.n and as_json:
        emit(json.dumps(result.to_json() if footage is None else to_json(footage)))
    elif result.n:
        _print(result, footage, doubts(recogniser), console)
    tell_problems(result.unreadable, console, None if footage is None else MOST_LISTED)
    if not result.n:
        console.fail("No images there to evaluate on.")
    save_figures(result, footage, figures, console)
    raise typer.Exit(exit_code(result.unreadable))


def _check_roc(recogniser: "Recogniser", sources: "Sources", strangers: bool) -> None:
    """End with wrong usage if there would be no curve to draw, before any work is done."""
    problem, why = None, recogniser.cannot_tell_unknown
    taught = [recogniser.label(label) in recogniser.counts for label in sources.labels]
    if why is not None:
        problem = f"the model cannot tell yet what is unknown: {why}"
    elif not any(taught):
        problem = "there are no images of classes that were taught"
    elif not strangers and all(taught):
        problem = "all classes there were taught; name images of others with --unknown FOLDER"
    if problem is not None:
        raise typer.BadParameter(problem, param_hint="--roc")


def _print(
    result: "Evaluation", footage: "FootageEvaluation | None", doubt: str, console: Console
) -> None:
    both = [result] if footage is None or not footage.smooth else [result, footage.smoothed]
    thing = "image" if footage is None else "frame"
    every = f"all {thing}s"
    lines: list[list[object]] = [
        [quoted(label, (every, MEAN)), n, *(_percent(one.per_class[label]) for one in both)]
        for label, n in result.per_class_n.items()
    ]
    lines.append([every, result.n, *(_percent(one.accuracy) for one in both)])
    lines.append([MEAN, "", *(_percent(one.mean_class_accuracy) for one in both)])
    shares = ["right, %", "smoothed, %"][: len(both)]
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
    if doubt:
        console.info(doubt)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
