"""Moving features by a constant changes no score; a feature that never changed has no weight."""

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

import newfound
from newfound import IncrementalRidge, IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from newfound.common.device import on_host
from newfound.sums import Sums
from tests import oracles
from tests.devices import EVERYWHERE, PLAIN, device
from tests.effort import share_of

D = 12
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 300)
X = RNG.normal(size=(300, D)) + 0.8 * np.eye(3, D)[Y]
Q = RNG.normal(size=(40, D))
SOME = np.arange(D) < 7
KINDS = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifier(class_weight={}),
    IncrementalRidgeClassifierCV(witnesses=300),  # all: which few are kept goes by their numbers
    IncrementalRidge(),
    IncrementalRidge("auto"),
]


def taught(model: Any, rows: NDArray[Any], how: str) -> Any:
    y = Y.astype(float) if isinstance(model, IncrementalRidge) else Y
    model = model.__class__(**model.get_params())
    if how == "at once":
        return model.fit(rows, y)
    for place in range(len(rows)):
        model.partial_fit(rows[place : place + 1], y[place : place + 1])
    return model.reconsider() if hasattr(model, "reconsider") else model


def answers(model: Any, rows: NDArray[Any]) -> NDArray[Any]:
    ask = model.predict if isinstance(model, IncrementalRidge) else model.scores
    each = np.array([ask(row[None])[0] for row in rows])
    np.testing.assert_allclose(ask(rows), each, rtol=0, atol=1e-4)
    return each


def error(found: NDArray[Any], wanted: NDArray[Any]) -> float:
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("model", KINDS, ids=str)
@pytest.mark.parametrize("how", ["at once", "row by row"])
@pytest.mark.parametrize(("far", "most"), [(1e3, 1e-9), (1e6, 1e-6), (1e9, 1e-3)])
def test_features_far_from_zero_are_answered_as_those_near_it(
    model: Any, how: str, far: float, most: float
) -> None:
    offset = far * SOME
    plain, moved = taught(model, X, how), taught(model, X + offset, how)
    assert error(answers(moved, Q + offset), answers(plain, Q)) < most


# What jumps in the midst of a stream, by how many spreads, and how far scores may be from those of
# extended precision. Features that jump together leave nothing else to see in X'X: there, the
# digits are lost that scikit-learn's Ridge loses, and beyond 1e7 that is said.
JUMPS = [(1, 1e6, 1e-12), (1, 1e9, 1e-12), (7, 1e3, 1e-8), (7, 1e6, 1e-3)]


@pytest.mark.parametrize(("features", "far", "most"), JUMPS)
@pytest.mark.parametrize("order", ["in the midst", "to and fro", "the last row"])
@pytest.mark.parametrize("how", ["at once", "row by row"])
@pytest.mark.filterwarnings("ignore:a penalty of")
def test_features_that_jump_are_answered_as_in_extended_precision(
    features: int, far: float, most: float, order: str, how: str
) -> None:
    away = {"in the midst": Y * 0 + (np.arange(300) >= 150), "to and fro": np.arange(300) % 2}
    rows, offset = X.copy(), far * (np.arange(D) < features)
    rows += np.outer(away.get(order, np.arange(300) == 299), offset)
    asked = Q + np.outer(np.arange(40) % 2, offset)
    targets = np.eye(3)[Y]
    for model, wanted in (
        (IncrementalRidgeClassifier(recoding=0), targets),
        (IncrementalRidgeClassifier(recoding=0, class_weight={}), targets),
        (IncrementalRidge(), Y[:, None].astype(float)),
    ):
        found = answers(taught(model, rows, how), asked)
        expected = oracles.extended_ridge(rows, wanted, 1.0, asked)
        assert error(found.reshape(expected.shape), expected) < most


def test_what_x_x_cannot_tell_is_said() -> None:
    rows = X + np.outer(np.arange(300) >= 150, 1e9 * SOME)
    with pytest.warns(UserWarning, match="less than the rounding of the sums"):
        IncrementalRidgeClassifier().fit(rows, Y)


