"""One rule for labels: what is new to a model is seen as it is written, through every door."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, InputError, load
from newfound.sums import Sums
from newfound.sums.names import check_names, composed
from tests.old_labels import FIT, STORED, UNFIT, with_label

X = np.random.default_rng(1).normal(size=(4, 3))
MODEL = IncrementalRidgeClassifier


def river(label: str) -> None:
    pytest.importorskip("river")
    from newfound.river import RiverClassifier

    RiverClassifier().learn_one({"height": 1.0}, label)


def dask(label: str) -> None:
    array = pytest.importorskip("dask.array")
    y = np.array(["mug", "mug", label, "mug"])
    MODEL().partial_fit(array.from_array(X, chunks=(2, 3)), array.from_array(y, chunks=2))


DOORS: dict[str, Callable[[str], object]] = {
    "fit": lambda label: MODEL().fit(X, ["mug", "mug", label, "mug"]),
    "array": lambda label: MODEL().fit(X, np.array(["mug", "mug", label, "mug"])),
    "partial_fit": lambda label: MODEL().fit(X, list("abab")).partial_fit(X[:1], [label]),
    "store": lambda label: MODEL().store(X[:1], [label]),
    "classes": lambda label: MODEL().partial_fit(X[:1], ["mug"], classes=["mug", label]),
    "rename": lambda label: MODEL().fit(X, list("abab")).rename_class("a", label),
    "sums": lambda label: Sums.of(X[:1], [label]),
    "river": river,
    "dask": dask,
}


@pytest.mark.parametrize("label", UNFIT, ids=ascii)
def test_a_label_that_is_not_seen_as_it_is_written_is_refused(label: str) -> None:
    with pytest.raises(InputError, match=UNFIT[label]) as refused:
        check_names(["mug", 7, label])
    assert str(refused.value).isascii()  # or the error would hide what it is about


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("label", ["", "mug ", "mug\u200b", "a\x07b", "cafe\u0301"], ids=ascii)
def test_every_door_of_python_refuses_it(label: str, door: str) -> None:
    with pytest.raises(InputError, match=UNFIT.get(label, r"U\+0007")):
        DOORS[door](label)


@pytest.mark.parametrize("door", DOORS)
def test_labels_that_are_seen_are_taken_by_every_door(door: str) -> None:
    for label in FIT:
        DOORS[door](label)
    check_names([*FIT, 7, -1.0, True])


def test_who_is_refused_finds_the_model_as_it_was() -> None:
    model = MODEL().fit(X, list("abab"))
    before = model.coef_
    with pytest.raises(InputError):
        model.partial_fit(X, ["a", "b", "c", "c "])
    with pytest.raises(InputError):
        model.rename_class("a", "c ")
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.coef_, before)


@pytest.mark.parametrize("label", STORED, ids=ascii)
def test_what_a_file_has_can_be_asked_renamed_and_forgotten(label: str, tmp_path: Path) -> None:
    with_label(label, tmp_path / "old")
    model = load(tmp_path / "old")
    assert sorted(model.classes_.tolist()) == sorted(["a", label])
    assert label in model.predict(np.random.default_rng(0).normal(size=(6, 4)))
    model.partial_fit([[1.0] * 4], [label]).forget([[1.0] * 4], [label])  # known, and so not new
    model.rename_class(label, "good")
    assert model.classes_.tolist() == ["a", "good"]
    with pytest.raises(InputError, match=UNFIT[label]):
        model.rename_class("good", label)
    other = load(tmp_path / "old").forget_class(label)
    assert other.classes_.tolist() == ["a"]
    with pytest.raises(InputError, match=UNFIT[label]):
        other.partial_fit([[1.0] * 4], [label])


def test_models_that_have_such_labels_can_be_merged() -> None:
    both = MODEL(class_weight={}).fit(np.eye(4), list("abab")).merge(with_label("mug "))
    assert both.classes_.tolist() == ["a", "b", "mug "]


def test_a_label_that_is_known_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Any] = []
    monkeypatch.setattr("newfound.learner.learner.check_names", checked.extend)
    model = MODEL().partial_fit(X, ["a", "b", "a", "b"])
    for row, label in zip(X, "abca", strict=True):
        model.partial_fit([row], [label])
    assert checked == ["a", "b", "c"]


def test_what_is_typed_is_composed() -> None:
    assert composed("cafe\u0301") == "caf\u00e9"
    assert [composed(label) for label in FIT] == FIT
