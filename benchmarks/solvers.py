"""Which recursion carries the solution best, that of the inverse or the paper's.

One step: take in one row and have the weights current. Three ways, each bare, without checks:

    inverse             A^-1 and W carried: one product, one rank-one change of each
    factor, carried W   the Cholesky factor updated (LAPACK tpqrt), two triangular solves, W carried
    factor, paper       the same factor, and W from 2 T triangular solves, as in Algorithm 1

Times are given as they are and as a ratio to copying a d x d matrix in the same run. Errors are
those of the weights after a stream of badly scaled rows, relative to a solution in extended
precision, beside the error of one float64 Cholesky solve from the exact sums.
"""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, cho_factor, cho_solve, lapack
from tests import oracles

from benchmarks.common import Measurement, show
from newfound.paper.timing import Turn, copy_of_matrix, time_in_turns

TITLE = "Solvers: bare recursions, beside copying a matrix and beside one Cholesky solve"

Floats = NDArray[np.float64]
Step = Callable[[Floats, int], None]


class Inverse:
    """A^-1 and W, as `newfound.solvers.recursive` carries them."""

    def __init__(self, d: int, T: int, penalty: float) -> None:
        self.inverse = np.asfortranarray(np.eye(d) / penalty)
        self.weights = np.zeros((d, T), order="F")

    def step(self, x: Floats, label: int) -> None:
        gain = blas.dsymv(1.0, self.inverse, x, lower=1)
        scale = 1 / (1 + x @ gain)
        error = -(x @ self.weights)
        error[label] += 1
        blas.dsyr(-scale, gain, a=self.inverse, lower=1, overwrite_a=1)
        blas.dger(scale, gain, error, a=self.weights, overwrite_a=1)


class Factor:
    """R with R'R = A, updated by one row at a time through an orthogonal transformation."""

    def __init__(self, d: int, T: int, penalty: float) -> None:
        self.factor = np.asfortranarray(np.eye(d) * np.sqrt(penalty))
        self.weights = np.zeros((d, T), order="F")
        self.cross = np.zeros((d, T), order="F")

    def update(self, x: Floats) -> None:
        block = min(32, len(x))
        row = np.asfortranarray(x[None, :])
        self.factor, *_ = lapack.dtpqrt(0, block, self.factor, row, overwrite_a=1)

    def step_carried(self, x: Floats, label: int) -> None:
        self.update(x)
        gain = blas.dtrsv(self.factor, blas.dtrsv(self.factor, x, trans=1))
        error = -(x @ self.weights)
        error[label] += 1
        blas.dger(1.0, gain, error, a=self.weights, overwrite_a=1)

    def step_paper(self, x: Floats, label: int) -> None:
        self.update(x)
        self.cross[:, label] += x
        half, _ = lapack.dtrtrs(self.factor, self.cross, trans=1)
        self.weights, _ = lapack.dtrtrs(self.factor, half)


def contestants(d: int, T: int, penalty: float) -> dict[str, tuple[Any, Step]]:
    inverse, carried, paper = Inverse(d, T, penalty), Factor(d, T, penalty), Factor(d, T, penalty)
    return {
        "inverse": (inverse, inverse.step),
        "factor, carried W": (carried, carried.step_carried),
        "factor, paper": (paper, paper.step_paper),
    }


def measure_times(d: int, T: int, steps: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(steps, d)), rng.integers(T, size=steps)
    turns = {"copy": copy_of_matrix(d)}
    for name, (_, step) in contestants(d, T, 1.0).items():
        turns[name] = _turn(step, X, y)
    seconds = dict(zip(turns, time_in_turns(range(steps), *turns.values()), strict=True))
    copy = median(seconds["copy"])
    return [
        {
            "solver": name,
            "d": d,
            "T": T,
            "median_ms": 1e3 * median(times),
            "largest_ms": 1e3 * max(times[5:]),
            "copies": median(times) / copy,
        }
        for name, times in seconds.items()
    ]


def _turn(step: Step, X: Floats, y: NDArray[np.int64]) -> Turn:
    return lambda i: partial(step, X[i], int(y[i]))


def measure_errors(condition: float, rows: int, d: int = 64, T: int = 10) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    penalty = 1e-3
    left, right = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    scales = np.logspace(0, -np.log10(condition) / 2, d)
    X = rng.normal(size=(rows, d)) @ ((left * scales) @ right) * np.sqrt(penalty * condition / rows)
    y = rng.integers(0, T, rows)
    targets = np.eye(T)[y]
    gram = oracles.extended_sum(X, X) + oracles.Extended(penalty) * np.eye(d)
    cross = oracles.extended_sum(X, targets)
    exact = oracles.extended_solve(gram, cross)

    def error(weights: Floats) -> float:
        off = (weights - exact).astype(np.float64)
        return float(np.linalg.norm(off) / np.linalg.norm(exact.astype(np.float64)))

    solved = cho_solve(cho_factor(gram.astype(np.float64)), cross.astype(np.float64))
    found = {"one Cholesky solve": error(solved)}
    for name, (player, step) in contestants(d, T, penalty).items():
        for x, label in zip(X, y, strict=True):
            step(x, label)
        found[name] = error(player.weights)
    return [
        {"solver": name, "condition": condition, "rows": rows, "error": value}
        for name, value in found.items()
    ]


def measure() -> Iterator[Measurement]:
    for d, steps in ((256, 400), (1024, 200), (2048, 60)):
        for r in measure_times(d, 28, steps):
            note = f"{r['median_ms']:.3f} ms, at most {r['largest_ms']:.2f}"
            yield Measurement(f"{r['solver']}, d = {d}, T = 28, in copies", r["copies"], note=note)
    for condition in (1e4, 1e8, 1e12):
        for r in measure_errors(condition, 20_000):
            what = f"{r['solver']}, error after 20,000 rows, condition {condition:.0e}"
            yield Measurement(what, r["error"], "")


if __name__ == "__main__":
    show(TITLE, measure())
