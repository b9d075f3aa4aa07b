"""The ROC curve as a figure: what any bound would call unknown, of known and of unknown things."""

from pathlib import Path

import numpy as np

from newfound.cli.console import plural
from newfound.common.extras import imported_from
from newfound.recognition.evaluation import Evaluation, roc_curve

with imported_from("plots"):
    from matplotlib.figure import Figure

BLUE, GREY, RED = "#08519c", "#888888", "#d94801"


def draw(result: Evaluation, path: Path) -> None:
    """Draw which share of unknown things is called unknown at which cost, and save it.

    Parameters
    ----------
    result : Evaluation
        Of known and of unknown things.
    path : path
        Its suffix says in which format.
    """
    known, unknown = np.array(result.of_known), np.array(result.of_unknown)
    bound = result.unknown_above
    x, y = (100 * np.mean(things > bound) for things in (known, unknown))
    shares = roc_curve(known, unknown)
    figure = Figure(figsize=(5.2, 5.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=GREY, linestyle=":", linewidth=1)
    axes.plot(100 * shares[0], 100 * shares[1], color=BLUE, linewidth=2, clip_on=False, zorder=3)
    label = f"above {bound:g}: {y:.1f} % of unknown things,\nand {x:.1f} % of known ones"
    axes.plot([x], [y], "o", color=RED, markersize=8, clip_on=False, zorder=4, label=label)
    axes.legend(loc="lower right", frameon=False)
    axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
    axes.grid(color="#eeeeee")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(f"known things called unknown, % of {plural(len(known), 'image')}")
    axes.set_ylabel(f"unknown things called unknown, % of {plural(len(unknown), 'image')}")
    axes.set_title(f"Known or unknown? AUC {result.auc:.3f}")
    figure.savefig(path, dpi=150)
