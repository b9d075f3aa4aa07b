"""The regressor beside scikit-learn's `Ridge` and `RidgeCV`, and under the laws of the house."""

import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from newfound import IncrementalRidge, InputError, ModelFileError, load
from newfound.common.errors import NotTaughtError
from newfound.solvers.regression import left_out_errors, moments
from newfound.sums.sums import Sums
from tests.crafted import put_together, taken_apart
from tests.effort import share_of

PENALTIES: Any = 10.0 ** np.arange(-3, 4)


def data(seed: int = 0, n: int = 60, d: int = 7, k: int = 2) -> tuple[Any, Any, Any]:
    """Rows, targets and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 10, d) + 3
    Y = X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) + 5
    return X, Y, rng.uniform(0.0, 3.0, n)


def assert_same(model: Any, other: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"penalty": "auto"}, {"fit_intercept": False}], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_passes(parameters: dict[str, Any]) -> None:
    results = check_estimator(IncrementalRidge(**parameters))
    left = {result["check_name"] for result in results if result["status"] != "passed"}
    # Those of the array API run only where SCIPY_ARRAY_API is set: test_sklearn.py.
    assert all(name.startswith("check_array_api") for name in left)
    assert len(results) > 45


@pytest.mark.parametrize("flat", [True, False])
def test_one_target_has_the_shapes_of_ridge_whether_it_comes_in_a_column_or_not(flat: bool) -> None:
    X, Y, _ = data()
    first, later = (Y[:, 0], Y[:, :1]) if flat else (Y[:, :1], Y[:, 0])
    model, ridge = IncrementalRidge().fit(X, first), Ridge().fit(X, first)
    for name in ("coef_", "intercept_"):
        assert np.shape(getattr(model, name)) == np.shape(getattr(ridge, name)), name
    assert model.predict(X).shape == ridge.predict(X).shape == (len(X),)
    ridge = Ridge().fit([*X, *X], [*Y[:, 0], *Y[:, 0]])
    np.testing.assert_allclose(model.partial_fit(X, later).predict(X), ridge.predict(X), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("intercept", [True, False])
def test_row_by_row_it_is_sklearn_ridge_with_weights(flat: bool, intercept: bool) -> None:
    X, Y, w = data()
    y, model = Y[:, 0] if flat else Y, IncrementalRidge(2.0, fit_intercept=intercept)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], w[i : i + 1])
        so_far = slice(i + 1)
        ridge = Ridge(2.0, fit_intercept=intercept).fit(X[so_far], y[so_far], w[so_far])
        assert_same(model, ridge)
        assert model.coef_.shape == ridge.coef_.shape
        if intercept:  # without one, scikit-learn has a single zero for all targets
            assert np.shape(model.intercept_) == np.shape(ridge.intercept_)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-10)
    assert model.score(X, y) == pytest.approx(ridge.score(X, y), rel=1e-12)


@settings(max_examples=share_of(40))
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_splits_weights_forgetting_and_merging_keep_the_laws(
    seed: int, size: int, intercept: bool
) -> None:
    X, Y, _ = data(seed, n=40)
    w = np.random.default_rng(seed).integers(0, 4, 40).astype(float)
    w[:2] = 1.0
    options: dict[str, Any] = {"penalty": "auto", "fit_intercept": intercept}
    times = w.astype(int)
    expected = IncrementalRidge(**options).fit(X.repeat(times, axis=0), Y.repeat(times, axis=0))
    stream = IncrementalRidge(**options)
    for start in range(0, 40, size):
        part = slice(start, start + size)
        stream.partial_fit(X[part], Y[part], w[part])
    more = IncrementalRidge(**options).fit(X, Y, w).partial_fit(X + 1, Y, w + 0.5)
    more.forget(X + 1, Y, w + 0.5)
    merged = IncrementalRidge(**options).fit(X[::2], Y[::2], w[::2])
    merged.merge(IncrementalRidge(**options).fit(X[1::2], Y[1::2], w[1::2]))
    for model in (IncrementalRidge(**options).fit(X, Y, w), stream, more, merged):
        assert model.penalty_ == pytest.approx(expected.penalty_, rel=1e-9)
        assert_same(model, expected, 1e-7)
        assert model.n_samples_seen_ == np.count_nonzero(w)
        assert model.weight_sum_ == pytest.approx(w.sum())


@pytest.mark.parametrize("intercept", [True, False])
def test_left_out_errors_are_those_of_refits(intercept: bool) -> None:
    X, Y, w = data(3, n=20)
    w += 0.1
    sums = Sums.of(np.hstack([X, Y]), ["all"] * 20, sample_weight=w)
    found = left_out_errors(moments(sums, Y.shape[1], intercept), X, Y, w, PENALTIES)
    for penalty, squares in zip(PENALTIES, found, strict=True):
        for i in range(20):
            keep = np.arange(20) != i
            ridge = Ridge(penalty, fit_intercept=intercept).fit(X[keep], Y[keep], w[keep])
            expected = np.square(Y[i] - ridge.predict(X[i : i + 1])[0]).sum()
            np.testing.assert_allclose(squares[i], expected, rtol=1e-7, atol=1e-8)


def test_what_is_held_to_choose_a_penalty_does_not_grow_with_targets_times_penalties() -> None:
    rng = np.random.default_rng(0)
    model = IncrementalRidge(np.logspace(-3, 3, 300))
    model.fit(rng.normal(size=(200, 3)), rng.normal(size=(200, 200)))
    tracemalloc.start()
    assert model.penalty_ > 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # errors of all targets under all penalties take 96 MB


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("k", [1, 3])
def test_the_penalty_is_that_of_ridge_cv(seed: int, k: int) -> None:
    X, Y, _ = data(seed, k=k)
    Y = Y[:, 0] if k == 1 else Y
    model, peer = IncrementalRidge(PENALTIES).fit(X, Y), RidgeCV(PENALTIES).fit(X, Y)
    assert model.penalty_ == peer.alpha_
    assert_same(model, peer)


def test_rows_that_weigh_more_count_more_where_a_penalty_is_chosen() -> None:
    """Half of the rows are noise: whether these weigh little or much decides."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    y = X @ rng.normal(size=6) + rng.normal(size=80) * np.where(np.arange(80) < 40, 0.01, 10.0)
    penalties = np.logspace(-4, 4, 30)
    for weights in (np.repeat([9, 1], 40), np.repeat([1, 9], 40)):
        losses = [
            sum(
                weight * (y[i] - _without(X, y, weights, i, penalty).predict(X[i : i + 1])[0]) ** 2
                for i, weight in enumerate(weights)
            )
            for penalty in penalties
        ]
        model = IncrementalRidge(penalties).fit(X, y, weights)
        assert model.penalty_ == penalties[np.argmin(losses)]


