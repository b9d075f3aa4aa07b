"""`newfound predict`: what images show."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.answers import (
    STRETCHES,
    Line,
    answer_line,
    answers_form,
    print_lines,
    write_lines,
)
from newfound.cli.console import DONE, SOME_UNREADABLE, Console
from newfound.cli.footage import MOST_LISTED, answer_lines, choose
from newfound.cli.footage_options import Centre, Crop, Every, Smooth, Topic
from newfound.cli.inputs import find, tell_problems, use_extractor
from newfound.cli.models import open_recogniser
from newfound.cli.options import (
    ExtractorName,
    Images,
    Json,
    Model,
    Quiet,
    UnknownAbove,
    check_output,
)

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Problem

Top = Annotated[int, typer.Option(min=1, help="Print so many guesses for each image or frame.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the answers to this .csv, .tsv or .jsonl file instead.",
        show_default=False,
    ),
]


def predict(
    model: Model,
    images: Images,
    top: Top = 1,
    unknown_above: UnknownAbove = None,
    as_json: Json = False,
    output: Output = None,
    every: Every = None,
    crop: Crop = None,
    centre: Centre = False,
    topic: Topic = None,
    smooth: Smooth = False,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Say what images show: label and score of each, and how likely it is unknown.

    \b
    newfound predict kitchen.newfound a.jpg b.jpg
    newfound predict kitchen.newfound a.jpg --top 3 --json
    newfound predict kitchen.newfound photos/ --output answers.csv
    ls new/*.jpg | newfound predict kitchen.newfound -
    newfound predict kitchen.newfound clip.mp4 --every 5
    newfound predict kitchen.newfound clip.mp4 --smooth

    The score is the probability of the label, if the image shows anything that was taught. The
    column after it is the probability that it does not; above the model's bound, 0.5 unless it was
    set, the image is called unknown. With --json, every image has a line with file, label (the best
    guess, also if unknown), score, novelty (from 0 to 1, how unlike everything taught it is),
    unknown, known and top. With --output, a .jsonl file holds such lines; a .csv or .tsv file
    begins with the names of its columns. A .tsv file has no quotes, and what would end a cell is
    escaped.

    Of a video, a recording or a camera (camera:0, rtsp://…), every frame has a line, with its time
    in seconds. With --smooth, every stretch of frames that agree has one: when it begins and ends,
    what it shows, the mean score, and how many frames it has. Cameras are looked at until Ctrl-C.
    """
    if output is not None:
        check_output(output, ".csv", ".tsv", ".jsonl")
    chosen = choose(images, crop=crop, centre=centre, every=every, topic=topic, smooth=smooth)
    if smooth and top > 1:
        raise typer.BadParameter("a stretch has one answer", param_hint="--top")
    console = Console(quiet)
    recogniser = open_recogniser(model)
    problems: list[Problem] = []
    if chosen is None:
        lines = _of_images(recogniser, images, extractor, problems, top, unknown_above, console)
    else:
        if extractor is not None:
            recogniser.use(extractor)
        guesses = None if smooth else top
        lines = answer_lines(recogniser, chosen, problems, guesses, unknown_above, console)
    most = min(top, len(recogniser.classes))
    form = STRETCHES if smooth else answers_form(most, chosen is not None)
    if output is not None:
        write_lines(output, lines, form, console)
    else:
        print_lines(lines, form, as_json, at_once=chosen is not None and chosen.is_live)
    tell_problems(problems, console, None if chosen is None else MOST_LISTED)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _of_images(
    recogniser: "Recogniser",
    images: list[str],
    extractor: str | None,
    problems: "list[Problem]",
    top: int,
    unknown_above: float | None,
    console: Console,
) -> Iterator[Line]:
    found = find(images, None, "first", console, need_labels=False)
    use_extractor(recogniser, extractor, found)
    examples = console.progress(recogniser.examples(found), len(found), "looking")
    # An image is worth an answer of its own: whoever waits for it has it at once.
    block = 1 if found.images else 64
    pairs = recogniser.look_at_examples(examples, problems, top, unknown_above, block)
    return (answer_line(example.name, answer) for example, answer in pairs)
