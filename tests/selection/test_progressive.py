"""Tests before learning: who is tested, and when."""

from typing import Any

import numpy as np

from newfound import IncrementalRidgeClassifierCV


def stream(n: int = 600, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 4)) + 2 * np.eye(3, 4)[y], y


def test_a_class_announced_is_not_tested_before_its_first_example() -> None:
    X, y = stream(60)
    models = [
        IncrementalRidgeClassifierCV(validation="progressive", rule="paper") for _ in range(2)
    ]
    models[0].partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    models[1].partial_fit(X[:1], y[:1])
    for i in range(1, 60):
        for model in models:
            model.partial_fit(X[i : i + 1], y[i : i + 1])
    tested = [
        dict(
            zip(
                model.sums_.labels.tolist(),
                model.to_state().kept_by("selection")["tests"],
                strict=True,
            )
        )
        for model in models
    ]
    assert tested[0] == tested[1]
