"""How long is a step, beside copying a matrix and beside solving anew."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_factor, cho_solve

from benchmarks.common import Measurement, rows, show, warm
from newfound.paper.timing import copy_of_matrix, step, time_in_turns

TITLE = "A step: partial_fit of one row, then predict of one row"
RUNS = 3  # the worst of which counts, where it is about few steps


def measure() -> Iterator[Measurement]:
    yield from beside_copying(4096, 28, count=300, bar=0.35)
    yield from beside_copying(1280, 51, count=1000, bar=0.7)
    yield against_solving(1280, 51)
    yield from overhead(256, 10)
    yield predict_alone(1280, 51)


def beside_copying(d: int, T: int, count: int, bar: float) -> Iterator[Measurement]:
    model = warm(d, T, 2 * d)
    X, y = rows(RUNS * count, d, T)
    copies, steps = time_in_turns(
        range(RUNS * count), copy_of_matrix(d), lambda i: step(model, X, y, i)
    )
    name, note = f"d = {d}, T = {T}", f"{1e3 * steps.mean():.2f} ms"
    ratio = float(steps.mean() / copies.mean())
    yield Measurement(f"step, {name}, in copies", ratio, bar=bar, note=note)
    yield spread(name, steps)


def spread(name: str, steps: NDArray[np.floating]) -> Measurement:
    """How much longer the longest steps are than usual ones, in the worst of the runs."""
    runs = np.split(steps, RUNS)
    worst = max(float(np.percentile(run, 99) / np.median(run)) for run in runs)
    return Measurement(f"step, {name}, 99th percentile to median, worst of {RUNS}", worst, bar=4.0)


def against_solving(d: int, T: int, count: int = 60) -> Measurement:
    """Keep the sums, and solve by Cholesky at every query."""
    model = warm(d, T, 2 * d)
    X, y = rows(count, d, T)
    warm_X, warm_y = rows(2 * d, d, T, seed=1)
    gram, cross = warm_X.T @ warm_X, warm_X.T @ np.eye(T)[warm_y]

    def solve(i: int) -> Any:
        def learn_and_predict() -> Any:
            blas.dsyr(1.0, X[i], a=gram.T, lower=1, overwrite_a=1)
            cross[:, y[i]] += X[i]
            weights = cho_solve(cho_factor(gram + np.eye(d)), cross)
            return (X[i] @ weights).argmax()

        return learn_and_predict

    steps, solves = time_in_turns(range(count), lambda i: step(model, X, y, i), solve)
    return Measurement(
        f"step, d = {d}, T = {T}, times faster than Cholesky at every query",
        float(np.median(solves) / np.median(steps)),
        bar=15.0,
        more_is_better=True,
    )


def overhead(d: int, T: int, count: int = RUNS * 4000) -> Iterator[Measurement]:
    """Time over the bare BLAS calls that a step makes."""
    model = warm(d, T, 2 * d)
    X, y = rows(count, d, T)
    inverse = np.asfortranarray(np.eye(d))
    weights, change = np.zeros((d, T), order="F"), np.zeros((16, d))
    error = np.zeros(T)

    def bare(i: int) -> Any:
        def calls() -> None:
            gain = blas.dsymv(1.0, inverse, X[i], lower=1)
            X[i] @ weights
            blas.dger(1e-9, gain, error, a=weights, overwrite_a=1)
            X[i] @ weights
            if i % 16 == 0:
                blas.dsyrk(1e-9, change.T, beta=1.0, c=inverse, lower=1, overwrite_c=1)
                blas.dsyrk(1e-9, change.T, beta=1.0, c=inverse, lower=1, overwrite_c=1)

        return calls

    bares, steps = time_in_turns(range(count), bare, lambda i: step(model, X, y, i))
    over = 1e6 * (steps.mean() - bares.mean())
    note = f"{1e6 * steps.mean():.0f} µs in all"
    yield Measurement(f"step, d = {d}, T = {T}, over its BLAS calls", over, "µs", 250.0, note=note)
    yield spread(f"d = {d}, T = {T}", steps)


def predict_alone(d: int, T: int, count: int = 2000) -> Measurement:
    model = warm(d, T, 2 * d)
    X, _ = rows(count, d, T)
    (times,) = time_in_turns(range(count), lambda i: lambda: model.predict(X[i : i + 1]))
    return Measurement(f"predict, d = {d}, T = {T}", 1e6 * float(np.median(times)), "µs", 120.0)


if __name__ == "__main__":
    show(TITLE, measure())
