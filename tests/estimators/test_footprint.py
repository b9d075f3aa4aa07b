"""Memory does not depend on how much was seen."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

pytestmark = pytest.mark.slow

WIDTH, CLASSES = 32, 5


def held_bytes(thing: Any, counted: set[int] | None = None) -> int:
    """Bytes of all arrays reachable from a model, each counted once."""
    counted = set() if counted is None else counted
    if id(thing) in counted:
        return 0
    counted.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if isinstance(thing, dict):
        thing = list(thing.values())
    elif hasattr(thing, "__dict__") and type(thing).__module__.startswith("newfound"):
        thing = list(vars(thing).values())
    if isinstance(thing, list | tuple):
        return sum(held_bytes(each, counted) for each in thing)
    return 0


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_state_after_a_million_rows_is_no_larger_than_after_ten_thousand(
    class_weight: Any, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    sizes = []
    for batches in (1, 99):
        for _ in range(batches):
            X = rng.normal(size=(10_000 - 200, WIDTH))
            model.partial_fit(X, rng.integers(0, CLASSES, len(X)))
            for _ in range(20):
                rows = rng.normal(size=(10, WIDTH))
                model.partial_fit(rows, rng.integers(0, CLASSES, 10))
        model.predict(X[:1])
        model.save(tmp_path / "model.newfound")
        sizes.append((held_bytes(model), (tmp_path / "model.newfound").stat().st_size))
    assert model.n_samples_seen_ == 1_000_000
    assert sizes[0] == sizes[1]
    expected = 2 * 8 * WIDTH**2 if class_weight is None else (CLASSES + 2) * 8 * WIDTH**2
    assert expected < sizes[0][0] < 6 * expected
    assert len(pickle.dumps(model)) < 2 * sizes[0][0]


def test_rows_one_at_a_time_hold_no_more_either() -> None:
    rng = np.random.default_rng(0)
    model = IncrementalRidgeClassifier()
    sizes = []
    for _ in range(3):
        for _ in range(1024):  # whole blocks of rows, so that as many wait each time
            model.partial_fit(rng.normal(size=(1, WIDTH)), [int(rng.integers(CLASSES))])
        sizes.append(held_bytes(model))
    assert sizes[0] == sizes[1] == sizes[2]


def test_choosing_holds_one_inverse_and_a_few_rows_more() -> None:
    """Beside the sums, and beside what a fixed penalty takes: copies of rows, and a table."""
    rng = np.random.default_rng(0)
    plain, choosing = IncrementalRidgeClassifier(), IncrementalRidgeClassifierCV(witnesses=10)
    sizes = []
    for n in (3000, 30_000):
        y = rng.integers(CLASSES, size=n)
        X = rng.normal(size=(n, WIDTH)) + np.eye(CLASSES, WIDTH)[y]
        for model in (plain, choosing):
            model.partial_fit(X, y).predict(X[:1])
        sizes.append(held_bytes(choosing.reconsider()) - held_bytes(plain))
        assert len(choosing.witnesses_[0]) == 10 * CLASSES
    assert 0 < sizes[0] - 8 * 10 * CLASSES * WIDTH < 2 * 8 * WIDTH**2
    assert sizes[1] <= 1.2 * sizes[0]  # a rung or two more in the table
