"""What all benchmarks share: rows, models, and how a measurement is shown."""

import argparse
import gc
import json
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from types import CodeType, FunctionType, ModuleType
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
    _print(title, measurements, _parser(title).parse_args().json)


def show_parts(title: str, parts: Mapping[str, Callable[[], Iterable[Measurement]]]) -> None:
    """Print measurements in the same way, of those parts that the command line names, or of all."""
    parser = _parser(title)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; default: all")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - parts.keys():
        parser.error(f"no such part: {', '.join(unknown)}")
    chosen = [parts[name] for name in arguments.parts or parts]
    _print(title, (found for part in chosen for found in part()), arguments.json)


def _parser(title: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="one line of JSON a measurement")
    return parser


def _print(title: str, measurements: Iterable[Measurement], as_json: bool) -> None:
    if not as_json:
        print(title)
    for found in measurements:
        if as_json:
            print(json.dumps({"question": title, **asdict(found), **machine()}), flush=True)
        else:
            held = f"{found.bar_text:>9} {found.verdict:<4}" if found.bar is not None else " " * 14
            line = f"  {found.what:<66}{found.value:>10.3g} {found.unit:<6}{held}{found.note}"
            print(line, flush=True)


def table(title: str, measurements: list[Measurement]) -> str:
    """Return measurements as a section of a page, in Markdown."""
    lines = [f"## {title}", "", "| what | measured | bar | met | |", "|---|---|---|---|---|"]
    for found in measurements:
        value = f"{found.value:.3g} {'' if found.unit == 'ratio' else found.unit}".strip()
        cells = (found.what, value, found.bar_text, found.verdict, found.note)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


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


def held_bytes(thing: Any) -> int:
    """Return the bytes of all arrays that can be reached from a thing, each counted once.

    Through attributes, containers, closures, and the frames of generators that wait for their next
    turn. A view counts as all of the array that it looks into. What this does not see is what lives
    only within a call: `peak_bytes` does.
    """
    queue, seen, total = [thing], set[int](), 0
    while queue:
        each = queue.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | CodeType):
            continue
        seen.add(id(each))
        if isinstance(each, FunctionType):  # not its module, which knows everything
            queue += [each.__closure__, each.__defaults__, each.__kwdefaults__]
        elif isinstance(each, np.ndarray):
            is_view = isinstance(each.base, np.ndarray)
            queue += [each.base] * is_view
            total += 0 if is_view else each.nbytes
        else:
            queue += gc.get_referents(each)
    return total


def peak_bytes(function: Callable[[], Any]) -> int:
    """Return the most bytes held at any moment of a call, beside what was held before it.

    All that Python and numpy allocate, also for a moment; not the buffers of BLAS.
    """
    gc.collect()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
