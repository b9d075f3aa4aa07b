"""What does choosing in the stream cost, beside plain steps."""

from collections.abc import Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.common import Measurement, held_bytes, rows, show, warm
from newfound import IncrementalRidgeClassifierCV
from newfound.paper.timing import step, time_call, time_in_turns
from newfound.selection.schedule import Work

TITLE = "Choosing: a step with ten penalties, and the what-ifs"


def measure() -> Iterator[Measurement]:
    yield from beside_plain_steps(1280, 51)
    yield from what_ifs(1280, 51, n=8000)
    yield memory(1280, 51)


def beside_plain_steps(d: int, T: int) -> Iterator[Measurement]:
    """Steps in which nothing is renewed; what-ifs are measured apart."""
    seconds = []
    for n in (51 * 40, 51 * 400):
        plain, choosing = _steps(d, T, n)
        seconds.append(choosing)
        yield Measurement(
            f"step with 10 penalties, in plain steps, d = {d}, T = {T}, n = {n}",
            choosing / plain,
            bar=11.0,
            note=f"{1e3 * choosing:.1f} ms",
        )
    what = f"step with 10 penalties, after {51 * 400} rows to after {51 * 40}"
    yield Measurement(what, seconds[1] / seconds[0])


def _steps(d: int, T: int, n: int, count: int = 200) -> tuple[float, float]:
    """Return the mean seconds of a plain step and of one that chooses."""
    models = warm(d, T, n), _cv_model(d, T, n)
    X, y = rows(count, d, T)
    plain, choosing = time_in_turns(
        range(count), lambda i: step(models[0], X, y, i), lambda i: step(models[1], X, y, i)
    )
    return float(plain.mean()), float(choosing.mean())


def what_ifs(d: int, T: int, n: int) -> Iterator[Measurement]:
    """One stream, a row at a time: what share of its time the what-ifs take."""
    X, y = rows(n, d, T, seed=3)
    model = IncrementalRidgeClassifierCV()
    pieces: list[float] = []
    original = Work.advance

    def advance(self: Work, candidates: Any) -> None:
        pieces.append(time_call(partial(original, self, candidates)))

    with patch.object(Work, "advance", advance):
        (steps,) = time_in_turns(range(n), lambda i: step(model, X, y, i))
    spent, total = sum(pieces), float(steps.sum())
    yield Measurement(
        f"what-ifs, beside all else, over {n} steps, d = {d}, T = {T}",
        100 * spent / (total - spent),
        "%",
        bar=10.0,
        note=f"{len(pieces)} pieces of {1e3 * float(np.mean(pieces)):.0f} ms",
    )


def memory(d: int, T: int) -> Measurement:
    """What is held beside the sums: inverse and weights for each penalty, and rows held back."""
    model = _cv_model(d, T, 51 * 400)
    beside = held_bytes(model) - held_bytes(model.to_state().sums)
    return Measurement(
        f"all that is held beside the sums, in d x d matrices, d = {d}, T = {T}",
        beside / (8 * d * d),
        note=f"{model.holdout_[0].nbytes / 1e6:.0f} MB held back",
    )


def _cv_model(d: int, T: int, n: int) -> IncrementalRidgeClassifierCV:
    X, y = rows(n, d, T, seed=1)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X[:1])
    assert len(model.validation_scores_["accuracy"]) == 110  # so all candidates are current
    return model


if __name__ == "__main__":
    show(TITLE, measure())
