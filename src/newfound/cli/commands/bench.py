"""`newfound bench`: how fast a step is on this machine."""

import json
from typing import Annotated, Any

import typer

from newfound.cli.console import Console, emit
from newfound.cli.options import Json, Quiet


def bench(
    features: Annotated[int, typer.Option("-d", "--features", min=1, help="Features, d.")] = 1280,
    n_classes: Annotated[int, typer.Option("-t", "--n-classes", min=1, help="Classes, T.")] = 51,
    known: Annotated[
        int, typer.Option("-n", "--known", min=1, help="Rows learned before the first step.")
    ] = 5000,
    steps: Annotated[int, typer.Option(min=10, help="Steps to time.")] = 300,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Time what a robot does: learn one row, then predict one.

    \b
    newfound bench
    newfound bench --features 4096 --n-classes 28 --known 10000

    The command prints how many steps this machine does in a second, how long a step takes beside
    copying a d x d matrix, and whether it can follow a camera at 30 frames per second. Rows are
    random.
    """
    result = _measure(features, n_classes, known, steps, Console(quiet))
    if as_json:
        emit(json.dumps(result))
        return
    follows = "yes" if result["follows_30_frames"] else "no"
    emit(f"d = {features}, T = {n_classes}, after {known} rows:")
    emit(f"  {result['steps_per_second']:.0f} steps per second")
    emit(
        f"  {result['median_ms']:.2f} ms a step, "
        f"{result['percentile_99_ms']:.2f} ms at worst in 99 %"
    )
    emit(f"  {result['copies']:.2f} times copying a d x d matrix")
    emit(f"  a camera at 30 frames per second can be followed: {follows}")


def _measure(d: int, T: int, known: int, steps: int, talk: Console) -> dict[str, Any]:
    import numpy as np

    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.paper.timing import copy_of_matrix, step, time_in_turns

    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifier()
    blocks = range(0, known, 10_000)
    for start in talk.progress(blocks, len(blocks), "blocks of rows"):
        size = min(10_000, known - start)
        model.partial_fit(rng.normal(size=(size, d)), rng.integers(0, T, size))
    model.predict(rng.normal(size=(1, d)))
    X, y = rng.normal(size=(steps, d)), rng.integers(0, T, steps)
    rounds = talk.progress(range(steps), steps, "steps")
    copies, times = time_in_turns(rounds, copy_of_matrix(d), lambda row: step(model, X, y, row))
    mean, slow = float(times.mean()), float(np.percentile(times, 99))
    return {
        "features": d,
        "classes": T,
        "known": known,
        "steps_per_second": 1 / mean,
        "median_ms": 1e3 * float(np.median(times)),
        "percentile_99_ms": 1e3 * slow,
        "copies": mean / float(copies.mean()),
        "follows_30_frames": slow < 1 / 30,
    }
