"""A step's work does not grow: counted in calls and rows, not in seconds."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier
from newfound.solvers import cholesky, state
from newfound.sums.strips import block_rows
from newfound.sums.sums import Sums
from newfound.sums.triangles import Triangles

WIDTH, CLASSES = 48, 6


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count every call of a routine that takes O(d^3) on a d x d matrix."""
    counted: Counter[str] = Counter()

    def count(name: str, routine: Any) -> Any:
        def counting(matrix: Any, *arguments: Any, **options: Any) -> Any:
            counted[name] += len(matrix) >= WIDTH
            return routine(matrix, *arguments, **options)

        return counting

    for module, name in ((cholesky, "factorise_block"), (state, "invert_in_stages")):
        monkeypatch.setattr(module, name, count(name, getattr(module, name)))
    monkeypatch.setattr(np.linalg, "eigh", count("eigh", np.linalg.eigh))
    return counted


def stream(model: Any, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(CLASSES, WIDTH))
    for _ in range(rows):
        label = int(rng.integers(CLASSES))
        row = rng.normal(size=(1, WIDTH)) + centres[label]
        model.partial_fit(row, [label])
        model.predict(row)


@pytest.mark.slow
def test_single_rows_never_factorise(calls: Counter[str]) -> None:
    model = IncrementalRidgeClassifier()
    stream(model, 3000, seed=0)
    assert sum(calls.values()) == 0


def test_after_a_batch_single_rows_factorise_once(calls: Counter[str]) -> None:
    rng = np.random.default_rng(1)
    model = IncrementalRidgeClassifier()
    model.fit(rng.normal(size=(500, WIDTH)), rng.integers(0, CLASSES, 500))
    stream(model, 1000, seed=2)
    assert calls == {"factorise_block": 1, "invert_in_stages": 1}


def test_rebalanced_questions_factorise_once_each(calls: Counter[str]) -> None:
    model = IncrementalRidgeClassifier(class_weight="balanced")
    stream(model, 200, seed=3)
    assert calls["factorise_block"] == 200
    model.predict(np.zeros((1, WIDTH)))
    assert calls["factorise_block"] == 200


def test_the_rows_kept_are_bounded() -> None:
    rng, sums = np.random.default_rng(0), Sums(WIDTH)
    for label in rng.integers(0, CLASSES, 1000):
        sums.add(rng.normal(size=(1, WIDTH)), *sums.locate(np.array([label])))
        (gram,) = sums.grams
        assert gram.buffer.capacity <= block_rows(WIDTH)


def test_passes_over_the_sums_are_one_in_a_block_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    flushes: list[int] = []
    original = Triangles.prepare

    def counting(self: Triangles, X: Any) -> Any:
        flushes.append(X.size)
        return original(self, X)

    monkeypatch.setattr(Triangles, "prepare", counting)
    stream(IncrementalRidgeClassifier(), 50 * block_rows(WIDTH) + 1, seed=0)
    assert flushes == [block_rows(WIDTH)] * 50
