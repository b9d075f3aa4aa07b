"""The tables of docs/comparison.md, written from what was measured."""

import re
from collections.abc import Iterable
from pathlib import Path

from benchmarks.common import Measurement

PARTS = {"accuracy": ("%",), "time": ("s", "ms")}  # names of tables, and the units of their cells


def write_tables(measurements: Iterable[Measurement], page: Path) -> None:
    """Write each table of the page anew, between the two comments that name it."""
    found, text = list(measurements), page.read_text()
    for name, units in PARTS.items():
        start, end = f"<!-- {name}: written by benchmarks.everything -->", f"<!-- {name} ends -->"
        before, _, rest = text.partition(start)
        table = _table([each for each in found if each.unit in units])
        text = f"{before}{start}\n{table}\n{end}{rest.partition(end)[2]}"
    page.write_text(text)


def _table(measurements: list[Measurement]) -> str:
    """Return a row a peer, and a column a stream and what was measured there."""
    table: dict[str, dict[str, str]] = {}
    for each in measurements:
        where, name, *what = each.what.split(": ")
        table.setdefault(name, {})[": ".join([where, *what])] = _cell(each)
    columns = list(dict.fromkeys(column for cells in table.values() for column in cells))
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, cells in table.items():
        lines.append(f"| {name} | {' | '.join(cells.get(each, '') for each in columns)} |")
    return "\n".join(lines)


def _cell(found: Measurement) -> str:
    if found.unit != "%":
        return f"{float(f'{found.value:.2g}'):g} {found.unit}"  # no time is exact to three digits
    worst = re.match(r"worst (\S+)", found.note)
    return f"{found.value:.1f}" + (f" ({worst[1]})" if worst else "")
