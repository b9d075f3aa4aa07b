"""What does exact rebalancing cost, beside one direct solve."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from benchmarks.common import Measurement, interleaved, rows, show, step, warm

TITLE = 'Rebalanced: a step with class_weight="balanced"'


def measure() -> Iterator[Measurement]:
    d, T, count = 1280, 51, 60
    medians = []
    for n in (51 * 40, 51 * 700):
        model = warm(d, T, n, class_weight="balanced")
        X, y = rows(count, d, T)
        matrix = X.T @ X + np.eye(d)
        right = np.asfortranarray(X[:T].T)

        def direct(_: int) -> object:
            return lambda: cho_solve(cho_factor(matrix), right)  # noqa: B023

        solves, steps = interleaved(count, direct, lambda i: step(model, X, y, i))  # type: ignore[arg-type]  # noqa: B023
        medians.append(float(np.median(steps)))
        yield Measurement(
            f"balanced step to Cholesky and solve, d = {d}, T = {T}, n = {n}",
            float(np.median(steps) / np.median(solves)),
            bar=1.3,
            note=f"{1e3 * medians[-1]:.1f} ms",
        )


if __name__ == "__main__":
    show(TITLE, measure())
