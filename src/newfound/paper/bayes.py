"""The paper's Figure 1: optimal boundaries, and what is learned from samples."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Floats
from newfound.common.extras import imported_from
from newfound.common.files import write_whole
from newfound.estimators.classifier import IncrementalRidgeClassifier

MEANS = np.array([[-1.0, 0.0], [1.0, 0.0]])
DEVIATIONS = np.array([1.0, 0.3])
PRIORS = (0.5, 0.7, 0.9)
# Samples to learn from, random Fourier features, and the length over which these vary.
SAMPLES, FEATURES, LENGTH = 20_000, 500, 0.7
METHODS: dict[str, dict[str, Any]] = {
    "naive": {"recoding": 0.0},
    "rebalanced": {"class_weight": "balanced"},
    "recoded": {"recoding": 1.0},
}
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


def learned(prior: float, seed: int) -> Models:
    """Return what each method learns from samples."""
    X, y = sample(SAMPLES, prior, np.random.default_rng((seed, round(100 * prior))))
    rows = fourier(X, seed)
    return {
        name: IncrementalRidgeClassifier(penalty=1e-2, **parameters).fit(rows, y)
        for name, parameters in METHODS.items()
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


def reproduce_bayes(folder: Path, seed: int) -> tuple[list[dict[str, Any]], str | None]:
    """Learn for each prior, draw Figure 1 and write numbers and a page into a folder.

    Returns
    -------
    found : list of dict
        What was found for each prior.
    undrawn : str or None
        Why there is no figure, if there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    models = {prior: learned(prior, seed) for prior in PRIORS}
    found = [
        {
            "prior": prior,
            "standard": boundary(prior, False)._asdict(),
            "rebalanced": boundary(prior, True)._asdict(),
            "agreement": agreement(models[prior], prior, seed),
        }
        for prior in PRIORS
    ]
    write_whole(folder / "bayes.json", (json.dumps(found, indent=1) + "\n").encode())
    rows = "".join(
        f"| {each['prior']} | {name} | {agrees['standard']} | {agrees['rebalanced']} |\n"
        for each in found
        for name, agrees in each["agreement"].items()
    )
    picture, undrawn = "![Optimal and learned boundaries](figure1.png)\n\n", None
    try:
        _draw(models, seed, folder / "figure1.png")
    except ModuleNotFoundError as error:
        picture, undrawn = "", str(error)
    page = f"""# Figure 1: what imbalance does to the optimal boundary, and recoding about it

Two Gaussian classes, means (-1, 0) and (1, 0), deviations 1 and 0.3; the prior of the first
rises. The optimal boundaries are circles, computed exactly; those learned come from
{SAMPLES:,} samples through {FEATURES} random Fourier features. The paper shows the optimal ones
alone.

{picture}How often, in percent, a method answers as the optimal rule does, on points of both
classes alike:

| prior | learned | standard rule | rebalanced rule |
|---|---|---|---|
{rows}"""
    write_whole(folder / "report.md", page.encode())
    return found, undrawn


def _draw(
    models: dict[float, dict[str, IncrementalRidgeClassifier]], seed: int, path: Path
) -> None:
    with imported_from("plots"):
        from matplotlib.figure import Figure
        from matplotlib.patches import Circle as Patch

    colours = {"naive": "#c0392b", "rebalanced": "#7f8c8d", "recoded": "#2062a8"}
    across, up = np.meshgrid(np.linspace(-1.5, 2.6, 220), np.linspace(-1.6, 1.6, 180))
    rows = fourier(np.column_stack([across.ravel(), up.ravel()]), seed)
    figure = Figure(figsize=(11, 3.0), layout="constrained")
    for axis, (prior, learned_ones) in zip(figure.subplots(1, 3), models.items(), strict=True):
        X, y = sample(600, prior, np.random.default_rng(seed))
        axis.scatter(*X.T, s=3, c=np.where(y == 1, "#e1b12c", "#95a5a6"), alpha=0.5)
        for rebalanced, style in ((False, ":"), (True, "-")):
            circle = boundary(prior, rebalanced)
            axis.add_patch(
                Patch(circle.centre, circle.radius, fill=False, ls=style, lw=2.2, color="black")
            )
        for name, model in learned_ones.items():
            scores = model.decision_function(rows).reshape(across.shape)
            axis.contour(across, up, scores, levels=[0.0], colors=colours[name], linewidths=1.4)
        axis.set(xlim=(-1.5, 2.6), ylim=(-1.6, 1.6), aspect="equal", title=f"prior {prior}")
    for name, colour in colours.items():
        axis.plot([], [], color=colour, label=f"{name}, learned")
    axis.plot([], [], ":", color="black", label="optimal, standard")
    axis.plot([], [], "-", color="black", label="optimal, rebalanced")
    figure.legend(loc="outside right center", fontsize=8)
    figure.savefig(path, dpi=110)
