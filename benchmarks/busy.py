"""What do other programs cost, which keep every core busy, and what do threads of BLAS add to it.

Two workers take turns: one with as many threads of BLAS as it likes, and one with a single thread,
which is the yardstick. Both do the same steps, quiet and beside other programs.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Measurement, show_parts
from benchmarks.worker import worker
from newfound.common.threads import cores
from newfound.paper.busy import busy

TITLE = "Busy: beside programs that keep every core busy"
QUIET, LOOPS, NUMPY = "quiet", "beside loops", "beside numpy"
ROUNDS = 5

Times = NDArray[np.float64]


def background(beside: str) -> AbstractContextManager[Any]:
    return nullcontext() if beside == QUIET else busy(beside.removeprefix("beside "))


def in_turns(besides: tuple[str, ...], block: int, *task: object) -> dict[str, list[Times]]:
    """Return the seconds of each time, with default threads and with one, by what was beside."""
    found = {}
    with ExitStack() as stack:
        workers = [stack.enter_context(worker(*task, blas_threads=n)) for n in (None, 1)]
        for beside in besides:
            for each in workers:
                each.ask("anew")
            with background(beside):
                turns = [[each.ask(block) for each in workers] for _ in range(ROUNDS)]
            found[beside] = [np.concatenate(times) for times in zip(*turns, strict=True)]
    return found


def in_words(times: Times) -> str:
    half, most = 1e3 * np.percentile(times, (50, 99))
    return f"median {half:.3g}, 99 % below {most:.3g}, longest {1e3 * times.max():.3g} ms"


def compare(
    what: str, found: dict[str, list[Times]], bars: dict[str, float]
) -> Iterator[Measurement]:
    """Say how long it takes, how much longer than with one thread, and than quiet."""
    quiet = found[QUIET][0].mean()
    for beside, (default, one) in found.items():
        mean, name = float(default.mean()), f"{what}, {beside}"
        yield Measurement(f"{name}: mean", 1e3 * mean, "ms", note=in_words(default))
        note = f"one thread: mean {1e3 * one.mean():.3g}, {in_words(one)}"
        ratios = {"mean": mean / float(one.mean())}
        if len(default) >= 100:
            ratios["99th percentile"] = float(np.percentile(default, 99) / np.percentile(one, 99))
        for figure, ratio in ratios.items():
            bar = None if beside == QUIET else bars.get(figure)
            text = f"{name}: {figure}, default threads to one"
            yield Measurement(text, ratio, bar=bar, note=note)
        if beside != QUIET:
            yield Measurement(f"{name}: mean, to quiet", mean / quiet)


def others() -> Iterator[Measurement]:
    """Whether anybody else is at work: then quiet is not quiet, and the rest means little."""
    with busy("loops", cores() - 1) if cores() > 1 else nullcontext():
        start, cpu = perf_counter(), process_time()
        while perf_counter() < start + 1:
            pass
        share = (process_time() - cpu) / (perf_counter() - start)
    what = "share of a core that a program gets, as one of as many as there are cores"
    yield Measurement(what, share, bar=0.9, more_is_better=True, note="1 where nobody else works")


def steps(d: int, T: int, known: int, block: int, bars: dict[str, float]) -> Iterator[Measurement]:
    """A step of either estimator, beside programs of either kind."""
    for kind in ("plain", "choosing"):
        task = ("steps", kind, d, T, known, ROUNDS * block)
        found = in_turns((QUIET, LOOPS, NUMPY), block, *task)
        yield from compare(f"{kind} step, d = {d}, T = {T}", found, bars)


def photos(count: int) -> Iterator[Measurement]:
    """Teach photos to a new recogniser, and ask one about a photo."""
    from benchmarks.images import jpegs

    with tempfile.TemporaryDirectory() as folder:
        jpegs(Path(folder), count)
        found = in_turns((QUIET, NUMPY), 1, "teaching", folder)
        yield from compare(f"teaching {count} photos", found, {"mean": 1.3})
        found = in_turns((QUIET, NUMPY), 10, "looking", folder)
        yield from compare("looking at a photo", found, {})


def second(d: int, T: int, known: int, n: int) -> Iterator[Measurement]:
    """A second newfound that learns all the while, to one alone: before and after it."""
    for kind in ("plain", "choosing"):
        with worker("steps", kind, d, T, known, n) as first:
            alone = first.ask(n)
            first.ask("anew")
            with busy("newfound", 1):
                both = first.ask(n)
            first.ask("anew")
            alone += first.ask(n)
        ratio = float(np.mean(both) / np.mean(alone))
        what = f"{kind} step, d = {d}, T = {T}, beside a second newfound, to one alone"
        yield Measurement(what, ratio, bar=2.2, note=f"mean {1e3 * np.mean(both):.3g} ms")


# Rows known at first: among the steps of d = 1280 votes are called for, as there are twice as many.
PARTS: dict[str, Callable[[], Iterator[Measurement]]] = {
    "others": others,
    "steps": partial(steps, 1280, 51, 600, 150, {"mean": 1.3, "99th percentile": 1.5}),
    "wide": partial(steps, 4096, 28, 900, 40, {"mean": 1.5, "99th percentile": 2.0}),
    "photos": partial(photos, 36),
    "second": partial(second, 1280, 51, 600, 700),
}


def measure() -> Iterator[Measurement]:
    for part in PARTS.values():
        yield from part()


if __name__ == "__main__":
    show_parts(TITLE, PARTS)
