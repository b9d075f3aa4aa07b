"""What do 20,000 rows at once cost, beside the least they can."""

from collections.abc import Iterator
from statistics import median

from scipy.linalg import cho_factor

from benchmarks.common import Measurement, rows, show
from newfound import IncrementalRidgeClassifier
from newfound.paper.timing import time_call

TITLE = "A batch: partial_fit of 20,000 rows at once, then one predict"


def measure() -> Iterator[Measurement]:
    n, d, T = 20_000, 2048, 50
    X, y = rows(n, d, T)

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
    yield Measurement(
        f"to X'X and one Cholesky, d = {d}",
        median(ours) / median(least),
        bar=1.5,
        note=f"{median(ours):.2f} s",
    )


if __name__ == "__main__":
    show(TITLE, measure())
