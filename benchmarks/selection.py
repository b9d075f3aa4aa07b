"""What does choosing in the stream cost, beside plain steps, and with many classes."""

from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Measurement, held_bytes, rows, show
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

TITLE = "Choosing: what a stream costs, the longest step, and many classes"
ASK_EVERY = 10


def measure() -> Iterator[Measurement]:
    yield from beside_a_plain_stream(1280, 51, n=8000)
    yield from many_classes(128, (50, 2000), of_each=36)
    yield memory(1280, 51)


def stream(model: Any, X: Any, y: Any) -> tuple[float, NDArray[np.float64]]:
    """Teach row by row, with a question every ten; return CPU seconds, and seconds of each step."""
    steps, start = np.zeros(len(y)), process_time()
    for i in range(len(y)):
        begin = perf_counter()
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if i % ASK_EVERY == 0:
            model.predict(X[i : i + 1])
        steps[i] = perf_counter() - begin
    return process_time() - start, steps


def beside_a_plain_stream(d: int, T: int, n: int) -> Iterator[Measurement]:
    X, y = rows(n, d, T, seed=3)
    plain, plain_steps = stream(IncrementalRidgeClassifier(), X, y)
    choosing, steps = stream(IncrementalRidgeClassifierCV(), X, y)
    what = f"CPU of {n} rows one by one, a question every ten, d = {d}, T = {T}, to a plain stream"
    yield Measurement(what, choosing / plain, bar=2.0, note=f"{choosing:.1f} s of CPU")
    usual = float(np.median(steps) / np.median(plain_steps))
    yield Measurement("usual step of it, in usual plain steps", usual)
    note = f"99.9 % of steps below {1e3 * float(np.quantile(steps, 0.999)):.0f} ms"
    yield Measurement("longest step of it", 1e3 * float(steps.max()), "ms", note=note)
    longest, note = float(steps.max() / plain_steps.mean()), f"{1e3 * plain_steps.mean():.2f} ms"
    yield Measurement("longest step of it, in mean plain steps", longest, bar=60.0, note=note)


def many_classes(d: int, numbers: tuple[int, int], of_each: int) -> Iterator[Measurement]:
    """The first question after a lesson, and the longest step of a stream that follows."""
    found = []
    for T in numbers:
        X, y = rows(T * of_each, d, T, seed=4)
        y = np.random.default_rng(0).permutation(np.arange(len(y)) % T)
        model = IncrementalRidgeClassifierCV()
        # In a stream, so that votes are cast a piece at a time.
        _, steps = stream(model, X, y)
        taught = IncrementalRidgeClassifierCV().store(X, y)
        begin = perf_counter()
        taught.predict(X[:1])
        found.append((perf_counter() - begin, float(steps.max())))
    few, many = numbers
    for at, what in enumerate(("first question after a lesson", "longest step of a stream")):
        ratio = found[1][at] / found[0][at]
        note = f"{1e3 * found[0][at]:.0f} and {1e3 * found[1][at]:.0f} ms, d = {d}"
        name = f"{what}: {many} classes of {of_each} to {few}"
        yield Measurement(name, ratio, bar=20.0, note=note)


def memory(d: int, T: int) -> Measurement:
    """What is held beside the sums: one inverse, the weights, and witnesses."""
    X, y = rows(T * 100, d, T, seed=1)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X[:1])
    beside = held_bytes(model) - held_bytes(model.to_state().sums)
    return Measurement(
        f"all that is held beside the sums, in d x d matrices, d = {d}, T = {T}",
        beside / (8 * d * d),
        note=f"{model.witnesses_[0].nbytes / 1e6:.0f} MB of witnesses",
    )


if __name__ == "__main__":
    show(TITLE, measure())
