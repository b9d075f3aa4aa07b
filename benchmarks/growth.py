"""Does a step grow with what was seen, or with the number of classes."""

from collections.abc import Iterator

import numpy as np

from benchmarks.common import Measurement, rows, show, warm
from newfound.paper.timing import step, time_in_turns

TITLE = "Growth: a step after many rows, and with many classes"


def measure() -> Iterator[Measurement]:
    d, T, count = 1280, 51, 400
    young, old = warm(d, T, 1000 - 3 * 64), warm(d, T, 100_000 - 3 * 64)
    X, y = rows(count + 3 * 64, d, T)
    for i in range(3 * 64):  # beyond the first folds, into the steady state
        step(young, X, y, count + i)()
        step(old, X, y, count + i)()
    first, last = time_in_turns(
        range(count), lambda i: step(young, X, y, i), lambda i: step(old, X, y, i)
    )
    yield Measurement(
        f"step after 100,000 rows to after 1,000, d = {d}, T = {T}",
        float(np.median(last) / np.median(first)),
        bar=1.05,
    )
    d, count = 2048, 200
    few, many = warm(d, 28, 2 * d), warm(d, 1000, 2 * d)
    X_few, y_few = rows(count, d, 28)
    X_many, y_many = rows(count, d, 1000)
    short, long = time_in_turns(
        range(count), lambda i: step(few, X_few, y_few, i), lambda i: step(many, X_many, y_many, i)
    )
    yield Measurement(
        f"step with 1,000 classes to with 28, d = {d}", float(long.mean() / short.mean()), bar=2.5
    )


if __name__ == "__main__":
    show(TITLE, measure())
