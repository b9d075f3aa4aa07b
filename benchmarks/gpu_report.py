"""Draw what `python -m benchmarks.gpu --json` found, and put it into RESULTS.md.

The two are apart because a machine with a GPU need not be the one on which docs are written.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks.common import Measurement, table
from benchmarks.everything import HERE, OURS
from newfound.common.extras import imported_from

FIELDS = ("what", "value", "unit", "bar", "more_is_better", "note")


def crossing(widths: list[float], one: list[float], other: list[float]) -> float:
    """Return the width from which on the first line is below the second, between two points.

    >>> crossing([1.0, 100.0], [1.0, 1.0], [0.1, 10.0])
    10.0
    """
    ratios = np.log(np.array(one) / np.array(other))
    place = int(np.flatnonzero(ratios > 0).max(initial=-1))
    if place in (-1, len(widths) - 1):
        return widths[0] if place == -1 else float("inf")
    share = ratios[place] / (ratios[place] - ratios[place + 1])
    logs = np.log(widths[place : place + 2])
    return float(np.round(np.exp(logs[0] + share * (logs[1] - logs[0])), 9))


def lines_of(found: list[Measurement]) -> dict[str, tuple[list[float], list[float]]]:
    """Return widths and milliseconds of a step, on the GPU and on the processor."""
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for each in found:
        name, _, width = each.what.partition(": step, d = ")
        if width:
            widths, took = lines.setdefault(name, ([], []))
            widths.append(float(width))
            took.append(each.value)
    return lines


def draw(found: list[Measurement], path: Path) -> None:
    """Draw a step against the number of features, and name the crossing."""
    with imported_from("plots"):
        from matplotlib.figure import Figure

    lines = lines_of(found)
    at = crossing(lines["GPU"][0], lines["GPU"][1], lines["processor"][1])
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axis = figure.subplots()
    for name, style in (("processor", "s--"), ("GPU", "o-")):
        axis.plot(*lines[name], style, color=OURS, ms=5, lw=2, label=name)
    axis.axvline(at, color="0.6", lw=1)
    below = axis.get_xaxis_transform()
    axis.text(1.05 * at, 0.04, f"d = {at:.0f}", fontsize=9, color="0.3", transform=below)
    axis.set(xscale="log", yscale="log", xlabel="features, d", ylabel="ms")
    axis.set_title("Learn one row and predict one, 28 classes, float64", fontsize=10)
    axis.set_xticks(lines["GPU"][0], [f"{width:.0f}" for width in lines["GPU"][0]])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("found", type=Path, help="what `python -m benchmarks.gpu --json` printed")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--figure", type=Path, default=HERE.parent / "docs" / "gpu.png")
    arguments = parser.parse_args()
    read = [json.loads(line) for line in arguments.found.read_text().splitlines()]
    found = [Measurement(**{field: each[field] for field in FIELDS}) for each in read]
    draw(found, arguments.figure)
    title = read[0]["question"]
    head, *kept = arguments.output.read_text().split("\n## ")
    parts = {each.partition("\n")[0]: f"## {each}" for each in kept}
    parts[title] = table(title, found)
    arguments.output.write_text("\n".join([head, *parts.values()]))


if __name__ == "__main__":
    main()
