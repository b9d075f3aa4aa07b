"""What a recogniser calls unknown, by whose bound, and how well it tells."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from newfound import IncrementalRidgeClassifier, InputError, Recogniser
from newfound.recognition.evaluation import auc, evaluate, roc_curve
from newfound.recognition.sources import Example
from tests.crafted import taken_apart

GOLDEN = Path(__file__).parent.parent / "storage" / "golden"
# Classes far from each other, and one more that nobody teaches.
NAMES, WIDTH = ("cup", "mug", "pot"), 20
CENTRES = 9 * np.eye(WIDTH)[: len(NAMES) + 1]


def views(thing: int, n: int, seed: int = 0) -> Any:
    return CENTRES[thing] + np.random.default_rng((thing, seed)).normal(size=(n, WIDTH))


def taught(n: int = 20) -> Recogniser:
    recogniser = Recogniser(extractor=None)
    for thing, name in enumerate(NAMES):
        recogniser.teach_vectors(views(thing, n), [name] * n)
    recogniser.refresh()
    return recogniser


def examples(thing: int, n: int, label: str | None) -> list[Example]:
    return [Example(str(row), label, b"", row, None) for row in views(thing, n, seed=1)]


def share_known(recogniser: Recogniser, rows: Any) -> float:
    return float(np.mean([answer.known for answer in recogniser.look_at_vectors(rows)]))


def test_what_was_taught_is_known_and_what_was_not_is_unknown() -> None:
    recogniser = taught()
    for thing in range(len(NAMES)):
        assert share_known(recogniser, views(thing, 50, seed=1)) > 0.9
    assert share_known(recogniser, views(len(NAMES), 50)) < 0.1
    far = 1e3 * np.random.default_rng(0).normal(size=(50, WIDTH))
    assert share_known(recogniser, far) < 0.1


def test_a_class_taught_three_times_is_known_from_then_on() -> None:
    recogniser, new = taught(), len(NAMES)
    recogniser.teach_vectors(views(new, 3), ["new"] * 3)
    recogniser.refresh()
    assert share_known(recogniser, views(new, 50, seed=1)) > 0.8
    assert share_known(recogniser, views(0, 50, seed=1)) > 0.9


def test_an_image_is_unknown_if_its_probability_of_that_passes_the_bound() -> None:
    recogniser = taught()
    X = np.vstack([views(0, 20, seed=1), views(len(NAMES), 20), (views(0, 20) + views(3, 20)) / 2])
    unknown = recogniser.model.unknown_proba(X)
    for bound in (0.0, 0.1, 0.5, 0.9, 1.0, float(unknown[-1])):
        expected = [each <= bound for each in unknown.tolist()]
        answers = recogniser.look_at_vectors(X, unknown_above=bound)
        assert [answer.known for answer in answers] == expected
        recogniser.unknown_above = bound
        assert recogniser.look_at_vectors(X) == answers
    assert len({answer.known for answer in recogniser.look_at_vectors(X, unknown_above=0.5)}) == 2
    assert all(answer.known for answer in recogniser.look_at_vectors(X, unknown_above=1))


def test_who_cannot_tell_yet_calls_nothing_unknown_whatever_the_bound() -> None:
    recogniser = Recogniser(extractor=None)
    takes = "that takes two classes with two images each"
    assert recogniser.cannot_tell_unknown == takes
    for label, row in zip(("cup", "mug", "cup"), views(0, 3), strict=True):
        recogniser.teach_vectors([row], [label])
        recogniser.refresh()
        assert recogniser.cannot_tell_unknown == takes
        far = recogniser.look_at_vectors([1e3 * np.ones(WIDTH)], unknown_above=0)[0]
        assert (far.unknown, far.known) == (0.0, True)
    assert taught(2).cannot_tell_unknown is None
    alike = IncrementalRidgeClassifier().fit(np.ones((4, WIDTH)), ["a", "b"] * 2)
    said = Recogniser(extractor=None, model=alike).cannot_tell_unknown
    assert said == "what was taught so far does not tell known things from unknown ones"


@pytest.mark.parametrize("bound", [-0.1, 1.1, np.nan, np.inf, None, "0.5", [0.5]])
def test_a_bound_is_a_number_from_0_to_1(bound: Any) -> None:
    recogniser = taught(2)
    recogniser.unknown_above = 0.25
    with pytest.raises(InputError, match="unknown_above must be a number from 0 to 1, got"):
        recogniser.unknown_above = bound
    assert recogniser.unknown_above == 0.25
    if bound is not None:
        with pytest.raises(InputError, match="unknown_above must be a number from 0 to 1, got"):
            recogniser.look_at_vectors(views(0, 1), unknown_above=bound)


def test_a_bound_that_was_set_goes_wherever_the_recogniser_goes(tmp_path: Path) -> None:
    recogniser = taught()
    recogniser.save(tmp_path / "default")
    assert "memory.called_unknown_above" not in taken_apart(tmp_path / "default")[1]
    assert Recogniser(tmp_path / "default").unknown_above == 0.5
    recogniser.unknown_above = 0.875
    recogniser.save(tmp_path / "set")
    for other in (
        Recogniser(tmp_path / "set"),
        copy.deepcopy(recogniser),
        pickle.loads(pickle.dumps(recogniser)),
    ):
        assert other.unknown_above == 0.875
        other.merge(taught())
        other.refresh()
        assert other.unknown_above == 0.875
        for name in NAMES:
            other.forget_class(name)
        assert (other.is_taught, other.unknown_above) == (False, 0.875)
    other = taught()
    other.merge(recogniser)
    assert other.unknown_above == 0.5
    recogniser.unknown_above = 0.5
    recogniser.save(tmp_path / "default again")
    assert (tmp_path / "default again").read_bytes() == (tmp_path / "default").read_bytes()


@pytest.mark.slow
def test_an_evaluation_counts_what_answers_say() -> None:
    recogniser = taught()
    shown = [*examples(0, 9, "cup"), *examples(1, 9, "mug"), *examples(3, 4, "never taught")]
    strangers = examples(3, 30, None)
    for bound in (0.0, 0.5, 1.0):
        result = evaluate(recogniser, shown, strangers, unknown_above=bound)
        answers = [
            recogniser.look_at_vectors(np.array([each.vector]), unknown_above=bound)[0]
            for each in (*shown, *strangers)
        ]
        assert result.n == 22
        assert len(result.of_known) == 18
        assert result.known_called_unknown == sum(not each.known for each in answers[:18])
        assert len(result.of_unknown) == 34
        assert result.unknown_called_known == sum(each.known for each in answers[18:])
        values = [each.unknown for each in answers]
        assert result.auc == pytest.approx(roc_auc_score([0] * 18 + [1] * 34, values))
        assert result.to_json()["auc"] == result.auc
    recogniser.unknown_above = 1.0
    assert evaluate(recogniser, shown).unknown_called_known == 4
    assert evaluate(recogniser, shown[:18]).auc is None
    assert evaluate(recogniser, shown[18:]).auc is None


def test_unknown_images_are_taken_from_wherever_images_are() -> None:
    recogniser = Recogniser(extractor="pixels:size=4")
    rng = np.random.default_rng(0)
    patterns = rng.uniform(30, 220, size=(3, 4, 4))

    def images(thing: int, n: int) -> list[Any]:
        noisy = patterns[thing] + rng.normal(0, 9, size=(n, 4, 4))
        return list(np.clip(noisy, 0, 255).astype(np.uint8))

    for thing, name in enumerate(("cup", "mug")):
        recogniser.teach(images(thing, 12), name)
    strangers = [*images(2, 8), np.zeros((1, 1), np.uint8)]
    result = recogniser.evaluate(images(0, 8), "cup", unknown=strangers)
    assert (result.n, len(result.of_known), len(result.of_unknown)) == (8, 8, 8)
    assert [problem.name for problem in result.unreadable] == ["image 8"]
    alone = recogniser.evaluate(images(0, 8), "cup", unknown=strangers[0])
    assert len(alone.of_unknown) == 1


# A few values, so that many of them are equal.
VALUES = st.lists(st.integers(0, 6).map(lambda n: n / 6), min_size=1, max_size=30)


@pytest.mark.slow
@given(VALUES, VALUES)
def test_the_auc_is_that_of_scikit_learn_and_the_area_under_the_curve(
    known: list[float], unknown: list[float]
) -> None:
    labels = [0] * len(known) + [1] * len(unknown)
    found = auc(np.array(known), np.array(unknown))
    assert found == pytest.approx(roc_auc_score(labels, known + unknown))
    x, y = roc_curve(np.array(known), np.array(unknown))
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(y, x) == pytest.approx(found)
    # Every bound is on it.
    for bound in (*known, 0.5):
        shares = [np.mean(np.array(each) > bound) for each in (known, unknown)]
        assert np.isclose([x, y], np.array(shares)[:, None]).all(axis=0).any()
