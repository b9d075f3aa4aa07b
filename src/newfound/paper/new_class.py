"""A new class arrives: all others are known, one comes an example at a time."""

from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InvalidInputError
from newfound.estimators.classifier import IncrementalRidgeClassifier

# The three ways of the paper: naive (N), rebalanced (RB), recoded (RC).
METHODS: dict[str, dict[str, Any]] = {
    "naive": {"recoding": 0.0},
    "rebalanced": {"class_weight": "balanced"},
    "recoded": {"recoding": 0.7},
}


class Snapshot(NamedTuple):
    """Accuracy after some examples of the new class, and what the steps so far took."""

    method: str
    new_class: Any
    trial: int
    examples: int
    new: float  # accuracy on the new class
    known: float  # on all other classes
    all: float  # on the whole test set, in which every class is equally large
    step_seconds: tuple[float, ...]  # of each step since the last snapshot: learn one, predict one


class Split(NamedTuple):
    """One trial's examples: of the known classes, of the new one in order, and for testing."""

    known: NDArray[np.intp]
    new: NDArray[np.intp]
    test: NDArray[np.intp]


def split(
    y: NDArray[Any], new_class: Any, n_known: int, n_new: int, n_test: int, seed: Sequence[int]
) -> Split:
    """Draw indices for one trial: disjoint, with the same number of each class.

    Examples
    --------
    >>> parts = split(np.array(["a", "b"] * 5), "b", n_known=2, n_new=3, n_test=1, seed=[0])
    >>> [len(part) for part in parts]
    [2, 3, 2]
    """
    rng = np.random.default_rng(seed)
    shuffled = {label: rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)}
    for label, places in shuffled.items():
        needed = n_test + (n_new if label == new_class else n_known)
        if len(places) < needed:
            raise InvalidInputError(
                f"class {label} has {len(places)} examples; {needed} are needed"
            )
    test = np.concatenate([places[:n_test] for places in shuffled.values()])
    train = {label: places[n_test:] for label, places in shuffled.items()}
    known = np.concatenate([train[label][:n_known] for label in train if label != new_class])
    return Split(known, train[new_class][:n_new], test)


def arrivals(
    X: NDArray[np.floating],
    y: NDArray[Any],
    *,
    counts: Sequence[int],
    trials: int,
    n_known: int,
    n_test: int,
    methods: Mapping[str, Mapping[str, Any]] = METHODS,
    random_state: int = 0,
) -> Iterator[Snapshot]:
    """Let every class in turn be the new one; yield accuracies as its examples come.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    counts : sequence of int
        Numbers of examples of the new class at which to measure, ascending.
    trials : int
        Random splits for each class.
    n_known, n_test : int
        Examples of each known class to teach, and of each class to test on.
    methods : mapping of name to parameters of IncrementalRidgeClassifier
    random_state : int
        Trials depend on it, on the class and on their number alone.

    Yields
    ------
    Snapshot

    Examples
    --------
    >>> from newfound.datasets import digits
    >>> steps = arrivals(*digits(), counts=[1, 5], trials=1, n_known=20, n_test=5)
    >>> next(steps).examples
    1
    """
    for trial in range(trials):
        for place, new_class in enumerate(np.unique(y)):
            seed = [random_state, trial, place]
            parts = split(y, new_class, n_known, max(counts), n_test, seed)
            for method, parameters in methods.items():
                model = IncrementalRidgeClassifier(**parameters)
                model.fit(X[parts.known], y[parts.known])
                for examples, seconds in _stream(model, X, y, parts, counts):
                    right = model.predict(X[parts.test]) == y[parts.test]
                    is_new = y[parts.test] == new_class
                    yield Snapshot(
                        method,
                        new_class.item(),
                        trial,
                        examples,
                        float(right[is_new].mean()),
                        float(right[~is_new].mean()),
                        float(right.mean()),
                        seconds,
                    )


def _stream(
    model: IncrementalRidgeClassifier,
    X: NDArray[np.floating],
    y: NDArray[Any],
    parts: Split,
    counts: Sequence[int],
) -> Iterator[tuple[int, tuple[float, ...]]]:
    """Teach the new class row by row; pause at each of `counts`."""
    seconds: list[float] = []
    for examples, place in enumerate(parts.new, start=1):
        row, label = X[place : place + 1], y[place : place + 1]
        start = perf_counter()
        model.partial_fit(row, label)
        model.predict(row)
        seconds.append(perf_counter() - start)
        if examples in counts:
            yield examples, tuple(seconds)
            seconds = []
