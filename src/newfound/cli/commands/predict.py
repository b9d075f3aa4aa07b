"""`newfound predict`: what images show."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import (
    DONE,
    SOME_UNREADABLE,
    Console,
    emit,
    is_terminal,
    plural,
    print_table,
    printable,
    quoted,
)
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
from newfound.common.files import write_whole
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Answer
    from newfound.recognition.sources import Problem

    Answers = Iterable[tuple[str, Answer]]

Top = Annotated[int, typer.Option(min=1, help="Print so many guesses for each image.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the answers to this .csv, .tsv or .jsonl file instead.",
        show_default=False,
    ),
]
# What a label must not be taken for.
UNKNOWN = "unknown"


def predict(
    model: Model,
    images: Images,
    top: Top = 1,
    unknown_above: UnknownAbove = None,
    as_json: Json = False,
    output: Output = None,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Say what images show: label and score of each, and how likely it is unknown.

    \b
    newfound predict kitchen.newfound a.jpg b.jpg
    newfound predict kitchen.newfound a.jpg --top 3 --json
    newfound predict kitchen.newfound photos/ --output answers.csv
    ls new/*.jpg | newfound predict kitchen.newfound -

    The score is the probability of the label, if the image shows anything that was taught. The
    column after it is the probability that it does not; above the model's bound, 0.5 unless it was
    set, the image is called unknown. With --json, every image has a line with file, label (the best
    guess, also if unknown), score, novelty (from 0 to 1, how unlike everything taught it is),
    unknown, known and top. With --output, a .jsonl file holds such lines; a .csv or .tsv file
    begins with the names of its columns. A .tsv file has no quotes, and what would end a cell is
    escaped.
    """
    if output is not None:
        check_output(output, ".csv", ".tsv", ".jsonl")
    console = Console(quiet)
    recogniser = open_recogniser(model)
    found = find(images, None, "first", console, need_labels=False)
    use_extractor(recogniser, extractor, found)
    problems: list[Problem] = []
    examples = console.progress(recogniser.examples(found), len(found), "looking")
    # An image is worth an answer of its own: whoever waits for it has it at once.
    block = 1 if found.images else 64
    pairs = recogniser.look_at_examples(examples, problems, top, unknown_above, block)
    answers = ((example.name, answer) for example, answer in pairs)
    if output is not None:
        _write(output, answers, min(top, len(recogniser.classes)), console)
    else:
        _print(answers, as_json)
    tell_problems(problems, console)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _print(answers: "Answers", as_json: bool) -> None:
    if as_json:
        for file, answer in answers:
            emit(_json(file, answer))
    elif is_terminal(sys.stdout):
        lines = (line for file, answer in answers for line in _lines(file, answer))
        print_table(["file", "label", "score", "unknown"], lines, 2)
    else:
        for file, answer in answers:
            emit("\t".join(map(printable, _cells(file, answer))))


def _json(file: str, answer: "Answer") -> str:
    top = [{"label": label, "score": score} for label, score in answer.top]
    return json.dumps({"file": file, **answer._asdict(), "top": top})


def _lines(file: str, answer: "Answer") -> Iterator[list[str]]:
    """Yield what a table says: an answer, and further guesses below it."""
    label = quoted(answer.label, (UNKNOWN,))
    verdict = label if answer.known else f"{UNKNOWN} ({label}?)"
    yield [file, verdict, f"{answer.score:.2f}", f"{answer.unknown:.2f}"]
    for other, score in answer.top[1:]:
        yield ["", quoted(other, (UNKNOWN,)), f"{score:.2f}", ""]


def _cells(file: str, answer: "Answer") -> list[str]:
    """Return what a line in a pipe says: an answer, then further guesses."""
    first, *others = _lines(file, answer)
    return first + [cell for _, label, score, _ in others for cell in (label, score)]


def _write(path: Path, answers: "Answers", top: int, console: Console) -> None:
    """Write answers to a file, whole or not at all."""
    text, count = io.StringIO(newline=""), 0
    suffix = path.suffix.lower()
    # With these ends of lines (RFC 4180), cells that hold either part of them are quoted.
    table = csv.writer(text, lineterminator="\r\n")

    def write_row(cells: list[Any]) -> None:
        if suffix == ".csv":
            table.writerow(map(_encodable, cells))
        else:
            text.write("\t".join(map(printable, cells)) + "\n")

    if suffix != ".jsonl":
        more = [name for n in range(2, top + 1) for name in (f"label_{n}", f"score_{n}")]
        write_row(["file", "label", "known", "score", "unknown", "novelty", *more])
    for file, answer in answers:
        count += 1
        if suffix == ".jsonl":
            text.write(_json(file, answer) + "\n")
            continue
        others = [value for guess in answer.top[1:] for value in guess]
        known = "yes" if answer.known else "no"
        numbers = [answer.score, answer.unknown, answer.novelty]
        write_row([file, answer.label, known, *numbers, *others])
    with name_in_errors(path):
        # Names of files are bytes, and not always text.
        write_whole(path, text.getvalue().encode(errors="surrogateescape"))
    console.info(f"{plural(count, 'answer')} in {path}")


def _encodable(cell: Any) -> str:
    """Return a cell, escaped if it cannot be written: a stranger's model may hold any label."""
    try:
        str(cell).encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return printable(cell)
    return str(cell)