def _without(X: Any, y: Any, weights: Any, i: int, penalty: float) -> Any:
    """Return the ridge regression of all rows but one."""
    rest = np.arange(len(X)) != i
    return Ridge(penalty).fit(X[rest], y[rest], weights[rest])


def test_a_penalty_chosen_on_a_few_rows_is_nearly_as_good_as_one_chosen_on_all() -> None:
    X, y = load_diabetes(return_X_y=True)
    scores = [
        IncrementalRidge("auto", witnesses=cap).fit(X[:300], y[:300]).score(X[300:], y[300:])
        for cap in (40, 500)
    ]
    assert scores[1] > 0.45
    assert abs(scores[0] - scores[1]) < 0.03


@pytest.mark.parametrize("scale", [1e-20, 1e-3, 1e4, 1e8])
def test_the_penalty_chosen_goes_with_the_scale_of_weights(scale: float) -> None:
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 100)), rng.normal(size=60)
    y = X[:, :3].sum(axis=1) + noise
    usual = IncrementalRidge("auto").fit(X, y)
    scaled = IncrementalRidge("auto").fit(X, y, scale)
    assert scaled.penalty_ / scale / usual.penalty_ == pytest.approx(1.0, abs=0.9)
    error = np.linalg.norm(scaled.coef_ - usual.coef_) / np.linalg.norm(usual.coef_)
    assert error < 0.3


def test_rows_that_are_all_alike_say_nothing() -> None:
    model = IncrementalRidge("auto").fit(np.full((60, 5), 0.1), np.arange(60.0))
    assert model.predict([[0.1] * 5]) == pytest.approx([29.5])
    assert abs(model.coef_).max() < 1e-3


@pytest.mark.filterwarnings("ignore:a penalty of")
def test_forgetting_what_was_far_too_large_warns() -> None:
    X, Y, _ = data()
    model = IncrementalRidge().fit(X, Y).partial_fit(1e9 * X, Y)
    with pytest.warns(UserWarning, match="its rounding stays in the sums"):
        model.forget(1e9 * X, Y)


def test_parameters_may_be_changed_at_any_time() -> None:
    X, Y, _ = data()
    model = IncrementalRidge(1.0).fit(X, Y)
    assert_same(model.set_params(penalty=50.0), Ridge(50.0).fit(X, Y))
    assert_same(model.set_params(fit_intercept=False), Ridge(50.0, fit_intercept=False).fit(X, Y))


