"""Who is taken for whom, as a figure."""

from collections import Counter
from pathlib import Path

import numpy as np

from newfound.cli.talk import shown
from newfound.extras import imported_from


def draw(pairs: Counter[tuple[str, str]], path: Path) -> None:
    """Draw, for each class, to which classes its images went, and save it.

    Parameters
    ----------
    pairs : Counter of (label, what it was taken for)
    path : path
        Its suffix says in which format.
    """
    with imported_from("plots"):
        from matplotlib.figure import Figure
    labels = sorted({label for label, _ in pairs})
    others = labels + sorted({other for _, other in pairs} - set(labels))
    counts = np.array([[pairs[label, other] for other in others] for label in labels])
    shares = counts / counts.sum(axis=1, keepdims=True)
    side = max(4.0, 1.5 + 0.28 * len(others))
    figure = Figure(figsize=(side + 1.0, side), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100)
    axes.set_xticks(range(len(others)), map(shown, others), rotation=90, fontsize=8)
    axes.set_yticks(range(len(labels)), map(shown, labels), fontsize=8)
    for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        tick.set_parse_math(False)  # a label with dollars is no formula
    axes.set_xlabel("taken for")
    axes.set_ylabel("shown")
    if len(others) <= 20:
        for row, column in np.argwhere(counts):
            colour = "white" if shares[row, column] > 0.5 else "black"
            text = str(counts[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(picture, label="% of the images of a class", shrink=0.8)
    figure.savefig(path, dpi=150)
