"""How long a step takes: learn one example, predict one; and on which machine."""

import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

from newfound import __version__
from newfound.common.arrays import Floats, Labels, Rows
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.paper.studies import Study

STEPS, RETRAININGS = 30, 3

Turn = Callable[[int], Callable[[], Any]]  # number of the round -> what to time in it


def time_call(function: Callable[[], Any]) -> float:
    """Return the seconds a call takes."""
    start = perf_counter()
    function()
    return perf_counter() - start


def step(model: Any, X: Rows, y: Labels, row: int) -> Callable[[], None]:
    """Return what a robot does with a row: learn it, then predict it."""
    example, label = X[row : row + 1], y[row : row + 1]

    def learn_and_predict() -> None:
        model.partial_fit(example, label)
        model.predict(example)

    return learn_and_predict


def copy_of_matrix(d: int) -> Turn:
    """Return the yardstick: copying a d x d matrix of float64."""
    source, target = np.random.default_rng(0).normal(size=(d, d)), np.empty((d, d))
    return lambda _: lambda: np.copyto(target, source)


def time_in_turns(rounds: Iterable[int], *turns: Turn) -> list[Floats]:
    """Return the seconds of several things in each round, shape (rounds,) each.

    In every round each has its turn, so that noise hits them alike.
    """
    seconds = [[time_call(turn(number)) for turn in turns] for number in rounds]
    return list(np.array(seconds).T)


def machine() -> dict[str, Any]:
    """Return what measurements are taken with, and on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "newfound": __version__,
    }


def update_times(study: Study) -> list[dict[str, Any]]:
    """Return the time of a step and of training from scratch: the paper's timing claim.

    Parameters
    ----------
    study : Study

    Returns
    -------
    list of dict
        `k`, examples learned before; `update` and `retrain`, medians in milliseconds.
    """
    sizes = [k for k in (100, 1000, 10_000) if k + STEPS <= len(study.y)]
    return [_update_time(study.X, study.y, k) for k in sizes]


def _update_time(X: Rows, y: Labels, k: int) -> dict[str, Any]:
    def train() -> IncrementalRidgeClassifier:
        model = IncrementalRidgeClassifier(fit_intercept=False).fit(X[:k], y[:k])
        model.predict(X[:1])
        return model

    model = train()
    (updates,) = time_in_turns(range(STEPS), lambda row: step(model, X, y, k + row))
    (retrainings,) = time_in_turns(range(RETRAININGS), lambda _: train)
    return {
        "k": k,
        "update": round(1e3 * median(updates), 3),
        "retrain": round(1e3 * median(retrainings), 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
