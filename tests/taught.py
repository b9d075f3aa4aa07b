"""Sums and a solver that are taught the same, in tests of solvers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.common.device import on_host
from newfound.solvers.base import solver_for
from newfound.solvers.recursive import RecursiveSolver
from newfound.solvers.settings import Settings
from newfound.sums.sums import Sums
from tests import oracles
from tests.devices import device


class Taught:
    """Sums and their solver, moved together as the estimator moves them."""

    solver: Any

    def __init__(self, width: int, penalty: float = 1.0, fit_intercept: bool = True) -> None:
        self.sums = Sums(width)
        self.held: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self.solver = RecursiveSolver(self.sums, penalty, fit_intercept)

    def learn(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        index, labels = self.sums.locate(y)
        self.solver.learn(X, index, labels)
        self.sums.add(X, index, labels)

    def learn_each(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        """Learn rows one by one."""
        for n in range(len(X)):
            self.learn(X[n : n + 1], y[n : n + 1])

    def forget(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        index, _ = self.sums.locate(y)
        remove = self.sums.prepare_removal(X, index)
        self.solver.forget(X, index)
        self.solver.remove_classes(remove())

    def slide(self, X: NDArray[Any], y: NDArray[Any], window: int) -> None:
        """Learn rows one by one, and forget as many as are more than a window, the oldest first."""
        for n in range(len(X)):
            self.learn(X[n : n + 1], y[n : n + 1])
            self.held.append((X[n : n + 1], y[n : n + 1]))
            if len(self.held) > window:
                self.forget(*self.held.pop(0))

    def assert_right(self, X: NDArray[Any], y: NDArray[Any], atol: float = 1e-12) -> None:
        """The solver answers as if it had been taught these rows and no others, all at once."""
        solver, targets = self.solver, oracles.one_hot(y, self.sums.labels)
        W, b = oracles.ridge(X, targets, solver.penalty, solver.fit_intercept)
        np.testing.assert_allclose(on_host(solver.weights), W, atol=atol)
        np.testing.assert_allclose(on_host(solver.intercept), b, atol=atol)


class TaughtThere(Taught):
    """The same on a device; rows are given as numpy's, and put there."""

    def __init__(
        self, place: str, width: int, penalty: float = 1.0, fit_intercept: bool = True
    ) -> None:
        super().__init__(width, penalty, fit_intercept)
        self.device = device(place)
        self.sums = Sums(width, device=self.device)
        settings = Settings(penalty, 0.0, None, fit_intercept)
        self.solver = solver_for(self.sums, settings, penalty)

    def learn(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        super().learn(self.device.put(X, double=False), y)

    def forget(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        super().forget(self.device.put(X, double=False), y)


def sample(rows: int, width: int, classes: int = 4) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows (n, d) around one, and labels that have nothing to do with them."""
    rng = np.random.default_rng(3)
    return rng.normal(size=(rows, width)) + 1, rng.integers(0, classes, rows)
