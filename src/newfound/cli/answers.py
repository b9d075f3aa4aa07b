"""Answers, printed or written to a file: for people, for programs, for spreadsheets."""

import csv
import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.cli.console import Console, emit, is_terminal, plural, print_table, printable, quoted
from newfound.common.files import write_whole
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.evidence import Stretch
    from newfound.recognition.knowledge import Answer

# What a label must not be taken for.
UNKNOWN = "unknown"


class Line(NamedTuple):
    """One answer, in all ways it may be given."""

    rows: list[list[str]]  # for people: lines of a table, further guesses below the first
    values: dict[str, Any]  # for programs
    cells: list[Any]  # for a file of columns


class Form(NamedTuple):
    """What the columns of lines are called."""

    columns: Sequence[str]
    numbers: int  # how many of the last columns are set to the right
    cells: Sequence[str]


def answers_form(top: int, is_timed: bool, smooth: bool) -> Form:
    """Return the columns of answers with `top` guesses, of frames if they have times."""
    if smooth:
        return STRETCHES
    more = [name for n in range(2, top + 1) for name in (f"label_{n}", f"score_{n}")]
    cells = ["file", *["time"] * is_timed, "label", "known", "score", "unknown", "novelty", *more]
    return Form(["file", "label", "score", "unknown"], 2, cells)


def answer_line(file: str, answer: "Answer", time: float | None = None) -> Line:
    """Return what is said of an image, or of a frame of this time."""
    others = answer.top[1:]
    rows = [[file, _verdict(answer), f"{answer.score:.2f}", f"{answer.unknown:.2f}"]]
    rows += [["", quoted(label, (UNKNOWN,)), f"{score:.2f}", ""] for label, score in others]
    timed = {} if time is None else {"time": time}
    top = [{"label": label, "score": score} for label, score in answer.top]
    cells = [file, *timed.values(), answer.label, "yes" if answer.known else "no"]
    cells += [answer.score, answer.unknown, answer.novelty]
    cells += [value for guess in others for value in guess]
    return Line(rows, {"file": file, **timed, **answer._asdict(), "top": top}, cells)


STRETCHES = Form(
    ["file", "from", "to", "label", "score", "frames"],
    4,
    ["file", "start", "end", "label", "known", "score", "frames"],
)


def stretch_line(file: str, stretch: "Stretch", begin: float) -> Line:
    """Return what is said of a stretch of footage that begins at this time."""
    from newfound.robot.frames import clock

    span = [clock(time - begin) for time in (stretch.start, stretch.end)]
    row = [file, *span, _verdict(stretch), f"{stretch.score:.2f}", str(stretch.frames)]
    values = {"file": file, **stretch._asdict()}
    return Line([row], values, [*(values | {"known": "yes" if stretch.known else "no"}).values()])


def _verdict(answer: "Answer | Stretch") -> str:
    label = quoted(answer.label, (UNKNOWN,))
    return label if answer.known else f"{UNKNOWN} ({label}?)"


def print_lines(lines: Iterable[Line], form: Form, as_json: bool, at_once: bool = False) -> None:
    """Print lines as they come; a table, on a terminal, if they need not come at once."""
    if as_json:
        for line in lines:
            emit(json.dumps(line.values))
    elif is_terminal(sys.stdout) and not at_once:
        print_table(form.columns, (row for line in lines for row in line.rows), form.numbers)
    else:
        for line in lines:
            first, *others = line.rows
            more = [cell for _, label, score, _ in others for cell in (label, score)]
            emit("\t".join(map(printable, first + more)))


def write_lines(path: Path, lines: Iterable[Line], form: Form, console: Console) -> None:
    """Write lines to a .csv, .tsv or .jsonl file, whole or not at all."""
    text, count = io.StringIO(newline=""), 0
    suffix = path.suffix.lower()
    # With these ends of lines (RFC 4180), cells that hold either part of them are quoted.
    table = csv.writer(text, lineterminator="\r\n")

    def write(values: Mapping[str, Any], cells: Sequence[Any]) -> None:
        if suffix == ".jsonl":
            text.write(json.dumps(values) + "\n")
        elif suffix == ".csv":
            table.writerow(map(_encodable, cells))
        else:
            text.write("\t".join(map(printable, cells)) + "\n")

    if suffix != ".jsonl":
        write({}, form.cells)
    for line in lines:
        count += 1
        write(line.values, line.cells)
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
