"""`newfound bench`: how fast a step is on this machine."""

import json
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track

from newfound.cli.console import emit


def bench(
    features: Annotated[int, typer.Option("-d", "--features", min=1, help="Features, d.")] = 1280,
    classes: Annotated[int, typer.Option("-t", "--classes", min=1, help="Classes, T.")] = 51,
    known: Annotated[int, typer.Option("-n", "--known", min=1, help="Rows known already.")] = 5000,
    steps: Annotated[int, typer.Option(min=10, help="Steps to time.")] = 300,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Time what a robot does: learn one row, then predict one.

    \b
    newfound bench
    newfound bench --features 4096 --classes 28 --known 10000

    Prints steps per second, the time of a step beside that of copying a d x d matrix, and whether
    a camera at 30 frames per second could be followed. Rows are random.
    """
    talk = Console(stderr=True)
    result = _measure(features, classes, known, steps, talk)
    if as_json:
        emit(json.dumps(result))
        return
    follows = "yes" if result["follows_30_frames"] else "no"
    emit(f"d = {features}, T = {classes}, after {known} rows:")
    emit(f"  {result['steps_per_second']:.0f} steps per second")
    emit(
        f"  {result['median_ms']:.2f} ms a step, "
        f"{result['percentile_99_ms']:.2f} ms at worst in 99 %"
    )
    emit(f"  {result['copies']:.2f} times copying a d x d matrix")
    emit(f"  a camera at 30 frames per second can be followed: {follows}")


def _measure(d: int, T: int, known: int, steps: int, talk: Console) -> dict[str, Any]:
    with talk.status("loading"):
        import numpy as np

        from newfound.estimators.classifier import IncrementalRidgeClassifier

        rng = np.random.default_rng(0)
        model = IncrementalRidgeClassifier()
        for start in range(0, known, 10_000):
            size = min(10_000, known - start)
            model.partial_fit(rng.normal(size=(size, d)), rng.integers(0, T, size))
        model.predict(rng.normal(size=(1, d)))
    X, y = rng.normal(size=(steps, d)), rng.integers(0, T, steps)
    source, target = rng.normal(size=(d, d)), np.empty((d, d))
    copies, times = [], []
    for i in track(
        range(steps), "steps", console=talk, transient=True, disable=not talk.is_terminal
    ):
        start_copy = perf_counter()
        np.copyto(target, source)
        start_step = perf_counter()
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        model.predict(X[i : i + 1])
        copies.append(start_step - start_copy)
        times.append(perf_counter() - start_step)
    mean, slow = float(np.mean(times)), float(np.percentile(times, 99))
    return {
        "features": d,
        "classes": T,
        "known": known,
        "steps_per_second": 1 / mean,
        "median_ms": 1e3 * float(np.median(times)),
        "percentile_99_ms": 1e3 * slow,
        "copies": mean / float(np.mean(copies)),
        "follows_30_frames": slow < 1 / 30,
    }
