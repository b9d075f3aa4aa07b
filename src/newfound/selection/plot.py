"""A picture of a choice: votes, prior and what was chosen, for one's own stream."""

from typing import Any

import numpy as np

from newfound.common.extras import imported_from
from newfound.selection.findings import Findings

RARE, KNOWN, CHOSEN = "tab:blue", "tab:orange", "0.4"


def plot(found: Findings, axes: Any = None) -> Any:
    """Draw votes against penalty and against recoding, with the choice marked; return the axes."""
    with imported_from("plots"):
        import matplotlib.pyplot as plt
    if axes is None:
        _, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    axes = np.asarray(axes, dtype=object)
    _of_penalty(found, axes[0])
    _of_recoding(found, axes[1])
    for ax in axes:
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small")
    return axes


def _of_penalty(found: Findings, ax: Any) -> None:
    if found.voters:
        ax.plot(
            found.penalties,
            found.votes,
            "o-",
            color=KNOWN,
            label=f"as {found.voters} witnesses vote",
        )
        if found.settings.rule != "paper":
            worth = found.votes - found.prior
            ax.plot(found.penalties, worth, "o--", color=RARE, label="the same, less the prior")
    ax.axvline(found.usual, color=CHOSEN, linestyle=":", label=f"usual: {found.usual:.2g}")
    ax.axvline(found.penalty, color=CHOSEN, linestyle="--", label=f"chosen: {found.penalty:.2g}")
    ax.set(xscale="log", xlabel="penalty", ylabel="accuracy of witnesses left out (%)")


def _of_recoding(found: Findings, ax: Any) -> None:
    recodings = np.array(found.settings.recodings)
    if found.voters:
        place = int(np.flatnonzero(found.penalties == found.penalty)[0])
        curve = 100 * found.table[:, place].mean(axis=0)
        ax.plot(recodings, curve, "o-", color=KNOWN, label="all that vote")
        if not np.array_equal(found.rare, found.table):
            curve = 100 * found.rare[:, place].mean(axis=0)
            ax.plot(recodings, curve, "o-", color=RARE, label="classes pretended rare")
    low, high = float(found.rungs.min()), float(found.rungs.max())
    text = f"chosen: {low:.2g}" if high - low < 0.005 else f"chosen: {low:.2g} to {high:.2g}"
    ax.axvline((low + high) / 2, color=CHOSEN, linestyle="--", label=text)
    if high > low:
        ax.axvspan(low, high, color=CHOSEN, alpha=0.15)
    ax.set(xlabel="recoding")
