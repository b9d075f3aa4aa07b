"""How often a recogniser is right, what it takes for what, and what it calls unknown."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.common.arrays import Counts, Floats
from newfound.common.errors import InputError
from newfound.recognition.knowledge import Knowledge, checked_bound
from newfound.recognition.reading import look_at
from newfound.recognition.sources import Example, Problem

if TYPE_CHECKING:
    from newfound.recognition.example_table import ExampleTable
    from newfound.recognition.recogniser import Recogniser

# Of each class, so many examples are asked what they are confused with, and so many in all.
ASKED_PER_CLASS, ASKED = 40, 1000


@dataclass(frozen=True)
class Evaluation:
    """How often a recogniser is right. Classes are named as they are written.

    Parameters
    ----------
    pairs : Counter of (str, str)
        How often images of the first class were taken for the second.
    taught : set of str
        The classes that the recogniser was taught.
    unknown_above : float, default=0.5
        The probability of being unknown above which an image is called that. For such images,
        too, the best guess counts.
    of_known : list of float
        That probability, for each image whose class was taught.
    of_unknown : list of float
        And for images of things never taught: those shown under a label that was never taught,
        and those without a label.
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
    >>> asked = Evaluation(seen, {"mug", "cup"}, 0.5, [0.0, 0.1, 0.0, 0.6, 0.2], [0.9, 0.3])
    >>> asked.known_called_unknown, asked.unknown_called_known, asked.auc
    (1, 1, 0.9)
    """

    pairs: Counter[tuple[str, str]]
    taught: set[str]
    unknown_above: float = 0.5
    of_known: list[float] = field(default_factory=list)
    of_unknown: list[float] = field(default_factory=list)
    unreadable: list[Problem] = field(default_factory=list)

    def add(self, label: str, taken_for: str, unknown: float) -> None:
        """Count an image of a class, what it was taken for, and the probability of being unknown.

        Examples
        --------
        >>> evaluation = Evaluation(Counter(), {"mug"})
        >>> evaluation.add("mug", "mug", 0.1)
        >>> evaluation.accuracy, evaluation.of_known
        (1.0, [0.1])
        """
        self.pairs[label, taken_for] += 1
        (self.of_known if label in self.taught else self.of_unknown).append(unknown)

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

    @property
    def known_called_unknown(self) -> int:
        """How many images of classes that were taught are called unknown."""
        return sum(each > self.unknown_above for each in self.of_known)

    @property
    def unknown_called_known(self) -> int:
        """How many images of things never taught are called by the name of a class."""
        return sum(each <= self.unknown_above for each in self.of_unknown)

    @property
    def auc(self) -> float | None:
        """How often an unknown thing has a higher `unknown` than a known one; None: one lacks."""
        if not self.of_known or not self.of_unknown:
            return None
        return auc(np.array(self.of_known), np.array(self.of_unknown))

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
            "unknown_above": self.unknown_above,
            "known_n": len(self.of_known),
            "known_called_unknown": self.known_called_unknown,
            "unknown_n": len(self.of_unknown),
            "unknown_called_known": self.unknown_called_known,
            "auc": self.auc,
            "unreadable": len(self.unreadable),
        }


def auc(known: Floats, unknown: Floats) -> float:
    """Return how often an unknown thing has the higher value of the two; ties count half.

    Parameters
    ----------
    known : ndarray of shape (a,)
        The probability of being unknown, of things that are known.
    unknown : ndarray of shape (b,)
        The same, of things that are not.

    Returns
    -------
    float
        From 0 to 1: the area under `roc_curve`. 0.5 is as good as a coin.

    Examples
    --------
    >>> auc(np.array([0.1, 0.2]), np.array([0.2, 0.9]))
    0.875
    """
    ranked = np.sort(known)
    below, upto = (np.searchsorted(ranked, unknown, side) for side in ("left", "right"))
    return float((below + upto).mean() / (2 * len(known)))


def roc_curve(known: Floats, unknown: Floats) -> tuple[Floats, Floats]:
    """Return what each possible bound would call unknown, from the highest bound to the lowest.

    Parameters
    ----------
    known : ndarray of shape (a,)
        The probability of being unknown, of things that are known.
    unknown : ndarray of shape (b,)
        The same, of things that are not.

    Returns
    -------
    share of the known, share of the unknown : ndarrays of shape (n,)
        That are above the bound: rising from 0 to 1.

    Examples
    --------
    >>> roc_curve(np.array([0.1, 0.2]), np.array([0.2, 0.9]))
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]))
    """
    bounds = np.unique(np.concatenate([known, unknown, [-np.inf]]))[::-1]

    def share_above(values: Floats) -> Floats:
        share: Floats = 1 - np.searchsorted(np.sort(values), bounds, "right") / len(values)
        return share

    return share_above(known), share_above(unknown)


def evaluate(
    recogniser: "Recogniser",
    examples: Iterable[Example],
    unknown: Iterable[Example] = (),
    unknown_above: float | None = None,
) -> Evaluation:
    """Measure how often the best guess is right, and how well it tells what is unknown.

    Parameters
    ----------
    recogniser : Recogniser
    examples : iterable of Example
        With labels, as `newfound.recognition.reading.examples` yields them.
    unknown : iterable of Example, optional
        Of things that were never taught; their labels play no part.
    unknown_above : float, optional
        The probability of being unknown above which an image is called that. By default the
        recogniser's own bound.

    Returns
    -------
    Evaluation

    Raises
    ------
    NotFittedError
        If nothing was taught.

    Examples
    --------
    >>> from newfound import Recogniser
    >>> recogniser = Recogniser(extractor=None)
    >>> recogniser.teach_vectors([[0.0], [1.0]], ["cup", "mug"])
    >>> one = Example("a.jpg", "mug", b"", np.array([0.9]), None)
    >>> evaluate(recogniser, [one]).accuracy
    1.0
    """
    bound = recogniser.unknown_above if unknown_above is None else checked_bound(unknown_above)
    problems, taught = list[Problem](), set(map(str, recogniser.classes))
    result = Evaluation(Counter(), taught, bound, unreadable=problems)
    for example, answer in look_at(recogniser, examples, problems):
        label = recogniser.label(example.label)
        result.add(str(label), str(answer.label), answer.unknown)
    for _, answer in look_at(recogniser, unknown, problems):
        result.of_unknown.append(answer.unknown)
    return result


def confusions(knowledge: Knowledge, table: "ExampleTable") -> list[tuple[Any, Any, int]]:
    """Say what is confused with what: examples of a journal, had each alone not been taught.

    Returns
    -------
    list of (label, said, count)
        Of the newest of each class: what they are, what they would be called, how often.
    """
    pairs, counts = Counter[tuple[Any, Any]](), knowledge.counts
    newest = min(ASKED_PER_CLASS, max(1, ASKED // max(1, len(counts))))
    for label in counts:
        with suppress(InputError):  # which someone else deletes just now
            examples = table.vectors(table.ids_of(label, with_vectors=True, newest=newest))
            if examples:
                vectors = [example.vector for example in examples]
                rows = knowledge.checked(vectors, [label] * len(examples))
                answers = knowledge.learner.left_out(*rows).tolist()
                pairs.update((label, answer) for answer in answers)
    return [(label, answer, count) for (label, answer), count in pairs.items()]
