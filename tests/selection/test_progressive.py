"""Tests before learning: who is tested, and when."""

from typing import Any

import numpy as np

from newfound import IncrementalRidgeClassifierCV
from tests.streams import blobs


def test_a_class_announced_is_not_tested_before_its_first_example() -> None:
    X, y = blobs(60)
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


def counted(model: Any) -> dict[Any, float]:
    kept = model.to_state().kept_by("selection")
    return dict(zip(model.sums_.labels.tolist(), kept["tests"].tolist(), strict=True))


def test_what_was_counted_of_a_class_goes_where_the_class_goes() -> None:
    X, y = blobs(90)
    model = IncrementalRidgeClassifierCV(validation="progressive", rule="paper", class_weight={})
    for part in np.array_split(np.arange(90), 9):
        model.partial_fit(X[part], y[part])
    before = counted(model)
    model.rename_class(0, 7)
    assert counted(model) == {7: before[0], 1: before[1], 2: before[2]}
    model.rename_class(7, 1)
    assert counted(model) == {1: before[0] + before[1], 2: before[2]}
    model.forget_class(1)
    assert counted(model) == {2: before[2]}
