"""Very wide rows: a model of them is the model of what the projection makes of them, exactly."""

import copy
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

import newfound
from newfound import (
    IncrementalClassifier,
    IncrementalRidge,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    Layer,
    ModelFileError,
    Projection,
)
from newfound.learner.learner import Learner
from newfound.solvers.settings import Settings
from newfound.sums import sparse as sparse_rows
from tests.crafted import craft

WIDE, NARROW, M = 300, 40, 16


@pytest.fixture(autouse=True)
def narrow_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call rows wide that have more than 40 features, and project them to 16."""
    for module in ("newfound.sums.sparse", "newfound.learner.schema"):
        monkeypatch.setattr(f"{module}.MOST_FEATURES", NARROW)
    monkeypatch.setattr("newfound.sums.sparse.OUTPUTS", M)
    monkeypatch.setattr(Projection.__init__, "__defaults__", (M, 0))  # outputs, seed


@pytest.fixture(params=["one block", "blocks of 13"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "blocks of 13":
        monkeypatch.setattr(sparse_rows, "BLOCK_BYTES", 13 * M * 8)


RNG = np.random.default_rng(0)
Y = np.array(["mug", "cup", "jug"] * 60)
DENSE = np.where(RNG.random((180, WIDE)) < 0.05, RNG.normal(size=(180, WIDE)), 0.0)
DENSE[np.arange(180), np.arange(180) % 3] += 2.0
X = sparse.csr_array(DENSE)
WEIGHTS = RNG.choice([0.5, 1.0, 3.0], 180)
MAKERS: dict[str, Callable[[], Any]] = {
    "auto": IncrementalClassifier,
    "chosen": lambda: IncrementalClassifier(layer=20, random_state=5),
    "fixed": lambda: IncrementalRidgeClassifier(layer=20),
    "balanced": lambda: IncrementalRidgeClassifier(layer=20, class_weight="balanced"),
}


def answers(model: Any, rows: Any) -> list[Any]:
    asked = (model.scores, model.predict_proba, model.unknown_proba, model.novelty)
    return [ask(rows) for ask in asked]


def assert_same(model: Any, other: Any, rows: Any = X, others: Any = None) -> None:
    """Assert that a model of wide rows says what another says of what they are projected to."""
    others = model.projection_(rows) if others is None else others
    for said, expected in zip(answers(model, rows), answers(other, others), strict=True):
        np.testing.assert_allclose(said, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(rows), other.predict(others))


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_model_of_wide_rows_is_that_of_what_they_are_projected_to(make: Any) -> None:
    seed = getattr(make(), "random_state", 0)
    projection = Projection(WIDE, M, seed)
    P = projection(X)
    model, other = make().partial_fit(X[:110], Y[:110]), make().partial_fit(P[:110], Y[:110])
    assert model.projection_ == projection
    assert model.n_features_in_ == WIDE
    assert model.coef_.shape == other.coef_.shape
    assert_same(model, other)
    for step in ("partial_fit", "store"):
        getattr(model, step)(X[110:], Y[110:], sample_weight=WEIGHTS[110:])
        getattr(other, step)(P[110:], Y[110:], sample_weight=WEIGHTS[110:])
        assert_same(model, other)
        model.forget(X[110:], Y[110:], WEIGHTS[110:])
        other.forget(P[110:], Y[110:], WEIGHTS[110:])
        assert_same(model, other)
    left_out = model.learner_.left_out(X[:50], Y[:50])
    np.testing.assert_array_equal(left_out, other.learner_.left_out(P[:50], Y[:50]))
    assert not model.forget(X[:110], Y[:110]).__sklearn_is_fitted__()


@pytest.mark.usefixtures("either_way")
def test_dense_rows_and_sparse_ones_are_the_same() -> None:
    model, other = IncrementalClassifier().fit(X, Y), IncrementalClassifier().fit(DENSE, Y)
    assert_same(model, other, X, DENSE)
    assert_same(model, other, DENSE, X)
    table = pd.DataFrame(DENSE, columns=[f"word {i}" for i in range(WIDE)])
    named = IncrementalClassifier().fit(table, Y)
    assert named.feature_names_in_.tolist() == table.columns.tolist()
    assert_same(named, model, table, X)
    plain = Learner(Settings(1.0, 0.7, None, True, layer=20))
    plain.learn(X, Y)
    fixed = IncrementalRidgeClassifier(layer=20).fit(DENSE, Y)
    np.testing.assert_allclose(plain.predict(X).scores, fixed.scores(X), atol=1e-12)


def test_float32_stays_float32() -> None:
    model = IncrementalRidgeClassifier(layer=20).fit(X.astype(np.float32), Y)
    assert model.coef_.dtype == model.scores(X.astype(np.float32)).dtype == np.float32


def test_models_are_merged_if_they_project_alike() -> None:
    layer = Layer.of(Projection(WIDE, M)(X[:100]), units=20)
    both = IncrementalClassifier(layer).fit(X, Y)
    one = IncrementalClassifier(layer).fit(X[:80], Y[:80])
    two = IncrementalClassifier(layer).fit(X[80:], Y[80:])
    assert_same(one.merge(two).reconsider(), both, X, X)
    fresh = IncrementalClassifier(layer).merge(both)
    assert fresh.projection_ == both.projection_
    assert_same(fresh.reconsider(), both, X, X)
    linear = IncrementalRidgeClassifierCV().merge(both).reconsider()
    assert_same(linear, IncrementalRidgeClassifierCV().fit(Projection(WIDE, M)(X), Y))


def test_what_is_projected_otherwise_is_not_merged() -> None:
    model = IncrementalClassifier(20).fit(X[:50], Y[:50])
    before = model.scores(X)
    others = {
        "300 features projected to 16 with seed 3": IncrementalClassifier(20, random_state=3),
        "299 features projected to 16 with seed 0": IncrementalClassifier(20),
        "16 features": IncrementalClassifier(20),
    }
    for (said, other), columns in zip(others.items(), (WIDE, WIDE - 1, M), strict=True):
        with pytest.raises(InputError, match=f"taught {said}, and this one 300 features projected"):
            model.merge(other.fit(X[:, :columns], Y))
    np.testing.assert_array_equal(model.scores(X), before)


def test_copies_and_files_know_the_projection(tmp_path: Path) -> None:
    model = IncrementalClassifier(20, random_state=2**40).fit(X, Y)
    model.save(tmp_path / "one")
    read = newfound.load(tmp_path / "one")
    read.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for other in (read, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.projection_ == model.projection_ == Projection(WIDE, M, 2**40)
        assert_same(other, model, X, X)
        other.partial_fit(X[:9], Y[:9]).forget(X[:9], Y[:9])
        assert_same(other, model, X, X)
    assert clone(model).fit(X, Y).projection_ == model.projection_
    assert model.fit(DENSE[:, :NARROW], Y).projection_ is None


def set_to(value: Any) -> Any:
    return lambda array: np.full_like(array, value)


CRAFTED: list[Any] = [
    ({"projection.inputs": set_to(WIDE + 1)}, {}),
    ({"projection.inputs": set_to(-1)}, {}),
    ({"projection.inputs": set_to(2**62)}, {"width": 2**62}),
    ({"projection.outputs": set_to(M + 4)}, {}),
    ({"projection.outputs": set_to(M - 1)}, {}),
    ({"projection.outputs": set_to(2**62)}, {}),
    ({"projection.seed": lambda seed: seed.astype(np.int64)}, {}),
    ({"projection.seed": lambda seed: np.append(seed, seed)}, {}),
    ({}, {"width": M}),
    ({}, {"width": None}),
    ({}, {"feature_names": ["word"] * M}),
]


@pytest.mark.parametrize(("tensors", "header"), CRAFTED)
@pytest.mark.parametrize("shown", [20, 180])  # before there is a layer, and behind it
def test_a_file_whose_projection_fits_nothing_is_refused(
    shown: int, tensors: Any, header: Any, tmp_path: Path
) -> None:
    model = IncrementalClassifier(20).fit(X[:shown], Y[:shown])
    craft(model, tmp_path / "good")
    assert newfound.load(tmp_path / "good").n_features_in_ == WIDE
    craft(model, tmp_path / "evil", header, tensors)
    with pytest.raises(ModelFileError, match="evil: "):
        newfound.load(tmp_path / "evil")


def test_what_cannot_be_projected_is_refused_with_what_to_do() -> None:
    for linear in (
        IncrementalRidgeClassifier(),
        IncrementalRidgeClassifierCV(),
        IncrementalClassifier(layer=None),
        IncrementalRidge(),
    ):
        for learn in (linear.fit, linear.partial_fit):
            with pytest.raises(
                InputError, match=r"X has 300 sparse features.*IncrementalClassifier"
            ):
                learn(X, np.arange(180) % 3)
        assert linear.fit(DENSE, np.arange(180) % 3).projection_ is None  # as ever
    layer = Layer.of(DENSE[:, :7])
    with pytest.raises(InputError, match="projected to 16, but layer is for 7: make it of"):
        IncrementalClassifier(layer).fit(X, Y)
    whole = IncrementalClassifier(Layer.of(DENSE, units=20)).fit(DENSE, Y)
    assert whole.projection_ is None


@pytest.mark.usefixtures("either_way")
def test_what_is_refused_leaves_the_model_as_it_was() -> None:
    model: Any = IncrementalClassifier(20).fit(X, Y)
    before, bad = model.scores(X), X.copy()
    bad.data[-1] = np.nan
    for change in (model.partial_fit, model.forget):
        with pytest.raises(ValueError, match="NaN"):
            change(bad, Y)
        with pytest.raises(ValueError, match=r"X has 299 features, but .* is expecting 300"):
            change(X[:, 1:], Y)
        with pytest.raises(ValueError, match=r"X has 16 features, but .* is expecting 300"):
            change(model.projection_(X), Y)
    np.testing.assert_array_equal(model.scores(X), before)
    with pytest.raises(ValueError, match="0 sample"):
        IncrementalClassifier(20).fit(X[:0], [])


def test_a_seed_is_drawn_once() -> None:
    one, other = (
        IncrementalClassifier(20, random_state=np.random.default_rng(4)).fit(rows, Y)
        for rows in (X, DENSE)
    )
    assert one.projection_ == other.projection_
    assert one.projection_ == Projection(WIDE, M, one.learner_.settings.seed)


def test_a_regression_is_that_of_what_rows_are_projected_to() -> None:
    y = DENSE[:, :2] @ [[1.0, 0.5], [2.0, -1.0]]
    model = IncrementalRidge(layer=20).fit(X, y)
    other = IncrementalRidge(layer=20).fit(Projection(WIDE, M)(X), y)
    np.testing.assert_array_equal(model.predict(X), other.predict(Projection(WIDE, M)(X)))


def test_dask_projects_rows_where_they_are() -> None:
    array = pytest.importorskip("dask.array")
    rows = array.from_array(DENSE, chunks=(70, WIDE))
    model, here = (IncrementalRidgeClassifier(layer=20).fit(each, Y) for each in (rows, X))
    assert model.projection_ == here.projection_
    for lazy, said in zip(answers(model, rows), answers(here, X), strict=True):
        np.testing.assert_allclose(lazy.compute(), said, atol=1e-9)
    model.partial_fit(rows, Y)
    assert_same(model, here.partial_fit(X, Y), X, X)
    seeded = IncrementalClassifier(20, random_state=3).fit(X[:60], Y[:60])
    seeded.set_params(random_state=8).partial_fit(rows[60:], Y[60:])
    assert seeded.projection_ == Projection(WIDE, M, 3)
    assert seeded.score(rows, Y) == seeded.score(X, Y)


@pytest.mark.needs("torch")
def test_a_model_on_a_device_takes_them_from_the_host() -> None:
    here = IncrementalRidgeClassifier(layer=20).fit(X[:120], Y[:120])
    there = copy.deepcopy(here).move_to("cpu")
    for model in (here, there):
        model.partial_fit(X[120:], Y[120:]).forget(X[:20], Y[:20])
    assert_same(there, here, X, X)


@pytest.mark.needs("torch")
def test_rows_on_a_device_are_projected_on_the_host_and_go_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    here = IncrementalRidgeClassifier(layer=20).fit(X, Y)
    with config_context(array_api_dispatch=True):
        there = IncrementalRidgeClassifier(layer=20).fit(torch.asarray(DENSE), Y)
        scores = there.scores(torch.asarray(DENSE))
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), here.scores(X), atol=1e-9)


def test_texts_of_unknown_words_alone_are_unknown() -> None:
    """Of few words that were taught, all others share outputs with none; of many, with some."""
    texts, labels = ["mug tea", "tea mug warm", "ball red", "red round ball"] * 9, [*"mmbb"] * 9
    words = TfidfVectorizer().fit([*texts, " ".join(f"word{i}" for i in range(500))])
    model: Any = IncrementalClassifier().fit(words.transform(texts), labels)
    occurs = model.projection_(words.transform(texts)).any(axis=0)
    strange = words.transform([f"word{i}" for i in range(500)])
    shares_nothing = ~model.projection_(strange)[:, occurs].any(axis=1)
    unknown = model.unknown_proba(strange)
    assert 0 < shares_nothing.sum() < 500
    assert (unknown[shares_nothing] == 1).all()
    assert model.unknown_proba(words.transform(["", "tea mug"])).round().tolist() == [1, 0]


def test_a_row_of_a_million_features_takes_nothing_of_that_size() -> None:
    wide = sparse.random_array((150, 1_000_000), density=1e-5, format="csr", rng=0)
    model = IncrementalRidgeClassifier(layer=20).partial_fit(wide[:120], Y[:120])
    tracemalloc.start()
    try:
        model.partial_fit(wide[120:], Y[120:150]).predict(wide)
        model.forget(wide[120:], Y[120:150])
        model.unknown_proba(wide)
        model.learner_.to_state()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000  # a byte of each feature
