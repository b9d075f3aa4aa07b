"""The paper's Table I: published and measured side by side."""

import csv
import io
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean, stdev
from typing import Any, NamedTuple

from newfound.paper.methods import NAMES

MEASURES = ("total", "rare")
# A cell is as published if it is within these points, or these of the paper's deviations.
POINTS, DEVIATIONS = 2.0, 2.0


@cache
def published_numbers() -> dict[str, Any]:
    """Return the numbers of the paper, each data set with where they stand in it.

    Examples
    --------
    >>> published_numbers()["datasets"]["mnist"]["cells"]["500"]["N"]["rare"]
    [66.9, 1.1]
    """
    text = files("newfound.paper").joinpath("published.json").read_text()
    numbers: dict[str, Any] = json.loads(text)
    return numbers


class Cell(NamedTuple):
    """One number of the table, in percent."""

    n_imb: int
    method: str
    measure: str
    mean: float
    deviation: float
    paper_mean: float | None = None
    paper_deviation: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.paper_mean is None else self.mean - self.paper_mean

    @property
    def is_as_published(self) -> bool:
        """Whether it is within the tolerance of the paper's, or better, or not in the paper."""
        if self.difference is None or self.paper_deviation is None:
            return True
        return self.difference >= -max(POINTS, DEVIATIONS * self.paper_deviation)


def cells(records: Sequence[dict[str, Any]], dataset: str | None) -> list[Cell]:
    """Return the cells of the table, given the full trials and the data set's published name."""
    full = [record["results"] for record in records if record["key"][2]]
    paper = published_numbers()["datasets"][dataset]["cells"] if dataset else {}
    table = []
    for count in full[0]["N"]:
        for method in NAMES:
            for index, measure in enumerate(MEASURES):
                values = [results[method][count][index] for results in full]
                theirs = paper.get(count, {}).get(method, {}).get(measure, (None, None))
                spread = stdev(values) if len(values) > 1 else 0.0
                table.append(Cell(int(count), method, measure, fmean(values), spread, *theirs))
    return table


def as_csv(table: Sequence[Cell]) -> str:
    """Return the table as CSV, one line a cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*Cell._fields, "difference", "as_published"])
    for cell in table:
        values = (*cell[3:], cell.difference)
        numbers = [None if value is None else round(value, 2) for value in values]
        writer.writerow([*cell[:3], *numbers, cell.is_as_published])
    return buffer.getvalue()


def as_json(table: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the table as what JSON can hold."""
    return [
        {
            **cell._asdict(),
            "mean": round(cell.mean, 4),
            "deviation": round(cell.deviation, 4),
            "difference": None if cell.difference is None else round(cell.difference, 4),
            "as_published": cell.is_as_published,
        }
        for cell in table
    ]


# The heads of the columns of `lines`.
COLUMNS = ["n_imb", "accuracy", *NAMES]


def lines(table: Sequence[Cell]) -> list[list[str]]:
    """Return the table as text: for each number of examples and measure, a cell for each method.

    Ours with its deviation; in brackets the paper's and the difference; "!" marks what is out of
    tolerance.
    """
    texts_by_row: dict[tuple[int, str], list[str]] = {}
    for cell in table:
        text = f"{cell.mean:.1f} ± {cell.deviation:.1f}"
        if cell.difference is not None:
            mark = "" if cell.is_as_published else " !"
            text += f" ({cell.paper_mean:.1f}, {cell.difference:+.1f}{mark})"
        texts_by_row.setdefault((cell.n_imb, cell.measure), []).append(text)
    return [[str(count), measure, *texts] for (count, measure), texts in texts_by_row.items()]


def as_markdown(table: Sequence[Cell]) -> str:
    """Return the table as Markdown."""
    head = [COLUMNS, ["---"] * len(COLUMNS)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [*head, *lines(table)])
