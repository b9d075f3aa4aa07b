"""The confusion matrix as a figure: which classes are taken for which."""

from collections import Counter
from pathlib import Path

import numpy as np

from newfound.cli.console import printable, shortened
from newfound.common.extras import imported_from

with imported_from("plots"):
    from matplotlib.figure import Figure

# A figure grows with the square of the classes in it: of more than this, the most confused are
# drawn. Longer names are cut.
MOST_CLASSES, LONGEST_NAME = 60, 30


def draw(pairs: Counter[tuple[str, str]], path: Path) -> None:
    """Draw, for each class, to which classes its images went, and save it.

    Parameters
    ----------
    pairs : Counter of (label, what it was taken for)
    path : path
        Its suffix says in which format.
    """
    classes = {label for pair in pairs for label in pair}
    drawn = most_confused(pairs, MOST_CLASSES)
    images = Counter[str]()
    for (label, _), n in pairs.items():
        images[label] += n
    labels = sorted(drawn & set(images))
    others = labels + sorted(drawn - set(images))
    counts = np.array([[pairs[label, other] for other in others] for label in labels])
    shares = counts / np.array([[images[label]] for label in labels])
    side = max(4.0, 1.5 + 0.28 * len(others))
    figure = Figure(figsize=(side + 1.0, side), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(100 * shares, cmap="Blues", vmin=0, vmax=100)
    axes.set_xticks(range(len(others)), map(_name, others), rotation=90, fontsize=8)
    axes.set_yticks(range(len(labels)), map(_name, labels), fontsize=8)
    for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        tick.set_parse_math(False)  # a label with dollars is no formula
    axes.set(xlabel="taken for", ylabel="shown")
    if len(drawn) < len(classes):
        axes.set_title(f"the {len(drawn)} most confused of {len(classes):,} classes")
    if len(others) <= 20:
        for row, column in np.argwhere(counts):
            colour = "white" if shares[row, column] > 0.5 else "black"
            text = str(counts[row, column])
            axes.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)
    figure.colorbar(picture, label="% of the images of a class", shrink=0.8)
    figure.savefig(path, dpi=150)


def most_confused(pairs: Counter[tuple[str, str]], most: int) -> set[str]:
    """Return the classes, `most` at most, that are most often taken for one another.

    >>> sorted(most_confused(Counter({("a", "a"): 9, ("b", "c"): 1, ("b", "b"): 5}), 2))
    ['b', 'c']
    """
    chosen: set[str] = set()
    # The most frequent mistakes come first, and then classes without any.
    for label, other in sorted(pairs, key=lambda pair: (pair[0] == pair[1], -pairs[pair], pair)):
        if len(chosen | {label, other}) <= most:
            chosen |= {label, other}
    return chosen


def _name(label: str) -> str:
    return shortened(printable(label), LONGEST_NAME)
