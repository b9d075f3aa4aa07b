"""The paper's Figure 2 for one's own stream: what recoding does to rare and known classes."""

from typing import Any

import numpy as np

from newfound.common.extras import imported_from
from newfound.selection.rules import Choice
from newfound.selection.selector import Selector
from newfound.solvers.grid import Candidates
from newfound.solvers.settings import SelectionSettings

RARE, KNOWN = "tab:blue", "tab:orange"


def plot(
    selector: Selector,
    candidates: Candidates,
    choice: Choice,
    settings: SelectionSettings,
    ax: Any = None,
) -> Any:
    """Draw accuracy against recoding, with the choice marked; return the axes."""
    with imported_from("plots"):
        import matplotlib.pyplot as plt
    if ax is None:
        _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    sums, recodings = candidates.sums, np.array(settings.recodings)
    rare_counts = selector.rare_counts(sums, settings)
    schedule = selector.current_schedule(candidates, settings)
    if schedule is not None:
        present = schedule.present(rare_counts, settings.min_class_count)
        for part, name, colour in (
            (schedule.rare, "classes pretended rare", RARE),
            (schedule.others, "well-known classes", KNOWN),
        ):
            curve = 100 * np.tensordot(present, part, 1)[choice.penalty]
            ax.plot(recodings, curve, "o-", color=colour, label=name)
    else:
        voting = selector.voting(candidates, settings, 1)
        if voting is not None:
            known = selector.counts(sums)[voting.classes] >= settings.min_class_count
            for is_part, name, colour in (
                (~known, "rare classes", RARE),
                (known, "classes that vote", KNOWN),
            ):
                if is_part.any():
                    # Each recoding with the penalty that is best for those who vote.
                    judges = known if known.any() else is_part
                    best = voting.table[:, :, judges].mean(axis=2).argmax(axis=0)
                    curve = voting.table[best, np.arange(len(recodings))][:, is_part].mean(axis=1)
                    ax.plot(recodings, 100 * curve, "o-", color=colour, label=name)
    counts, taught = sums.counts, sums.counts[sums.counts > 0]
    limit = rare_counts.max() if len(rare_counts) else taught.min()
    scarce = choice.recoding[(counts > 0) & (counts <= limit)]
    low, high = float(scarce.min()), float(scarce.max())
    text = f"chosen: {low:.2g}" if high - low < 0.005 else f"chosen: {low:.2g} to {high:.2g}"
    ax.axvline((low + high) / 2, color="0.4", linestyle="--", label=text)
    if high > low:
        ax.axvspan(low, high, color="0.4", alpha=0.15)
    ax.set(xlabel="recoding", ylabel="accuracy of held-out examples (%)")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax
