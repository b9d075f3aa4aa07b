"""Forgetting, where what went through the sums was far larger than what is left of it."""

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.features.identity import Identity
from newfound.recognition.recogniser import Recogniser
from newfound.sums.gram import Gram, total_gram
from tests.effort import share_of
from tests.streams import Stream, streams

CLASS_WEIGHTS: list[Any] = [None, {}, "balanced"]

# Beside outliers as large as these, any usual penalty is lost, which is said when they are taught.
pytestmark = pytest.mark.filterwarnings("ignore:a penalty of")


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("seed", range(5))
def test_rows_that_were_taught_can_be_forgotten_when_only_zeros_remain(
    class_weight: Any, seed: int
) -> None:
    """Rounding of the rows that went is all there is to measure the sums by."""
    rng = np.random.default_rng(seed)
    rows, zeros = 10.0 ** rng.integers(-3, 4) * rng.normal(size=(20, 3)), np.zeros((2, 3))
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    model.fit(np.vstack([rows, zeros, rows[:5]]), ["a"] * 22 + ["b"] * 5)
    for row in rng.permutation(rows):
        model.forget(row[None], ["a"])
    model.forget(zeros[:1], ["a"])
    assert model.forget(zeros[:1], ["a"]).classes_.tolist() == ["b"]


@pytest.mark.slow
@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("size", [1.0, 1e6, 1e12])
@pytest.mark.parametrize("batch", [5, 12, 40])
def test_the_very_last_zero_row_can_be_forgotten(
    class_weight: Any, size: float, batch: int
) -> None:
    """What a batch adds up to, and what its rows do, one after the other, differ by rounding."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = np.vstack([size * rng.normal(size=(batch, 3)), rng.normal(size=(3, 3))])
        rows = np.vstack([rows, np.zeros((1, 3))])
        model = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, ["a"] * len(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of rounding, where rows are as large
            for row in rows:
                model.forget(row[None], ["a"])
        assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("left", [0.0, 1e-5])
def test_what_little_is_left_is_as_exact_as_if_it_had_been_all(left: float) -> None:
    """Errors are those of what is there, not of what was."""
    rng = np.random.default_rng(0)
    X, y = 100 * rng.normal(size=(10, 5)), list("ab") * 5
    rest, labels = left * rng.normal(size=(2, 5)), ["a", "b"]
    model = IncrementalRidgeClassifier(1e5, fit_intercept=False).partial_fit(rest, labels)
    for row, label in zip(X, y, strict=True):
        model.partial_fit(row[None], [label])
    model.predict(X)
    for row, label in zip(X, y, strict=True):
        model.forget(row[None], [label])
    expected = IncrementalRidgeClassifier(1e5, fit_intercept=False).fit(rest, labels).coef_
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-9, atol=1e-25)


@pytest.mark.slow
@given(streams(min_rows=2), st.sampled_from(CLASS_WEIGHTS), st.booleans(), st.data())
@settings(max_examples=share_of(150))
def test_whatever_was_taught_can_be_forgotten_in_any_order(
    stream: Stream, class_weight: Any, holds_back: bool, data: st.DataObject
) -> None:
    """Rows of zeros, of ordinary size and of any other, alone and in batches, saved meanwhile."""
    X, n = stream.X.copy(), len(stream)
    places = st.sets(st.integers(0, n - 1), max_size=n)
    X[sorted(data.draw(places, label="zeros"))] = 0
    X[sorted(data.draw(places, label="outliers"))] *= 10.0 ** data.draw(st.integers(-12, 12))
    stream.X = X
    kind = IncrementalRidgeClassifierCV if holds_back else IncrementalRidgeClassifier
    model = kind(class_weight=class_weight)
    for part, labels in stream.parts():
        model.partial_fit(part, labels)
    order = data.draw(st.permutations(range(n)), label="order")
    cut = data.draw(st.integers(0, n - 1), label="passed on after")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for place in order[:cut]:
            model.forget(X[[place]], stream.y[[place]])
        model = pickle.loads(pickle.dumps(copy.deepcopy(model)))
        rest = order[cut:]
        model.forget(X[rest], stream.y[rest])
    assert not hasattr(model, "n_features_in_")


def test_the_peak_is_the_largest_sum_of_squares_that_was_flushed() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 3))
    gram = Gram(3)
    gram.add(rows)
    most = float(np.vdot(rows, rows))
    gram.prepare_removal(rows[:30])()
    gram.add(1e6 * rows[:1])
    gram.prepare_removal(1e6 * rows[:1])()  # it waited, and left to the last bit
    assert gram.peak == pytest.approx(most, rel=1e-14)
    assert copy.deepcopy(gram).peak == gram.flush().peak == gram.peak
    other = Gram(3)
    other.add(rows)
    other.merge(gram)
    assert other.peak == pytest.approx(2 * most, rel=1e-14)
    np.testing.assert_allclose(
        total_gram([gram], 3), np.tril(rows[30:].T @ rows[30:]), atol=1e-16 * most
    )


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
def test_what_went_through_the_sums_is_saved_with_them(class_weight: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows, zeros = rng.normal(size=(40, 3)), np.zeros((4, 3))
    X, y = np.vstack([rows, zeros]), ["a", "b"] * 22
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, y)
    for row, label in zip(rows, y, strict=False):
        model.forget(row[None], [label])
    model.save(tmp_path / "one")
    loaded = newfound.load(tmp_path / "one")
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    ours, theirs = model.learner_.to_state().sums.grams, loaded.learner_.to_state().sums.grams
    assert [gram.peak for gram in ours] == [gram.peak for gram in theirs]
    for label in y[:4]:
        loaded.forget(zeros[:1], [label])
    assert not hasattr(loaded, "n_features_in_")


def outlier_of(size: float, later: int, model: Any) -> tuple[Any, Callable[[], None], float]:
    """Teach an outlier among ordinary rows; return a model of these, and how to forget it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100 + later, 8))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > -1, "a", "b")
    outlier = size * rng.normal(size=(1, 8))
    model.partial_fit(X[:100], y[:100]).partial_fit(outlier, ["a"])
    for place in range(100, 100 + later):
        model.partial_fit(X[[place]], y[[place]])
    without = IncrementalRidgeClassifier(class_weight=model.class_weight).fit(X, y)
    # What docs/solver.md states: eps peak / (least + penalty).
    stated = np.finfo(float).eps * (np.vdot(X, X) + np.vdot(outlier, outlier))
    least = np.square(X - X.mean(axis=0)).sum(axis=0).min()
    return without, lambda: model.forget(outlier, ["a"]), stated / (least + 1)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("later", [40, 100, 200])