@pytest.mark.parametrize("penalty", [2.0, "auto", [0.1, 1.0]], ids=str)
@pytest.mark.parametrize("named", [True, False])
def test_save_and_load_is_the_same_model_that_goes_on_learning(
    penalty: Any, named: bool, tmp_path: Path
) -> None:
    X, Y, w = data()
    w += 0.1
    rows = pd.DataFrame(X, columns=list("abcdefg")) if named else X
    model = IncrementalRidge(penalty).fit(rows[:50], Y[:50], w[:50])
    model.save(tmp_path / "one")
    found = load(tmp_path / "one")
    found.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert found.n_features_in_ == 7
    for each in (model, found):
        each.partial_fit(rows[50:], Y[50:], w[50:]).forget(rows[:3], Y[:3], w[:3])
    np.testing.assert_allclose(found.predict(rows), model.predict(rows), rtol=1e-12)
    if named:
        assert found.feature_names_in_.tolist() == list("abcdefg")


@pytest.mark.parametrize(
    "spoil",
    [
        {"targets": 9},
        {"targets": 0},
        {"targets": "2"},
        {"is_flat": True},
        {"is_flat": None},
        {"parameters": {"penalty": -1.0}},
        {"parameters": {"penalty": [1.0 + k for k in range(1001)]}},
        {"parameters": {"strange": 1}},
        {"parameters": {"random_state": None}},
        {"parameters": {"random_state": -5}},
    ],
)
def test_a_file_whose_parameters_do_not_fit_is_refused(spoil: Any, tmp_path: Path) -> None:
    X, Y, _ = data()
    IncrementalRidge().fit(X, Y).save(tmp_path / "one")
    header, tensors = taken_apart(tmp_path / "one")
    header["parameters"] |= spoil.get("parameters", {})
    header |= {name: value for name, value in spoil.items() if name != "parameters"}
    put_together(tmp_path / "one", header, tensors)
    with pytest.raises(ModelFileError, match="damaged"):
        load(tmp_path / "one")


@pytest.mark.parametrize(
    ("X", "y", "w", "words"),
    [
        ([[np.nan] * 2], [1.0], None, "contains NaN"),
        ([[1.0] * 3], [1.0], None, "expecting 2 features"),
        ([[1.0] * 2], [np.inf], None, "infinity"),
        ([[1.0] * 2], [1.0, 2.0], None, "inconsistent numbers"),
        ([[1.0] * 2], [[1.0, 2.0]], None, "2 targets, but this model was taught 1"),
        ([[1.0] * 2], [1.0], [-1.0], "not negative"),
        ([[1e200] * 2], [1.0], None, "overflow"),
        ([[1.0] * 2], [1e200], None, "overflow"),
    ],
    ids=str,
)
def test_bad_input_is_refused_and_changes_nothing(X: Any, y: Any, w: Any, words: str) -> None:
    model = IncrementalRidge().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [1.0, 2.0, 3.0])
    before = model.coef_
    with pytest.raises(ValueError, match=words):
        model.partial_fit(X, y, w)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": 0.0},
        {"penalty": "much"},
        {"penalty": []},
        {"penalty": [1.0, -1.0]},
        {"penalty": True},
        {"fit_intercept": 1},
        {"witnesses": 1},
        {"witnesses": 2.5},
    ],
    ids=str,
)
def test_parameters_that_are_none_are_named(parameters: dict[str, Any]) -> None:
    (name,) = parameters
    with pytest.raises(InputError, match=f"^{name} must be"):
        IncrementalRidge(**parameters).fit([[0.0], [1.0]], [0.0, 1.0])


def test_what_was_not_taught_is_not_forgotten() -> None:
    X, Y, _ = data()
    model = IncrementalRidge().fit(X, Y)
    before = model.coef_
    for rows, targets in (
        (X[:1] + 50, Y[:1]),
        (X[:1], Y[:1] - 90),
        (X.repeat(2, 0), Y.repeat(2, 0)),
    ):
        with pytest.raises(NotTaughtError):
            model.forget(rows, targets)
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(NotFittedError):
        model.forget(X, Y).predict(X)


def test_models_that_do_not_fit_together_are_not_merged() -> None:
    X, Y, _ = data()
    model = IncrementalRidge().fit(X, Y)
    others = [(X[:, :3], Y), (X, Y[:, 0])]
    others += [(X[:, :-1], np.hstack([Y, Y[:, :1]]))]  # as many columns in all
    for other in (IncrementalRidge().fit(*rows) for rows in others):
        with pytest.raises(InputError, match="cannot merge"):
            model.merge(other)
    with pytest.raises(TypeError, match="IncrementalRidge"):
        model.merge(Ridge())
    assert_same(IncrementalRidge().merge(model), model)
    assert_same(model.merge(IncrementalRidge()), Ridge(1.0).fit(X, Y))


