"""Defects once found in choosing in the stream: each must stay mended."""

import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.selection.rules import paper_rule
from newfound.storage.format import State, read, write


def stream(n: int = 600, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return rng.normal(size=(n, 4)) + 2 * np.eye(3, 4)[y], y


def again(model: Any, folder: Path) -> Any:
    model.save(folder / "model.newfound")
    return newfound.load(folder / "model.newfound")


def contents(model: Any, folder: Path) -> bytes:
    model.save(folder / "bytes.newfound")
    return (folder / "bytes.newfound").read_bytes()


def test_what_is_left_after_forgetting_can_be_loaded(tmp_path: Path) -> None:
    A = np.random.default_rng(0).normal(size=(12, 2))
    model = IncrementalRidgeClassifierCV().fit(A, ["a"] * 12)
    model.forget(np.delete(A, [5, 11], 0), ["a"] * 10).forget(A[5:6], ["a"])
    assert again(model, tmp_path).n_samples_seen_ == 1
    X, y = stream(120)
    small = IncrementalRidgeClassifierCV(holdout_cap=2).fit(X, y).forget(X[:103], y[:103])
    loaded = again(small, tmp_path)
    assert loaded.n_samples_seen_ == 17
    assert IncrementalRidgeClassifierCV().merge(loaded).n_samples_seen_ == 17


@pytest.mark.parametrize("seed", range(12))
def test_features_that_are_exactly_zero_can_be_forgotten_and_saved(
    seed: int, tmp_path: Path
) -> None:
    A = np.random.default_rng(seed).normal(size=(40, 2))
    X = np.vstack([A, [[0.0, 1.0], [0.0, 0.0]]])
    model = IncrementalRidgeClassifier().fit(X, ["a"] * 40 + ["b"] * 2)
    model.forget(A[:8], ["a"] * 8).forget(A[8:], ["a"] * 32)
    assert again(model, tmp_path).class_count_.tolist() == [2]
    few, zero = A[:4], np.zeros((1, 2))
    other = IncrementalRidgeClassifier().fit(np.vstack([few, zero, few]), list("aaaaabbbb"))
    other.forget(few[:2], ["a"] * 2).forget(few[2:], ["a"] * 2).forget(zero, ["a"])
    assert other.classes_.tolist() == ["b"]


def test_rows_of_another_precision_are_held_back_as_they_are(tmp_path: Path) -> None:
    A = np.random.default_rng(0).normal(size=(6, 3))
    model = IncrementalRidgeClassifierCV().partial_fit(A[:5].astype(np.float32), ["a"] * 5)
    model.partial_fit(A[5:], ["a"])
    assert model.coef_.dtype == np.float64
    loaded = again(model, tmp_path)
    assert contents(loaded, tmp_path) == contents(model, tmp_path)
    assert loaded.forget(A[5:], ["a"]).n_samples_seen_ == 5


@pytest.mark.parametrize(
    "change",
    [
        {"recodings": (0.0, 0.5, 1.0)},
        {"penalties": [1.0]},
        {"penalties": [1e5, 1e9]},
        {"fit_intercept": False},
        {"holdout_cap": 2},
        {"validation": "holdout"},
        {"validation": "progressive"},
        {"rule": "paper"},
    ],
    ids=str,
)
@pytest.mark.parametrize("before", [{}, {"validation": "progressive", "rule": "paper"}], ids=str)
def test_parameters_may_change_in_mid_stream(
    before: dict[str, Any], change: dict[str, Any], tmp_path: Path
) -> None:
    X, y = stream()
    model = IncrementalRidgeClassifierCV(**before).partial_fit(X[:200], y[:200])
    model.predict(X)
    model.partial_fit(X[200:400], y[200:400])
    model.set_params(**change)
    scores = model.validation_scores_
    assert len({len(column) for column in scores.values()}) == 1
    for i in range(400, 440):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    model.partial_fit(X[440:], y[440:])
    assert model.n_samples_seen_ == 600
    assert model.penalty_ in model._candidates().penalties
    cap = model._selector.cap(model._selection_settings())
    assert max(map(len, model._selector.held.rows.values()), default=0) <= cap
    model.plot_validation().figure.clear()
    np.testing.assert_array_equal(again(model, tmp_path).predict(X), model.predict(X))
    fresh = IncrementalRidgeClassifierCV(**{**before, "penalties": [1.0]}).merge(model)
    assert fresh.n_samples_seen_ == 600
    fresh.predict(X)


def test_a_schedule_is_about_the_penalties_it_was_made_for() -> None:
    X, y = stream()
    model = IncrementalRidgeClassifierCV(penalties=[1e-3, 1.0]).fit(X, y)
    model.predict(X)
    model.set_params(penalties=[1e5, 1e9])
    fresh = IncrementalRidgeClassifierCV(penalties=[1e5, 1e9]).fit(X, y)
    for ours, theirs in zip(
        model.validation_scores_.values(), fresh.validation_scores_.values(), strict=True
    ):
        np.testing.assert_allclose(ours, theirs)


def test_nothing_is_said_of_what_ifs_once_too_little_is_known() -> None:
    X, y = stream()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    assert np.isfinite(model.validation_scores_["what_if"]).all()
    few = np.flatnonzero(y > 0)
    model.forget(X[few], y[few])
    assert np.isnan(model.validation_scores_["what_if"]).all()


@pytest.mark.parametrize("seed", range(15, 25))
def test_a_refused_forgetting_leaves_the_same_bytes(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 45))
    A = rng.normal(size=(n, 3))
    model = IncrementalRidgeClassifierCV()
    for i in range(n):
        model.partial_fit(A[i : i + 1], ["a" if i < 6 else "b"])
    before = contents(model, tmp_path)
    with pytest.raises(ValueError, match="cannot forget"):
        model.forget(100 * rng.normal(size=(5, 3)), ["a"] * 5)
    assert contents(model, tmp_path) == before


