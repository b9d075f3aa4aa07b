"""The head that Teachable Machine trains, on features of any network.

As github.com/googlecreativelab/teachablemachine-community has it (libraries/image): `train` of
src/teachable-mobilenet.ts builds a dense layer with ReLU and one with a softmax and without
biases, and trains them with Adam on 85 % of the examples of each class, the others being for its
display; test/image.test.ts trains 100 units for 50 epochs at a rate of 0.001 with batches of 16.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.extras import imported_from

with imported_from("torch"):
    import torch

UNITS, EPOCHS, BATCH, RATE, HELD_BACK = 100, 50, 16, 0.001, 0.15

Rows = NDArray[np.float64]


class TeachableHead:
    """All examples are stored; a question after new ones trains the head from the beginning."""

    def __init__(self, classes: Any, seed: int = 0) -> None:
        self.classes, self.seed = np.asarray(classes), seed
        self.X: list[Rows] = []
        self.y: list[Any] = []

    def partial_fit(self, X: Rows, y: Any) -> None:
        self.X.append(X)
        self.y.append(y)
        self.head: Any = None

    def predict(self, X: Rows) -> Any:
        if self.head is None:
            self.head = self.train(np.concatenate(self.X), np.concatenate(self.y))
        with torch.no_grad():
            return self.classes[self.head(torch.tensor(X, dtype=torch.float32)).argmax(1).numpy()]

    def train(self, X: Rows, y: Any) -> Any:
        """Press the button."""
        rng = np.random.default_rng(self.seed)
        kept = rng.permutation(training_rows(rng, y))  # one order for all epochs, as theirs
        rows = torch.tensor(X[kept], dtype=torch.float32)
        targets = torch.tensor(np.searchsorted(self.classes, y[kept]))
        head = untrained(rng, X.shape[1], len(self.classes))
        optimizer = torch.optim.Adam(head.parameters(), lr=RATE, eps=1e-7)
        for _ in range(EPOCHS):
            for start in range(0, len(rows), BATCH):
                batch = slice(start, start + BATCH)
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(head(rows[batch]), targets[batch]).backward()
                optimizer.step()
        return head


def training_rows(rng: np.random.Generator, y: Any) -> NDArray[np.intp]:
    """Return 85 % of the rows of each class, rounded down: of a class with one, none."""
    kept = []
    for label in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == label))
        kept.append(rows[: len(rows) - math.ceil(HELD_BACK * len(rows))])
    return np.concatenate(kept)


def untrained(rng: np.random.Generator, width: int, T: int) -> Any:
    """Return the head before training: weights of variance 1 / inputs, biases of zero."""
    head = torch.nn.Sequential(
        torch.nn.Linear(width, UNITS), torch.nn.ReLU(), torch.nn.Linear(UNITS, T, bias=False)
    )
    with torch.no_grad():
        for layer in (head[0], head[2]):
            drawn = rng.normal(size=tuple(layer.weight.shape)) / math.sqrt(layer.in_features)
            layer.weight.copy_(torch.tensor(drawn))
        head[0].bias.zero_()
    return head