def test_sparse_rows_are_learned_in_blocks_all_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y, w = data(n=200)
    X[np.abs(X) < 3] = 0.0
    w += 0.1
    monkeypatch.setattr("newfound.sums.sparse.BLOCK_BYTES", 30 * 8 * X.shape[1])
    model, dense = IncrementalRidge("auto"), IncrementalRidge("auto")
    for rows, learner in ((csr_array(X), model), (X, dense)):
        learner.fit(rows[:100], Y[:100], w[:100]).partial_fit(rows[100:], Y[100:], w[100:])
        learner.forget(rows[:90], Y[:90], w[:90])
    assert_same(model, dense)
    np.testing.assert_allclose(model.predict(csr_array(X)), dense.predict(X), rtol=1e-9)
    before, spoiled = model.coef_, csr_array(X)
    spoiled.data[-1] = 1e200  # in the last block
    with pytest.raises(InputError, match="overflow"):
        model.partial_fit(spoiled, Y)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.n_samples_seen_ == 110
    with pytest.raises(InputError, match="HashingVectorizer"):
        IncrementalRidge().fit(csr_array((3, 20_000)), [1.0, 2.0, 3.0])


def test_it_works_among_its_kin() -> None:
    X, y = load_diabetes(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), IncrementalRidge()),
        {"incrementalridge__penalty": [1.0, 100.0]},
    ).fit(X, y)
    assert search.best_score_ > 0.4
    model = IncrementalRidge("auto", random_state=np.random.RandomState(3))
    assert clone(model).fit(X, y).score(X, y) > 0.5
    assert IncrementalRidge(random_state=None).fit(X, y).score(X, y) > 0.4


def test_it_can_be_asked_while_another_thread_teaches() -> None:
    X, Y, _ = data(n=300)
    model, found, done = IncrementalRidge().fit(X[:100], Y[:100]), [], threading.Event()

    def ask() -> None:
        while not done.is_set():
            found.append(model.predict(X[:1]))

    asking = threading.Thread(target=ask)
    asking.start()
    for i in range(100, 300):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    done.set()
    asking.join()
    assert np.isfinite(found).all()
    assert_same(model, Ridge(1.0).fit(X, Y))


@pytest.mark.slow
def test_memory_does_not_grow_with_rows() -> None:
    script = (
        "import numpy as np, pickle, newfound\n"
        "rng, model = np.random.default_rng(0), newfound.IncrementalRidge(witnesses=20)\n"
        "sizes = []\n"
        "for _ in range(2):\n"
        "    for _ in range(50):\n"
        "        X = rng.normal(size=(200, 10))\n"
        "        model.partial_fit(X, X.sum(axis=1))\n"
        "    sizes.append(len(pickle.dumps(model)))\n"
        "assert sizes[1] <= 1.01 * sizes[0], sizes\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("lazy", ["array", "frame", "plain"])
def test_partitions_of_dask_are_learned_as_on_one_machine(flat: bool, lazy: str) -> None:
    import dask.array as da
    import dask.dataframe as dd

    X, Y, w = data()
    y = Y[:, 0] if flat else Y
    n = len(X)
    rows: Any = da.from_array(X, chunks=(13, X.shape[1]))
    targets: Any = da.from_array(y, chunks=17)
    if lazy == "frame":
        rows = dd.from_pandas(pd.DataFrame(X, columns=list("abcdefg")), npartitions=3)
        targets = dd.from_pandas(pd.Series(y) if flat else pd.DataFrame(y), npartitions=3)
    elif lazy == "plain":
        targets = y
    weights = None if lazy == "frame" else w
    for penalty in (1.0, "auto"):
        expected = IncrementalRidge(penalty).fit(X, y, weights)
        model: Any = IncrementalRidge(penalty).fit(rows, targets, weights)
        assert model.penalty_ == pytest.approx(expected.penalty_)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
        assert model.predict(rows).compute().shape == (n, *y.shape[1:])
        again = model.partial_fit(rows, targets, weights)
        more = expected.partial_fit(X, y, weights)
        np.testing.assert_allclose(again.coef_, more.coef_, rtol=1e-8, atol=1e-10)


def test_where_there_is_nothing_to_choose_nothing_is_kept() -> None:
    X, Y, _ = data()
    model = IncrementalRidge(2.0).fit(X, Y)
    assert not model.learner_.engine.memory.witnesses.of_class
    model.set_params(penalty="auto").partial_fit(X + 1, Y)
    assert model.learner_.engine.memory.witnesses["everything"].size == len(X)
