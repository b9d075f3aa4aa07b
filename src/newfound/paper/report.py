"""What runs came to: the demo's as means, the paper's as a folder with tables and figures."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from newfound.common.files import write_whole
from newfound.paper.findings import Finding, findings, robot_findings
from newfound.paper.protocol import Measurement
from newfound.paper.run import DURATIONS, Arrival
from newfound.paper.studies import Study
from newfound.paper.table import Cell, as_csv, as_json, as_markdown, cells
from newfound.paper.timing import machine

# Steps at either end of the demo's stream whose median is reported.
STEPS_REPORTED = 10


def summarise(arrivals: Iterable[Arrival]) -> dict[str, Any]:
    """Return the mean and the deviation of each accuracy, by method and number of examples.

    Returns
    -------
    dict
        `methods` maps each method to a list with, for each number of examples, the mean of each
        accuracy and its standard deviation over runs; `milliseconds` to the median time of a step
        at the `first` and the `last` few examples; `runs` is the number of runs behind each.

    Examples
    --------
    >>> after = Measurement("naive", 8, total=0.9, rare=0.0, balanced=1.0)
    >>> seen = Arrival("naive", [after], [0.002])
    >>> summarise([seen])["methods"]["naive"][0]["all"]
    0.9
    """
    by_method: dict[str, list[Arrival]] = {}
    for arrival in arrivals:
        by_method.setdefault(arrival.method, []).append(arrival)
    return {
        "runs": max(map(len, by_method.values())),
        "methods": {
            method: [_point(at) for at in zip(*(run.measurements for run in runs), strict=True)]
            for method, runs in by_method.items()
        },
        "milliseconds": {method: _step_times(runs) for method, runs in by_method.items()},
    }


def _point(measurements: Sequence[Measurement]) -> dict[str, float]:
    """Return the means and deviations of measurements after the same number of examples."""
    point: dict[str, float] = {"examples": measurements[0].n_imb}
    for name, measure in (("new", "rare"), ("known", "balanced"), ("all", "total")):
        values = [getattr(measurement, measure) for measurement in measurements]
        point[name] = fmean(values)
        point[f"{name}_deviation"] = stdev(values) if len(values) > 1 else 0.0
    return point


def _step_times(runs: Sequence[Arrival]) -> dict[str, float]:
    first = [seconds for run in runs for seconds in run.step_seconds[:STEPS_REPORTED]]
    last = [seconds for run in runs for seconds in run.step_seconds[-STEPS_REPORTED:]]
    return {"first": 1e3 * median(first), "last": 1e3 * median(last)}


class Outcome(NamedTuple):
    """What a run came to."""

    table: list[Cell]
    findings: list[Finding]
    # Where features are the paper's: whether all cells are as published; elsewhere whether none
    # of its findings is denied. True for what is not in the paper.
    is_reproduced: bool


def outcome(study: Study, records: Sequence[dict[str, Any]]) -> Outcome:
    """Return tables and findings, and whether they are those of the paper."""
    table = cells(records, study.published)
    trials = sum(record["key"][2] for record in records)
    checked = findings(table, trials)
    if study.published not in (None, "mnist"):
        checked += robot_findings(table, trials)
    if study.published is None:
        return Outcome(table, checked, True)
    if study.comparable:
        return Outcome(table, checked, all(cell.is_as_published for cell in table))
    return Outcome(table, checked, all(finding.holds is not False for finding in checked))


def write_report(
    study: Study,
    records: Sequence[dict[str, Any]],
    times: Sequence[dict[str, Any]],
    folder: Path,
    command: str,
) -> list[str]:
    """Write tables, figures and `report.md` into a folder; return what could not be drawn.

    Parameters
    ----------
    study : Study
    records : trials, as they are kept
    times : what `update_times` found
    folder : path
    command : str
        What makes this report.
    """
    result = outcome(study, records)
    _write(folder / "table.csv", as_csv(result.table))
    _write(folder / "table.json", json.dumps(as_json(result.table), indent=1) + "\n")
    _write(folder / "table.md", as_markdown(result.table))
    _write(folder / "timing.json", json.dumps(list(times), indent=1) + "\n")
    _write(folder / "machine.json", json.dumps(machine(), indent=1) + "\n")
    figures, undrawn = _figures(study, records, folder)
    durations = [json.loads(line) for line in (folder / DURATIONS).read_text().splitlines()]
    seconds = sum(entry["seconds"] for entry in durations)
    _write(folder / "report.md", _page(study, result, times, figures, seconds, command))
    return undrawn


def _figures(
    study: Study, records: Sequence[dict[str, Any]], folder: Path
) -> tuple[dict[str, str], list[str]]:
    """Draw what can be drawn; return captions by file name, and what could not be."""
    try:
        from newfound.paper.figures import draw_all_classes, draw_recodings

        captions = {"figure2.png": "Figure 2: recoding from 0 to 1."}
        draw_recodings(records, study.title, folder / "figure2.png")
        if len({record["key"][0] for record in records}) > 1:
            captions["figure3.png"] = "Figure 3: each class rare in turn."
            draw_all_classes(records, study.title, folder / "figure3.png")
    except ModuleNotFoundError as error:
        return {}, [str(error)]
    return captions, []


def _page(
    study: Study,
    result: Outcome,
    times: Sequence[dict[str, Any]],
    figures: dict[str, str],
    seconds: float,
    command: str,
) -> str:
    differences = "".join(f"- {difference}\n" for difference in study.differences)
    statements = "".join(
        f"- {finding.verdict}: {finding.statement} ({finding.numbers})\n"
        for finding in result.findings
    )
    marked = [cell for cell in result.table if not cell.is_as_published]
    judged = f"{len(marked)} cells are out of tolerance." if study.published else ""
    timing = "".join(f"| {row['k']} | {row['update']} | {row['retrain']} |\n" for row in times)
    pictures = "".join(f"![{caption}]({name})\n\n" for name, caption in figures.items())
    return f"""# {study.title}

`{command}` made this page; the trials took {seconds / 60:.1f} minutes.

Rare class: {study.rare}. Features: {study.features}. n_bal = {study.n_bal},
n_test = {study.n_test}, recoding {study.recoding} for RC; "chosen" chooses penalty and recoding
in the stream.

## Table I

Accuracy in percent, mean and standard deviation over trials; in brackets the paper's, and how far
we are from it. "!" marks cells out of tolerance: worse by more than 2 points and 2 of the paper's
deviations. {judged}

{as_markdown(result.table)}
## What differs from the paper

{differences}
## What the paper found

{statements}
{pictures}## An update takes the same time whatever was seen

Milliseconds to learn one example and predict one after k, and to retrain from scratch.

| k | update | retrain |
|---|---|---|
{timing}"""


def _write(path: Path, text: str) -> None:
    write_whole(path, text.encode())
