"""Figures: the paper's, and the demo's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.extras import imported_from
from newfound.paper.bayes import Models, boundary, fourier, sample
from newfound.paper.methods import NAMES
from newfound.paper.run import RECODINGS

# The figure itself, not pyplot: half the time to import, and no window system asked for.
with imported_from("plots"):
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle
    from matplotlib.ticker import NullLocator

# As in the paper: naive in red, recoded in blue.
COLOURS = {"naive": "#c0392b", "rebalanced": "#7f8c8d", "recoded": "#2062a8"}
# Where in a record of the results each accuracy stands.
INDICES = {"total": 0, "rare": 1, "balanced": 2}


def draw_boundaries(models: Mapping[float, Models], seed: int, path: Path) -> None:
    """Draw Figure 1: optimal and learned boundaries between two classes, for each prior."""
    across, up = np.meshgrid(np.linspace(-1.5, 2.6, 220), np.linspace(-1.6, 1.6, 180))
    rows = fourier(np.column_stack([across.ravel(), up.ravel()]), seed)
    figure = Figure(figsize=(11, 3.0), layout="constrained")
    axes = figure.subplots(1, len(models))
    for axis, (prior, learned) in zip(axes, models.items(), strict=True):
        X, y = sample(600, prior, np.random.default_rng(seed))
        axis.scatter(*X.T, s=3, c=np.where(y == 1, "#e1b12c", "#95a5a6"), alpha=0.5)
        _draw_optimal(axis, prior)
        for method, model in learned.items():
            scores = model.decision_function(rows).reshape(across.shape)
            axis.contour(across, up, scores, levels=[0.0], colors=COLOURS[method], linewidths=1.4)
        axis.set(xlim=(-1.5, 2.6), ylim=(-1.6, 1.6), aspect="equal", title=f"prior {prior}")
    for method, colour in COLOURS.items():
        axes[-1].plot([], [], color=colour, label=f"{method}, learned")
    axes[-1].plot([], [], ":", color="black", label="optimal, standard")
    axes[-1].plot([], [], "-", color="black", label="optimal, rebalanced")
    figure.legend(loc="outside right center", fontsize=8)
    figure.savefig(path, dpi=110)


def _lighten(axis: Any) -> None:
    """Give an axis a pale grid, and no frame where there is no scale."""
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _draw_optimal(axis: Any, prior: float) -> None:
    for rebalanced, style in ((False, ":"), (True, "-")):
        centre, radius = boundary(prior, rebalanced)
        axis.add_patch(Circle(centre, radius, fill=False, ls=style, lw=2.2, color="black"))


def _values(records: Sequence[Any], method: str, measure: str) -> tuple[list[int], NDArray[Any]]:
    """Return counts, and the accuracy in each record at each, shape (records, counts)."""
    results, index = [record["results"][method] for record in records], INDICES[measure]
    unknown = [np.nan] * len(INDICES)
    rows = [[result.get(count, unknown)[index] for count in results[0]] for result in results]
    return list(map(int, results[0])), np.array(rows)


def draw_recodings(records: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Draw Figure 2: the rare class (top) and the others (bottom) as recoding goes from 0 to 1."""
    full = [record for record in records if record["key"][2]]
    figure = Figure(figsize=(6.0, 6.4), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    for axis, measure in ((top, "rare"), (bottom, "balanced")):
        for recoding in RECODINGS:
            counts, values = _values(full, f"recoding {recoding}", measure)
            colour = colormaps["viridis"](0.9 * recoding)
            axis.plot(counts, values.mean(axis=0), "o-", ms=3, color=colour, label=f"{recoding:g}")
        axis.set_ylabel(f"{measure} accuracy (%)")
        _lighten(axis)
    top.set(xscale="log", title=f"{title}: recoding from 0 to 1")
    top.set_xticks(counts, [str(count) for count in counts])
    bottom.set_xlabel("examples of the rare class, n_imb")
    figure.legend(*top.get_legend_handles_labels(), loc="outside right center", title="recoding")
    figure.savefig(path, dpi=110)


def draw_all_classes(records: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Draw Figure 3: each class rare in turn; rare, balanced and total accuracy, averaged.

    Bands are one standard deviation over trials, each trial averaged over its classes.
    """
    trials = sorted({record["key"][1] for record in records})
    figure = Figure(figsize=(10.5, 3.4), layout="constrained")
    for axis, measure in zip(figure.subplots(1, 3), ("rare", "balanced", "total"), strict=True):
        for method in ("N", "RC"):
            means, name = [], NAMES[method]
            for trial in trials:
                of_trial = [record for record in records if record["key"][1] == trial]
                counts, values = _values(of_trial, method, measure)
                means.append(np.nanmean(values, axis=0))
            mean, spread = np.mean(means, axis=0), np.std(means, axis=0, ddof=len(means) > 1)
            axis.plot(counts, mean, "o-", ms=4, color=COLOURS[name], label=name)
            axis.fill_between(counts, mean - spread, mean + spread, color=COLOURS[name], alpha=0.2)
        axis.set(xscale="log", title=f"{measure} accuracy (%)", xlabel="n_imb")
        axis.set_xticks(counts, [str(count) for count in counts])
        _lighten(axis)
    figure.axes[0].legend(frameon=False)
    classes = len({record["key"][0] for record in records})
    figure.suptitle(f"{title}: each of {classes} classes rare in turn, {len(trials)} trials")
    figure.savefig(path, dpi=110)


def draw_arrivals(summary: dict[str, Any], path: Path) -> None:
    """Draw what `summarise` returns: accuracies against examples of the class that arrives."""
    titles = {"new": "the new class", "known": "the known classes", "all": "all classes"}
    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    axes = figure.subplots(1, len(titles))
    # The last two share a range, so that what is lost and won can be compared.
    axes[1].sharey(axes[2])
    for axis, (measure, title) in zip(axes, titles.items(), strict=True):
        for method, points in summary["methods"].items():
            x = [point["examples"] for point in points]
            mean = 100 * np.array([point[measure] for point in points])
            spread = 100 * np.array([point[f"{measure}_deviation"] for point in points])
            low, high = np.maximum(mean - spread, 0), np.minimum(mean + spread, 100)
            axis.plot(x, mean, "o-", ms=3.5, color=COLOURS[method], label=method)
            axis.fill_between(x, low, high, color=COLOURS[method], alpha=0.12, lw=0)
        axis.set(xscale="log", xlabel="examples of the new class")
        axis.set_xticks(x, labels=map(str, x))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"Accuracy on {title}, %", fontsize=10)
        _lighten(axis)
    axes[1].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=120)
