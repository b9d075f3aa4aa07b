"""A recogniser with a layer: what it knows and forgets, also with a journal."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from newfound import IncrementalClassifier, InputError, Recogniser, load
from newfound.recognition.beginning import Beginning
from newfound.recognition.editor import Editor
from newfound.recognition.knowledge import Knowledge, drop_layer
from newfound.recognition.sources import NewExample
from tests.recognition.edits import assert_replays, digest

RNG = np.random.default_rng(0)
N = 130
RINGS = ["inner", "outer"] * (N // 2)
ANGLES = RNG.uniform(0, 2 * np.pi, N)
ROWS = (1.0 + np.arange(N) % 2)[:, None] * np.column_stack([np.sin(ANGLES), np.cos(ANGLES)])
MARKS = [digest(number) for number in range(N)]


def taught(rows: slice = slice(None), layer: bool = True, class_sums: bool = True) -> Recogniser:
    recogniser = Recogniser(extractor=None, layer=layer, class_sums=class_sums)
    recogniser.teach_vectors(ROWS[rows], RINGS[rows], MARKS[rows])
    return recogniser


def layer_in(recogniser: Recogniser) -> Any:
    return recogniser.knowledge.learner.engine.memory.layer


def has_layer(recogniser: Recogniser) -> bool:
    """Whether it has a layer, or will have one."""
    return recogniser.knowledge.learner.settings.layer is not None


def accuracy(recogniser: Recogniser, X: Any = ROWS, y: Any = RINGS) -> float:
    answers = recogniser.look_at_vectors(X)
    return float(np.mean([answer.label for answer in answers] == np.asarray(y)))


def assert_alike(one: Knowledge, other: Knowledge) -> None:
    """Both have the same layer and, once parameters are chosen, the same scores, to rounding."""
    assert one.counts == other.counts
    assert one.learner.engine.memory.layer == other.learner.engine.memory.layer
    copies = one.copy(), other.copy()
    for each in copies:
        each.reconsider()
    ours, theirs = (each.learner.predict(ROWS).scores for each in copies)
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_digits_are_known_better_by_pixels_behind_a_layer(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    found = []
    for layer in (False, True):
        recogniser = Recogniser(tmp_path / f"{layer}", None, layer=layer)
        recogniser.teach_vectors(X[:400], y[:400])
        found.append(accuracy(recogniser, X[400:], y[400:]))
        recogniser.save()
    assert found[1] > found[0] + 0.05
    model = load(tmp_path / "True")
    assert type(model) is IncrementalClassifier
    assert model.layer_advantage_ > 2
    assert model.score(X[400:], y[400:]) == found[1]
    assert type(load(tmp_path / "False")) is not IncrementalClassifier


def test_there_is_no_layer_unless_somebody_asks_for_one(tmp_path: Path) -> None:
    editor = Editor(tmp_path / "m", None)
    for recogniser in (Recogniser(extractor=None), editor.recogniser):
        recogniser.teach_vectors(ROWS, RINGS, MARKS)
        assert not has_layer(recogniser)
        assert recogniser.holds_class_sums
        assert recogniser.model.get_params()["layer"] is None
        assert accuracy(recogniser) < 0.8
    editor.journal.close()


@pytest.mark.parametrize("class_sums", [True, False])
def test_what_is_forgotten_behind_a_layer_was_never_taught(class_sums: bool) -> None:
    recogniser = taught(class_sums=class_sums)
    assert recogniser.holds_class_sums == class_sums
    assert accuracy(recogniser) == 1
    recogniser.forget_vectors(ROWS[110:], RINGS[110:], MARKS[110:])
    assert_alike(recogniser.knowledge, taught(slice(110), class_sums=class_sums).knowledge)
    recogniser.rename("inner", "core")
    assert recogniser.counts == {"core": 55, "outer": 55}
    if not class_sums:
        with pytest.raises(InputError, match="does not hold its sums per class"):
            recogniser.forget_class("core")
        return
    recogniser.forget_class("core")
    assert recogniser.counts == {"outer": 55}


def test_without_its_layer_a_recogniser_knows_what_it_would_without() -> None:
    dropped, never = taught(), taught(layer=False)
    _ = dropped.model  # whose parameters follow
    drop_layer(dropped.knowledge)
    assert not has_layer(dropped)
    assert_alike(dropped.knowledge, never.knowledge)
    assert dropped.model.get_params()["layer"] is None
    other = taught(slice(20))
    dropped.merge(other)
    assert dropped.counts == {"inner": 75, "outer": 75}


def test_recognisers_that_began_as_one_are_merged_and_others_are_not(tmp_path: Path) -> None:
    taught(slice(100)).save(tmp_path / "m")
    here, there = (Recogniser(tmp_path / "m", None) for _ in range(2))
    here.teach_vectors(ROWS[100:], RINGS[100:], MARKS[100:])
    assert there.merge(here) == 100
    assert layer_in(there) == layer_in(here)
    with pytest.raises(InputError, match="another layer"):
        here.merge(taught(slice(20, None)))


# With a journal.


@pytest.fixture
def rings(tmp_path: Path) -> Iterator[Editor]:
    """An editor that was taught 103 examples, one by one; with the hundredth came the layer."""
    editor = Editor(tmp_path / "m", None, beginning=Beginning(layer=True))
    for number in range(103):
        teach_one(editor, number)
        assert (layer_in(editor.recogniser) is not None) == (number >= 99)
    yield editor
    editor.journal.close()


def teach_one(editor: Editor, number: int) -> None:
    editor.teach_new(NewExample(ROWS[number], MARKS[number]), RINGS[number])


def again(editor: Editor, *, without_file: bool = False) -> Editor:
    """Open it once more, as if it had been killed, with the same journal."""
    editor.journal.close()
    if without_file:
        editor.path.unlink(missing_ok=True)
    return Editor(editor.path, None)


@pytest.mark.slow
def test_examples_that_come_one_by_one_make_the_layer_of_a_lesson(rings: Editor) -> None:
    assert_alike(rings.knowledge, taught(slice(103)).knowledge)
    assert_replays(rings)
    reopened = again(rings)
    assert_alike(reopened.knowledge, rings.knowledge)
    assert reopened.journal.beginning == Beginning(layer=True)
    reopened.close()


@pytest.mark.slow
def test_undo_goes_back_before_the_layer_came_and_forth_again(rings: Editor) -> None:
    layer = layer_in(rings.recogniser)
    for _ in range(6):
        rings.history.undo()
    assert sum(rings.recogniser.counts.values()) == 97
    assert_replays(rings)
    assert (layer_in(rings.recogniser), layer_in(taught(slice(97)))) == (layer, None)
    for _ in range(6):
        rings.history.redo()
    assert layer_in(rings.recogniser) == layer
    assert_alike(rings.knowledge, taught(slice(103)).knowledge)
    assert_replays(rings)


@pytest.mark.slow
def test_every_edit_behind_a_layer_replays_to_the_same_model(rings: Editor) -> None:
    rings.delete([1, 2, 103])
    rings.move([4], "inner")
    rings.rename("outer", "rim")
    teach_one(rings, 103)
    rings.forget_class("inner")
    assert_replays(rings)
    rings.history.undo()
    rings.rename("rim", "inner")  # which takes it in
    rings.history.undo()
    assert_replays(rings)
    counts = dict(rings.recogniser.counts)
    rings.forget_for_good()
    reopened = again(rings, without_file=True)
    assert reopened.recogniser.counts == counts
    assert_alike(reopened.knowledge, rings.knowledge)
    for label in list(counts):
        reopened.forget_class(label)
    teach_one(reopened, 0)
    assert has_layer(reopened.recogniser)
    assert_replays(reopened)
    reopened.close()