def test_first_questions_may_come_from_several_threads() -> None:
    X, y = stream()
    for _ in range(5):
        model = IncrementalRidgeClassifierCV().fit(X, y)
        answers: list[Any] = []

        def ask(model: Any = model, answers: list[Any] = answers) -> None:
            answers.append(model.predict(X))

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 6
        assert all((answer == answers[0]).all() for answer in answers)


def test_every_class_may_be_well_known_from_its_first_example() -> None:
    X, y = stream()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IncrementalRidgeClassifierCV(min_class_count=1).fit(X, y)
        assert np.isfinite(model.validation_scores_["what_if"]).all()


def test_a_tie_goes_to_the_first_whatever_rounding_says() -> None:
    table = np.array([[[2, 3, 1]], [[1, 3, 2]]]) / 7
    assert paper_rule(table, 0.0) == (0, 0)


def test_a_penalty_lost_beside_the_features_is_answered_all_the_same() -> None:
    model = IncrementalRidgeClassifierCV(penalties=[1e-100])
    model.fit(np.ones((400, 5)), np.arange(400) % 3)
    assert model.predict(np.ones((1, 5))).shape == (1,)


def test_rows_forgotten_judge_no_further() -> None:
    X, y = stream()
    model = IncrementalRidgeClassifierCV().partial_fit(X[:200], y[:200])
    model.predict(X)
    model.partial_fit(X[200:], y[200:])
    begun = model._selector.work
    assert begun is not None
    model.forget(X[:1], y[:1])
    work = model._selector.work
    assert work is not None
    assert work is not begun
    assert not (work.voters == X[0]).all(axis=1).any()


def test_an_untaught_model_says_so() -> None:
    for name in ("class_count_", "n_samples_seen_", "penalty_", "recoding_", "validation_scores_"):
        with pytest.raises(NotFittedError):
            getattr(IncrementalRidgeClassifierCV(), name)


def test_more_than_was_taught_is_counted_with_what_is_held_back() -> None:
    model = IncrementalRidgeClassifierCV().fit(np.eye(7), ["a"] * 6 + ["b"])
    with pytest.raises(ValueError, match="cannot forget 7 examples of 'a': 6 of them"):
        model.forget(np.zeros((7, 7)), ["a"] * 7)


def test_a_seed_changed_in_mid_stream_counts_before_and_after_saving(tmp_path: Path) -> None:
    X, y = stream()
    one = IncrementalRidgeClassifierCV(holdout_cap=3).partial_fit(X[:300], y[:300])
    other = again(one, tmp_path)
    for model in (one, other):
        model.set_params(random_state=5).partial_fit(X[300:], y[300:])
    for held, same in zip(one.holdout_, other.holdout_, strict=True):
        np.testing.assert_array_equal(held, same)
    np.testing.assert_array_equal(one.class_count_, other.class_count_)


