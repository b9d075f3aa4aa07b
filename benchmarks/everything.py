"""Run every benchmark, or those that are named; write RESULTS.md, a figure and a page."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import (
    batch,
    busy,
    choosing,
    cluster_size,
    comparison,
    distributed,
    footprint,
    growth,
    images,
    layers,
    peers,
    rebalanced,
    roots,
    selection,
    single,
    smoothing,
    solvers,
    step,
    unknown,
)
from benchmarks.common import Measurement, table
from benchmarks.comparison_page import write_tables
from newfound.common.extras import imported_from
from newfound.paper.timing import machine

HERE = Path(__file__).parent
OURS = "black"
FIGURE = HERE.parent / "docs" / "speed.png"
PAGE = HERE.parent / "docs" / "comparison.md"
QUESTIONS: dict[str, tuple[str, Callable[[], Iterable[Measurement]]]] = {
    module.__name__.removeprefix("benchmarks."): (module.TITLE, module.measure)
    for module in (
        step,
        growth,
        batch,
        single,
        rebalanced,
        selection,
        busy,
        footprint,
        images,
        peers,
        comparison,
        layers,
        solvers,
        choosing,
        unknown,
        roots,
        smoothing,
        distributed,
        cluster_size,
    )
}


def draw(peers_found: list[Measurement], busy_found: list[Measurement], path: Path) -> None:
    """Draw time per step against examples seen, ours and the peers'; and ours on a busy machine."""
    with imported_from("plots"):
        from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    _draw_peers(peers_found, left)
    _draw_busy(busy_found, right)
    for axis in (left, right):
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def _draw_peers(measurements: list[Measurement], axis: Any) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for found in measurements:
        name, _, rest = found.what.partition(": step after ")
        if rest:
            lines.setdefault(name, []).append((float(rest.split()[0]), found.value))
    label_at = 0.0
    for name, points in sorted(lines.items(), key=lambda line: line[1][-1][1]):
        x, y = zip(*points, strict=True)
        ours = name == "newfound"
        colour = OURS if ours else None
        axis.plot(x, y, "o-", ms=4, lw=3 if ours else 1.3, zorder=3 if ours else 2, color=colour)
        label_at = max(y[-1], 1.45 * label_at)  # names of lines that meet stand one above the other
        axis.text(1.12 * x[-1], label_at, name, fontsize=8, va="center")
    shape = next(found.note for found in measurements if "step after" in found.what)
    axis.set(xscale="log", yscale="log", xlabel="examples seen", ylabel="ms")
    axis.set_title(f"Learn one row and predict one, median: {shape}", fontsize=10)
    axis.set_xlim(80, 150_000)


def _draw_busy(measurements: list[Measurement], axis: Any) -> None:
    """Draw the mean step, quiet and beside other programs, of either estimator."""
    for kind, style in (("plain", "o-"), ("choosing", "s--")):
        start = f"{kind} step, d = 1280, T = 51, "
        means = {
            found.what.removeprefix(start).removesuffix(": mean"): found.value
            for found in measurements
            if found.what.startswith(start) and found.what.endswith(": mean")
        }
        axis.plot(list(means), list(means.values()), style, color=OURS, ms=5, lw=2, label=kind)
    axis.set(xlabel="mean step")
    axis.margins(x=0.15)
    axis.set_xticks(range(3), ["quiet", "beside\nloops", "beside\nnumpy"], fontsize=8)
    axis.set_title("newfound beside busy programs", fontsize=10)
    axis.legend(fontsize=8, frameon=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(QUESTIONS)}")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--figure", type=Path, default=FIGURE)
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    start = perf_counter()
    answers: dict[str, list[Measurement]] = {}
    for name in arguments.names or QUESTIONS:
        title, measure = QUESTIONS[name]
        print(title, flush=True)
        for found in measure():
            answers.setdefault(title, []).append(found)
            print(f"  {found.what}: {found.value:.3g} {found.unit} {found.verdict}", flush=True)
    if answers.keys() >= {peers.TITLE, busy.TITLE}:
        draw(answers[peers.TITLE], answers[busy.TITLE], arguments.figure)
    if comparison.TITLE in answers:
        write_tables(answers[comparison.TITLE], arguments.page)
    where = ", ".join(f"{name} {value}" for name, value in machine().items())
    seconds = f"{perf_counter() - start:.0f} seconds"
    head = f"# Results\n\nWritten by `make bench` in {seconds}, on: {where}.\n"
    parts = {}
    if arguments.names:  # all else stays as it is
        head, *kept = arguments.output.read_text().split("\n## ")
        parts = {each.partition("\n")[0]: f"## {each}" for each in kept}
    parts |= {title: table(title, found) for title, found in answers.items()}
    arguments.output.write_text("\n".join([head, *parts.values()]))


if __name__ == "__main__":
    main()
