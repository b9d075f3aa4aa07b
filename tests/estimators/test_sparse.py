"""Sparse rows are learned and asked as dense ones are, and never all dense at once."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from newfound import (
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    NotTaughtError,
)
from newfound.learner.learner import Learner
from newfound.sums import sparse as sparse_rows
from newfound.sums.sums import Sums
from tests.peak_memory import PEAK

RNG = np.random.default_rng(0)
X = np.where(RNG.random((90, 7)) < 0.3, RNG.normal(size=(90, 7)), 0.0)
Y = np.array(["mug", "cup", "jug"] * 30)
KINDS = [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV]
FORMATS: list[Callable[[Any], Any]] = [
    sparse.csr_array,
    sparse.csr_matrix,
    sparse.csc_array,
    sparse.coo_array,
    sparse.lil_matrix,
    sparse.dok_array,
    sparse.dia_array,
]


@pytest.fixture(params=["one block", "blocks of 13"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "blocks of 13":
        monkeypatch.setattr(sparse_rows, "BLOCK_BYTES", 13 * 7 * 8)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_rows, "BLOCK_BYTES", 13 * 7 * 8)


def answers(model: Any, rows: Any) -> list[Any]:
    asked = (model.scores, model.decision_function, model.predict_proba)
    return [*(ask(rows) for ask in asked), model.novelty(rows), model.unknown_proba(rows)]


def assert_same(model: Any, other: Any, rows: Any) -> None:
    """Assert that a model says the same of sparse rows as another of the same rows, dense."""
    np.testing.assert_array_equal(model.classes_, other.classes_)
    np.testing.assert_array_equal(model.class_count_, other.class_count_)
    ours, theirs = (each.learner_.engine.penalty for each in (model, other))
    assert ours == theirs
    for said, expected in zip(answers(model, rows), answers(other, rows.toarray()), strict=True):
        np.testing.assert_allclose(said, expected, atol=1e-12)
        assert said.dtype == expected.dtype
    np.testing.assert_array_equal(model.predict(rows), other.predict(rows.toarray()))
    assert model.score(rows, Y) == other.score(rows.toarray(), Y)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_rows_are_taught_and_asked_as_dense_ones_are(kind: Any, form: Any) -> None:
    rows = form(X)
    assert_same(kind().fit(rows, Y), kind().fit(X, Y), rows)


@pytest.mark.slow
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("learn", ["partial_fit", "store"])
def test_what_is_learned_on_top_and_forgotten_is_the_same(
    kind: Any, class_weight: Any, learn: str
) -> None:
    rows = sparse.csr_array(X)
    one, other = (kind(class_weight=class_weight).fit(X[:20], Y[:20]) for _ in range(2))
    getattr(one, learn)(rows, Y)
    getattr(other, learn)(X, Y)
    assert_same(one, other, rows)
    one.forget(rows[:40], Y[:40])
    other.forget(X[:40], Y[:40])
    assert_same(one, other, rows)
    one.forget(rows[40:], Y[40:]).forget(X[:20], Y[:20])
    assert not one.__sklearn_is_fitted__()


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
def test_weights_count_as_they_do_for_dense_rows(kind: Any) -> None:
    rows, weights = sparse.csr_array(X), RNG.choice([0.0, 0.5, 1.0, 3.0], 90)
    weights[-26:] = 0.0  # two whole blocks
    one, other = kind().fit(rows, Y, weights), kind().fit(X, Y, weights)
    assert_same(one, other, rows)
    one.partial_fit(rows, Y, sample_weight=weights).forget(rows, Y, weights)
    assert_same(one, other, rows)
    assert not one.forget(rows, Y, weights).__sklearn_is_fitted__()
    with pytest.raises(InputError, match="all weights are zero"):
        one.fit(rows, Y, np.zeros(90))
    with pytest.raises(InputError, match="weights are not negative"):
        one.partial_fit(rows, Y, sample_weight=-weights)
    assert not one.partial_fit(rows, Y, sample_weight=np.zeros(90)).__sklearn_is_fitted__()


@pytest.mark.usefixtures("either_way")
def test_classes_that_are_announced_wait_for_their_first_example() -> None:
    model = IncrementalRidgeClassifier().partial_fit(sparse.csr_array(X), Y, classes=[*Y, "pot"])
    assert model.classes_.tolist() == ["cup", "jug", "mug", "pot"]
    assert model.class_count_.tolist() == [30, 30, 30, 0]


@pytest.mark.usefixtures("either_way")
def test_float32_stays_float32() -> None:
    rows = sparse.csr_array(X.astype(np.float32))
    model = IncrementalRidgeClassifier().fit(rows, Y)
    assert model.coef_.dtype == model.scores(rows).dtype == np.float32
    assert_same(model, IncrementalRidgeClassifier().fit(rows.toarray(), Y), rows)


def test_scores_are_those_of_scikit_learns_ridge_on_the_same_sparse_rows() -> None:
    digits, labels = load_digits(return_X_y=True)
    rows = sparse.csr_matrix(digits)
    ours = IncrementalRidgeClassifier(penalty=3.0, recoding=0.0).fit(rows, labels)
    theirs = RidgeClassifier(alpha=3.0, tol=1e-12, solver="sparse_cg").fit(rows, labels)
    # Targets of 0 and 1 against -1 and 1: scores are half, plus a half.
    np.testing.assert_allclose(2 * ours.scores(rows) - 1, theirs.decision_function(rows), atol=1e-6)


def bad(value: float) -> Any:
    rows = sparse.csr_array(X)
    rows.data[-1] = value
    return rows


def twice(value: float) -> Any:
    """Return rows with a number in two parts, each of which is finite."""
    rows = sparse.coo_array(X)
    places = (np.append(rows.row, [89, 89]), np.append(rows.col, [3, 3]))
    return sparse.coo_array((np.append(rows.data, [value, value]), places), X.shape)


REFUSED = [
    pytest.param(bad(np.nan), Y, "Input X contains NaN", id="nan"),
    pytest.param(bad(-np.inf), Y, "Input X contains infinity", id="infinity"),
    pytest.param(bad(1e200), Y, "squares overflow", id="overflow"),
    pytest.param(twice(1.5e308), Y, "inf", id="infinite in two parts"),
    pytest.param(sparse.csr_array(X + 1j), Y, "Complex data not supported", id="complex"),
    pytest.param(sparse.csr_array(X[:, :3]), Y, "X has 3 features", id="narrow"),
    pytest.param(sparse.csr_array((0, 7)), [], "0 sample", id="empty"),
    pytest.param(sparse.csr_array(X), Y[:5], "inconsistent numbers of samples", id="lengths"),
    pytest.param(sparse.csr_array(X), [*Y[:89], None], "y contains None", id="no label"),
    pytest.param(sparse.csr_array(X), np.arange(90), "are strings, but|no class 0", id="numbers"),
    # Older scipy refuses them before scikit-learn does.
    pytest.param(sparse.coo_array(X[0]), Y[:7], "Expected 2D|1d sparse", id="one dimension"),
]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "labels", "message"), REFUSED)
def test_what_is_refused_in_a_late_block_leaves_the_model_bit_for_bit_as_it_was(
    kind: Any, rows: Any, labels: Any, message: str, tmp_path: Path
) -> None:
    model = kind().fit(X, Y)
    weights, names = model.coef_, sorted(vars(model))
    model.save(tmp_path / "before")
    for change in (model.partial_fit, model.store, model.forget):
        with pytest.raises((ValueError, TypeError), match=message):
            change(rows, labels)
        np.testing.assert_array_equal(model.coef_, weights)
        assert sorted(vars(model)) == names
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


@pytest.mark.usefixtures("small_blocks")
def test_a_failure_in_a_late_block_leaves_a_new_model_new(monkeypatch: pytest.MonkeyPatch) -> None:
    model, add, calls = IncrementalRidgeClassifier(), Sums.add, []

    def fail_late(self: Sums, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        add(self, *arguments)

    monkeypatch.setattr(Sums, "add", fail_late)
    for learn in (model.fit, model.partial_fit):
        calls.clear()
        with pytest.raises(KeyboardInterrupt):
            learn(sparse.csr_array(X), Y)
        assert not model.__sklearn_is_fitted__()


@pytest.mark.usefixtures("either_way")
def test_forgetting_more_than_was_taught_is_refused() -> None:
    model = IncrementalRidgeClassifier().fit(X[:60], Y[:60])
    before = model.coef_
    with pytest.raises(NotTaughtError, match="cannot forget 30 examples of 'cup': 20 of them"):
        model.forget(sparse.csr_array(X), Y)
    np.testing.assert_array_equal(model.coef_, before)


def test_too_many_features_are_refused_with_what_to_do() -> None:
    wide = sparse.csr_array((3, 120_000))
    said = re.escape("X has 120,000 sparse features") + ".*115.2 GB each.*"
    said += "IncrementalClassifier.*HashingVectorizer"
    with pytest.raises(InputError, match=said):
        IncrementalRidgeClassifier().fit(wide, ["a", "b", "c"])
    bound = sparse_rows.MOST_FEATURES
    with pytest.raises(InputError):
        sparse_rows.dense(sparse.csr_array((1, bound + 1)))
    assert sparse_rows.dense(sparse.csr_array((1, bound))).shape == (1, bound)


TEXTS = ["a mug of tea", "tea in a mug", "the red ball", "a ball, red and round"] * 5
THINGS = ["mug", "mug", "ball", "ball"] * 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [TfidfVectorizer(), HashingVectorizer(n_features=256)])
def test_text_goes_through_a_pipeline(kind: Any, words: Any) -> None:
    pipeline = make_pipeline(words, kind()).fit(TEXTS, THINGS)
    assert pipeline.predict(["my red ball", "more tea"]).tolist() == ["ball", "mug"]


def test_categories_go_through_a_pipeline() -> None:
    rows = [["red", "round"], ["blue", "tall"], ["red", "flat"], ["blue", "round"]]
    pipeline = make_pipeline(OneHotEncoder(), IncrementalRidgeClassifier())
    pipeline.fit(rows, ["ball", "mug", "ball", "mug"])
    assert pipeline.predict([["red", "tall"]]).tolist() == ["ball"]


def test_a_table_of_sparse_columns_is_taken_with_its_names() -> None:
    table = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array(X), columns=[*"abcdefg"])
    model = IncrementalRidgeClassifier().fit(table, Y)
    assert model.feature_names_in_.tolist() == [*"abcdefg"]
    np.testing.assert_array_equal(model.coef_, IncrementalRidgeClassifier().fit(X, Y).coef_)
    np.testing.assert_array_equal(model.scores(table), model.scores(table.sparse.to_dense()))


@pytest.mark.needs("torch")
@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_on_a_device_takes_them_too(kind: Any) -> None:
    rows, here = sparse.csr_array(X), kind().fit(X[:20], Y[:20])
    there = kind().fit(X[:20], Y[:20]).move_to("cpu")
    for model in (here, there):
        model.partial_fit(rows, Y).forget(rows[:40], Y[:40])
    for said, expected in zip(answers(there, rows), answers(here, rows), strict=True):
        assert isinstance(said, np.ndarray)
        np.testing.assert_allclose(said, expected, atol=1e-9)


def test_sums_and_plain_learners_take_them_too() -> None:
    rows = sparse.csc_array(X)
    np.testing.assert_array_equal(Sums.of(rows, Y).gram, Sums.of(X, Y).gram)
    plain, dense = Learner(), Learner()
    plain.learn(rows, Y)
    dense.learn(X, Y)
    np.testing.assert_array_equal(plain.predict(rows).scores, dense.predict(X).scores)
    with pytest.raises(InputError, match="X has 90 rows, but y has 3 labels"):
        plain.learn(rows, Y[:3])


@pytest.mark.slow
def test_memory_is_bounded_by_a_few_blocks_however_many_rows_there_are() -> None:
    """Dense, the rows would take 320 MB; with blocks of 8 MB, they take less than a third."""
    script = """
import numpy as np
from scipy import sparse
from newfound import IncrementalRidgeClassifier
from newfound.sums import sparse as sparse_rows
sparse_rows.BLOCK_BYTES = 2**23
rows = sparse.random_array((160_000, 250), density=0.004, format="csr", rng=0)
labels, before = np.arange(160_000) % 3, peak_mb()
model = IncrementalRidgeClassifier().fit(rows, labels)
model.partial_fit(rows, labels).forget(rows, labels).predict(rows)
model.novelty(rows)
print(peak_mb() - before)
"""
    command = [sys.executable, "-c", PEAK + script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100
