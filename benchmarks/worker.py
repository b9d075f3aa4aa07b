"""What is measured in a process of its own, whose BLAS has as many threads as its environment says.

A line on stdin asks for it: "anew" to begin once more with the same model and rows, or how many
times to do it. The answer is a line of JSON: the seconds of each time.
"""

import copy
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np

from benchmarks.common import rows
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.paper.busy import program
from newfound.paper.timing import step, time_call

MODELS = {"plain": IncrementalRidgeClassifier, "choosing": IncrementalRidgeClassifierCV}
# Seconds after which threads of BLAS that wait for work, busily, have gone to sleep.
GOES_TO_SLEEP = 0.05

Task = Callable[[int], Any]  # what is done for the n-th time
Maker = Callable[..., Callable[[], Task]]  # from parameters to what begins anew


class Worker:
    """A process that measures something whenever it is asked to."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def ask(self, line: object) -> list[float]:
        """Return the seconds of each time."""
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("a process that measures has ended")
        seconds: list[float] = json.loads(answer)
        return seconds


@contextmanager
def worker(*task: object, blas_threads: int | None = None) -> Iterator[Worker]:
    """Start a worker, which ends with the context; it is ready when it answers."""
    with program("benchmarks.worker", *task, blas_threads=blas_threads) as process:
        yield Worker(process)


def steps(kind: str, d: str, T: str, known: str, n: str) -> Callable[[], Task]:
    """Learn one row and predict one, with a model that knows so many rows, up to n times."""
    X, y = rows(int(known) + int(n), int(d), int(T))
    y = np.arange(len(y)) % int(T)  # so that no class is known well before the others
    model = MODELS[kind]().fit(X[: int(known)], y[: int(known)])
    model.predict(X[:1])

    def anew() -> Task:
        own = copy.deepcopy(model)
        return lambda number: step(own, X, y, int(known) + number)()

    return anew


def teaching(folder: str) -> Callable[[], Task]:
    """Teach a new recogniser all photos of a folder."""
    from newfound import Recogniser
    from newfound.features import EfficientNetLite0

    network = EfficientNetLite0()
    return lambda: lambda _: Recogniser(extractor=network).teach(folder)


def looking(folder: str) -> Callable[[], Task]:
    """Ask a recogniser that was taught the photos of a folder about one of them."""
    from newfound import Recogniser

    recogniser, photo = Recogniser(), next(Path(folder).glob("*/*.jpg"))
    recogniser.teach(folder)
    return lambda: lambda _: recogniser.look(photo)


TASKS: dict[str, Maker] = {
    "steps": steps,
    "teaching": teaching,
    "looking": looking,
}


def main(name: str, *parameters: str) -> None:
    anew = TASKS[name](*parameters)
    task, numbers = anew(), count()
    for line in sys.stdin:
        times = []
        if line.strip() == "anew":
            task, numbers = anew(), count()
        else:
            for _ in range(int(line)):
                times.append(time_call(partial(task, next(numbers))))
        sleep(GOES_TO_SLEEP)  # or our threads would still be there when it is another's turn
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