@pytest.mark.parametrize("weights", [None, np.where(Y == 0, 3.0, 0.5)], ids=["plain", "weighted"])
@pytest.mark.parametrize("class_weight", [None, {}], ids=["one gram", "gram of each class"])
def test_forgetting_merging_and_saving_hold_far_from_zero(
    class_weight: Any, weights: Any, tmp_path: Path
) -> None:
    offset = 1e6 * SOME
    rows = X + offset

    def part(of: slice) -> Any:
        chosen = None if weights is None else weights[of]
        model = IncrementalRidgeClassifier(class_weight=class_weight)
        return model.fit(rows[of], Y[of], sample_weight=chosen)

    whole = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y, sample_weight=weights)
    merged = part(slice(0, 100)).merge(part(slice(100, 300)))
    assert error(answers(merged, Q + offset), answers(whole, Q)) < 1e-6
    merged.save(tmp_path / "far.newfound")
    loaded = newfound.load(tmp_path / "far.newfound")
    np.testing.assert_array_equal(loaded.scores(Q + offset), merged.scores(Q + offset))
    left = None if weights is None else weights[:100]
    loaded.forget(rows[:100], Y[:100], sample_weight=left)
    rest = None if weights is None else weights[100:]
    fresh = IncrementalRidgeClassifier(class_weight=class_weight)
    fresh.fit(X[100:], Y[100:], sample_weight=rest)
    assert error(answers(loaded, Q + offset), answers(fresh, Q)) < 1e-6


@EVERYWHERE
@pytest.mark.usefixtures("array_api")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_on_devices_features_far_from_zero_are_as_near(place: str, class_weight: Any) -> None:
    offset = 1e6 * SOME
    whole = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y)
    one, two = (PLAIN[place](class_weight=class_weight) for _ in range(2))
    one.fit(X[:100] + offset, Y[:100])
    for rows, y in zip(np.split(X[100:] + offset, 40), np.split(Y[100:], 40), strict=True):
        two.partial_fit(rows, y)
    assert error(one.merge(two).scores(Q + offset), whole.scores(Q)) < 1e-6


