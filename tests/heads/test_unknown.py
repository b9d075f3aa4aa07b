"""Cosines in the metric of ridge regression, and the bound between known and unknown."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.heads.unknown import (
    CARE,
    MOST_MISTAKEN,
    SMALLEST_BOUND,
    SMALLEST_GAP,
    TYPICAL_SPREAD,
    Bound,
    Typical,
    bound_between,
    cosines,
    discounted,
    typical_of,
)
from tests import oracles


@pytest.mark.parametrize("intercept", [True, False])
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_cosines_are_those_of_whitened_vectors(intercept: bool, seed: int, penalty: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), [2, 5, 9])
    X, Q = rng.normal(size=(len(y), 4)) + 3 * np.eye(3, 4)[y], rng.normal(size=(6, 4))
    targets = oracles.one_hot(y, np.arange(3))
    W, b = oracles.ridge(X, targets, penalty, intercept)
    leverage = oracles.leverage(X, penalty, intercept, Q)
    norms = np.array([(X[y == t] @ W + b)[:, t].sum() for t in range(3)])
    total = float(len(y)) if intercept else None
    found = cosines(Q @ W + b, leverage, norms, targets.sum(axis=0), total)
    expected, squares = oracles.cosines(X, targets, penalty, intercept, Q)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(leverage, squares, rtol=1e-9)


def test_a_row_where_all_are_on_average_is_like_no_class_and_neither_is_a_class_there() -> None:
    scores = np.array([[0.5, 0.5]])
    found = cosines(scores, np.array([0.25]), np.array([1.0, 1.0]), np.array([2.0, 2.0]), 4.0)
    np.testing.assert_array_equal(found, 0.0)
    alone = cosines(np.array([[1.0]]), np.array([9.0]), np.array([4.0]), np.array([4.0]), 4.0)
    np.testing.assert_array_equal(alone, 0.0)


@pytest.mark.parametrize("size", [0.0, 1e-150, 1e150, np.inf])
def test_rows_of_any_size_have_cosines(size: float) -> None:
    scores, leverage = np.array([[0.3, -0.2]]) * min(size, 1e300), np.array([size])
    with np.errstate(over="ignore"):
        found = discounted(
            cosines(scores, leverage, np.array([1.0, 2.0]), np.ones(2), None), leverage
        )
    assert (np.abs(found) <= 1).all()


def test_what_is_usual_of_few_rows_is_what_is_usual_of_all() -> None:
    own = np.concatenate([np.full(1000, 0.5), [0.1]])
    index = np.repeat([0, 1], [1000, 1])
    usual = typical_of(own, index, np.array(["cup", "mug"]))
    assert usual is not None
    assert usual.of_class["cup"] == pytest.approx(0.5, abs=0.01)
    assert usual.of_class["mug"] == pytest.approx((0.1 + 10 * usual.of_all) / 11)
    likeness = usual.similarity(np.array([[0.4, 0.4, 0.4]]), np.array(["cup", "mug", "jug"]))[0]
    assert likeness[2] == pytest.approx(0.4 / usual.of_all)


def test_a_class_counts_with_as_many_rows_as_one_stands_for() -> None:
    labels, index = np.array(["cup", "mug"]), np.array([0, 0, 0, 1, 1, 1])
    own = np.repeat([0.5, 0.3], 3)
    rows = typical_of(own, index, labels)
    typical = typical_of(np.array([0.5, 0.3]), np.arange(2), labels, np.full(2, 3.0))
    assert rows is not None
    assert typical is not None
    assert rows.of_class == pytest.approx(typical.of_class)


def test_where_rows_are_not_like_their_classes_nothing_is_usual() -> None:
    assert typical_of(np.array([0.1, -0.2]), np.array([0, 1]), np.array(["cup", "mug"])) is None


def test_a_class_hardly_like_itself_is_not_like_everything() -> None:
    own, index = np.concatenate([np.full(99, 0.5), np.full(99, -0.2)]), np.repeat([0, 1], 99)
    usual = typical_of(own, index, np.array(["cup", "mug"]))
    assert usual is not None
    assert usual.of_class["mug"] == pytest.approx(usual.of_all / 2)


def test_a_class_renamed_is_as_usual_as_before() -> None:
    usual = Typical(0.3, {"cup": 0.4, "mug": 0.2})
    assert usual.rename("cup", "jug").of_class == {"jug": 0.4, "mug": 0.2}


@given(
    st.lists(st.floats(0.2, 2), min_size=2, max_size=30),
    st.lists(st.floats(-2, 2), min_size=2, max_size=30),
)
def test_the_bound_is_between_and_mistakes_few_of_the_known(a: Any, b: Any) -> None:
    known, unknown = np.array(a), np.array(b)
    bound = bound_between(known, unknown, len(known), len(unknown))
    gap = known.mean() - unknown.mean()
    if bound is None:
        assert gap <= SMALLEST_GAP
        return
    assert bound.slope > 0
    assert SMALLEST_BOUND <= bound.similarity < known.mean()
    assert np.count_nonzero(known < bound.similarity) <= MOST_MISTAKEN * len(known) + 1
    higher = bound_between(known + 1, unknown + 1, len(known), len(unknown))
    if gap > SMALLEST_GAP + 1e-9 and bound.similarity > SMALLEST_BOUND:
        assert higher is not None
        assert higher.similarity == pytest.approx(bound.similarity + 1, abs=1e-9)


def test_the_spread_of_few_is_drawn_to_the_usual_one_as_if_two_more_were_there() -> None:
    known, unknown = np.array([0.9, 1.0, 1.1]), np.array([0.1, 0.2, 0.3])
    usual = 2 * TYPICAL_SPREAD**2
    of_known, of_unknown = (np.sqrt((2 * each.var() + usual) / 4) for each in (known, unknown))
    bound = bound_between(known, unknown, 3, 3)
    assert bound is not None
    assert bound.slope == pytest.approx(0.8 / (of_known * of_unknown))
    assert bound.similarity == pytest.approx(
        0.2 + 0.8 * of_unknown / (of_unknown + CARE * of_known)
    )


def test_what_is_like_nothing_is_unknown_however_much_known_and_unknown_overlap() -> None:
    known, unknown = np.array([-0.5, 0.5, 1.5, 2.5]), np.array([-1.0, 0.5, 1.0, 1.5])
    bound = bound_between(known, unknown, 4, 4)
    assert bound is not None
    assert bound.unknown(np.zeros(1))[0] > 0.5


def test_with_many_rows_the_bound_divides_the_spreads_as_it_says() -> None:
    rng = np.random.default_rng(0)
    known, unknown = rng.normal(1.0, 0.1, 100_000), rng.normal(0.2, 0.2, 100_000)
    bound = bound_between(known, unknown, len(known), len(unknown))
    assert bound is not None
    steps = (1.0 - bound.similarity) / 0.1, (bound.similarity - 0.2) / 0.2
    assert steps[0] / steps[1] == pytest.approx(CARE, rel=0.02)
    assert bound.slope == pytest.approx(0.8 / (0.1 * 0.2), rel=0.02)


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_the_less_like_the_more_probably_unknown(at: float, slope: float) -> None:
    likeness = np.linspace(at - 5 / slope, at + 5 / slope, 11)
    unknown = Bound(at, slope).unknown(likeness)
    assert (np.diff(unknown) < 0).all()
    assert unknown[5] == pytest.approx(0.5, abs=1e-6)
    extremes = Bound(at, slope).unknown(np.array([-1e300, 1e300]))
    np.testing.assert_array_equal(extremes, [1.0, 0.0])
