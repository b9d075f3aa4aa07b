"""Weights of examples: a row of weight two is a row taught twice, wherever weights go."""

from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

from newfound import (
    IncrementalRidge,
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    InputError,
    load,
)
from newfound.common.errors import NotTaughtError
from newfound.sums.sums import Sums
from tests import oracles
from tests.covering import first_of
from tests.devices import CHOOSING, EVERYWHERE, PLAIN
from tests.effort import share_of
from tests.streams import saved

KINDS = (IncrementalRidgeClassifier, IncrementalRidgeClassifierCV)
CLASS_WEIGHTS: tuple[Any, ...] = (None, "balanced", {0: 3.0, 2: 0.2})
BOTH = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


class Weighted(NamedTuple):
    """Rows, labels and weights."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    w: NDArray[np.float64]

    @property
    def repeated(self) -> tuple[Any, Any]:
        """Every row as often as its weight says."""
        times = self.w.astype(int)
        return self.X.repeat(times, axis=0), self.y.repeat(times)

    def at(self, where: Any) -> tuple[Any, Any, Any]:
        return self.X[where], self.y[where], self.w[where]


@st.composite
def weighted(draw: Any, whole: bool = True) -> Weighted:
    """Up to thirty rows of three classes, each of which has weight."""
    n, seed = draw(st.integers(6, 30)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + 2 * rng.normal(size=(3, 4))[y]
    if whole:
        w = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), dtype=float)
    else:
        w = 10.0 ** rng.uniform(-3, 3, n)
    w[:6] = np.maximum(w[:6], 1.0)
    return Weighted(X, y, w)


def assert_same(one: Any, other: Any, X: Any, tolerance: float = 1e-9) -> None:
    for question in ("decision_function", "predict_proba", "novelty", "unknown_proba"):
        found, expected = getattr(one, question)(X), getattr(other, question)(X)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@BOTH
@settings(max_examples=share_of(30))
@given(data=weighted(), intercept=st.booleans(), class_weight=st.sampled_from(CLASS_WEIGHTS))
def test_weights_are_repetitions(
    kind: Any, data: Weighted, intercept: bool, class_weight: Any
) -> None:
    """And a row of weight zero is none at all."""
    options = {"fit_intercept": intercept, "class_weight": class_weight}
    model = kind(**options).fit(data.X, data.y, sample_weight=data.w)
    assert_same(model, kind(**options).fit(*data.repeated), data.X)
    expected = np.bincount(data.y, data.w)
    np.testing.assert_array_equal(model.class_weight_sum_, expected)  # whole, so to the last bit
    np.testing.assert_array_equal(model.class_count_, np.bincount(data.y[data.w > 0]))


@BOTH
@settings(max_examples=share_of(20))
@given(weighted(), st.integers(1, 30), st.booleans(), st.sampled_from(CLASS_WEIGHTS))
def test_weights_are_repetitions_in_a_stream_and_after_forgetting_and_merging(
    kind: Any, data: Weighted, size: int, intercept: bool, class_weight: Any
) -> None:
    options = {"fit_intercept": intercept, "class_weight": class_weight}
    expected = kind(**options).fit(*data.repeated)
    n = len(data.y)
    stream = kind(**options)
    for start in range(0, n, size):
        X, y, w = data.at(slice(start, start + size))
        stream.partial_fit(X, y, sample_weight=w)
    more = kind(**options).fit(data.X, data.y, data.w)
    strange, weights = data.X[:5] + 3.0, np.array([0.3, 7.0, 0.0, 1.0, 1e3])
    more.partial_fit(strange, data.y[:5], sample_weight=weights)
    more.forget(strange, data.y[:5], sample_weight=weights)
    merged = kind(**options).fit(*data.at(slice(0, n, 2)))
    merged.merge(kind(**options).fit(*data.at(slice(1, n, 2))))
    for model in (stream, more, merged):
        model.reconsider()
        # What was forgotten weighed a thousand times as much.
        assert_same(model, expected, data.X, 1e-9 if model is not more else 1e-6)
        assert model.class_weight_sum_.tolist() == pytest.approx(
            expected.class_weight_sum_.tolist(), rel=1e-12
        )


@given(weighted(whole=False), st.sampled_from([0.1, 10.0]), st.booleans())
def test_weights_of_any_size_are_those_of_ridge(
    data: Weighted, penalty: float, intercept: bool
) -> None:
    """Row by row, all at once, and with float32 rows, whose weights stay float64."""
    targets = oracles.one_hot(data.y, np.arange(3))
    options: dict[str, Any] = {"penalty": penalty, "fit_intercept": intercept, "recoding": 0.0}
    expected = Ridge(alpha=penalty, fit_intercept=intercept).fit(data.X, targets, data.w)
    at_once = IncrementalRidgeClassifier(**options).fit(data.X, data.y, data.w)
    stream = IncrementalRidgeClassifier(**options)
    for i in range(len(data.y)):
        stream.partial_fit(*data.at([i])[:2], sample_weight=data.w[i : i + 1])
    for model in (at_once, stream):
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    single = IncrementalRidgeClassifier(**options).fit(data.X.astype("f4"), data.y, data.w)
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(single.coef_, expected.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.filterwarnings("ignore:a penalty of")
def test_weights_and_penalty_scale_together() -> None:
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    expected = IncrementalRidgeClassifier(penalty=1.0).fit(X, y, w).decision_function(X)
    for scale in (1e-30, 1e-3, 1e6, 1e30):
        model = IncrementalRidgeClassifier(penalty=scale).fit(X, y, scale * w)
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1e3])
def test_what_is_chosen_does_as_well_whatever_the_scale_of_weights(scale: float) -> None:
    X, y = load_iris(return_X_y=True)
    usual = IncrementalRidgeClassifierCV().fit(X[::2], y[::2])
    scaled = IncrementalRidgeClassifierCV().fit(X[::2], y[::2], np.full(75, scale))
    accuracies = [model.score(X[1::2], y[1::2]) for model in (usual, scaled)]
    assert abs(accuracies[0] - accuracies[1]) < 0.05


@pytest.mark.slow
@EVERYWHERE
@pytest.mark.usefixtures("array_api")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("kinds", [PLAIN, CHOOSING], ids=["plain", "choosing"])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_on_a_device_are_those_of_the_host(
    place: str, class_weight: Any, kinds: Any, intercept: bool
) -> None:
    rng = np.random.default_rng(3)
    X, y, w = rng.normal(size=(60, 5)), rng.integers(0, 3, 60), rng.uniform(0.2, 4.0, 60)
    options = {"fit_intercept": intercept, "class_weight": class_weight}
    host = KINDS[kinds is CHOOSING](**options)
    there = kinds[place](**options)
    for model in (there, host):
        model.fit(X[:30], y[:30], w[:30])
        for i in range(30, 50):
            model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=w[i : i + 1])
        model.partial_fit(X[50:], y[50:], sample_weight=w[50:])
        model.forget(X[:2], y[:2], w[:2])
        model.reconsider()
    assert there.lives_there
    np.testing.assert_allclose(there.class_weight_sum_, host.class_weight_sum_, rtol=1e-12)
    assert_same(there, host, X, 1e-7)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("chunks", first_of([7, 60]))
def test_weights_of_a_dask_collection_are_those_of_one_machine(
    kind: Any, class_weight: Any, chunks: int
) -> None:
    rng = np.random.default_rng(4)
    X, y, w = rng.normal(size=(60, 5)), rng.integers(0, 3, 60), rng.uniform(0.0, 4.0, 60)
    w[:5] = 0.0
    from_array = pytest.importorskip("dask.array").from_array
    there = [from_array(each, chunks=chunks) for each in (X, y, w)]
    expected = kind(class_weight=class_weight).fit(X, y, w)
    for weights in (there[2], w):
        model = kind(class_weight=class_weight).fit(*there[:2], weights)
        assert_same(model, expected, X)
        score = expected.score(X, y, w)
        assert model.score(*there[:2], weights) == pytest.approx(score, abs=1e-12)
    with pytest.raises(InputError, match=r"partition \d+: sample_weight holds -[123]\."):
        kind().fit(there[0], there[1], -there[2])


@BOTH
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_files_keep_weights(kind: Any, class_weight: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X, y, w = rng.normal(size=(50, 5)), rng.integers(0, 3, 50), rng.uniform(0.1, 4.0, 50)
    model = kind(class_weight=class_weight).fit(X, y, w)
    model.save(tmp_path / "one")
    found = load(tmp_path / "one")
    found.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    np.testing.assert_array_equal(found.class_weight_sum_, model.class_weight_sum_)
    for each in (model, found):
        each.forget(X[:9], y[:9], w[:9])
        each.partial_fit(X[:4], y[:4], sample_weight=w[:4]).reconsider()
    assert_same(found, model, X, 1e-10)


def test_a_class_renamed_or_joined_keeps_its_weights() -> None:
    X, y, w = np.eye(4), np.array(["a", "a", "b", "c"]), np.array([0.5, 2.0, 3.0, 4.0])
    model = IncrementalRidgeClassifier().fit(X, y, w).rename_class("b", "z").rename_class("c", "a")
    assert model.classes_.tolist() == ["a", "z"]
    assert model.class_weight_sum_.tolist() == [6.5, 3.0]
    model = IncrementalRidgeClassifier(class_weight={}).fit(X, y, w).forget_class("a")
    assert model.class_weight_sum_.tolist() == [3.0, 4.0]


def test_what_was_taught_with_a_weight_is_taken_back_with_it() -> None:
    X, y, w = np.eye(3), np.array(["a", "a", "b"]), np.array([1e10, 1e-5, 3.0])
    model = IncrementalRidgeClassifier().fit(X, y, w)
    assert model.forget(X[:1], y[:1], w[:1]).class_weight_sum_.tolist() == [1e-5, 3.0]
    for weights in ([2.0], [4.0], None):
        with pytest.raises(NotTaughtError, match="Give the weights that they were taught with"):
            model.forget(X[2:], y[2:], weights)
    model.partial_fit(X[2:], y[2:])
    with pytest.raises(
        NotTaughtError, match=r"weigh 5: all of that class weigh 4\. Give the weights"
    ):
        model.forget(X[2:], y[2:], [5.0])
    model.forget(X[2:], y[2:])
    assert model.forget(X[2:], y[2:], [3.0]).classes_.tolist() == ["a"]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0], r"sample_weight\.shape == \(1,\), expected \(2,\)"),
        ([[1.0], [1.0]], "1D array"),
        ([1.0, -1.0], "not negative"),
        ([1.0, np.nan], "contains NaN"),
        ([1.0, np.inf], "contains infinity"),
        ([1.0, 1e200], "scale the weights"),
        (["one", "two"], "numbers only"),
        (["1", "2"], "numbers only, got an array of <U1"),
        (np.array([1, "2"], dtype=object), "numbers only, got an array of <U1"),
        (np.array([1 + 2j, 1]), "numbers only, got an array of complex128"),
        ([1 + 2j, 1], "numbers only, got an array of complex128"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "sample_weight holds masked values"),
        (np.array([1, 2], dtype="m8[s]"), "numbers only, got an array of timedelta64"),
        ([10**400, 1], "numbers only"),
        ([0.0, 0.0], "all weights are zero"),
    ],
    ids=str,
)
@BOTH
def test_what_cannot_be_a_weight_is_refused_and_changes_nothing(
    kind: Any, weights: Any, words: str
) -> None:
    model = kind().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    before = model.scores([[0.5]])
    with pytest.raises(InputError, match=words):
        model.fit([[5.0], [6.0]], ["a", "b"], weights)
    if "zero" not in words:
        with pytest.raises(InputError, match=words):
            model.partial_fit([[5.0], [6.0]], ["a", "b"], sample_weight=weights)
    else:  # nothing is learned
        model.partial_fit([[5.0], [6.0]], ["a", "new"], sample_weight=weights)
    np.testing.assert_array_equal(model.scores([[0.5]]), before)


def test_weights_of_answers_are_numbers_too() -> None:
    model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["a", "b"])
    assert model.score([[0.0], [1.0]], ["a", "a"], [3, 1]) == 0.75
    with pytest.raises(InputError, match="masked"):
        model.score([[0.0], [1.0]], ["a", "a"], np.ma.array([3, 1], mask=[True, False]))


def test_numbers_of_any_real_kind_are_weights() -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    halves: Any = [Fraction(1, 2), Fraction(2), Fraction(3)]
    for weights in (halves, np.ma.array([0.5, 2.0, 3.0]), np.array([0.5, 2, 3], dtype=object)):
        model = IncrementalRidgeClassifier().fit(X, y, weights)
        assert model.class_weight_sum_.tolist() == [0.5, 5.0]


@BOTH
@pytest.mark.parametrize(("size", "weight"), [(1e105, 1e100), (1e140, 1e30), (1e120, 1e80)])
def test_rows_that_overflow_with_their_weights_are_refused(
    kind: Any, size: float, weight: float
) -> None:
    X, y = load_iris(return_X_y=True)
    model = kind().fit(X, y)
    before = model.scores(X)
    with pytest.raises(InputError, match="products overflow"):
        model.partial_fit(size * X[:3], y[:3], sample_weight=weight)
    np.testing.assert_array_equal(model.scores(X), before)


@pytest.mark.parametrize("weight", [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2)])
def test_one_number_is_the_weight_of_every_row(weight: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = IncrementalRidgeClassifier().fit(X, y, weight)
    assert model.class_weight_sum_.tolist() == [100.0, 100.0, 100.0]


@pytest.mark.filterwarnings("ignore:what was forgotten was so large")
@pytest.mark.filterwarnings("ignore:a penalty of")  # beside such weights
@pytest.mark.parametrize("kind", [*KINDS, IncrementalRidge])
def test_weights_that_rounding_would_swallow_are_refused_when_they_are_taught(kind: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = y.astype(float) if kind is IncrementalRidge else y
    model = kind().fit(X, y, sample_weight=0.5)
    before, rows = saved(model), (X[:3], y[:3])
    with pytest.raises(InputError, match=r"weight 0\.5 beside others of 1e\+20 \(1 to 2e\+20\)"):
        model.partial_fit(*rows, sample_weight=1e20)
    with pytest.raises(InputError, match=r"weight 1e-20 beside others of 0\.5"):
        model.partial_fit(*rows, sample_weight=[0.1, 0.2, 1e-20])
    with pytest.raises(InputError, match=r"1 to 1e\+16"):
        kind().fit(*rows, sample_weight=[1e-6, 1, 1e10])
    with pytest.raises(InputError, match="lost to rounding"):
        model.merge(kind().fit(X, y, sample_weight=1e30))
    assert saved(model) == before
    model.partial_fit(*rows, sample_weight=1e15).forget(*rows, sample_weight=1e15)
    np.testing.assert_allclose(model.coef_, kind().fit(X, y, sample_weight=0.5).coef_, rtol=0.2)


@pytest.mark.filterwarnings("ignore:a penalty of")
def test_the_lightest_are_not_swallowed_step_by_step() -> None:
    X, y = load_iris(return_X_y=True)
    plain = IncrementalRidgeClassifier().fit(X, y)
    model = IncrementalRidgeClassifier().fit(X, y).partial_fit(X[:1], y[:1], sample_weight=1e14)
    # Of the mean weight of all there are, something would be left beside this.
    swallowed = pytest.raises(InputError, match=r"of weight 1\.0\d* beside others of 1e\+26")
    with swallowed:
        model.partial_fit(X[1:2], y[1:2], sample_weight=1e26)
    heavy = IncrementalRidgeClassifier().fit(X[1:2], y[1:2], sample_weight=1e26)
    with swallowed:
        model.merge(heavy)
    model.forget(X[:1], y[:1], 1e14)
    np.testing.assert_allclose(model.scores(X), plain.scores(X), atol=1e-9)


@pytest.mark.filterwarnings("ignore:a penalty of")
def test_a_window_of_weights_that_grow_forgets_the_light_ones() -> None:
    X, y = load_iris(return_X_y=True)
    model, weights = IncrementalRidgeClassifier(), 2.0 ** np.arange(150)
    for place in range(150):
        row = slice(place, place + 1)
        model.partial_fit(X[row], y[row], sample_weight=weights[row])
        if place >= 30:
            old = slice(place - 30, place - 29)
            model.forget(X[old], y[old], weights[old])
    assert model.n_samples_seen_ == 30


def test_classes_of_equal_rows_tell_what_is_unknown() -> None:
    rng = np.random.default_rng(0)
    centres, far = 3 * rng.normal(size=(4, 6)), 20 * rng.normal(size=(5, 6))
    model = IncrementalRidgeClassifierCV().fit(
        centres.repeat(100, axis=0), np.arange(4).repeat(100)
    )
    assert (model.unknown_proba(far) > 0.5).all()
    assert (model.unknown_proba(centres) < 0.5).all()
    assert model.predict(centres).tolist() == [0, 1, 2, 3]


def test_sums_without_an_estimator_take_weights() -> None:
    X, w = np.array([[1.0, 2.0], [3.0, 4.0]]), [2.0, 0.5]
    sums = Sums.of(X, ["a", "b"], sample_weight=w) + Sums.of(X, ["b", "b"])
    assert sums.weight_sums.tolist() == [2.0, 2.5]
    np.testing.assert_allclose(np.tril(sums.gram), np.tril((X.T * [3.0, 1.5]) @ X))


@pytest.mark.slow
@BOTH
def test_scikit_learn_hands_weights_on(kind: Any) -> None:
    """In boosting, in calibration, and by metadata routing."""
    X, y = load_iris(return_X_y=True)
    boosted = AdaBoostClassifier(kind(), n_estimators=5, random_state=0).fit(X, y)
    assert boosted.score(X, y) > 0.75
    w = np.where(y == 2, 5.0, 0.5)
    calibrated = CalibratedClassifierCV(kind(), cv=3).fit(X, y, sample_weight=w)
    assert calibrated.score(X, y) > 0.75
    with config_context(enable_metadata_routing=True):
        model = kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model.set_partial_fit_request(sample_weight=True)
        routed = cross_validate(model, X, y, cv=3, params={"sample_weight": w})
        plain = cross_validate(kind(), X, y, cv=3, params={})  # scikit-learn 1.6 takes no None here
    assert not np.allclose(routed["test_score"], plain["test_score"])


@pytest.mark.parametrize("kind", [*KINDS, IncrementalRidge])
@pytest.mark.parametrize(
    "weights",
    [[1, -1, 1], ["1", "2", "3"], [1j, 1, 1], [1e101, 1, 1], np.ma.array([1, 2, 3], mask=True)],
)
def test_weights_of_a_score_are_those_that_can_be_taught(kind: Any, weights: Any) -> None:
    rows, y = np.eye(3), [0, 1, 2]
    model = kind().fit(rows, y)
    with pytest.raises(InputError, match="sample_weight"):
        model.score(rows, y, sample_weight=weights)
    assert model.score(rows, y, sample_weight=[1, 0, 0]) <= 1
