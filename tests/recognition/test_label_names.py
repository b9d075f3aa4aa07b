"""Classes as the command line names them: accents, numbers, booleans."""

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import load
from newfound.estimators.loading import as_estimator
from newfound.learner.learner import CHOOSING, Learner
from newfound.recognition.recogniser import Recogniser
from tests.command_line import newfound, write_rows

COMPOSED = "caf\u00e9"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def made(labels: list[Any]) -> Path:
    """Make a model as another program might, whatever its labels are."""
    rows = np.random.default_rng(0).normal(size=(len(labels), 4))
    learner = Learner(CHOOSING._replace(class_weight={}))
    learner.learn(rows, labels, any_label=True)
    as_estimator(learner).save("m")
    return Path("m")


def labels(path: Path) -> list[Any]:
    return sorted(load(path).classes_.tolist())


@pytest.mark.parametrize("typed", [COMPOSED, DECOMPOSED])
def test_a_class_is_named_in_either_way_of_writing_accents(typed: str) -> None:
    model = made(["a", DECOMPOSED, "b"])
    write_rows(Path("more.npz"), ["x"] * 3, width=4)
    assert newfound("teach", model, "more.npz", "--as", typed).code == 0
    assert labels(model) == ["a", "b", DECOMPOSED]
    assert newfound("rename", model, typed, "tea").code == 0
    assert labels(model) == ["a", "b", "tea"]
    model = made(["a", DECOMPOSED, "b"])
    assert newfound("forget-class", model, typed).code == 0
    assert labels(model) == ["a", "b"]


def test_a_class_that_is_written_exactly_so_is_meant() -> None:
    model = made(["a", DECOMPOSED, COMPOSED])
    assert newfound("rename", model, DECOMPOSED, "other").code == 0
    assert labels(model) == ["a", COMPOSED, "other"]


def test_accents_can_be_written_anew() -> None:
    model = made(["a", DECOMPOSED])
    assert newfound("rename", model, DECOMPOSED, COMPOSED).code == 0
    assert labels(model) == ["a", COMPOSED]


def test_a_name_that_could_mean_two_classes_is_refused_in_words() -> None:
    one, two = "a\u0323\u0307", "a\u0307\u0323"  # dots below and above, put on in either order
    model = made([one, two])
    done = newfound("forget-class", model, unicodedata.normalize("NFC", one))
    assert done.code == 1
    assert "could mean 2 classes that differ in how accents are written" in done.err
    assert newfound("forget-class", model, two).code == 0
    assert labels(model) == [one]


@pytest.mark.slow
@pytest.mark.parametrize("as_text", ["{:.0f}", "{:.1f}"])
@pytest.mark.parametrize("kind", [int, float])
def test_models_whose_labels_are_numbers_are_changed_by_their_names(
    kind: Any, as_text: str
) -> None:
    model = made([kind(1), kind(2), kind(5)])
    write_rows(Path("more.npz"), ["x"] * 3, width=4)
    for label in (5, 7, -3):
        assert newfound("teach", model, "more.npz", "--as", as_text.format(label)).code == 0
    assert labels(model) == [-3, 1, 2, 5, 7]
    assert newfound("rename", model, as_text.format(1), "--", as_text.format(-4)).code == 0
    assert newfound("forget-class", model, as_text.format(2)).code == 0
    assert newfound("forget", model, "more.npz", "--as", as_text.format(7)).code == 0
    assert labels(model) == [-4, -3, 5]
    assert {type(label) for label in labels(model)} == {kind}
    done = newfound("evaluate", model, "more.npz", "--as", as_text.format(5), "--json")
    assert '"never_taught": []' in done.out


def test_models_whose_labels_are_booleans_are_changed_by_their_names() -> None:
    model = made([True, True])
    write_rows(Path("more.npz"), ["x"] * 3, width=4)
    assert newfound("teach", model, "more.npz", "--as", "false").code == 0
    assert labels(model) == [False, True]
    assert "'mug' is not one of these" in newfound("rename", model, "True", "mug").err
    assert newfound("forget-class", model, "True").code == 0
    assert newfound("rename", model, "False", "TRUE").code == 0
    assert labels(model) == [True]


@pytest.mark.parametrize("odd", ["--3", "mug", "5.5", "nan", "1e3", "9" * 900, "²"])
def test_what_is_no_number_is_refused_in_words_that_help(odd: str) -> None:
    for first in (1, 1.0):
        model = made([first, 2])
        before = model.read_bytes()
        done = newfound("rename", model, "1", "--", odd)
        assert done.code == 1
        assert f"this model's labels are numbers, but {odd!r} is not one of these" in done.err
        assert model.read_bytes() == before


def test_classes_are_looked_up_once_and_not_for_every_row() -> None:
    model = made([f"class {number}" for number in range(500)])
    recogniser = Recogniser(model)
    sums = recogniser.model.learner_.to_state().sums
    taught = sums.labels

    class Counted(np.ndarray):
        asked = 0

        def tolist(self) -> Any:
            Counted.asked += len(self)
            return super().tolist()

    sums.labels = taught.view(Counted)
    for number in range(500):
        assert recogniser.label(f"class {number}") == f"class {number}"
    assert Counted.asked == 500
    recogniser.rename("class 7", "new")
    assert (recogniser.label("new"), recogniser.label("class 7")) == ("new", "class 7")
    assert recogniser.model.classes_.tolist().count("class 7") == 0
    recogniser.forget_class("class 8")
    recogniser.model.learner_.rename_class("class 9", DECOMPOSED, any_label=True)
    assert recogniser.label(COMPOSED) == DECOMPOSED
