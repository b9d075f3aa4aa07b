"""`newfound predict`: what images show."""

import csv
import io
import json
import sys
from collections.abc import Iterator
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
from newfound.cli.errors import naming
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
from newfound.cli.options import ExtractorName, Images, Json, Model, Quiet
from newfound.common.files import write_whole

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Answer

Top = Annotated[int, typer.Option(min=1, help="How many guesses to give for each.")]
UnknownAbove = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Novelty above which an image is unknown; 1: none is. By default what teaching "
        "found out with examples held back.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write the answers to a file instead: .csv, .tsv or .jsonl",
        show_default=False,
    ),
]
FORMATS = (".csv", ".tsv", ".jsonl")
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
    """Say what images show: label, score and novelty of each.

    \b
    newfound predict kitchen.newfound a.jpg b.jpg
    newfound predict kitchen.newfound a.jpg --top 3 --json
    newfound predict kitchen.newfound photos/ --output answers.csv
    ls new/*.jpg | newfound predict kitchen.newfound -

    The score estimates the probability of the label. Novelty, from 0 to 1, says how unlike
    everything taught an image is; above a bound it is called unknown. With --json, one line each:
    file, label (the best guess, also if unknown), score, novelty, known, top. With --output, a
    file with such lines (.jsonl), or with a line of column names first (.csv, .tsv: there without
    quotes, and what would end a cell is escaped).
    """
    if output is not None:
        _check_output(output)
    console = Console(quiet)
    recogniser = opened(model)
    gathered = gather(images, None, "first", need_labels=False)
    tell_ignored(gathered.ignored, console)
    rows = rows_of(gathered, recogniser, extractor)
    problems: list[Row] = []

    def answers() -> "Iterator[tuple[str, Answer]]":
        # An image is worth an answer of its own: whoever waits for it has it at once.
        size = 1 if gathered.images else 64
        for block in blocks(console.progress(rows, len(gathered), "looking"), problems, size):
            told = recogniser.answers(stacked(block), top, unknown_above)
            yield from zip([row.file for row in block], told, strict=True)

    if output is not None:
        _write(output, answers(), min(top, len(recogniser.model.classes_)), console)
    elif as_json:
        for file, answer in answers():
            emit(_json(file, answer))
    elif is_terminal(sys.stdout):
        lines = (line for file, answer in answers() for line in _lines(file, answer))
        print_table(["file", "label", "score", "novelty"], lines, 2)
    else:
        for file, answer in answers():
            emit("\t".join(map(printable, _cells(file, answer))))
    tell_problems(problems, console)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _json(file: str, answer: "Answer") -> str:
    top = [{"label": label, "score": score} for label, score in answer.top]
    return json.dumps({"file": file, **answer._asdict(), "top": top})


def _cells(file: str, answer: "Answer") -> list[str]:
    """Return what a line in a pipe says: an answer, then further guesses."""
    others = [
        cell
        for other, score in answer.top[1:]
        for cell in (quoted(other, (UNKNOWN,)), f"{score:.2f}")
    ]
    return [file, _verdict(answer), f"{answer.score:.2f}", f"{answer.novelty:.3f}", *others]


def _lines(file: str, answer: "Answer") -> Iterator[list[str]]:
    """Yield what a table says: an answer, and further guesses below it."""
    yield [file, _verdict(answer), f"{answer.score:.2f}", f"{answer.novelty:.3f}"]
    for other, score in answer.top[1:]:
        yield ["", quoted(other, (UNKNOWN,)), f"{score:.2f}", ""]


def _verdict(answer: "Answer") -> str:
    label = quoted(answer.label, (UNKNOWN,))
    return label if answer.known else f"{UNKNOWN} ({label}?)"


def _check_output(path: Path) -> None:
    """End with wrong usage if no answers can be written to a path, before any work is done."""
    if path.suffix.lower() not in FORMATS:
        raise typer.BadParameter(
            f"{printable(path)} does not end in .csv, .tsv or .jsonl", param_hint="--output"
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(
            f"there is no folder {printable(path.parent)}", param_hint="--output"
        )
    if path.is_dir():
        raise typer.BadParameter(f"{printable(path)} is a folder", param_hint="--output")


def _write(path: Path, answers: "Iterator[tuple[str, Answer]]", top: int, console: Console) -> None:
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
        write_row(["file", "label", "known", "score", "novelty", *more])
    for file, answer in answers:
        count += 1
        if suffix == ".jsonl":
            text.write(_json(file, answer) + "\n")
            continue
        others = [value for guess in answer.top[1:] for value in guess]
        known = "yes" if answer.known else "no"
        write_row([file, answer.label, known, answer.score, answer.novelty, *others])
    with naming(path):
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
