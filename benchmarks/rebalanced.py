"""What does exact rebalancing cost, beside one direct solve."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.common import Measurement, rows, show, warm
from newfound.paper.timing import step, time_in_turns

TITLE = 'Rebalanced: a step with class_weight="balanced"'


def measure() -> Iterator[Measurement]:
    yield beside_solving(1280, 51, n=51 * 40)
    yield beside_solving(1280, 51, n=51 * 700)


def beside_solving(d: int, T: int, n: int, count: int = 60) -> Measurement:
    model = warm(d, T, n, class_weight="balanced")
    X, y = rows(count, d, T)
    matrix, right = X.T @ X + np.eye(d), np.asfortranarray(X[:T].T)
    solves, steps = time_in_turns(
        range(count),
        lambda _: lambda: cho_solve(cho_factor(matrix), right),
        lambda i: step(model, X, y, i),
    )
    return Measurement(
        f"balanced step to Cholesky and solve, d = {d}, T = {T}, n = {n}",
        float(np.median(steps) / np.median(solves)),
        bar=1.3,
        note=f"{1e3 * np.median(steps):.1f} ms",
    )


if __name__ == "__main__":
    show(TITLE, measure())
