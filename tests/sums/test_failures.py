"""Whatever fails in the middle of a change leaves the sums whole."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier
from newfound.sums import cross, exact, triangles
from newfound.sums.gram import Gram

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


def state(model: IncrementalRidgeClassifier, folder: Path) -> bytes:
    model.save(folder / "state")
    return (folder / "state").read_bytes()


def test_a_merge_that_fails_changes_nothing(tmp_path: Path) -> None:
    model, other = (IncrementalRidgeClassifier().fit(X, Y) for _ in range(2))
    before = state(model, tmp_path)
    model.set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight"):
        model.merge(other)
    assert state(model.set_params(class_weight=None), tmp_path) == before


def test_a_failure_in_the_second_class_leaves_the_first_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier(class_weight="balanced").fit(X, Y)
    before = state(model, tmp_path)
    for method in ("prepare", "prepare_removal"):
        calls: list[Any] = []
        original = getattr(Gram, method)

        def fail_later(self: Gram, *rows: Any, original: Any = original, calls: Any = calls) -> Any:
            calls.append(rows)
            if len(calls) == 3:
                raise MemoryError
            return original(self, *rows)

        with monkeypatch.context() as patch:
            patch.setattr(Gram, method, fail_later)
            with pytest.raises(MemoryError):
                (model.partial_fit if method == "prepare" else model.forget)(X[:40], Y[:40])
        assert state(model, tmp_path) == before


def test_a_failure_while_flushing_leaves_the_sums_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    for i in range(32):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    flushed = model.learner_.to_state().sums.grams[0].flushed
    assert flushed is not None
    flushed.flushes = 4  # so that a strip of columns is due to be moved
    before = state(copy.deepcopy(model), tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    for where, what in ((triangles, "add_exactly"), (np, "tril"), (triangles, "workspace_for")):
        with monkeypatch.context() as patch:
            patch.setattr(where, what, fail)
            with pytest.raises(MemoryError):
                model.partial_fit(X[32:33], Y[32:33])
            with pytest.raises(MemoryError):
                model.partial_fit(X[32:82], Y[32:82])
            with pytest.raises(MemoryError):
                model.forget(X[100:117], Y[100:117])
        assert state(model, tmp_path) == before


def test_a_failure_while_two_classes_become_one_leaves_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier(class_weight="balanced").fit(X, Y)
    before = state(model, tmp_path)
    for failing in (1, 2, 3, 4):
        calls: list[Any] = []
        original = exact.add_exactly

        def fail_later(
            *parts: Any, calls: Any = calls, failing: int = failing, original: Any = original
        ) -> Any:
            calls.append(parts)
            if len(calls) == failing:
                raise MemoryError
            return original(*parts)

        with monkeypatch.context() as patch:
            patch.setattr(triangles, "add_exactly", fail_later)
            patch.setattr(cross, "add_exactly", fail_later)
            with pytest.raises(MemoryError):
                model.rename_class("a", "b")
        assert state(model, tmp_path) == before
