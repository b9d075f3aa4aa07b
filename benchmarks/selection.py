"""What does choosing in the stream cost, beside plain steps."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.common import Floats, Measurement, interleaved, rows, show, step, warm
from newfound import IncrementalRidgeClassifierCV
from newfound.selection.schedule import Work

TITLE = "Choosing: a step with ten penalties, and the what-ifs"


def measure() -> Iterator[Measurement]:
    yield from beside_plain_steps(1280, 51)
    yield from what_ifs(1280, 51, n=8000)
    yield memory(1280, 51)


def beside_plain_steps(d: int, T: int) -> Iterator[Measurement]:
    """Steps in which nothing is renewed; what-ifs are measured apart."""
    seconds = []
    for n in (51 * 40, 51 * 400):
        plain, choosing = _steps(d, T, n)
        seconds.append(choosing)
        yield Measurement(
            f"step with 10 penalties, in plain steps, d = {d}, T = {T}, n = {n}",
            choosing / plain,
            bar=11.0,
            note=f"{1e3 * choosing:.1f} ms",
        )
    what = f"step with 10 penalties, after {51 * 400} rows to after {51 * 40}"
    yield Measurement(what, seconds[1] / seconds[0])


def _steps(d: int, T: int, n: int, count: int = 200) -> tuple[float, float]:
    """Return the mean seconds of a plain step and of one that chooses."""
    models = warm(d, T, n), _choosing(d, T, n)
    X, y = rows(count, d, T)
    plain, choosing = interleaved(
        count, lambda i: step(models[0], X, y, i), lambda i: step(models[1], X, y, i)
    )
    return float(plain.mean()), float(choosing.mean())


def what_ifs(d: int, T: int, n: int) -> Iterator[Measurement]:
    """One stream, a row at a time: what share of its time the what-ifs take."""
    X, y = rows(n, d, T, seed=3)
    model = IncrementalRidgeClassifierCV()
    spent, pieces = 0.0, []
    original = Work.advance

    def timing(self: Work, candidates: Any) -> None:
        nonlocal spent
        start = perf_counter()
        original(self, candidates)
        pieces.append(perf_counter() - start)
        spent += pieces[-1]

    with patch.object(Work, "advance", timing):
        start = perf_counter()
        for i in range(n):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
            model.predict(X[i : i + 1])
        total = perf_counter() - start
    yield Measurement(
        f"what-ifs, beside all else, over {n} steps, d = {d}, T = {T}",
        100 * spent / (total - spent),
        "%",
        bar=10.0,
        note=f"{len(pieces)} pieces of {1e3 * float(np.mean(pieces)):.0f} ms",
    )


def memory(d: int, T: int) -> Measurement:
    """What is held beside the sums: an inverse for each penalty, and the rows held back."""
    model = _choosing(d, T, 51 * 400)
    inverses = sum(solver._inverse.matrix.nbytes for solver in model._candidates().solvers)
    held = model.holdout_[0].nbytes
    return Measurement(
        f"inverses and rows held back, in d x d matrices, d = {d}, T = {T}",
        (inverses + held) / (8 * d * d),
        note=f"{held / 1e6:.0f} MB held back",
    )


def _choosing(d: int, T: int, n: int) -> Any:
    X, y = rows(n, d, T, seed=1)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    probe: Floats = X[:1]
    model.predict(probe)
    for solver in model._candidates().solvers:
        assert solver.weights.shape == (d, T)  # all candidates are current
    return model


if __name__ == "__main__":
    show(TITLE, measure())
