"""Other programs, which keep a machine busy while something is measured."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from newfound.common.threads import cores

# How BLAS is told its number of threads; OpenBLAS heeds the last, too.
BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ALL_THREADS = (*BLAS_THREADS, "OMP_NUM_THREADS")

Turn = Callable[[], Any]


def environment(blas_threads: int | None = None) -> dict[str, str]:
    """Return our environment for a program with this many threads of BLAS, by default its own."""
    rest = {name: text for name, text in os.environ.items() if name not in ALL_THREADS}
    return rest | ({} if blas_threads is None else dict.fromkeys(BLAS_THREADS, str(blas_threads)))


@contextmanager
def program(
    module: str, *arguments: object, blas_threads: int | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Run a Python module in a process of its own, which is killed when the context ends.

    Its stdin ends when this process dies, in whatever way. A program that heeds it is never left
    behind.

    Parameters
    ----------
    module : str
    *arguments
        What follows its name on the command line.
    blas_threads : int, optional
        Threads of its BLAS. By default as many as BLAS likes, whatever our environment says.

    Yields
    ------
    subprocess.Popen
        With pipes for stdin and stdout.
    """
    command, pipe = [sys.executable, "-m", module, *map(str, arguments)], subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, env=environment(blas_threads)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def busy(kind: str, count: int | None = None) -> Iterator[list["subprocess.Popen[str]"]]:
    """Keep the machine busy until the context ends; it begins when all programs are at work.

    Parameters
    ----------
    kind : "loops", "numpy" or "newfound"
        Programs that count, that multiply matrices with all threads of BLAS, or that learn and
        predict one row after another.
    count : int, optional
        How many programs. By default one for each core.

    Yields
    ------
    list of subprocess.Popen

    Raises
    ------
    RuntimeError
        If one of them ends before its first turn is done.

    Examples
    --------
    >>> with busy("loops", 2) as programs:
    ...     [process.poll() for process in programs]
    [None, None]
    """
    with ExitStack() as stack:
        programs = [
            stack.enter_context(program("newfound.paper.busy", kind))
            for _ in range(count or cores())
        ]
        for process in programs:
            assert process.stdout is not None
            if not process.stdout.readline():
                raise RuntimeError(f"a program that should have been busy with {kind} ended")
        yield programs


def _loops() -> Turn:
    return lambda: sum(range(100_000))


def _numpy() -> Turn:
    import numpy as np

    left, right = np.random.default_rng(0).normal(size=(2, 1000, 1000))
    return lambda: left @ right


def _newfound() -> Turn:
    import numpy as np

    from newfound.estimators.classifier import IncrementalRidgeClassifier
    from newfound.paper.timing import step

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1280)), rng.integers(0, 51, 200)
    model, rows = IncrementalRidgeClassifier().fit(X, y), itertools.cycle(range(len(X)))
    return lambda: step(model, X, y, next(rows))()


KINDS = {"loops": _loops, "numpy": _numpy, "newfound": _newfound}


def _end_with_stdin() -> None:
    while os.read(0, 1):
        pass
    os._exit(0)


def main(kind: str) -> None:
    """Be busy until stdin ends; say so on stdout after the first turn."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started it
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    turn = KINDS[kind]()
    turn()
    print("busy", flush=True)
    while True:
        turn()


if __name__ == "__main__":
    main(sys.argv[1])
