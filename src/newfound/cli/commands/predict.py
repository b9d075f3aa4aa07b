"""`newfound predict`: what images show."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.answers import Line, answer_line, answers_form, print_lines, write_lines
from newfound.cli.console import Console, exit_code
from newfound.cli.footage import MOST_LISTED, answer_lines, choose
from newfound.cli.footage_options import Centre, Crop, Every, Smooth, Topic
from newfound.cli.inputs import files_of, find, looked_at, tell_problems, use_extractor
from newfound.cli.models import open_recogniser
from newfound.cli.option_kinds import count, output_to
from newfound.cli.options import ExtractorName, Force, Images, Json, Model, Quiet, UnknownAbove
from newfound.cli.outputs import check_output, check_replaced
from newfound.recognition.beside import journal_file

if TYPE_CHECKING:
    from newfound.recognition.sources import Problem

Top = Annotated[int, count("Print the N best guesses for each image or frame.")]
Output = Annotated[
    Path | None, output_to("Write the answers to this .csv, .tsv or .jsonl file instead of stdout.")
]


def predict(
    model: Model,
    images: Images,
    top: Top = 1,
    unknown_above: UnknownAbove = None,
    as_json: Json = False,
    output: Output = None,
    force: Force = False,
    every: Every = None,
    crop: Crop = None,
    centre: Centre = False,
    topic: Topic = None,
    smooth: Smooth = False,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Say what images show, and what is unknown.

    \b
    newfound predict kitchen.newfound a.jpg b.jpg
    newfound predict kitchen.newfound a.jpg --top 3 --json
    newfound predict kitchen.newfound photos/ --output answers.csv
    ls new/*.jpg | newfound predict kitchen.newfound -
    newfound predict kitchen.newfound clip.mp4 --every 5
    newfound predict kitchen.newfound clip.mp4 --smooth

    Each image has a line with its file, label, score and probability of being unknown. The score is
    the probability of the label, given that the image shows something that was taught. The image is
    called unknown if its probability of being unknown is above the bound of the model, 0.5 unless
    it was set. With --json, the line has file, label (the best guess, even if unknown), score,
    novelty (from 0 to 1: how unlike everything taught), unknown, known and top. With --output, a
    .jsonl file has the same lines; a .csv or .tsv file begins with the names of its columns. A .tsv
    file has no quotes: tabs and line breaks are escaped.

    For a video, a recording or a camera (camera:0, rtsp://…), each frame has a line, with its time
    in seconds. With --smooth, each segment in which frames agree has a line: its start and end, the
    label, the mean score and the number of frames. A camera is read until Ctrl-C.
    """
    if output is not None:
        check_output(output, ".csv", ".tsv", ".jsonl")
    chosen = choose(images, every, crop, centre, topic, smooth=smooth)
    if smooth and top > 1:
        raise typer.BadParameter("a stretch has one answer", param_hint="--top")
    console = Console(quiet)
    recogniser = open_recogniser(model)
    problems: list[Problem] = []
    reads: list[Any] = [model, journal_file(model)]
    lines: Iterator[Line]
    if chosen is None:
        from newfound.recognition.reading import look_at

        sources = find(images, None, "first", console, need_labels=False)
        reads += files_of(images, sources)
        use_extractor(recogniser, extractor, sources)
        examples = looked_at(recogniser, sources, console)
        # An image is worth an answer of its own: whoever waits for it has it at once.
        block = 1 if sources.images else 64
        pairs = look_at(recogniser, examples, problems, top, unknown_above, block)
        lines = (answer_line(example.name, answer) for example, answer in pairs)
    else:
        reads += chosen.names
        use_extractor(recogniser, extractor)
        guesses = None if smooth else top
        lines = answer_lines(recogniser, chosen, problems, guesses, unknown_above, console)
    most = min(top, len(recogniser.classes))
    form = answers_form(most, chosen is not None, smooth)
    if output is not None:
        check_replaced(output, reads, force)
        write_lines(output, lines, form, console)
    else:
        print_lines(lines, form, as_json, at_once=chosen is not None and chosen.is_live)
    tell_problems(problems, console, None if chosen is None else MOST_LISTED)
    raise typer.Exit(exit_code(problems))