@pytest.mark.parametrize("stream", [False, True])
def test_rows_that_are_all_alike_have_no_scale(stream: bool) -> None:
    """What rounding makes of their spread is no scale for penalties: weights would be noise."""
    X, y = np.tile(np.random.default_rng(0).normal(size=5), (24, 1)), list("aab") * 8
    model = IncrementalRidgeClassifierCV()
    for rows, labels in zip(np.split(X, 24), y, strict=True) if stream else [(X, y)]:
        model.partial_fit(rows, list(labels))
    assert np.abs(model.coef_).max() < 1e-9
    assert model.penalty_ > 1


def test_an_all_zero_beginning_tells_nothing_about_the_scale() -> None:
    X, y = stream()
    zero = np.zeros((1, 4))
    models = [IncrementalRidgeClassifierCV() for _ in range(2)]
    for model, scale in zip(models, (1.0, 1000.0), strict=True):
        for rows, labels in ((zero, y[:1]), (scale * X, y)):
            model.partial_fit(rows, labels)
    assert models[1].penalty_ == pytest.approx(1e6 * models[0].penalty_)


def test_a_class_announced_is_not_tested_before_its_first_example() -> None:
    X, y = stream(60)
    models = [
        IncrementalRidgeClassifierCV(validation="progressive", rule="paper") for _ in range(2)
    ]
    models[0].partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    models[1].partial_fit(X[:1], y[:1])
    for i in range(1, 60):
        for model in models:
            model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert models[0]._selector.progress.tests == models[1]._selector.progress.tests


def assert_refused(model: Any, name: str, value: Any, path: Path) -> None:
    """A file with a valid checksum in which one array of the selection is spoiled."""
    model.save(path)
    whole: State = read(path)
    write(path, whole.keeping("selection", {name: value(whole.kept_by("selection")[name])}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", lambda a: a[:0]),
        ("scale", lambda a: a * np.nan),
        ("scaled_at", lambda a: a[:0]),
        ("scaled_at", lambda a: a - 1000),
        ("offered", lambda a: a.astype(np.float64)),
        ("shown", lambda a: a - 1000),
        ("shown", lambda a: np.full_like(a, 2**62)),
        ("held_rows", lambda a: a[None]),
        ("held_rows", lambda a: a[:-1]),
        ("held_rows", lambda a: a * 1e200),
        ("held_class", lambda a: a + 1),
        ("table", lambda a: a > 0.5),
        ("table", lambda a: a[..., :0]),
        ("table", lambda a: a[:, :-1]),
        ("ladder", lambda a: a[::-1].copy()),
        ("ladder", lambda a: a * 0),
        ("rare", lambda a: a + 5),
        ("occasion", lambda a: a * 0),
        ("occasion", lambda a: a[:2]),
    ],
)
def test_a_file_with_a_valid_checksum_and_spoiled_selection_is_refused(
    name: str, value: Any, tmp_path: Path
) -> None:
    X, y = stream()
    model = IncrementalRidgeClassifierCV().fit(X, y)
    model.predict(X)
    assert_refused(model, name, value, tmp_path / "model.newfound")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hits", lambda a: a[:, :-1]),
        ("hits", lambda a: a + 1e9),
        ("tests", lambda a: a * 0 + 5e-324),
        ("tests", lambda a: -a),
        ("plain", lambda a: a * 0 - 50),
        ("plain", lambda a: a.astype(np.uint64)),
    ],
)
def test_spoiled_tests_are_refused(name: str, value: Any, tmp_path: Path) -> None:
    X, y = stream(40)
    model = IncrementalRidgeClassifierCV(validation="progressive")
    for part in np.array_split(np.arange(40), 4):
        model.partial_fit(X[part], y[part])
    model.predict(X)
    assert_refused(model, name, value, tmp_path / "model.newfound")


def test_a_file_without_its_selection_is_refused(tmp_path: Path) -> None:
    X, y = stream(40)
    path = tmp_path / "model.newfound"
    IncrementalRidgeClassifierCV().fit(X, y).save(path)
    write(path, read(path)._replace(more={}))
    with pytest.raises(newfound.ModelFileError):
        newfound.load(path)