@pytest.mark.parametrize("size", [1e6, 1e8, 1e10])
def test_rounding_that_a_forgotten_outlier_leaves_is_said_and_bounded(
    size: float, later: int, class_weight: Any
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    without, forget, stated = outlier_of(size, later, model)
    with pytest.warns(UserWarning, match="errors of the weights may be about") as warned:
        forget()
    error = np.abs(model.coef_ - without.coef_).max() / np.abs(without.coef_).max()
    assert error < min(stated, 1.0)
    assert f"about {stated:.0e} of" in str(warned[0].message) or stated > 1
    assert warned[0].filename == __file__
    row = np.random.default_rng(0).normal(size=(1, 8))
    model.forget(row, without.predict(row))  # said of the outlier, not of every row


@pytest.mark.parametrize("class_weight", [None, {}])
@pytest.mark.parametrize(
    ("offset", "first"), [(0.0, 1.0), (100.0, 1.0), (1000.0, 1.0), (0.0, 1000.0)]
)
def test_it_is_said_whatever_the_features_are_like(
    offset: float, first: float, class_weight: Any
) -> None:
    """Around their means, or beside one large feature, those left may be small."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 8))
    y = np.where(X[:, 1] + 0.5 * X[:, 2] > 0, "a", "b")
    X = offset + X * np.array([first] + [1.0] * 7)
    outlier = 1e8 * rng.normal(size=(1, 8))
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    model.partial_fit(X[:50], y[:50]).partial_fit(outlier, ["a"])
    for place in range(50, 200, 5):
        model.partial_fit(X[place : place + 5], y[place : place + 5])
    with pytest.warns(UserWarning, match="errors of the weights may be about"):
        model.forget(outlier, ["a"])


def test_a_recogniser_forgets_the_image_also_where_warnings_are_errors() -> None:
    X, identity = np.random.default_rng(0).normal(size=(200, 8)), Identity("made")
    outlier, marks = np.full((1, 8), 1e8), [bytes([place] * 16) for place in range(201)]
    recogniser = Recogniser(model=IncrementalRidgeClassifier(class_weight={}))
    recogniser.teach_vectors(outlier, ["a"], marks[200:], identity)
    for place in range(0, 200, 10):
        part = slice(place, place + 10)
        recogniser.teach_vectors(X[part], ["a", "b"] * 5, marks[part], identity)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="fit anew"):
            recogniser.forget_vectors(outlier, ["a"], marks[200:], identity)
    assert recogniser.taught.count("a", marks[200]) == 0
    assert recogniser.model.n_samples_seen_ == len(recogniser.taught) == 200


def test_both_estimators_say_so() -> None:
    model = IncrementalRidgeClassifierCV(penalties=[1.0, 10.0])
    _, forget, _ = outlier_of(1e8, 100, model)
    with pytest.warns(UserWarning, match="fit anew"):
        forget()


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("size", [1e6, 1e8, 1e10])
def test_an_outlier_that_still_waits_leaves_no_trace_and_no_word(
    size: float, class_weight: Any
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    without, forget, _ = outlier_of(size, 5, model)
    forget()
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-12)


@pytest.mark.slow
@given(streams(min_rows=2), st.sampled_from(CLASS_WEIGHTS), st.data())
@settings(max_examples=share_of(60))
def test_ordinary_forgetting_never_warns(
    stream: Stream, class_weight: Any, data: st.DataObject
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    for part, labels in stream.parts():
        model.partial_fit(part, labels)
    for place in data.draw(st.permutations(range(len(stream)))):
        model.forget(stream.X[[place]], stream.y[[place]])


@pytest.mark.slow
def test_a_long_sliding_window_never_warns() -> None:
    rng = np.random.default_rng(0)
    X, y = 100 * rng.normal(size=(3000, 6)), rng.choice(["a", "b"], 3000)
    model = IncrementalRidgeClassifier(1e-6).fit(X[:2000], y[:2000])
    model.forget(X[:1900], y[:1900])
    for place in range(2000, 3000):
        model.partial_fit(X[[place]], y[[place]]).forget(X[[place - 100]], y[[place - 100]])


@pytest.mark.slow
@given(streams(min_rows=2), st.sampled_from(CLASS_WEIGHTS), st.booleans(), st.data())
@settings(max_examples=share_of(150))
def test_whatever_is_left_after_outliers_can_be_saved_and_loaded(
    stream: Stream, class_weight: Any, holds_back: bool, data: st.DataObject
) -> None:
    """Rounding of what went is not taken for sums of no data."""
    n = len(stream)
    size = 10.0 ** data.draw(st.integers(-12, 12), label="size")
    places = sorted(data.draw(st.sets(st.integers(0, n - 1), max_size=n), label="outliers"))
    stream.X[places] *= size
    kind = IncrementalRidgeClassifierCV if holds_back else IncrementalRidgeClassifier
    model = kind(class_weight=class_weight)
    for part, labels in stream.parts():
        model.partial_fit(part, labels)
    going = data.draw(st.permutations(range(n)), label="order")[: n - 1]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", UserWarning)
        path = Path(folder) / "model"
        for place in [place for place in going if place in places] or going[:1]:
            model.forget(stream.X[[place]], stream.y[[place]])
        model.save(path)
        assert newfound.load(path).class_count_.tolist() == model.class_count_.tolist()
