"""Sums form a monoid: made of rows, added in any grouping and order, asked for what they hold."""

import copy
import subprocess
import sys
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound import InputError, NotTaughtError
from newfound.sums.gram import Gram
from newfound.sums.sums import Sums
from newfound.sums.triangles import Triangles

LABELS = np.array(["cup", "mug", "jug", "a beaker"])


@st.composite
def shares(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any], list[NDArray[Any]]]:
    """Labelled rows, and which of them each of several workers gets."""
    rows, width = draw(st.integers(0, 90)), draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    X = rng.normal(size=(rows, width)) * 10.0 ** rng.integers(-3, 4, width)
    y = rng.choice(LABELS[: draw(st.integers(1, 4))], rows)
    workers = rng.integers(0, draw(st.integers(1, 5)), rows)
    return X, y, [np.flatnonzero(workers == worker) for worker in range(5)]


def by_label(sums: Sums) -> dict[Any, tuple[int, NDArray[Any]]]:
    return {
        label: (int(sums.counts[index]), sums.cross[:, index])
        for index, label in enumerate(sums.labels.tolist())
    }


def assert_same(found: Sums, expected: Sums, size: float) -> None:
    ours, theirs = by_label(found), by_label(expected)
    assert ours.keys() == theirs.keys()
    for label, (count, cross) in theirs.items():
        assert ours[label][0] == count
        np.testing.assert_allclose(ours[label][1], cross, rtol=1e-13, atol=1e-15 * size)
    assert found.total == expected.total
    np.testing.assert_allclose(found.gram, expected.gram, rtol=1e-12, atol=1e-13 * size**2)


@given(shares(), st.booleans())
def test_sums_of_shares_added_are_the_sums_of_all(drawn: Any, per_class: bool) -> None:
    X, y, parts = drawn
    size = float(np.abs(X).sum()) + 1e-300
    whole = Sums.of(X, y, per_class)
    added = [Sums.of(X[part], y[part], per_class) for part in parts]
    before = copy.deepcopy(added)
    assert_same(reduce(add, added), whole, size)
    assert_same(reduce(add, reversed(added)), whole, size)
    a, b, c, *_ = added
    assert_same((a + b) + c, a + (b + c), size)
    assert_same(a + b, b + a, size)
    for ours, theirs in zip(added, before, strict=True):
        np.testing.assert_array_equal(ours.gram, theirs.gram)
        np.testing.assert_array_equal(ours.cross, theirs.cross)
        assert ours.labels.tolist() == theirs.labels.tolist()


@given(shares())
def test_the_sums_are_those_of_the_definition(drawn: Any) -> None:
    X, y, _ = drawn
    sums, one_hot = Sums.of(X, y), y[:, None] == np.unique(y)
    order = sums.order
    assert sums.labels[order].tolist() == np.unique(y).tolist()
    assert sums.counts[order].tolist() == one_hot.sum(axis=0).tolist()
    size = np.abs(X).sum() + 1e-300
    np.testing.assert_allclose(sums.cross[:, order], X.T @ one_hot, atol=1e-13 * size)
    np.testing.assert_allclose(sums.gram, np.tril(X.T @ X), atol=1e-13 * size**2)


def test_float32_stays_float32_among_its_like() -> None:
    single, double = (Sums.of(np.ones((2, 3), dtype=kind), [1, 2]) for kind in ("f4", "f8"))
    assert (single + single).dtype == np.float32
    assert (single + double).dtype == (double + single).dtype == np.float64
    assert Sums.of([[1, 2]], ["cup"]).dtype == np.float64
    nothing = Sums.of(np.zeros((0, 3)), [])
    assert (single + nothing).dtype == (nothing + single).dtype == np.float32


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[np.nan]], ["a"], "Input X contains NaN"),
        ([[np.inf]], ["a"], "Input X contains infinity"),
        ([[1e200]], ["a"], "squares overflow"),
        ([1.0], ["a"], "two dimensions"),
        (np.zeros((1, 0)), ["a"], "two dimensions"),
        ([["1"]], ["a"], "numbers only"),
        ([[1j]], ["a"], "numbers only"),
        ([[1.0], [2.0]], ["a"], "X has 2 rows, but y has 1 labels"),
        ([[1.0]], [None], "y contains None"),
        ([[1.0]], [0.5], "continuous"),
    ],
)
def test_what_cannot_be_taught_is_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sums.of(X, y)


def test_only_sums_of_one_kind_are_added() -> None:
    sums = Sums.of([[1.0]], ["cup"])
    with pytest.raises(InputError, match="2 features there, 1 features here"):
        sums + Sums.of([[1.0, 2.0]], ["cup"])
    with pytest.raises(InputError, match="labels are strings"):
        sums + Sums.of([[1.0]], [1])
    with pytest.raises(InputError, match="holds its sums per class"):
        Sums.of([[1.0]], ["cup"], per_class=True) + sums
    with pytest.raises(TypeError):
        sums + 1  # type: ignore[operator]


def test_rows_are_given_as_they_came_while_they_are_held() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    y = ["few"] * 20 + ["many"] * 40
    sums = Sums.of(X, y, per_class=True)
    found = sums.rows_of("few")
    np.testing.assert_array_equal(found, X[:20])
    found[:] = 0.0
    np.testing.assert_array_equal(sums.rows_of("few"), X[:20])
    assert sums.rows_of("many").shape == Sums.of(X, y).rows_of("few").shape == (0, 40)
    assert [gram.holds_rows for gram in sums.grams] == [True, False]
    with pytest.raises(InputError, match="no class 'none' here"):
        sums.rows_of("none")


@pytest.mark.parametrize("per_class", [True, False])
def test_what_was_not_taught_is_no_part_of_the_sums(per_class: bool) -> None:
    X = np.random.default_rng(0).normal(size=(200, 6))
    y = np.repeat(["a", "b"], 100)
    sums, few = Sums.of(X, y, per_class), Sums.of(X[:2], y[:2], per_class)
    index, _ = sums.locate(y)
    refusals = [
        (sums, np.ones((101, 6)), np.zeros(101, dtype=np.intp), "cannot forget 101 examples"),
        (sums, X[:100] + 1, index[:100], "do not add up"),
        (few, X[5:6], index[:1], "no row that is held equals it"),
    ]
    if per_class:
        refusals.append((sums, 1e3 * X[:1], index[:1], "not positive definite"))
    for held, rows, classes, message in refusals:
        with pytest.raises(NotTaughtError, match=message):
            held.prepare_removal(rows, classes)


def test_a_feature_left_at_less_than_nothing_leaves_no_residue() -> None:
    """Squares are added in one group and taken out in another, so the rest may be negative."""
    rng = np.random.default_rng(0)
    left = []
    for _ in range(200):
        X = np.concatenate([rng.normal(size=(40, 1)), 1e-8 * rng.normal(size=(40, 1))])
        gram = Gram(1)
        gram.add(X)
        for start in range(0, 80, 20):
            gram.prepare_removal(X[start : start + 20])()
        assert isinstance(gram.flushed, Triangles)
        left.append((gram.flushed.diagonal[0], gram.flushed.residue[0]))
    assert all(diagonal >= 0 for diagonal, _ in left)
    assert all(abs(residue) <= 1e-12 * diagonal for diagonal, residue in left)


@pytest.mark.slow
def test_a_worker_needs_no_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from newfound.sums.sums import Sums\n"
        "print((Sums.of([[1.0]], ['cup']) + Sums.of([[2.0]], ['mug'])).total)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "2\n"
