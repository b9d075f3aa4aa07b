"""Recognisers: a model and its memory of images keep step, and models know their extractor."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from newfound import (
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    ModelFileError,
    Recogniser,
    WrongExtractorError,
)
from newfound.features import Identity
from newfound.learner.learner import Learner
from newfound.recognition.taught import TaughtImages
from newfound.solvers.recursive import RecursiveSolver
from newfound.storage import format as file_format
from tests.answers import assert_same
from tests.oracles import seen_from_zero

ONE, OTHER = Identity("one", "aa"), Identity("one", "bb")


def rows(n: int, seed: int = 0, d: int = 6) -> Any:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def digests(n: int, start: int = 0) -> list[bytes]:
    return [number.to_bytes(16, "big") for number in range(start, start + n)]


def test_a_recogniser_refuses_vectors_of_another_extractor_and_stays_as_it_was() -> None:
    recogniser, X, y = taught(), rows(2, 9), ["class 0", "class 1"]
    assert recogniser.identity == ONE
    before, other = recogniser.look_at_vectors(X), Recogniser(extractor=None)
    other.teach_vectors(X, y, extractor=OTHER)
    acts: list[Callable[[], Any]] = [
        lambda: recogniser.teach_vectors(X, y, extractor=OTHER),
        lambda: recogniser.forget_vectors(X, y, extractor=OTHER),
        lambda: recogniser.look_at_vectors(X, extractor=OTHER),
        lambda: recogniser.merge(other),
    ]
    for act in acts:
        with pytest.raises(WrongExtractorError, match=r"taught vectors of one \(weights aa\).* bb"):
            act()
    assert recogniser.look_at_vectors(X) == before
    assert len(recogniser.taught) == recogniser.model.n_samples_seen_ == 60


def test_a_recogniser_learns_its_extractor_when_it_is_first_told(tmp_path: Path) -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(rows(4), ["a", "b"] * 2)
    assert recogniser.identity is None
    recogniser.teach_vectors(rows(2, 1), ["a", "b"], extractor=ONE)
    assert recogniser.identity == ONE
    recogniser.save(tmp_path / "m")
    assert Recogniser(tmp_path / "m").identity == ONE
    fresh = Recogniser(extractor=None)
    fresh.merge(recogniser)
    assert fresh.identity == ONE
    with pytest.raises(ValueError, match="NaN"):
        Recogniser().teach_vectors(np.full((1, 3), np.nan), ["a"], extractor=ONE)


def test_a_recogniser_that_has_forgotten_all_knows_no_extractor() -> None:
    recogniser, X = Recogniser(extractor=None), rows(2)
    recogniser.teach_vectors(X, ["a", "b"], extractor=ONE)
    recogniser.forget_vectors(X, ["a", "b"], extractor=ONE)
    assert (recogniser.identity, recogniser.classes, recogniser.counts) == (None, [], {})


def test_per_class_sums_without_weights_change_no_answer() -> None:
    X, y = rows(200, d=8), np.random.default_rng(1).choice(["a", "b", "c"], 200)
    plain = IncrementalRidgeClassifier().fit(X[:50], y[:50])
    held = IncrementalRidgeClassifier(class_weight={}).fit(X[:50], y[:50])
    for start in range(50, 200, 30):
        plain.partial_fit(X[start : start + 30], y[start : start + 30])
        held.partial_fit(X[start : start + 30], y[start : start + 30])
        plain.forget(X[start : start + 3], y[start : start + 3])
        held.forget(X[start : start + 3], y[start : start + 3])
        np.testing.assert_allclose(held.decision_function(X), plain.decision_function(X), atol=1e-5)
        np.testing.assert_allclose(held.novelty(X), plain.novelty(X), atol=1e-5)


def taught(n: int = 60, class_sums: bool = True) -> Recogniser:
    recogniser = Recogniser(class_sums=class_sums)
    labels = [f"class {number % 3}" for number in range(n)]
    for start in range(0, n, 16):
        part = slice(start, start + 16)
        recogniser.teach_vectors(rows(n)[part], labels[part], digests(n)[part], ONE)
    return recogniser


def test_saving_and_loading_gives_the_same_recogniser_and_the_same_bytes(tmp_path: Path) -> None:
    recogniser = taught()
    recogniser.refresh()
    recogniser.save(tmp_path / "one")
    again = Recogniser(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert again.taught.digests == recogniser.taught.digests
    X = rows(9, 5)
    assert_same(again.look_at_vectors(X, top=3), recogniser.look_at_vectors(X, top=3))


def test_putting_off_changes_nothing_that_is_learned(tmp_path: Path) -> None:
    recogniser = taught()
    X, y = rows(60), [f"class {number % 3}" for number in range(60)]
    model = IncrementalRidgeClassifierCV(class_weight={})
    for start in range(0, 60, 16):
        model.partial_fit(X[start : start + 16], y[start : start + 16])
    recogniser.refresh()
    model.reconsider()
    np.testing.assert_array_equal(recogniser.model.class_count_, model.class_count_)
    assert recogniser.model.penalty_ == model.penalty_
    np.testing.assert_allclose(
        recogniser.model.decision_function(X), model.decision_function(X), atol=1e-5
    )


def test_the_memory_follows_every_change() -> None:
    recogniser = taught()
    marks = digests(60)
    assert recogniser.taught.count("class 1", marks[1]) == 1
    recogniser.forget_vectors(rows(60)[[1, 2]], ["class 1", "class 2"], [marks[1], marks[2]])
    assert recogniser.taught.count("class 1", marks[1]) == 0
    assert len(recogniser.taught) == recogniser.model.n_samples_seen_ == 58
    recogniser.rename("class 1", "class 2")
    assert recogniser.taught.count("class 2", marks[4]) == 1
    assert len(recogniser.taught) == 58
    recogniser.rename("class 2", "class 2")
    assert len(recogniser.taught) == 58
    other = taught(30)
    assert recogniser.merge(other) == 19  # 10 of class 0; of class 2 all but the one forgotten
    assert len(recogniser.taught) == recogniser.model.n_samples_seen_ == 88
    recogniser.forget_class("class 0")
    assert set(recogniser.taught.digests) == {"class 1", "class 2"}
    assert len(recogniser.taught) == recogniser.model.n_samples_seen_


def test_forgetting_finds_what_is_kept_on_another_machine_too() -> None:
    # Up to d / 2 examples of a class are kept as they are, and some are held out besides.
    recogniser, X, y = Recogniser(), rows(60, d=64), [f"class {n % 3}" for n in range(60)]
    recogniser.teach_vectors(X, y, digests(60))
    nudged = np.nextafter(X, np.float32(np.inf))
    for place in range(60):
        recogniser.forget_vectors(nudged[[place]], [y[place]], [digests(60)[place]])
    assert not recogniser.is_taught
    assert len(recogniser.taught) == 0


def test_forgetting_allows_for_last_bits_in_sums_too() -> None:
    recogniser = taught()  # 20 examples of a class are more than d / 2 = 3: they are added up
    for place in range(30):
        vectors = np.nextafter(rows(60)[[place]], np.float32(np.inf))
        recogniser.forget_vectors(vectors, [f"class {place % 3}"], [digests(60)[place]])
    rest = Recogniser()
    rest.teach_vectors(rows(60)[30:], [f"class {n % 3}" for n in range(30, 60)], digests(30, 30))
    assert recogniser.taught.digests == rest.taught.digests
    one, other = recogniser.model, rest.model
    found, wanted = (seen_from_zero(model.learner_.to_state().sums) for model in (one, other))
    np.testing.assert_allclose(np.tril(found.gram), np.tril(wanted.gram), atol=1e-4)
    ours, theirs = (sorted(map(tuple, model.witnesses_[0].tolist())) for model in (one, other))
    assert ours == theirs


def test_a_row_that_is_kept_is_preferred_to_one_that_is_near() -> None:
    recogniser, X = Recogniser(), rows(12, d=64)
    X[5] = np.nextafter(X[4], np.float32(np.inf))
    recogniser.teach_vectors(X, ["a"] * 12, digests(12))
    recogniser.forget_vectors(X[[4]], ["a"], [digests(12)[4]])
    rows_left, _ = recogniser.model.witnesses_
    assert sorted(map(tuple, rows_left)) == sorted(map(tuple, np.delete(X, 4, axis=0)))


def test_what_a_class_cannot_have_been_taught_is_refused() -> None:
    X, y = rows(80), np.repeat(["a", "b"], 40)
    for weight in ({}, {"c": 2.0}, "balanced"):
        model = IncrementalRidgeClassifier(class_weight=weight).fit(X, y)
        before = model.decision_function(X)
        with pytest.raises(ValueError, match="cannot forget"):
            model.forget(X[40:45] * 3, ["a"] * 5)
        np.testing.assert_array_equal(model.decision_function(X), before)


def test_what_does_not_belong_together_changes_nothing() -> None:
    recogniser = taught()
    vectors = rows(2, 9)
    for marks in (digests(1), [b"0", b"1"]):
        with pytest.raises(ValueError, match="digests"):
            recogniser.teach_vectors(vectors, ["a", "b"], marks)
        with pytest.raises(ValueError, match="digests"):
            recogniser.forget_vectors(vectors, ["a", "b"], marks)
    assert recogniser.model.n_samples_seen_ == len(recogniser.taught) == 60
    with pytest.raises(NotFittedError):
        Recogniser().save("nowhere")


def test_nothing_derived_is_kept_current_while_teaching(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[int] = []
    learn = RecursiveSolver.learn

    def count(solver: RecursiveSolver, X: Any, *given: Any) -> None:
        learned.append(len(X))
        learn(solver, X, *given)

    monkeypatch.setattr(RecursiveSolver, "learn", count)
    recogniser = taught()
    recogniser.look_at_vectors(rows(1))
    recogniser.teach_vectors(rows(16, 3), ["class 0"] * 16)
    assert learned == []
    recogniser.teach_vectors(rows(1, 4), ["class 0"], at_once=True)
    assert set(learned) == {1}


def test_a_lesson_leaves_the_choice_alone_until_it_is_refreshed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recogniser = taught(180)
    recogniser.refresh()
    calibration, made = recogniser.model.calibration_, list[int]()
    reconsider = Learner.reconsider

    def count(learner: Learner, *, aside: bool) -> None:
        made.append(learner.engine.memory.sums.total)
        reconsider(learner, aside=aside)

    monkeypatch.setattr(Learner, "reconsider", count)
    X, y = rows(600, 8), [f"class {n % 3}" for n in range(600)]
    for start in range(0, 600, 16):
        part = slice(start, start + 16)
        recogniser.teach_vectors(X[part], y[part], digests(len(y[part]), 1000 + start))
    assert made == []
    recogniser.refresh()
    assert made == [780]
    assert recogniser.model.calibration_ != calibration


def test_sums_of_each_class_are_kept_if_they_are_wanted(tmp_path: Path) -> None:
    for wanted in (True, False):
        taught(class_sums=wanted).save(tmp_path / "m")
        again = Recogniser(tmp_path / "m")
        assert again.model.learner_.engine.memory.sums.per_class is wanted
        assert again.holds_class_sums is wanted


def test_answers_are_those_of_the_model_best_first() -> None:
    recogniser = taught()
    X = rows(20, 7)
    answers, model = recogniser.look_at_vectors(X, top=9), recogniser.model
    assert [answer.label for answer in answers] == model.predict(X).tolist()
    for answer, scores, chances in zip(
        answers, model.decision_function(X), model.predict_proba(X), strict=True
    ):
        order = np.argsort(-scores)
        assert [label for label, _ in answer.top] == model.classes_[order].tolist()
        np.testing.assert_allclose([score for _, score in answer.top], chances[order])
        assert answer.score == answer.top[0][1]
    asked = ("novelty", model.novelty(X)), ("unknown", model.unknown_proba(X))
    for name, expected in asked:
        np.testing.assert_allclose([getattr(answer, name) for answer in answers], expected)


def test_labels_that_are_numbers_have_names() -> None:
    recogniser = Recogniser(model=IncrementalRidgeClassifier().fit(rows(4), [1, 2, 1, 2]))
    assert recogniser.label("2") == 2
    assert recogniser.label("mug") == "mug"


def test_any_model_becomes_a_recogniser_that_remembers_nothing(tmp_path: Path) -> None:
    IncrementalRidgeClassifier().fit(rows(4), ["a", "b"] * 2).save(tmp_path / "m")
    recogniser = Recogniser(tmp_path / "m")
    recogniser.refresh()
    assert (len(recogniser.taught), recogniser.unknown_above) == (0, 0.5)


def test_a_memory_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    recogniser = taught()
    contents = recogniser.model.learner_.to_state()
    good = recogniser.taught.to_arrays(contents.sums.labels.tolist())
    for bad in (
        {"memory.class": good["memory.class"] + 3},
        {"memory.class": good["memory.class"] - 1},
        {"memory.class": good["memory.class"][1:]},
        {"memory.class": good["memory.class"].astype(np.int32)},
        {"memory.digests": good["memory.digests"][:, 1:]},
        {"memory.digests": good["memory.digests"].astype(np.int64)},
        {"memory.called_unknown_above": np.array([1.5])},
        {"memory.called_unknown_above": np.array([np.nan])},
        {"memory.called_unknown_above": np.array([0.5, 0.5])},
    ):
        file_format.write(tmp_path / "m", contents.keeping({**good, **bad}))
        with pytest.raises(ModelFileError, match="damaged"):
            Recogniser(tmp_path / "m")
    file_format.write(tmp_path / "m", contents.keeping({"memory.class": good["memory.class"]}))
    with pytest.raises(ModelFileError, match="damaged"):
        Recogniser(tmp_path / "m")


def test_an_identity_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    for bad in (
        None,
        3,
        {},
        {"name": "x"},
        {**ONE.to_json(), "name": 3},
        {**ONE.to_json(), "x": 1},
    ):
        with pytest.raises(ValueError, match="not an extractor's identity"):
            Identity.from_json(bad)


def test_an_image_taught_twice_is_remembered_twice() -> None:
    memory = TaughtImages()
    for _ in range(2):
        memory.add("a", b"0" * 16)
    again = TaughtImages.from_arrays(memory.to_arrays(["a"]), ["a"])
    again.remove("a", b"0" * 16)
    assert again.count("a", b"0" * 16) == len(again) == 1
    again.remove("a", b"1" * 16)
    assert len(again) == 1
