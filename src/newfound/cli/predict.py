"""`newfound predict`: what images show."""

import json
from typing import Annotated, Any

import typer

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
from newfound.cli.talk import DONE, SOME_UNREADABLE, Talk, print_table, shown

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


def predict(
    model: Model,
    images: Images,
    top: Top = 1,
    unknown_above: UnknownAbove = None,
    as_json: Json = False,
    extractor: ExtractorName = None,
    quiet: Quiet = False,
) -> None:
    """Say what images show: label, score and novelty of each.

    \b
    newfound predict kitchen.newfound a.jpg b.jpg
    newfound predict kitchen.newfound a.jpg --top 3 --json
    ls new/*.jpg | newfound predict kitchen.newfound -

    The score estimates the probability of the label. Novelty, from 0 to 1, says how unlike
    everything taught an image is; above a bound it is called unknown. With --json, one line each:
    file, label (the best guess, also if unknown), score, novelty, known, top.
    """
    talk = Talk(quiet)
    recogniser = opened(model)
    gathered = gather(images, None, "first", need_labels=False)
    tell_ignored(gathered.ignored, talk)
    rows = rows_of(gathered, recogniser.model.extractor_, extractor)
    problems: list[Row] = []
    lines = []
    for block in blocks(talk.progress(rows, len(gathered), "looking"), problems):
        answers = recogniser.answers(stacked(block), top, unknown_above)
        for row, answer in zip(block, answers, strict=True):
            if as_json:
                typer.echo(json.dumps({"file": row.file, **_fields(answer)}))
            else:
                lines.append([row.file, *_cells(answer)])
    if not as_json:
        more = [name for place in range(2, top + 1) for name in (f"{place}.", "score")]
        print_table(["file", "label", "score", "novelty", *more], lines, 2 + len(more))
    tell_problems(problems, talk)
    raise typer.Exit(SOME_UNREADABLE if problems else DONE)


def _fields(answer: Any) -> dict[str, Any]:
    top = [{"label": label, "score": score} for label, score in answer.top]
    return {**answer._asdict(), "top": top}


def _cells(answer: Any) -> list[str]:
    label = shown(answer.label) if answer.known else f"unknown ({shown(answer.label)}?)"
    others = [cell for other, score in answer.top[1:] for cell in (other, f"{score:.2f}")]
    return [label, f"{answer.score:.2f}", f"{answer.novelty:.3f}", *others]
