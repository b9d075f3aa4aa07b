"""A picture of a choice: leave-one-out scores, prior and what was chosen, for one's own stream."""

from typing import Any

import numpy as np

from newfound.common.extras import imported_from
from newfound.selection.result import SelectionResult

RARE, ALL, OTHER, CHOSEN = "tab:blue", "tab:orange", "0.7", "0.4"


def plot(result: SelectionResult, axes: Any = None) -> Any:
    """Draw scores against penalty and against recoding, with the choice marked; return the axes."""
    with imported_from("plots"):
        import matplotlib.pyplot as plt
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    axes = np.asarray(axes, dtype=object)
    _of_penalty(result, axes[0])
    _of_recoding(result, axes[1])
    for ax in axes:
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    return axes


def _of_penalty(result: SelectionResult, ax: Any) -> None:
    if result.rows:
        text = f"of {result.rows} witnesses, left out"
        ax.plot(result.penalties, result.points, "o-", color=ALL, label=text)
        if result.settings.rule != "paper":
            worth = result.points - result.prior
            ax.plot(result.penalties, worth, "o--", color=RARE, label="the same, less the prior")
    if result.rival is not None:
        which = "without the layer" if result.uses_layer else "behind the layer"
        text = f"{which}, {abs(result.advantage):.1f} standard errors "
        text += "less likely" if result.uses_layer == (result.advantage > 0) else "likelier"
        penalties, points = result.rival.penalties, result.rival.points
        ax.plot(penalties, points, "o-", color=OTHER, markersize=3, label=text)
    text = f"expected: {result.expected:.2g}"
    ax.axvline(result.expected, color=CHOSEN, linestyle=":", label=text)
    ax.axvline(result.penalty, color=CHOSEN, linestyle="--", label=f"chosen: {result.penalty:.2g}")
    ax.set(xscale="log", xlabel="penalty", ylabel="accuracy of witnesses left out (%)")


def _of_recoding(result: SelectionResult, ax: Any) -> None:
    recodings = np.array(result.settings.recodings)
    if result.rows:
        place = int(np.flatnonzero(result.penalties == result.penalty)[0])
        curve = 100 * result.accuracy[:, place].mean(axis=0)
        ax.plot(recodings, curve, "o-", color=ALL, label="all classes that are scored")
        if not np.array_equal(result.rare_accuracy, result.accuracy):
            curve = 100 * result.rare_accuracy[:, place].mean(axis=0)
            ax.plot(recodings, curve, "o-", color=RARE, label="classes simulated rare")
    low, high = float(result.recodings.min()), float(result.recodings.max())
    text = f"chosen: {low:.2g}" if high - low < 0.005 else f"chosen: {low:.2g} to {high:.2g}"
    ax.axvline((low + high) / 2, color=CHOSEN, linestyle="--", label=text)
    if high > low:
        ax.axvspan(low, high, color=CHOSEN, alpha=0.15)
    ax.set(xlabel="recoding")
