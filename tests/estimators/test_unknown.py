"""What was never taught: told by both estimators, in any stream, and never absurd."""

import copy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.streams import reloaded

Floats = NDArray[np.float64]
MODELS: list[Any] = [
    IncrementalRidgeClassifierCV(),
    IncrementalRidgeClassifierCV(class_weight={}),
    IncrementalRidgeClassifierCV(class_weight="balanced"),
    IncrementalRidgeClassifierCV(fit_intercept=False),
    IncrementalRidgeClassifierCV(rule="paper"),
    IncrementalRidgeClassifierCV(rule=None, recodings=0.5),
    IncrementalRidgeClassifier(penalty=500.0),
    IncrementalRidgeClassifier(penalty=500.0, class_weight="balanced"),
    IncrementalRidgeClassifier(penalty=500.0, fit_intercept=False),
]


def objects(
    n: int = 20, classes: int = 6, d: int = 60, seed: int = 0, strangers: int = 20
) -> tuple[Floats, Any, Floats, Floats]:
    """Rows around centres, with labels; further rows around these, and around other centres."""
    rng = np.random.default_rng(seed)
    centres = 2 * rng.normal(size=(classes + strangers, d))
    y = np.repeat(np.arange(classes), n)
    X, near = (centres[y] + rng.normal(size=(len(y), d)) + 5 for _ in range(2))
    strange = centres[classes:] + rng.normal(size=(strangers, d)) + 5
    return X, np.array([f"object {t}" for t in y]), near, strange


