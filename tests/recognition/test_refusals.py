"""What a recogniser refuses in words, and that a refusal changes nothing."""

import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import InputError, NotTaughtError, Recogniser, UnreadableImageError
from tests.answers import assert_same

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (20, 20), dtype=np.uint8)


@pytest.fixture
def taught() -> Recogniser:
    recogniser = Recogniser(extractor="pixels:size=4")
    for label in ("cup", "mug"):
        recogniser.teach(list(RNG.integers(0, 256, (4, 20, 20), dtype=np.uint8)), label)
    return recogniser


def state(recogniser: Recogniser, folder: Path) -> bytes:
    recogniser.save(folder / "state", refresh=False)
    return (folder / "state").read_bytes()


REFUSED: dict[str, Any] = {
    "no image": lambda it: it.teach(None, "cup"),
    "a number": lambda it: it.look(3),
    "a label that is a list": lambda it: it.teach(IMAGE, ["cup"]),
    "a class that is a list": lambda it: it.forget_class(["cup"]),
    "a new name that is a list": lambda it: it.rename("cup", ["mug"]),
    "an empty name": lambda it: it.teach("", "cup"),
    "a NUL": lambda it: it.teach("a\0b.png", "cup"),
    "no label": lambda it: it.teach(IMAGE),
    "an empty label": lambda it: it.teach_vectors(np.zeros((1, 16)), [""]),
    "NaN": lambda it: it.forget_vectors(np.full((1, 16), np.nan), ["cup"]),
    "NaN to learn": lambda it: it.teach_vectors(np.full((1, 16), np.nan), ["cup"]),
    "another width": lambda it: it.forget_vectors(np.zeros((1, 3)), ["cup"]),
    "too few labels": lambda it: it.forget_vectors(np.zeros((2, 16)), ["cup"]),
    "texts": lambda it: it.forget_vectors([["a"] * 16], ["cup"]),
    "ragged rows": lambda it: it.teach_vectors([[1.0], [1.0, 2.0]], ["cup", "cup"]),
    "digests of text": lambda it: it.teach_vectors(np.zeros((1, 16)), ["cup"], ["x" * 16]),
    "digests of nothing": lambda it: it.teach_vectors(np.zeros((1, 16)), ["cup"], [None]),
    "an image never taught": lambda it: it.forget(IMAGE, "cup"),
    "a vector never taught": lambda it: it.forget_vectors(np.zeros((1, 16)), ["cup"]),
    "no guesses": lambda it: it.look(IMAGE, top=0),
    "half a guess": lambda it: it.look(IMAGE, top=1.5),
    "a bound that is none": lambda it: it.look(IMAGE, unknown_above=float("nan")),
    "a bound that is no number": lambda it: it.look(IMAGE, unknown_above="0.5"),
    "a bound of its own beyond 1": lambda it: setattr(it, "unknown_above", 1.5),
    "no bound of its own": lambda it: setattr(it, "unknown_above", None),
    "a bound to evaluate with": lambda it: it.evaluate(IMAGE, "cup", unknown_above=-1),
    "a model": lambda it: it.merge(it.model),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    what: str, taught: Recogniser, tmp_path: Path
) -> None:
    before = state(taught, tmp_path)
    with pytest.raises((InputError, NotTaughtError, UnreadableImageError)):
        REFUSED[what](taught)
    assert state(taught, tmp_path) == before


def test_what_model_and_memory_do_not_both_know_is_not_forgotten(
    taught: Recogniser, tmp_path: Path
) -> None:
    """The model holds the numbers; as an image they have another digest than as numbers."""
    taught.teach(IMAGE, "cup")
    before = state(taught, tmp_path)
    with pytest.raises(NotTaughtError, match="was not taught as cup"):
        taught.forget_vectors(taught.extractor([IMAGE]), ["cup"])
    assert state(taught, tmp_path) == before


def test_labels_are_checked_before_the_first_block_is_learned(tmp_path: Path) -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(RNG.normal(size=(2, 16)), [1, 2])
    labels = np.array(["1"] * 17 + ["mug"] * 3)
    np.savez(tmp_path / "mixed.npz", vectors=RNG.normal(size=(20, 16)), labels=labels)
    before = state(recogniser, tmp_path)
    with pytest.raises(InputError, match="labels"):
        recogniser.teach(tmp_path / "mixed.npz")
    assert state(recogniser, tmp_path) == before


def together(*calls: Any) -> None:
    barrier = threading.Barrier(len(calls))

    def run(call: Any) -> None:
        barrier.wait()
        call()

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("class_sums", [True, False])
def test_the_same_lesson_in_two_threads_is_learned_and_forgotten_once(class_sums: bool) -> None:
    images = list(RNG.integers(0, 256, (12, 20, 20), dtype=np.uint8))
    for _ in range(5):
        recogniser = Recogniser(extractor="pixels:size=4", class_sums=class_sums)
        recogniser.teach(images[:2], "b")
        together(*[partial(recogniser.teach, images, "a")] * 3)
        assert recogniser.counts == {"a": 12, "b": 2}
        together(*[partial(recogniser.forget, images[:3], "a")] * 3)
        assert recogniser.counts == {"a": 9, "b": 2}
        assert len(recogniser.taught) == 11


def test_a_new_start_takes_the_extractor_that_was_chosen(tmp_path: Path) -> None:
    small = Recogniser(tmp_path / "m", extractor="pixels:size=4")
    small.teach(IMAGE, "cup")
    small.save()
    again = Recogniser(tmp_path / "m")
    again.look(IMAGE)
    again.forget_class("cup")
    assert again.extractor.identity.name == "efficientnet-lite0"


def test_a_stack_of_images_is_several(taught: Recogniser) -> None:
    stack = RNG.integers(0, 256, (3, 20, 20, 3), dtype=np.uint8)
    assert len(taught.look(stack)) == 3
    assert len(taught.look(stack[:1])) == 1
    assert_same([taught.look(stack[0])], taught.look(stack)[:1])


def test_classes_are_named_as_people_write_them(taught: Recogniser) -> None:
    taught.teach(IMAGE, "caf\u00e9")
    taught.rename("cafe\u0301", "bar")
    taught.teach(IMAGE[::-1], "caf\u00e9")
    taught.forget_class("cafe\u0301")
    assert taught.classes == ["bar", "cup", "mug"]


def test_a_network_may_be_named_by_its_path(tmp_path: Path) -> None:
    with pytest.raises((newfound.NewfoundError, OSError)):
        Recogniser(extractor=tmp_path / "none.onnx").look(IMAGE)
