"""What do many rows at once cost, beside the least they can."""

from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor

from benchmarks.common import Measurement, show
from newfound import IncrementalRidgeClassifier
from newfound.paper.timing import time_call

TITLE = "A batch: partial_fit of many rows at once, then one predict"
CHUNK = 10_000


def measure() -> Iterator[Measurement]:
    yield to_the_least(20_000, 2048, 50, bar=1.5)
    yield to_the_least(200_000, 1024, 50, bar=1.3)


def large(n: int, d: int, T: int) -> tuple[NDArray[np.float64], Any]:
    """Return n labelled rows around T centres, made a chunk at a time and never copied."""
    rng = np.random.default_rng(0)
    X, y, centres = np.empty((n, d)), rng.integers(0, T, n), 0.5 * rng.normal(size=(T, d))
    for start in range(0, n, CHUNK):
        chunk = X[start : start + CHUNK]
        rng.standard_normal(out=chunk)
        chunk += centres[y[start : start + CHUNK]]
    return X, y


def to_the_least(n: int, d: int, T: int, bar: float) -> Measurement:
    """Compare with numpy's X'X and one Cholesky."""
    X, y = large(n, d, T)

    def product_and_factor() -> None:
        gram = X.T @ X
        gram.ravel()[:: d + 1] += 1.0
        cho_factor(gram, overwrite_a=True)

    def batch() -> None:
        IncrementalRidgeClassifier().partial_fit(X, y).predict(X[:1])

    least, ours = [], []
    for _ in range(3):
        least.append(time_call(product_and_factor))
        ours.append(time_call(batch))
    ratio, note = median(ours) / median(least), f"{median(ours):.2f} s"
    return Measurement(f"{n:,} rows to X'X and one Cholesky, d = {d}", ratio, bar=bar, note=note)


if __name__ == "__main__":
    show(TITLE, measure())
