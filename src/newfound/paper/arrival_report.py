"""What a new class's arrival came to: means over trials, as numbers and as a figure."""

from collections.abc import Iterable
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from newfound.common.extras import imported_from
from newfound.paper.new_class import Snapshot

MEASURES = {"new": "the new class", "known": "the known classes", "all": "all classes"}
# As in the paper: naive in red, recoded in blue.
COLOURS = {"naive": "#c0392b", "rebalanced": "#7f8c8d", "recoded": "#2062a8"}
# Steps at either end of the stream whose median is reported.
STEPS_TIMED = 10


def summarise(snapshots: Iterable[Snapshot]) -> dict[str, Any]:
    """Return mean and deviation of each accuracy, by method and number of examples.

    Returns
    -------
    dict
        `methods` maps each method to a list with, for each number of examples, the mean of each
        accuracy and its standard deviation over runs; `milliseconds` to the median time of a step
        at the `first` and the `last` few examples; `runs` is the number of runs behind each.

    Examples
    --------
    >>> seen = Snapshot("naive", 8, 0, 1, new=0.0, known=1.0, all=0.9, step_seconds=(0.002,))
    >>> summarise([seen])["methods"]["naive"][0]["all"]
    0.9
    """
    snapshots = list(snapshots)
    methods = list(dict.fromkeys(snapshot.method for snapshot in snapshots))
    return {
        "runs": len({(snapshot.new_class, snapshot.trial) for snapshot in snapshots}),
        "methods": {
            method: _by_examples([s for s in snapshots if s.method == method]) for method in methods
        },
        "milliseconds": {
            method: _step_times([s for s in snapshots if s.method == method]) for method in methods
        },
    }


def draw(summary: dict[str, Any], path: Path) -> None:
    """Save a figure of the accuracies against the number of examples; needs matplotlib."""
    # The figure itself, not pyplot: half the time to import, and no window system asked for.
    with imported_from("plots"):
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullLocator

    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    axes = figure.subplots(1, len(MEASURES))
    # The last two share a range, so that what is lost and won can be compared.
    axes[1].sharey(axes[2])
    for axis, (measure, title) in zip(axes, MEASURES.items(), strict=True):
        for method, points in summary["methods"].items():
            x = [point["examples"] for point in points]
            mean = [100 * point[measure] for point in points]
            spread = [100 * point[f"{measure}_deviation"] for point in points]
            low = [max(m - s, 0) for m, s in zip(mean, spread, strict=True)]
            high = [min(m + s, 100) for m, s in zip(mean, spread, strict=True)]
            axis.plot(x, mean, "o-", ms=3.5, color=COLOURS.get(method), label=method)
            axis.fill_between(x, low, high, color=COLOURS.get(method), alpha=0.12, lw=0)
        axis.set_xscale("log")
        axis.set_xticks(x, labels=map(str, x))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"Accuracy on {title}, %", fontsize=10)
        axis.set_xlabel("examples of the new class")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[1].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=120)


def _by_examples(snapshots: list[Snapshot]) -> list[dict[str, float]]:
    counts = dict.fromkeys(snapshot.examples for snapshot in snapshots)
    return [_point([s for s in snapshots if s.examples == count]) for count in counts]


def _point(snapshots: list[Snapshot]) -> dict[str, float]:
    point: dict[str, float] = {"examples": snapshots[0].examples}
    for measure in MEASURES:
        values = [getattr(snapshot, measure) for snapshot in snapshots]
        point[measure] = fmean(values)
        point[f"{measure}_deviation"] = stdev(values) if len(values) > 1 else 0.0
    return point


def _step_times(snapshots: list[Snapshot]) -> dict[str, float]:
    runs: dict[tuple[Any, int], list[float]] = {}
    for snapshot in snapshots:
        runs.setdefault((snapshot.new_class, snapshot.trial), []).extend(snapshot.step_seconds)
    first = [time for times in runs.values() for time in times[:STEPS_TIMED]]
    last = [time for times in runs.values() for time in times[-STEPS_TIMED:]]
    return {"first": 1e3 * median(first), "last": 1e3 * median(last)}
