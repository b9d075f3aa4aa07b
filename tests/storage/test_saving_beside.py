"""A file is written beside the stream: nobody waits for it, and it is the state of one moment."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, Recogniser, load
from newfound.selection.validation import ValidationSet
from newfound.storage import format as file_format
from newfound.storage import model as models
from tests.background import PATIENCE, in_the_background, together
from tests.choices import selector_of

RNG = np.random.default_rng(0)
Y = np.array([f"class {n % 3}" for n in range(100)])
X = RNG.normal(size=(100, 6)) + np.eye(3, 6)[np.arange(100) % 3]

# What is taught, and how it is taught and asked.
KINDS: dict[str, Callable[[], Any]] = {
    "fixed": IncrementalRidgeClassifier,
    "choosing": IncrementalRidgeClassifierCV,
    "per class": lambda: IncrementalRidgeClassifierCV(class_weight={}),
    "recogniser": lambda: Recogniser(extractor=None),
}


def teach(it: Any, rows: slice) -> None:
    if isinstance(it, Recogniser):
        it.teach_vectors(X[rows], Y[rows].tolist(), at_once=True)
    else:
        it.partial_fit(X[rows], Y[rows])


def ask(it: Any) -> Any:
    if isinstance(it, Recogniser):
        return it.look_at_vectors(X[:5])
    return it.predict(X[:5])


def save(it: Any, path: Path) -> None:
    if isinstance(it, Recogniser):
        it.save(path, refresh=False)
    else:
        it.save(path)


class Gate:
    """A function that waits the first time it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            self.reached.set()
            assert self.open.wait(PATIENCE)
        return self.function(*args)


def gate(patch: pytest.MonkeyPatch, where: Any, name: str) -> Gate:
    made = Gate(getattr(where, name))
    patch.setattr(where, name, made)
    return made


# Fixed parameters have no selection to pack.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "where"),
    [(kind, "write_whole") for kind in KINDS]
    + [(kind, "pack_selector") for kind in KINDS if kind != "fixed"],
)
def test_others_teach_and_ask_while_a_file_is_made(
    kind: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    it = KINDS[kind]()
    teach(it, slice(0, 70))
    save(it, tmp_path / "before")
    closed = gate(monkeypatch, file_format if where == "write_whole" else models, where)
    with in_the_background(lambda: save(it, tmp_path / "m")):
        assert closed.reached.wait(PATIENCE)

        def others() -> None:
            teach(it, slice(70, 100))
            assert len(ask(it)) == 5

        together(others)
        assert not (tmp_path / "m").exists()
        closed.open.set()
    assert (tmp_path / "m").read_bytes() == (tmp_path / "before").read_bytes()
    save(it, tmp_path / "m")
    twin = KINDS[kind]()
    teach(twin, slice(0, 70))
    teach(twin, slice(70, 100))
    save(twin, tmp_path / "twin")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "twin").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fails", [False, True])
def test_of_two_who_save_at_once_the_last_to_begin_wins(
    kind: str, fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it fails. Whoever holds the model's lock meanwhile waits for nobody."""
    it = KINDS[kind]()
    teach(it, slice(0, 70))
    save(it, tmp_path / "early")
    closed = gate(monkeypatch, file_format, "write_whole")
    with in_the_background(lambda: save(it, tmp_path / "m")):
        assert closed.reached.wait(PATIENCE)
        teach(it, slice(70, 100))

        def later() -> None:
            with it.lock:
                if not fails:
                    save(it, tmp_path / "m")
                    return
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(file_format, "write_whole", full)
                    with pytest.raises(OSError, match="full"):
                        save(it, tmp_path / "m")

        together(later)
        closed.open.set()
    save(it, tmp_path / "late")
    expected = "early" if fails else "late"
    assert (tmp_path / "m").read_bytes() == (tmp_path / expected).read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"m", "early", "late"}


def full(*_: Any) -> None:
    raise OSError(28, "the disk is full")


def test_a_selection_that_is_due_is_made_on_the_copy(tmp_path: Path) -> None:
    """After a lesson in pieces nothing is derived yet, and saving leaves it so."""
    model = IncrementalRidgeClassifierCV().store(X, Y)
    twin = IncrementalRidgeClassifierCV().store(X, Y).reconsider()
    model.save(tmp_path / "m")
    twin.save(tmp_path / "twin")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "twin").read_bytes()
    np.testing.assert_array_equal(model.scores(X), twin.scores(X))


def test_a_selection_that_fails_while_it_is_finished_leaves_the_choice_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifierCV()
    model.partial_fit(X[:50], Y[:50])
    taught, selector = 50, selector_of(model.learner_.engine)
    while selector.pending is None or selector.pending.result is not None:
        model.partial_fit(X[taught : taught + 1], Y[taught : taught + 1])
        taught += 1
    chosen = model.penalty_, model.recoding_.tolist()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ValidationSet, "basis_in_stages", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert (model.penalty_, model.recoding_.tolist()) == chosen
    model.partial_fit(X[taught:], Y[taught:]).save(tmp_path / "m")
    assert load(tmp_path / "m").predict(X).tolist() == model.predict(X).tolist()


def test_a_selection_that_is_finished_for_a_file_counts_no_sooner() -> None:
    model, twin = IncrementalRidgeClassifierCV(), IncrementalRidgeClassifierCV()
    for n in range(100):
        model.partial_fit(X[n : n + 1], Y[n : n + 1]).learner_.finish_pending()
        twin.partial_fit(X[n : n + 1], Y[n : n + 1])
        assert model.penalty_ == twin.penalty_
        np.testing.assert_array_equal(model.recoding_, twin.recoding_)
