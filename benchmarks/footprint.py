"""How much memory does a model hold, and how long does importing it take."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from benchmarks.common import Measurement, held_bytes, rows, show, warm
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


if __name__ == "__main__":
    show(TITLE, measure())
