"""Labels that look alike to a machine, and labels that no array can hold."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))


def test_whole_numbers_that_no_float_can_tell_apart_are_refused() -> None:
    model = IncrementalRidgeClassifier().fit(X[:4], [2**53, 2**53 + 1] * 2)
    with pytest.raises(ValueError, match="no number type holds both int64 and float64"):
        model.partial_fit(X[4:5], [0.0])
    with pytest.raises(ValueError, match="beyond 64 bits"):
        model.fit(X[:3], [2**53 + 1, 1.0, 2**53])
    large = np.array([2**63 + 5, 2**63 + 6], dtype=np.uint64)
    with pytest.raises(ValueError, match="no number type holds both uint64 and int64"):
        IncrementalRidgeClassifier().fit(X[:2], large).partial_fit(X[2:3], [-1])


def test_true_is_not_one() -> None:
    model = IncrementalRidgeClassifier(class_weight={}).fit(X[:4], [1, 2] * 2)
    with pytest.raises(ValueError, match="no class True here"):
        model.forget_class(True)
    with pytest.raises(ValueError, match="True is not one of these"):
        model.forget(X[:1], [True])


def test_a_label_has_at_most_a_thousand_characters(tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier()
    for labels in (["a" * 1001], np.array(["a" * 1001]), np.array(["a" * 1001], dtype=object)):
        with pytest.raises(ValueError, match="label of 1001 characters; a label may have 1000"):
            model.fit([[1.0]], labels)
    model.fit([[1.0]], ["a" * 1000]).save(tmp_path / "long")
    with pytest.raises(ValueError, match="label may have 1000"):
        model.rename_class("a" * 1000, "b" * 1001)
    assert newfound.load(tmp_path / "long").classes_.tolist() == ["a" * 1000]
    wide = np.array(["a", "b"], dtype="<U5000")
    assert IncrementalRidgeClassifier().fit(np.eye(2), wide).classes_.dtype == "<U1"


@pytest.mark.parametrize(
    ("labels", "message"),
    [({"a", "b"}, "a set, which has no order"), (["a", "b\0"], "ends in NUL")],
)
def test_what_numpy_would_change_without_a_word_is_refused(labels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IncrementalRidgeClassifier().fit(np.eye(2), labels)
