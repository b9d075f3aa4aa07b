"""The paper's Figure 1: optimal boundaries, and what is learned from samples."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats
from newfound.estimators.classifier import IncrementalRidgeClassifier
from newfound.paper.methods import METHODS

MEANS = np.array([[-1.0, 0.0], [1.0, 0.0]])
DEVIATIONS = np.array([1.0, 0.3])
PRIORS = (0.5, 0.7, 0.9)
# Samples to learn from, random Fourier features, and the length over which these vary.
SAMPLES, FEATURES, LENGTH = 20_000, 500, 0.7
FULLY_RECODED = METHODS | {"recoded": {"recoding": 1.0}}
Models = dict[str, IncrementalRidgeClassifier]  # by method


class Circle(NamedTuple):
    """Where two classes are equally likely; inside, it is the second."""

    centre: tuple[float, float]
    radius: float


def boundary(prior: float, rebalanced: bool) -> Circle:
    """Return the optimal boundary between the two classes, exactly.

    With isotropic Gaussians of different deviations, points where prior times density are equal
    form a circle. Rebalancing leaves the priors out.

    Parameters
    ----------
    prior : float
        Of the first class, the wide one.
    rebalanced : bool

    Examples
    --------
    >>> boundary(0.5, rebalanced=False) == boundary(0.9, rebalanced=True)
    True
    """
    (a, b), (wide, narrow) = MEANS[:, 0], DEVIATIONS
    odds = 0.0 if rebalanced else np.log(prior / (1 - prior))
    # |x - b|^2 / (2 narrow^2) - |x - a|^2 / (2 wide^2) = 2 log(wide / narrow) - odds, on which
    # the second class is as likely as the first.
    p, q = 1 / (2 * narrow**2), 1 / (2 * wide**2)
    centre = (p * b - q * a) / (p - q)
    right = 2 * np.log(wide / narrow) - odds
    square = centre**2 - (p * b**2 - q * a**2 - right) / (p - q)
    return Circle((float(centre), 0.0), float(np.sqrt(max(square, 0.0))))


def is_second(points: Floats, circle: Circle) -> NDArray[np.bool_]:
    """Tell which points, shape (m, 2), the optimal rule gives to the second class."""
    inside: NDArray[np.bool_] = np.linalg.norm(points - circle.centre, axis=1) < circle.radius
    return inside


def sample(n: int, prior: float, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    """Draw points, shape (n, 2), and their classes, 0 with this probability, else 1."""
    y = (rng.random(n) >= prior).astype(np.int64)
    return MEANS[y] + DEVIATIONS[y, None] * rng.normal(size=(n, 2)), y


def fourier(points: Floats, seed: int) -> Floats:
    """Return random Fourier features, shape (m, FEATURES), of points (m, 2)."""
    rng = np.random.default_rng(seed)
    waves = rng.normal(scale=1 / LENGTH, size=(2, FEATURES))
    shifts = rng.uniform(0, 2 * np.pi, FEATURES)
    rows: Floats = np.sqrt(2 / FEATURES) * np.cos(points @ waves + shifts)
    return rows


def learn(prior: float, seed: int) -> Models:
    """Return a model that each method learns from samples."""
    X, y = sample(SAMPLES, prior, np.random.default_rng((seed, round(100 * prior))))
    rows = fourier(X, seed)
    return {
        name: IncrementalRidgeClassifier(penalty=1e-2, **parameters).fit(rows, y)
        for name, parameters in FULLY_RECODED.items()
    }


def agreement(models: Models, prior: float, seed: int) -> Any:
    """Return how often each method gives the answer of the two optimal rules, in percent.

    On points of both classes in equal numbers.
    """
    X, _ = sample(SAMPLES, 0.5, np.random.default_rng((seed, 7)))
    rows = fourier(X, seed)
    rules = {"standard": boundary(prior, False), "rebalanced": boundary(prior, True)}
    return {
        name: {
            rule: round(100 * float(np.mean((model.predict(rows) == 1) == is_second(X, circle))), 2)
            for rule, circle in rules.items()
        }
        for name, model in models.items()
    }
