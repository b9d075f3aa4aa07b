"""Trials, run one after the other; the paper's are kept, so that an interrupted run goes on."""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from newfound.common.arrays import Labels, Rows
from newfound.common.errors import InputError
from newfound.common.files import write_whole
from newfound.paper.methods import METHODS, Chosen, Fixed, Rebalanced, Recoded
from newfound.paper.protocol import IncrementalMethod, Measurement, TrialSizes, draw, measurements
from newfound.paper.studies import Study

# Recodings of Figure 2.
RECODINGS = tuple(round(0.1 * tenths, 1) for tenths in range(11))
TRIALS, DURATIONS, CONFIGURATION = "trials.jsonl", "durations.jsonl", "configuration.json"


class Arrival(NamedTuple):
    """How one method fared while a class arrived."""

    method: str
    measurements: list[Measurement]
    step_seconds: list[float]  # of each step: learn one example, predict one


def arrivals(
    X: Rows, y: Labels, counts: Sequence[int], trials: int, sizes: TrialSizes, seed: int = 0
) -> Iterator[Arrival]:
    """Let every class in turn arrive when all others are known; yield how each method fares.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    counts : sequence of int
        Numbers of examples of the arriving class at which to measure, rising.
    trials : int
        Random splits for each class.
    sizes : TrialSizes
    seed : int
        Trials depend on it, on the class and on their number alone.

    Examples
    --------
    >>> from newfound.datasets import digits
    >>> first = next(arrivals(*digits(), [1, 5], trials=1, sizes=TrialSizes(20, 5, 5)))
    >>> first.method, [measurement.n_imb for measurement in first.measurements]
    ('naive', [1, 5])
    """
    for number, (index, label) in product(range(trials), enumerate(np.unique(y))):
        trial = draw(X, y, None, label, sizes, seed=[seed, number, index])
        for method in METHODS:
            learner = Fixed(method)
            measured = list(measurements(trial, learner, counts))
            yield Arrival(method, measured, learner.step_seconds)


class Job(NamedTuple):
    """One trial with one class rare."""

    rare: Any
    trial: int
    is_full: bool  # all methods and recodings; otherwise naive and recoded alone, as in Figure 3

    @property
    def key(self) -> list[Any]:
        """What a finished trial is known by."""
        return [str(self.rare), self.trial, self.is_full]


def jobs(study: Study, trials: int, each_class: bool) -> list[Job]:
    """Return the trials that a run is made of: those of the table first."""
    table = [Job(study.rare, trial, True) for trial in range(trials)]
    others = [label for label in np.unique(study.y).tolist() if label != study.rare]
    return table + [
        Job(label, trial, False) for trial in range(trials) for label in others if each_class
    ]


def read_trials(folder: Path) -> list[dict[str, Any]]:
    """Return the trials that are kept in a folder; a line that was cut off is skipped."""
    path = folder / TRIALS
    if not path.exists():
        return []
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_whole(path, whole.encode())
    return [json.loads(line) for line in whole.splitlines()]


def configuration(study: Study, seed: int) -> dict[str, Any]:
    """Return what the numbers of a run depend on."""
    return {
        "study": study.name,
        "seed": seed,
        "rare": str(study.rare),
        "n_bal": study.n_bal,
        "n_test": study.n_test,
        "counts": list(study.counts),
        "recoding": study.recoding,
        "features": study.features,
    }


def begin(folder: Path, settings: dict[str, Any]) -> None:
    """Make a folder for a run, or go on with one that has the same configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CONFIGURATION
    if path.exists() and json.loads(path.read_text()) != settings:
        raise InputError(
            f"{folder} holds a run with other settings: give another --output, or remove it"
        )
    write_whole(path, (json.dumps(settings, indent=1) + "\n").encode())


def run(study: Study, todo: list[Job], folder: Path, seed: int) -> Iterator[Job]:
    """Run the trials that are not finished yet; yield each once it is kept."""
    done = {tuple(record["key"]) for record in read_trials(folder)}
    for job in todo:
        if tuple(job.key) not in done:
            start = perf_counter()
            record = {"key": job.key, **_result(study, job, seed)}
            seconds = round(perf_counter() - start, 2)
            _append(folder / TRIALS, record)
            _append(folder / DURATIONS, {"key": job.key, "seconds": seconds})
        yield job


def _result(study: Study, job: Job, seed: int) -> dict[str, Any]:
    index = np.unique(study.y).tolist().index(job.rare)
    seeds, is_test = [seed, job.trial, index], study.test_of(job.trial)
    trial = draw(study.X, study.y, is_test, job.rare, study.sizes, seeds)
    recodings = {"N": 0.0, "RC": study.recoding}
    if job.is_full:
        recodings |= {f"recoding {recoding}": recoding for recoding in RECODINGS}
    recoded, rebalanced = Recoded(recodings), Rebalanced()
    learners: list[IncrementalMethod] = [recoded, rebalanced, Chosen()]
    results: dict[str, dict[str, list[float]]] = {}
    for learner in learners if job.is_full else learners[:1]:
        for measurement in measurements(trial, learner, study.counts):
            measured = [round(100 * value, 4) for value in measurement[2:]]
            results.setdefault(measurement.method, {})[str(measurement.n_imb)] = measured
    record = {"penalty": recoded.model.penalty, "results": results}
    if job.is_full:
        record["rebalanced_is_the_batch_solution"] = rebalanced.agrees_with_batch(trial.test.X)
    return record


def _append(path: Path, record: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")
        file.flush()
        os.fsync(file.fileno())
