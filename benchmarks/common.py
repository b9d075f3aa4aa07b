"""What all benchmarks share: rows, models, and how a measurement is shown."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound import IncrementalRidgeClassifier
from newfound.paper.timing import machine

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


def held_bytes(thing: Any, seen: set[int] | None = None) -> int:
    """Return the bytes of all arrays that a model holds, each counted once."""
    seen = set() if seen is None else seen
    if isinstance(thing, dict | list | tuple):
        parts = thing.values() if isinstance(thing, dict) else thing
        return sum(held_bytes(part, seen) for part in parts)
    is_ours = type(thing).__module__.startswith("newfound") and hasattr(thing, "__dict__")
    if id(thing) in seen or not (is_ours or isinstance(thing, np.ndarray)):
        return 0
    seen.add(id(thing))
    return held_bytes(vars(thing), seen) if is_ours else thing.nbytes