def learned(model: Any, X: Any, y: Any) -> Any:
    return copy.deepcopy(model).fit(X, y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_strangers_are_unknown_and_new_views_are_not(model: Any) -> None:
    X, y, near, strange = objects()
    model = learned(model, X, y)
    assert np.mean(model.unknown_proba(near) > 0.5) < 0.05
    assert np.mean(model.unknown_proba(strange) > 0.5) > 0.9
    assert (model.unknown_proba(X) <= 0.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_digits_never_taught_are_less_like_those_that_were(model: Any, seed: int) -> None:
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y, taught = X[order], y[order], np.random.default_rng(seed).permutation(10)[:6]
    known = np.isin(y, taught)
    half = np.flatnonzero(known)[:300]
    model = learned(model, X[half], y[half])
    known[half] = False
    asked = known | ~np.isin(y, taught)
    area = roc_auc_score(~known[asked], model.unknown_proba(X[asked]))
    assert area > 0.8
    assert np.mean(model.unknown_proba(X[known]) > 0.5) < 0.15


@pytest.mark.parametrize("model", [MODELS[0], MODELS[6]], ids=repr)
def test_until_two_classes_have_two_examples_nothing_is_unknown(model: Any) -> None:
    X, y, _, strange = objects(n=3, classes=3)
    lessons = [0, 1, 2, 3, 6, 4]  # three of one class, one of each other, then a second
    model = copy.deepcopy(model)
    for row in lessons[:-1]:
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        assert model.calibration_.bound is None
        np.testing.assert_array_equal(model.unknown_proba(strange), 0.0)
    model.partial_fit(X[lessons[-1:]], y[lessons[-1:]])
    if isinstance(model, IncrementalRidgeClassifierCV):
        model.reconsider()  # in a stream, after a few more rows
    assert model.calibration_.bound is not None
    assert model.unknown_proba(strange).mean() > 0.5


def test_a_young_stream_tells_the_unknown_by_itself() -> None:
    X, y, near, strange = objects(n=6, classes=4)
    order = np.random.default_rng(0).permutation(len(y))
    model = IncrementalRidgeClassifierCV()
    for row in order:
        model.partial_fit(X[row : row + 1], y[row : row + 1])
    assert np.mean(model.unknown_proba(near) > 0.5) < 0.2
    assert np.mean(model.unknown_proba(strange) > 0.5) > 0.8


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_is_absurd_is_unknown_and_finite(model: Any, dtype: Any) -> None:
    X, y, _, _ = objects()
    X = X.astype(dtype)
    model = learned(model, X, y)
    rng = np.random.default_rng(1)
    absurd = {
        "zeros": np.zeros((1, X.shape[1])),
        "noise": 5 + 2.2 * rng.normal(size=(20, X.shape[1])),
        "a taught row a million times": X[:20] * 1e6,
        "the other way": -X[:20],
        "enormous": np.full((1, X.shape[1]), 1e15),
        "tiny": np.full((1, X.shape[1]), 1e-30),
    }
    if not model.fit_intercept:  # then only directions matter, and this is nearly that of the mean
        del absurd["enormous"], absurd["tiny"]
    for name, rows in absurd.items():
        found = model.unknown_proba(rows.astype(dtype))
        assert np.isfinite(found).all(), name
        # A single noisy row may look like something; most do not.
        assert np.mean(found > 0.5) > 0.9, name


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_shares_no_feature_with_anything_taught_is_unknown(model: Any) -> None:
    """As a text of words that never occurred, or of none: its row is between all classes."""
    rng = np.random.default_rng(0)
    words, y = 60, np.repeat(["news", "recipe"], 10)
    topic = np.repeat([np.arange(words) < 25, np.arange(words) > 15], 10, axis=0)
    X = (rng.random((20, words)) < 0.3 * topic) * rng.uniform(0.1, 0.5, (20, words))
    X[:, 50:] = 0.0
    model = copy.deepcopy(model)
    if isinstance(model, IncrementalRidgeClassifier):
        model.set_params(penalty=1.0)
    model.fit(X, y)
    asked = np.zeros((3, words))
    asked[1, 52], asked[2, 57] = 0.7, 1e9
    np.testing.assert_array_equal(model.unknown_proba(asked), [1.0, 1.0, 1.0])
    assert (model.unknown_proba(X) <= 0.5).all()
    rare = np.zeros((1, words))
    rare[0, 52] = 0.7
    model.partial_fit(rare, ["news"])
    assert model.unknown_proba(asked)[1] < 1.0
    model.forget(rare, ["news"])  # and as if it had never been
    np.testing.assert_array_equal(model.unknown_proba(asked), [1.0, 1.0, 1.0])


def test_a_row_of_zeros_that_was_taught_is_known() -> None:
    X, y, _, _ = objects()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    nothing = np.zeros((1, X.shape[1]))
    assert model.unknown_proba(nothing)[0] == 1
    model.partial_fit(nothing, y[:1])
    assert model.unknown_proba(nothing)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("n", [3, 10, 39])
def test_a_row_just_taught_is_known(model: Any, n: int) -> None:
    """Also one that is like nothing of its class, where examples are kept."""
    X, y, near, strange = objects(n=n)
    model = learned(model, X, y)
    odd = strange if isinstance(model, IncrementalRidgeClassifierCV) else strange[:0]
    for row in np.concatenate([odd, near[::11]]):
        taught = copy.deepcopy(model).partial_fit(row[None], y[:1])
        assert taught.unknown_proba(row[None])[0] <= 0.5


def test_what_is_nearly_an_example_is_known_and_the_farther_the_less() -> None:
    X, y, _, strange = objects()
    model = IncrementalRidgeClassifierCV().fit(X, y).partial_fit(strange[:1], y[:1])
    away = strange[:1] - X.mean(axis=0)
    found = model.unknown_proba(np.concatenate([strange[:1] + far * away for far in (0, 0.1, 2)]))
    assert found[0] == 0
    assert 0 < found[1] < 0.5 < found[2]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_it_is_the_same_after_saving_copying_and_in_whatever_order(model: Any) -> None:
    X, y, near, strange = objects(classes=4)
    model = learned(model, X, y)
    asked = np.concatenate([near[:10], strange])
    expected = model.unknown_proba(asked)
    np.testing.assert_allclose(reloaded(model).unknown_proba(asked), expected, atol=1e-9)
    np.testing.assert_allclose(copy.deepcopy(model).unknown_proba(asked), expected, atol=1e-12)
    back = learned(model, X[::-1], y[::-1])
    np.testing.assert_allclose(back.unknown_proba(asked), expected, atol=1e-6)
    looked = model.learner_.predict(asked, leverage=True, unknown=True)
    np.testing.assert_allclose(looked.unknown, expected, atol=1e-12)
    np.testing.assert_allclose(looked.novelty, model.novelty(asked), atol=1e-12)
    np.testing.assert_allclose(looked.probabilities, model.predict_proba(asked), atol=1e-12)
    np.testing.assert_array_equal(looked.labels, model.classes_)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_class_renamed_is_as_known_as_before(model: Any) -> None:
    X, y, near, strange = objects(classes=4)
    model = learned(model, X, y)
    asked = np.concatenate([near, strange])
    expected = model.unknown_proba(asked)
    model.rename_class("object 1", "a jug")
    np.testing.assert_allclose(model.unknown_proba(asked), expected, atol=1e-9)


def test_a_class_renamed_while_votes_are_cast_is_as_known_as_under_its_first_name() -> None:
    X, y, near, _ = objects(n=64, classes=4)
    order = np.random.default_rng(0).permutation(len(y))
    one, two = IncrementalRidgeClassifierCV(), IncrementalRidgeClassifierCV()
    renamed_at = 127  # with the 128th row, votes have just been called for
    for i, row in enumerate(order):
        for model in (one, two):
            name = "a jug" if model is two and i > renamed_at and y[row] == "object 1" else y[row]
            model.partial_fit(X[row : row + 1], [name])
        if i == renamed_at:
            before = copy.deepcopy(two.calibration_)
            two.rename_class("object 1", "a jug")
    assert two.calibration_ != before
    ours, theirs = two.calibration_.typical, one.calibration_.typical
    assert ours is not None
    assert theirs is not None
    assert ours.of_class["a jug"] == theirs.of_class["object 1"]
    np.testing.assert_allclose(one.unknown_proba(near), two.unknown_proba(near), atol=1e-9)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_class_that_was_forgotten_is_unknown_again(model: Any) -> None:
    X, y, near, _ = objects()
    model = learned(model, X, y)
    gone = y == "object 2"
    assert np.mean(model.unknown_proba(near[gone]) > 0.5) < 0.1
    model.forget(X[gone], y[gone])
    assert np.mean(model.unknown_proba(near[gone]) > 0.5) > 0.9
    assert np.mean(model.unknown_proba(near[~gone]) > 0.5) < 0.05


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_what_two_models_know_is_known_to_both_together(model: Any) -> None:
    X, y, near, strange = objects()
    first = np.isin(y, ["object 0", "object 1", "object 2"])
    one, two = (learned(model, X[part], y[part]) for part in (first, ~first))
    assert np.mean(one.unknown_proba(near[~first]) > 0.5) > 0.8
    one.merge(two)
    assert np.mean(one.unknown_proba(near) > 0.5) < 0.05
    assert np.mean(one.unknown_proba(strange) > 0.5) > 0.9


def test_without_witnesses_many_classes_are_told_apart_all_the_same() -> None:
    X, y, near, strange = objects(n=4, classes=130, d=300)
    model = IncrementalRidgeClassifier(penalty=300.0).fit(X, y)
    assert np.mean(model.unknown_proba(near) > 0.5) < 0.1
    assert np.mean(model.unknown_proba(strange) > 0.5) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_where_labels_mean_nothing_nobody_says_what_is_unknown(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    assert model.calibration_.bound is None
    np.testing.assert_array_equal(model.unknown_proba(X), 0.0)


@pytest.mark.parametrize("change", [{"penalty": 3.0}, {"fit_intercept": False}], ids=str)
def test_parameters_that_were_changed_count_at_once(change: dict[str, Any]) -> None:
    X, y, near, strange = objects()
    asked = np.concatenate([near, strange])
    model = IncrementalRidgeClassifier(penalty=500.0).fit(X, y)
    before = model.unknown_proba(asked)
    model.set_params(**change)
    fresh = IncrementalRidgeClassifier(**{"penalty": 500.0, **change}).fit(X, y)
    np.testing.assert_allclose(model.unknown_proba(asked), fresh.unknown_proba(asked), atol=1e-9)
    assert abs(model.unknown_proba(asked) - before).max() > 1e-3


def test_under_the_papers_rule_the_bound_stays_while_votes_are_cast() -> None:
    X, y, _, _ = objects(n=8, classes=10)
    order = np.random.default_rng(0).permutation(len(y))
    model, there = IncrementalRidgeClassifierCV(rule="paper"), []
    for row in order:
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        there.append(model.calibration_.bound is not None)
    assert there[-1]
    assert there == sorted(there)  # once it is there


def test_a_class_that_was_only_announced_makes_nothing_known() -> None:
    X, y, near, strange = objects(classes=3)
    # Opposite rows are less than nothing like every class, where there is no intercept.
    asked, labels = np.concatenate([near, strange, -near]), [*np.unique(y), "a jug"]
    for intercept in (True, False):
        model = IncrementalRidgeClassifier(penalty=500.0, fit_intercept=intercept).fit(X, y)
        expected = model.unknown_proba(asked)
        announced = IncrementalRidgeClassifier(penalty=500.0, fit_intercept=intercept)
        announced.partial_fit(X, y, classes=labels)
        np.testing.assert_allclose(announced.unknown_proba(asked), expected, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_beyond_all_measure_have_answers(dtype: Any) -> None:
    X, y, _, _ = objects()
    for scale in (1e-20, 1.0):
        for model in (IncrementalRidgeClassifierCV(), IncrementalRidgeClassifier()):
            model.fit((scale * X).astype(dtype), y)
            rows = np.full((2, X.shape[1]), [[1e30], [-1e30]]).astype(dtype)
            assert np.isfinite(model.unknown_proba(rows)).all()
            assert (model.predict_proba(rows) > 0).all()


def test_classes_that_came_back_are_as_unknown_after_saving() -> None:
    """What was known of a class that vanished does not count when it comes again."""
    X, y, near, _ = objects(n=200, classes=4)
    order = np.random.default_rng(0).permutation(len(y))
    few = order[y[order] == "object 3"][:2]
    order = order[y[order] != "object 3"]
    model = IncrementalRidgeClassifierCV().fit(X[order], y[order]).partial_fit(X[few], y[few])
    # Rows that come and go call for votes once; those that go next leave what was found as it is.
    model.forget(X[order[:1]], y[order[:1]])
    before = model.calibration_
    model.partial_fit(X[order[:1]], y[order[:1]]).forget(X[few], y[few])
    assert before.bound == model.calibration_.bound is not None
    other = reloaded(model)
    for each in (model, other):
        each.partial_fit(X[few], y[few])
    np.testing.assert_allclose(model.unknown_proba(near), other.unknown_proba(near), atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_probabilities_order_as_scores_do_and_none_is_zero(model: Any) -> None:
    X, y, near, strange = objects()
    model = learned(model, X, y)
    asked = np.concatenate([near, strange])
    found, scores = model.predict_proba(asked), model.scores(asked)
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(np.argsort(found, axis=1), np.argsort(scores, axis=1))


def test_a_class_announced_but_not_taught_has_no_probability() -> None:
    X, y, near, _ = objects(classes=3)
    model = IncrementalRidgeClassifierCV().partial_fit(X, y, classes=[*np.unique(y), "a jug"])
    assert (model.predict_proba(near)[:, model.classes_ == "a jug"] == 0).all()
    assert np.mean(model.unknown_proba(near) > 0.5) < 0.05
