"""`newfound bench`: how fast a step is on this machine."""

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import Console, emit
from newfound.cli.option_kinds import flag
from newfound.cli.options import Json, Quiet

if TYPE_CHECKING:
    from newfound.paper.timing import Turn

# As many programs more as there are cores take half of the time, which is their share.
MUCH_SLOWER = 4.0
FRAME_MS = 1000 / 30


def bench(
    features: Annotated[int, typer.Option("-d", "--features", min=1, help="Features, d.")] = 1280,
    n_classes: Annotated[int, typer.Option("-t", "--n-classes", min=1, help="Classes, T.")] = 51,
    known: Annotated[
        int, typer.Option("-n", "--known", min=1, help="Rows to learn before the first step.")
    ] = 5000,
    steps: Annotated[int, typer.Option(min=10, help="Steps to time.")] = 300,
    busy: Annotated[
        bool, flag("--busy", "Also time steps while other programs use every core.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Time what a robot does: learn one row, then predict one.

    \b
    newfound bench
    newfound bench --features 4096 --n-classes 28 --known 10000
    newfound bench --busy

    The command prints the steps per second of this machine, the time of a step relative to copying
    a d x d matrix, and whether it keeps up with a camera at 30 frames per second. Rows are random.
    With --busy it also starts one other program per core, and prints a table of steps beside them:
    loops count, numpy multiplies matrices. That takes a few seconds more.
    """
    talk = Console(quiet)
    result = _measure(features, n_classes, known, steps, busy, talk)
    if as_json:
        emit(json.dumps(result))
        return
    follows = "yes" if result["follows_30_frames"] else "no"
    emit(f"d = {features}, T = {n_classes}, after {known} rows:")
    emit(f"  {result['steps_per_second']:.0f} steps per second")
    emit(f"  {result['median_ms']:.2f} ms a step, 99 % below {result['percentile_99_ms']:.2f} ms")
    emit(f"  {result['copies']:.2f} times copying a d x d matrix, which is done between any two")
    emit(f"  keeps up with a camera at 30 frames per second: {follows}")
    if busy:
        _print_busy(result["busy"], talk)


def _print_busy(timings: dict[str, dict[str, float]], talk: Console) -> None:
    """Print what a step takes beside other programs, and what to do if that is much more."""
    names = {"quiet": "nobody", "loops": "loops", "numpy": "numpy"}
    emit(f"\n  {'steps beside':<14}{'mean':>11}{'99 % below':>14}   keeps up at 30 frames")
    for kind, timing in timings.items():
        mean, slow = timing["mean_ms"], timing["percentile_99_ms"]
        follows = "yes" if slow < FRAME_MS else "no"
        emit(f"  {names[kind]:<14}{mean:>8.2f} ms{slow:>11.2f} ms   {follows}")
    slower = max(timing["mean_ms"] for timing in timings.values()) / timings["quiet"]["mean_ms"]
    if slower > MUCH_SLOWER:
        talk.info(
            f"A step takes {slower:.0f} times as long beside other programs: give it a core of "
            "its own, or let other programs have fewer."
        )


def _measure(d: int, T: int, n_rows: int, steps: int, busy: bool, talk: Console) -> dict[str, Any]:
    import numpy as np

    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.paper.timing import copy_of_matrix, step, time_in_turns

    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifier()
    blocks = range(0, n_rows, 10_000)
    for start in talk.progress(blocks, len(blocks), "blocks of rows"):
        size = min(10_000, n_rows - start)
        model.partial_fit(rng.normal(size=(size, d)), rng.integers(0, T, size))
    model.predict(rng.normal(size=(1, d)))
    X, y = rng.normal(size=(steps, d)), rng.integers(0, T, steps)
    rounds = talk.progress(range(steps), steps, "steps")
    copies, times = time_in_turns(rounds, copy_of_matrix(d), lambda row: step(model, X, y, row))
    mean, slow = float(times.mean()), float(np.percentile(times, 99))
    result: dict[str, Any] = {
        "features": d,
        "classes": T,
        "known": n_rows,
        "steps_per_second": 1 / mean,
        "median_ms": 1e3 * float(np.median(times)),
        "percentile_99_ms": 1e3 * slow,
        "copies": mean / float(copies.mean()),
        "follows_30_frames": 1e3 * slow < FRAME_MS,
    }
    if busy:
        result["busy"] = _beside_others(lambda row: step(model, X, y, row), steps, talk)
    return result


def _beside_others(turn: "Turn", steps: int, talk: Console) -> dict[str, dict[str, float]]:
    """Return mean and 99th percentile of fewer steps, quiet and beside programs of each kind."""
    import numpy as np

    from newfound.paper.busy import busy
    from newfound.paper.timing import time_in_turns

    timings, fewer = {}, max(10, steps // 3)
    time_in_turns(range(10), turn)  # the first ones are slower
    for kind in ("quiet", "loops", "numpy"):
        with nullcontext() if kind == "quiet" else busy(kind):
            rounds = talk.progress(range(fewer), fewer, f"steps, {kind}")
            (times,) = time_in_turns(rounds, turn)
        slow = float(np.percentile(times, 99))
        timings[kind] = {"mean_ms": 1e3 * float(times.mean()), "percentile_99_ms": 1e3 * slow}
    return timings
