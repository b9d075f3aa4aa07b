"""Progressive validation: every example is a test before it is a lesson."""

from typing import Any

import numpy as np

from newfound.common.arrays import Floats, Labels

# Examples of a class after which a test counts 1/e of a fresh one.
MEMORY = 200.0


class Progress:
    """How often each candidate was right about examples it had not learned yet.

    Counted per class, so that classes weigh the same, and fading with every example of the class,
    so that it is the present candidates that are judged and not their childhood.

    Examples
    --------
    >>> progress = Progress()
    >>> right = np.array([[[True, False]], [[True, True]]])  # two examples, K = 1, A = 2
    >>> progress.count(["mug", "mug"], right)
    >>> progress.accuracies(np.array(["mug"])).round(3)[:, :, 0]
    array([[1.   , 0.501]])
    """

    # tests[label]: the number of tests, fading. hits[label]: those passed, shape (K, A).

    def __init__(self) -> None:
        self.tests: dict[Any, float] = {}
        self.hits: dict[Any, Floats] = {}

    def count(self, labels: list[Any], right: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Count tests: shape of `right` is (m, K, A)."""
        fading = np.exp(-1 / MEMORY)
        for label, passed in zip(labels, right, strict=True):
            self.tests[label] = fading * self.tests.get(label, 0.0) + 1.0
            self.hits[label] = fading * self.hits.get(label, 0.0) + passed

    def accuracies(self, labels: Labels) -> Floats:
        """Return the accuracy of each class under each candidate, shape (K, A, T).

        Every class must have been tested.
        """
        shares = [self.hits[label] / self.tests[label] for label in labels.tolist()]
        return np.stack(shares, axis=2)

    def rename(self, old: Any, new: Any) -> None:
        """Let class `old` be, or be part of, class `new`."""
        if old in self.tests:
            tests, hits = self.tests.pop(old), self.hits.pop(old)
            self.tests[new] = self.tests.get(new, 0.0) + tests
            self.hits[new] = self.hits.get(new, 0.0) + hits

    def merge(self, other: "Progress") -> None:
        """Add what another counted about the same candidates."""
        for label, tests in other.tests.items():
            self.tests[label] = self.tests.get(label, 0.0) + tests
            self.hits[label] = self.hits.get(label, 0.0) + other.hits[label]
