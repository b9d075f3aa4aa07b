"""What does float32 gain."""

from collections.abc import Iterator

import numpy as np

from benchmarks.common import Measurement, held_bytes, rows, show, warm
from newfound.paper.timing import step, time_in_turns

TITLE = "Single precision: a step on float32 rows"


def measure() -> Iterator[Measurement]:
    d, T, count = 4096, 28, 200
    models = [warm(d, T, 2 * d, dtype=kind) for kind in (np.float64, np.float32)]
    (X, y), (X_single, _) = (rows(count, d, T, dtype=kind) for kind in (np.float64, np.float32))
    double, single = time_in_turns(
        range(count),
        lambda i: step(models[0], X, y, i),
        lambda i: step(models[1], X_single, y, i),
    )
    # Were the inverse carried in float64, the two would hold as much.
    held = held_bytes(models[1]) / held_bytes(models[0])
    yield Measurement(
        f"float32 step to float64 step, d = {d}, T = {T}",
        float(single.mean() / double.mean()),
        bar=0.7,
        note=f"{held:.2f} of the memory",
    )


if __name__ == "__main__":
    show(TITLE, measure())
