"""What all benchmarks share: rows, timing, and how a measurement is shown."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

import newfound
from newfound import IncrementalRidgeClassifier

Floats = NDArray[np.floating]


@dataclass
class Measurement:
    """One number, and the bar it is held against if there is one."""

    what: str
    value: float
    unit: str = "ratio"
    bar: float | None = None  # met if the value is at most this; at least, if `more_is_better`
    more_is_better: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        met = self.value >= self.bar if self.more_is_better else self.value <= self.bar
        return "yes" if met else "NO"

    @property
    def bar_text(self) -> str:
        if self.bar is None:
            return ""
        return f"{'≥' if self.more_is_better else '≤'} {self.bar:g}"


def machine() -> dict[str, Any]:
    """Return what the measurements were taken on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "sklearn": sklearn.__version__,
        "newfound": newfound.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def show(title: str, measurements: Iterable[Measurement]) -> None:
    """Print measurements as a table, or, with --json, one line each."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="one line of JSON a measurement")
    as_json = parser.parse_args().json
    if not as_json:
        print(title)
    for found in measurements:
        if as_json:
            print(json.dumps({"question": title, **asdict(found), **machine()}), flush=True)
        else:
            held = f"{found.bar_text:>9} {found.verdict:<4}" if found.bar is not None else " " * 14
            print(f"  {found.what:<66}{found.value:>10.3g} {found.unit:<6}{held}{found.note}")


def rows(n: int, d: int, T: int, seed: int = 0, dtype: Any = np.float64) -> tuple[Floats, Any]:
    """Return n labelled rows around T centres."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, T, n)
    X = rng.normal(size=(n, d))
    X += 0.5 * rng.normal(size=(T, d))[y]
    return X.astype(dtype), y


def warm(d: int, T: int, n: int, dtype: Any = np.float64, **parameters: Any) -> Any:
    """Return a model that knows T classes from n rows and has answered once."""
    X, y = rows(max(n, T), d, T, seed=1, dtype=dtype)
    y[:T] = np.arange(T)
    model = IncrementalRidgeClassifier(**parameters).fit(X, y)
    model.predict(X[:1])
    return model


def timed(function: Callable[[], Any]) -> float:
    """Return the seconds a call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def step(model: Any, X: Floats, y: Any, i: int) -> Callable[[], Any]:
    """Return what a robot does with row i: learn it, then predict one row."""
    row, label = X[i : i + 1], y[i : i + 1]

    def learn_and_predict() -> None:
        model.partial_fit(row, label)
        model.predict(row)

    return learn_and_predict


def interleaved(count: int, *turns: Callable[[int], Callable[[], Any]]) -> list[Floats]:
    """Time several things in turn, `count` times each, so that noise hits them alike."""
    seconds: list[list[float]] = [[] for _ in turns]
    for i in range(count):
        for place, turn in enumerate(turns):
            seconds[place].append(timed(turn(i)))
    return [np.array(times) for times in seconds]


def copier(d: int) -> Callable[[int], Callable[[], Any]]:
    """Return the yardstick: copying a d x d matrix of float64."""
    source, target = np.random.default_rng(0).normal(size=(d, d)), np.empty((d, d))
    return lambda _: lambda: np.copyto(target, source)
