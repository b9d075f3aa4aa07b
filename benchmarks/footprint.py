"""How much memory does a model hold, how long does importing it take, and the first answer."""

import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from benchmarks.common import Measurement, held_bytes, peak_bytes, rows, show, warm
from newfound import IncrementalRidgeClassifierCV, Recogniser
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
    yield from cold_start()


def cold_start() -> Iterator[Measurement]:
    """`newfound predict` of one photo, in a process of its own, beside what others import."""
    with TemporaryDirectory() as folder:
        model, photo = Path(folder, "m.newfound"), Path(folder, "photo.jpg")
        recogniser, rng = Recogniser(model), np.random.default_rng(0)
        for label in ("cup", "mug", "pot"):
            recogniser.teach(list(rng.integers(0, 256, (10, 64, 64, 3), dtype=np.uint8)), label)
        recogniser.save()
        Image.fromarray(rng.integers(0, 256, (640, 480, 3), dtype=np.uint8)).save(photo)
        codes = {
            "predict": f"from newfound.cli import app; app(['predict', {str(model)!r}, "
            f"{str(photo)!r}], standalone_mode=False)",
            "sklearn": "import sklearn.base",
            "bare": "import numpy, scipy.linalg, onnxruntime",
        }
        times: dict[str, list[float]] = {name: [] for name in codes}
        for _ in range(7):  # in turn, so that other work on the machine is shared
            for name, code in codes.items():
                times[name].append(run(code))
    seconds = {name: median(each) for name, each in times.items()}
    yield Measurement(
        "newfound predict of one photo to import sklearn.base",
        seconds["predict"] / seconds["sklearn"],
        bar=1.0,
        note=f"{seconds['predict']:.2f} s",
    )
    yield Measurement(
        "the same to import numpy, scipy.linalg, onnxruntime", seconds["predict"] / seconds["bare"]
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
