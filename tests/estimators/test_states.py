"""States: all that makes a model, taken and given back."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from newfound import (
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    ModelFileError,
    NotTaughtError,
)
from newfound.sums import Sums

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 4)), np.array(list("abc") * 10)
KINDS = [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV]


def saved(model: Any, folder: Path) -> bytes:
    model.save(folder / "state")
    return (folder / "state").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "spoil",
    [
        {"parameters": {}},
        {"parameters": None},
        {"estimator": "Ridge"},
        {"sums": None},
        {"targets": 1},
    ],
)
def test_a_state_that_is_invalid_is_refused(kind: Any, spoil: Any) -> None:
    state = kind().fit(X, Y).learner_.to_state()
    with pytest.raises(ModelFileError):
        kind.from_state(state._replace(**spoil))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_that_fails_midway_leaves_what_was_known(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = kind().fit(pd.DataFrame(X, columns=list("pqrs")), Y)
    before = saved(model, tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Sums, "add", fail)
        with pytest.raises(MemoryError):
            model.fit(X[:, :2], Y)
    assert saved(model, tmp_path) == before
    assert model.feature_names_in_.tolist() == list("pqrs")


def test_a_choice_without_its_selection_is_refused() -> None:
    model = IncrementalRidgeClassifierCV().fit(X, Y)
    with pytest.raises(ModelFileError, match="do not fit together"):
        IncrementalRidgeClassifierCV.from_state(model.learner_.to_state()._replace(arrays={}))


def test_names_that_do_not_fit_are_not_written(tmp_path: Path) -> None:
    state = IncrementalRidgeClassifier().fit(X, Y).learner_.to_state()
    model = IncrementalRidgeClassifier.from_state(state._replace(feature_names=["x"]))
    with pytest.raises(InputError, match="could not be read again"):
        model.save(tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_merging_asks_nothing_of_the_others_parameters(kind: Any) -> None:
    for other in (
        IncrementalRidgeClassifier().fit(X, Y).set_params(penalty=-1.0),
        IncrementalRidgeClassifier().fit(X, Y).set_params(class_weight="balanced"),
        IncrementalRidgeClassifierCV().fit(X, Y).set_params(recodings=5.0),
    ):
        assert kind().fit(X, Y).merge(other).class_count_.tolist() == [20, 20, 20]


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_to_forget_were_not_taught(kind: Any) -> None:
    with pytest.raises(NotTaughtError, match="cannot forget 40 examples of 'a'"):
        kind().fit(X, Y).forget(np.repeat(X[:1], 40, axis=0), ["a"] * 40)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_class_that_is_none_are_asked_for_in_vain(kind: Any) -> None:
    labels: list[Any] = [["a"], {}, "z"]
    for label in labels:
        with pytest.raises(InputError, match="no class"):
            kind().fit(X, Y).learner_.engine.memory.rows_of(label)


class Talkative(list[Any]):
    """Labels that do something when they are looked at."""

    def __init__(self, labels: Any, action: Any) -> None:
        super().__init__(labels)
        self.action = action

    def __iter__(self) -> Any:
        self.action()
        return super().__iter__()


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_whole_while_its_next_lesson_is_read(kind: Any) -> None:
    model = kind().fit(X, Y)
    answers: list[Any] = []
    model.fit(X[:6], Talkative(Y[:6], lambda: answers.append(model.predict(X[:1]))))
    assert len(answers) > 0
    assert model.n_samples_seen_ == 6
    model.fit(X[:6], Talkative(Y[:6], lambda: model.partial_fit(X[:9], Y[:9])))
    assert model.n_samples_seen_ == 6


def test_while_a_model_is_copied_others_wait_for_a_plain_copy_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)

    def refuse(*_: Any) -> Any:
        raise AssertionError("sums were packed and unpacked")

    monkeypatch.setattr("newfound.memory.memory.moved", refuse)
    assert model.learner_.copy().predict(X).scores.tolist() == model.scores(X).tolist()
