"""The paper's protocol (section VI-A): all classes but one are known, that one arrives online."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Labels, Rows

# Of the examples of a known class, the part that is kept for validation: n_bal / 5.
VALIDATION_SHARE = 0.2


class Labelled(NamedTuple):
    """Rows and their labels."""

    X: Rows
    y: Labels


class TrialSizes(NamedTuple):
    """How many examples a trial draws; a class that has fewer gives all it has."""

    n_bal: int  # of a known class
    n_test: int  # to test a class
    n_imb: int  # of the rare class
    validation_share: float = VALIDATION_SHARE  # of those of a known class, to validate on


class Trial(NamedTuple):
    """The examples of one trial."""

    known: Labelled  # n_bal of each class but one, less those for validation
    validation: Labelled  # a share of n_bal of each class but that one
    rare: Labelled  # of that one, in the order in which they arrive
    test: Labelled  # of all classes


class Measurement(NamedTuple):
    """Accuracies after some examples of the rare class, from 0 to 1."""

    method: str
    n_imb: int
    total: float  # mean over all classes
    rare: float  # of the rare class
    balanced: float  # mean over the others


class IncrementalMethod(Protocol):
    """Something that learns; it may answer under several names."""

    def begin(self, known: Labelled, validation: Labelled) -> None:
        """Learn the known classes, and choose what is to be chosen."""

    def learn(self, X: Rows, y: Labels) -> None:
        """Learn one more example, X of shape (1, d)."""

    def answers(self, X: Rows) -> dict[str, Labels]:
        """Return labels for X (m, d), under each name."""


def draw(
    X: Rows,
    y: Labels,
    is_test: NDArray[np.bool_] | None,
    rare: Any,
    sizes: TrialSizes,
    seed: Sequence[int],
) -> Trial:
    """Draw the examples of a trial at random.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    is_test : ndarray of shape (n,), or None
        Which examples may be used for testing; the others may be learned. None: the first n_test
        that are drawn of each class.
    rare : label
    sizes : TrialSizes
    seed : sequence of int

    Examples
    --------
    >>> y = np.array(["a", "b"] * 20)
    >>> X, is_test = np.zeros((40, 3)), np.arange(40) >= 30
    >>> trial = draw(X, y, is_test, "b", TrialSizes(n_bal=10, n_test=2, n_imb=5), seed=[0])
    >>> [len(part.y) for part in trial]
    [8, 2, 5, 4]
    """
    rng = np.random.default_rng(seed)
    indices: dict[str, list[NDArray[np.intp]]] = {name: [] for name in Trial._fields}
    for label in np.unique(y):
        of_class = y == label
        if is_test is None:
            drawn = rng.permutation(np.flatnonzero(of_class))
            testable, learnable = drawn[: sizes.n_test], drawn[sizes.n_test :]
        else:
            learnable = rng.permutation(np.flatnonzero(of_class & ~is_test))
            testable = rng.permutation(np.flatnonzero(of_class & is_test))
        indices["test"].append(testable[: sizes.n_test])
        if label == rare:
            indices["rare"].append(learnable[: sizes.n_imb])
            continue
        n_validation = round(sizes.validation_share * min(sizes.n_bal, len(learnable)))
        indices["validation"].append(learnable[:n_validation])
        indices["known"].append(learnable[n_validation : sizes.n_bal])
    parts = {name: np.concatenate(of_classes) for name, of_classes in indices.items()}
    return Trial(**{name: Labelled(X[rows], y[rows]) for name, rows in parts.items()})


def measurements(
    trial: Trial, learner: IncrementalMethod, counts: Sequence[int]
) -> Iterator[Measurement]:
    """Let a learner meet the rare class one example at a time; yield how it fares.

    Parameters
    ----------
    trial : Trial
    learner : IncrementalMethod
    counts : sequence of int
        After how many examples to look, rising; those that there are not are left out.

    Yields
    ------
    Measurement
        One for each name the learner answers under, at each count.
    """
    learner.begin(trial.known, trial.validation)
    labels, index = np.unique(trial.test.y, return_inverse=True)
    is_rare = labels == trial.rare.y[0]
    sizes, shown = np.bincount(index), 0
    for count in (count for count in counts if count <= len(trial.rare.y)):
        for row in range(shown, count):
            learner.learn(trial.rare.X[row : row + 1], trial.rare.y[row : row + 1])
        shown = count
        for name, answers in learner.answers(trial.test.X).items():
            right = np.bincount(index, answers == trial.test.y) / sizes
            means = (right.mean(), right[is_rare].mean(), right[~is_rare].mean())
            yield Measurement(name, count, *map(float, means))
