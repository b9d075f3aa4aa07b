"""`newfound evaluate`: how often a model is right, and what it takes for what."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from newfound.cli.console import DONE, FAILED, SOME_UNREADABLE, Console, emit, print_table, quoted
from newfound.cli.errors import naming
from newfound.cli.figures import check_figure
from newfound.cli.gather import (
    Row,
    blocks,
    gather,
    rows_of,
    stacked,
    tell_ignored,
    tell_problems,
)
from newfound.cli.models import opened
from newfound.cli.options import As, By, ExtractorName, Images, Json, Model, Quiet

# Confusions that are told, and classes that are told to be unknown to the model.
WORTH_KNOWING, NEVER_TAUGHT_SHOWN = 5, 20
ALL, MEAN = "all images", "mean of classes"

Plot = Annotated[
    Path | None,
    typer.Option(help="Save the confusion matrix as .png, .pdf or .svg."),
]


def evaluate(
    model: Model,
    images: Images,
    label: As = None,
    labels: By = "first",
    as_json: Json = False,
    plot: Plot = None,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Measure how often a model is right.

    \b
    newfound evaluate kitchen.newfound photos/
    newfound evaluate kitchen.newfound photos/ --json
    newfound evaluate kitchen.newfound photos/ --plot confusion.png

    Folders are classes, as for teaching. Prints the accuracy for each class and the confusions
    worth knowing. The best guess counts, also for images that predict would call unknown; how many
    these are is told beside it.
    """
    if plot is not None:
        check_figure(plot, "--plot")
        from newfound.cli.confusion_plot import draw  # here, so that nobody waits for its absence
    console = Console(quiet)
    recogniser = opened(model)
    gathered = gather(images, label, labels, need_labels=True)
    tell_ignored(gathered.ignored, console)
    rows = rows_of(gathered, recogniser, extractor)
    problems: list[Row] = []
    pairs: Counter[tuple[str, str]] = Counter()
    unknown = 0
    for block in blocks(console.progress(rows, len(gathered), "looking"), problems):
        for row, answer in zip(block, recogniser.answers(stacked(block)), strict=True):
            pairs[str(recogniser.label(str(row.label))), str(answer.label)] += 1
            unknown += not answer.known
    if not pairs:
        tell_problems(problems, console)
        console.error("No images there to evaluate on.")
        raise typer.Exit(FAILED)
    taught = set(map(str, recogniser.model.classes_.tolist()))
    result = {**_summary(pairs, taught), "unknown": unknown, "unreadable": len(problems)}
    if as_json:
        emit(json.dumps(result))
    else:
        _print(result, console)
    tell_problems(problems, console)
    if plot is not None:
        with naming(plot):
            draw(pairs, plot)
        console.info(f"Figure in {plot}")
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _summary(pairs: Counter[tuple[str, str]], taught: set[str]) -> dict[str, Any]:
    """Return accuracies and confusions, given how often what was taken for what."""
    counts: Counter[str] = Counter()
    for (label, _), n in pairs.items():
        counts[label] += n
    accuracy = {label: pairs[label, label] / counts[label] for label in sorted(counts)}
    wrong = Counter({pair: n for pair, n in pairs.items() if pair[0] != pair[1]})
    return {
        "n": counts.total(),
        "accuracy": sum(pairs[label, label] for label in counts) / counts.total(),
        "mean_class_accuracy": sum(accuracy.values()) / len(accuracy),
        "per_class": accuracy,
        "per_class_n": {label: counts[label] for label in accuracy},
        "confusions": [
            {"label": label, "taken_for": other, "n": n}
            for (label, other), n in sorted(wrong.items(), key=lambda each: (-each[1], each[0]))
        ],
        "never_taught": sorted(set(accuracy) - taught),
    }


def _print(result: dict[str, Any], console: Console) -> None:
    lines = [
        [quoted(label, (ALL, MEAN)), result["per_class_n"][label], f"{100 * accuracy:.1f}"]
        for label, accuracy in result["per_class"].items()
    ]
    lines.append([ALL, result["n"], f"{100 * result['accuracy']:.1f}"])
    lines.append([MEAN, "", f"{100 * result['mean_class_accuracy']:.1f}"])
    print_table(["class", "images", "right, %"], lines, 2)
    for confusion in result["confusions"][:WORTH_KNOWING]:
        label, other, n = (confusion[name] for name in ("label", "taken_for", "n"))
        console.info(f"{n} of {result['per_class_n'][label]} {label} are taken for {other}")
    if result["unknown"]:
        console.info(f"{result['unknown']} of {result['n']} would be called unknown.")
    if result["never_taught"]:
        names = result["never_taught"]
        more = len(names) - NEVER_TAUGHT_SHOWN
        listed = ", ".join(names[:NEVER_TAUGHT_SHOWN])
        console.info(f"Never taught: {listed}{f' and {more} more' if more > 0 else ''}")