# A third of the rows each: all see their rows from elsewhere.
THIRDS = np.split(np.arange(300), 3)
APART = X + np.outer(1e6 * (np.arange(300) // 100), np.arange(D) == 4) + 1e6 * (np.arange(D) == 5)


def test_partitions_of_different_places_are_merged_as_one_whole() -> None:
    there = da.from_array(APART, chunks=(100, D)), da.from_array(Y, chunks=100)
    found = IncrementalRidgeClassifier(recoding=0).fit(*there).scores(APART[::7])
    assert error(found, oracles.extended_ridge(APART, np.eye(3)[Y], 1.0, APART[::7])) < 1e-9


def test_regressors_of_different_places_are_merged_as_one_whole() -> None:
    one, two, three = (IncrementalRidge().fit(APART[part], Y[part]) for part in THIRDS)
    found = one.merge(two).merge(three).predict(APART[::7])
    expected = oracles.extended_ridge(APART, Y[:, None], 1.0, APART[::7])
    assert error(found, expected[:, 0]) < 1e-9


@pytest.mark.parametrize("model", KINDS, ids=str)
@pytest.mark.parametrize("how", ["at once", "row by row"])
@pytest.mark.parametrize("value", [0.1, 2024.0, 1.7e9, 1e15 / 3])
def test_a_feature_that_never_changed_has_no_weight_to_the_bit(
    model: Any, how: str, value: float
) -> None:
    rows = X.copy()
    rows[:, 4] = value
    model = taught(model, rows, how)
    assert (np.atleast_2d(model.coef_)[:, 4] == 0).all()


def test_a_time_in_seconds_is_a_feature_like_any_other() -> None:
    rng = np.random.default_rng(0)
    seconds = 1.7e9 + np.arange(60.0)
    rows = np.column_stack([seconds, rng.normal(size=60)])
    y = 0.1 * (seconds - 1.7e9) + rows[:, 1] + 0.01 * rng.normal(size=60)
    found = IncrementalRidge().fit(rows, y).predict(rows)
    np.testing.assert_allclose(found, Ridge().fit(rows, y).predict(rows), atol=1e-6)


def test_a_first_row_from_elsewhere_is_not_where_rows_are_seen_from_for_ever() -> None:
    rows = np.concatenate([np.zeros((1, D)), X + 1e4])
    model = IncrementalRidgeClassifier()
    for row, label in zip(rows, [0, *Y.tolist()], strict=True):
        model.partial_fit(row[None], [label])
    model.forget(rows[:1], [0])
    origin = model.learner_.to_state().sums.origin
    assert (abs(origin - 1e4) < 10).all()


def test_a_window_that_slides_is_followed() -> None:
    model, rng = IncrementalRidgeClassifier(), np.random.default_rng(0)
    rows = rng.normal(size=(1500, 3)) + 10.0 * np.arange(1500)[:, None]
    y = rng.integers(0, 2, 1500)
    for place in range(1500):
        model.partial_fit(rows[place : place + 1], y[place : place + 1])
        if place >= 100:
            model.forget(rows[place - 100 : place - 99], y[place - 100 : place - 99])
    sums = model.learner_.to_state().sums
    assert (abs(sums.origin - rows[-100:].mean(axis=0)) < 3000).all()
    fresh = IncrementalRidgeClassifier().fit(rows[-100:], y[-100:])
    np.testing.assert_allclose(model.scores(rows[-5:]), fresh.scores(rows[-5:]), atol=1e-9)


def test_without_an_intercept_rows_are_seen_from_zero() -> None:
    model = IncrementalRidgeClassifier(fit_intercept=False).fit(X + 5, Y)
    assert model.learner_.to_state().sums.origin is None
    turned = IncrementalRidgeClassifier().fit(X + 5, Y).set_params(fit_intercept=False)
    np.testing.assert_allclose(turned.scores(Q), model.scores(Q), atol=1e-10)
    model.set_params(fit_intercept=True).partial_fit(X[:1] + 5, Y[:1])
    both = np.concatenate([X + 5, X[:1] + 5]), np.concatenate([Y, Y[:1]])
    expected = IncrementalRidgeClassifier().fit(*both)
    np.testing.assert_allclose(model.scores(Q), expected.scores(Q), atol=1e-10)


@pytest.mark.parametrize("per_class", [False, True])
def test_sums_seen_from_elsewhere_are_the_same_sums(per_class: bool) -> None:
    weights = RNG.uniform(0.5, 2, len(X))
    here = Sums.of(X, Y, per_class, weights)
    there = oracles.seen_from_zero(here)
    there.move_origin(np.full(D, 3.0))
    expected = Sums.of(X - 3.0, Y, per_class, weights)
    np.testing.assert_allclose(np.tril(there.gram), np.tril(expected.gram), atol=1e-10)
    np.testing.assert_allclose(there.cross, expected.cross, atol=1e-11)
    there.move_origin(None)
    np.testing.assert_allclose(np.tril(there.gram), np.tril(here.gram), atol=1e-10)


def test_no_penalty_is_chosen_that_the_sums_cannot_tell_from_rounding() -> None:
    rng = np.random.default_rng(2)
    rows = np.column_stack([np.full(300, 2024.0), rng.normal(size=(300, 3))])
    y = rows[:, 1] + 0.1 * rng.normal(size=300)
    model = IncrementalRidge("auto").fit(rows, y)
    asked = np.array([[2044.0, 1.0, 0.0, 0.0]])
    expected = Ridge(alpha=model.penalty_).fit(rows, y).predict(asked)
    np.testing.assert_allclose(model.predict(asked), expected, atol=1e-9)
    exact = IncrementalRidge("auto").fit(rows, rows[:, 1])  # which the least of all would serve
    assert exact.penalty_ > 1e-15 * np.square(rows - rows.mean(axis=0)).sum()


def test_a_fixed_penalty_below_rounding_is_said_once() -> None:
    model = IncrementalRidgeClassifier(penalty=1e-14)
    with pytest.warns(UserWarning, match="less than the rounding of the sums"):
        model.fit(100 * X, Y)
    model.partial_fit(100 * X[:3], Y[:3])


@pytest.mark.parametrize("model", KINDS, ids=str)
def test_a_model_that_has_forgotten_is_merged_where_it_is(model: Any) -> None:
    rows, y = X.copy(), Y.astype(float) if isinstance(model, IncrementalRidge) else Y
    rows[200:] += 100.0
    ours, theirs = (model.__class__(**model.get_params()) for _ in range(2))
    ours.fit(rows[:290], y[:290]).forget(rows[:200], y[:200])
    merged = ours.merge(theirs.fit(rows[290:], y[290:]))
    expected = model.__class__(**model.get_params()).fit(rows[200:], y[200:])
    if hasattr(merged, "reconsider"):
        merged.reconsider()
    assert error(answers(merged, rows[200:]), answers(expected, rows[200:])) < 1e-9


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("class_weight", [None, {}])
@pytest.mark.parametrize(
    ("weight", "moved", "by"), [(1e4, 3, 1e6), (1e12, 8, 100.0), (1e6, 1, 1e5)]
)
def test_few_rows_that_outweigh_all_before_are_where_rows_are_seen_from(
    weight: float, moved: int, by: float, class_weight: Any
) -> None:
    """However few they are: not as many as there were before."""
    rows, weights = X[:25].copy(), np.repeat([1.0, weight], [20, 5])
    rows[20:, :moved] += by
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    for place in range(25):
        part = slice(place, place + 1)
        model.partial_fit(rows[part], Y[part], sample_weight=weights[part])
    expected = Ridge(solver="svd").fit(rows, np.eye(3)[Y[:25]], weights).predict(rows)
    assert error(model.set_params(recoding=0.0).scores(rows), expected) < 1e-3


@pytest.mark.parametrize("value", [0.1, 2024.3, 1.7e9 + 0.1, 1e15 / 3])
@pytest.mark.parametrize("size", [2, 4])
def test_nor_has_it_if_a_few_weighted_rows_come_first(value: float, size: int) -> None:
    rows, weights = X.copy(), np.random.default_rng(0).uniform(0.5, 2, 300)
    rows[:, 4] = value
    model = IncrementalRidgeClassifier()
    model.partial_fit(rows[:size], Y[:size], sample_weight=weights[:size])
    assert (model.coef_[:, 4] == 0).all()
    for place in range(size, 60):
        model.partial_fit(rows[place : place + 1], Y[place : place + 1])
    assert (model.coef_[:, 4] == 0).all()


def test_a_penalty_that_was_chosen_before_rows_jumped_is_chosen_anew() -> None:
    rows = X[:200].copy()
    rows[150:, :5] += 1e8
    model = IncrementalRidgeClassifierCV().partial_fit(rows[:150], Y[:150])
    before = model.penalty_
    model.partial_fit(rows[150:], Y[150:200])
    squares = np.square(rows - rows.mean(axis=0)).sum()
    assert model.penalty_ > np.finfo(float).eps * squares / 4 > before


@pytest.mark.parametrize(
    "model",
    [
        IncrementalRidgeClassifierCV([1e-20, 1e-18]),
        IncrementalRidgeClassifierCV([1e-20, 1e-18], rule=None, recodings=[0.0]),
        IncrementalRidge([1e-20, 1e-18]),
    ],
    ids=str,
)
def test_if_all_candidates_are_below_rounding_that_is_said(model: Any) -> None:
    y = Y.astype(float) if isinstance(model, IncrementalRidge) else Y
    with pytest.warns(UserWarning, match="less than the rounding of the sums"):
        model.fit(X, y).predict(Q)


def test_a_zero_has_no_sign(tmp_path: Path) -> None:
    IncrementalRidgeClassifier().fit([[-0.0], [-0.0], [1.0]], [0, 1, 1]).save(tmp_path / "one")
    newfound.load(tmp_path / "one").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_a_class_that_came_first_leaves_of_the_digits_of_others_is_said() -> None:
    far, model = np.full((20, D), 1e6), IncrementalRidgeClassifier(class_weight={})
    model.partial_fit(X[:20] + far, Y[:20] * 0 + 7).partial_fit(X, Y)
    with pytest.warns(UserWarning, match="its rounding stays in the sums"):
        model.forget_class(7)
    few = IncrementalRidgeClassifier(class_weight={}).fit(X, Y)
    assert error(answers(model, Q), answers(few, Q)) < 1e-2


@pytest.mark.parametrize("model", [KINDS[0], KINDS[1], KINDS[4]], ids=str)
@pytest.mark.parametrize("far", [1e4, 1e7])
def test_a_first_row_from_elsewhere_leaves_nothing_when_it_is_forgotten(
    model: Any, far: float
) -> None:
    few, outlier = slice(0, 9), np.full((1, 4), far)  # all are still held as they came
    rows, y = X[few, :4], Y[few] if not isinstance(model, IncrementalRidge) else X[few, 0]
    model = model.__class__(**model.get_params())
    plain = model.__class__(**model.get_params()).fit(rows, y)
    model.partial_fit(outlier, y[:1]).partial_fit(rows, y).forget(outlier, y[:1])
    # Each row was seen from there, which took as many digits of it.
    assert error(answers(model, rows), answers(plain, rows)) < 1e-15 * far


@EVERYWHERE
def test_of_a_feature_that_is_the_origin_in_every_row_nothing_is_left(place: str) -> None:
    there, weights = device(place), np.array([0.1, 0.7, 1e3])
    rows = np.array([[1e6 / 3, 0.0], [1e6 / 3, 1.0], [1e6 / 3, 2.0]])
    for sums, X in ((Sums(2), rows), (Sums(2, device=there), there.put(rows))):
        sums.add(X, *sums.locate(np.array(["cup", "mug", "cup"])), weights)
        for origin in (None, rows[0], None, rows[0]):
            sums.move_origin(origin)
        assert on_host(sums.cross).any(axis=1).tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::UserWarning")  # of rounding, which there is
def test_what_is_left_after_the_origin_moved_is_saved(tmp_path: Path) -> None:
    for draw in range(share_of(300)):
        rng = np.random.default_rng(draw)
        model = IncrementalRidge()
        first, rest = (
            (np.repeat(10.0 ** rng.integers(0, 8) * rng.normal(size=(1, 3)), n, axis=0), np.ones(n))
            for n in (30, int(rng.integers(2, 12)))
        )
        model.partial_fit(*first)
        model.partial_fit(*rest, sample_weight=10.0 ** rng.uniform(-3, 3, len(rest[1])))
        model.forget(*first).save(tmp_path / "model.newfound")
        newfound.load(tmp_path / "model.newfound")
