"""How often a recogniser is right, and what it takes for what."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from newfound.common.arrays import Counts
from newfound.recognition.sources import Problem


@dataclass(frozen=True)
class Evaluation:
    """How often a recogniser is right. Classes are named as they are written.

    Parameters
    ----------
    pairs : Counter of (str, str)
        How often images of the first class were taken for the second.
    taught : set of str
        The classes that the recogniser was taught.
    unknown : int
        How many images it calls unknown. For these, too, the best guess counts.
    unreadable : list of Problem
        What could not be looked at, and why.

    Examples
    --------
    >>> seen = Counter({("mug", "mug"): 3, ("mug", "cup"): 1, ("cup", "cup"): 1})
    >>> evaluation = Evaluation(seen, {"mug", "cup"})
    >>> evaluation.accuracy, evaluation.mean_class_accuracy
    (0.8, 0.875)
    >>> evaluation.confusions
    {('mug', 'cup'): 1}
    >>> evaluation.confusion_matrix
    array([[1, 0],
           [1, 3]])
    """

    pairs: Counter[tuple[str, str]]
    taught: set[str]
    unknown: int = 0
    unreadable: list[Problem] = field(default_factory=list)

    @property
    def n(self) -> int:
        """How many images were looked at."""
        return self.pairs.total()

    @cached_property
    def per_class_n(self) -> dict[str, int]:
        """How many images each class had, sorted by its name."""
        counts = Counter[str]()
        for (label, _), n in self.pairs.items():
            counts[label] += n
        return dict(sorted(counts.items()))

    @property
    def per_class(self) -> dict[str, float]:
        """The share of right answers of each class."""
        return {label: self.pairs[label, label] / n for label, n in self.per_class_n.items()}

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return sum(self.pairs[label, label] for label in self.per_class_n) / max(1, self.n)

    @property
    def mean_class_accuracy(self) -> float:
        """The mean of the classes' accuracies."""
        return sum(self.per_class.values()) / max(1, len(self.per_class))

    @property
    def confusions(self) -> dict[tuple[str, str], int]:
        """How often a class was taken for another, most often first."""
        wrong = [(pair, n) for pair, n in self.pairs.items() if pair[0] != pair[1]]
        return dict(sorted(wrong, key=lambda each: (-each[1], each[0])))

    @property
    def labels(self) -> list[str]:
        """All classes that were shown or answered, sorted."""
        return sorted({label for pair in self.pairs for label in pair})

    @property
    def confusion_matrix(self) -> Counts:
        """How often `labels[i]` was taken for `labels[j]`, shape (T, T)."""
        return np.array([[self.pairs[i, j] for j in self.labels] for i in self.labels])

    @property
    def never_taught(self) -> list[str]:
        """Classes that were shown, but never taught."""
        return sorted(set(self.per_class_n) - self.taught)

    def to_json(self) -> dict[str, Any]:
        """Return all of it in values that JSON can hold.

        Examples
        --------
        >>> Evaluation(Counter({("mug", "mug"): 3}), {"mug"}).to_json()["per_class_n"]
        {'mug': 3}
        """
        names = ("n", "accuracy", "mean_class_accuracy", "per_class", "per_class_n")
        return {
            **{name: getattr(self, name) for name in names},
            "confusions": [
                {"label": label, "taken_for": other, "n": n}
                for (label, other), n in self.confusions.items()
            ],
            "never_taught": self.never_taught,
            "unknown": self.unknown,
            "unreadable": len(self.unreadable),
        }
