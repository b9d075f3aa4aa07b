"""How much memory does a model hold, and how long does importing it take."""

import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from statistics import median

import numpy as np

from benchmarks.common import Measurement, held_bytes, peak_bytes, rows, show, warm
from newfound import IncrementalRidgeClassifierCV
from newfound.paper.timing import time_call

TITLE = "Footprint: memory and imports"


def run(code: str) -> float:
    return time_call(
        lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    )


def measure() -> Iterator[Measurement]:
    for d, T in ((4096, 28), (1280, 51)):
        model = warm(d, T, d // 2)
        X, y = rows(100, d, T)
        for i in range(100):
            model.partial_fit(X[i : i + 1], y[i : i + 1])
        yield Measurement(
            f"state in d x d matrices, d = {d}, T = {T}",
            held_bytes(model) / (8 * d * d),
            bar=2.2,
        )
    yield from choosing(1280, 51)
    codes = {
        "nothing": "pass",
        "numpy": "import numpy",
        "sklearn": "import sklearn.base",
        "newfound": "import newfound",
        "estimator": "from newfound import IncrementalRidgeClassifier",
        "help": "from newfound.cli import app; app(['--help'], standalone_mode=False)",
    }
    seconds = {name: median(run(code) for _ in range(5)) for name, code in codes.items()}
    base = seconds["sklearn"]
    yield Measurement(
        "import newfound to import sklearn.base", seconds["newfound"] / base, bar=1.15
    )
    yield Measurement(
        "from newfound import IncrementalRidgeClassifier to the same", seconds["estimator"] / base
    )
    numpy = seconds["numpy"] - seconds["nothing"]
    yield Measurement(
        "newfound --help", seconds["help"], "s", 0.4, note=f"importing numpy: {numpy:.2f} s"
    )


def choosing(d: int, T: int) -> Iterator[Measurement]:
    """What choosing holds: at rest, between the steps of a stream that votes, and at most."""
    known, n = 6 * d // 10, 14 * d // 10
    start = 2 * known - 10  # votes are called for when there are twice as many as at first
    X, y = rows(n, d, T)[0], np.arange(n) % T

    def stream() -> Iterator[IncrementalRidgeClassifierCV]:
        model = IncrementalRidgeClassifierCV().fit(X[:known], y[:known])
        model.partial_fit(X[known:start], y[known:start])
        for i in range(start, n):
            model.partial_fit(X[i : i + 1], y[i : i + 1]).predict(X[i : i + 1])
            yield model

    held = [held_bytes(model) for model in stream()]
    *_, model = stream()
    model.reconsider()  # nothing is under way
    model.predict(X[:1])
    at_rest, sums = held_bytes(model), held_bytes(model.to_state().sums)
    matrix, name = 8 * d * d, f"in d x d matrices, choosing, d = {d}, T = {T}"
    note = f"{model.witnesses_[0].nbytes / matrix:.2f} of them witnesses"
    yield Measurement(f"state {name}: at rest", at_rest / matrix, note=note)
    yield Measurement(f"state {name}: beside the sums", (at_rest - sums) / matrix)
    yield Measurement(f"state {name}: between two steps, votes under way", max(held) / matrix)
    most = peak_bytes(lambda: deque(stream(), maxlen=0))
    yield Measurement(f"state {name}: at any moment of the stream", most / matrix)


if __name__ == "__main__":
    show(TITLE, measure())
