"""Changes of a triangle by a block of rows, strip by strip: those of the whole, at every moment."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.solvers.inverse import Inverse
from newfound.sums import strips as strips_module
from newfound.sums.gram import Gram, total_gram
from newfound.sums.strips import add_squares, block_rows, strips
from newfound.sums.triangles import Triangles


@pytest.fixture(autouse=True)
def _narrow_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small matrices have several."""
    monkeypatch.setattr(strips_module, "WIDE", 3)


@given(st.integers(1, 300), st.integers(1, 20), st.booleans())
def test_strips_cover_every_column_once(width: int, number: int, lower: bool) -> None:
    columns = [
        column
        for strip in strips(width, number, lower=lower)
        for column in range(strip.start, strip.stop)
    ]
    assert sorted(columns) == list(range(width))


@pytest.mark.parametrize("lower", [True, False])
def test_strips_have_the_same_area(lower: bool) -> None:
    inside = np.tri(1000) if lower else np.tri(1000).T
    areas = [inside[:, strip].sum() for strip in strips(1000, 8, lower=lower)]
    assert max(areas) < 1.02 * min(areas)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("number", [4, 200])
def test_strips_together_are_the_whole_change(dtype: Any, lower: bool, number: int) -> None:
    rows = np.random.default_rng(0).normal(size=(number, 40)).astype(dtype)
    target = np.zeros((40, 40), dtype=dtype, order="F")
    add_squares(target, rows, -2.0, lower=lower)
    keep, atol = np.tril if lower else np.triu, 20 * number * np.finfo(dtype).eps
    np.testing.assert_allclose(target, keep(-2.0 * rows.T @ rows), atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("recent_apart", [True, False])
def test_a_gram_is_the_same_sum_at_every_moment(recent_apart: bool) -> None:
    rng = np.random.default_rng(1)
    X, block = rng.normal(size=(100, 30)), block_rows(30)
    gram = Gram(30, raw_limit=block, recent_apart=recent_apart)
    for n, row in enumerate(X, start=1):
        gram.add(row[None])
        expected = X[:n].T @ X[:n]
        np.testing.assert_allclose(total_gram([gram], 30), np.tril(expected), atol=1e-12)
        for columns in (row, X[:3].T):
            np.testing.assert_allclose(gram.times(columns), expected @ columns, atol=1e-11)
        np.testing.assert_allclose(gram.squares, expected.diagonal(), atol=1e-12)
        np.testing.assert_allclose(gram.flush().total(), np.tril(expected), atol=1e-12)
        twin = copy.deepcopy(gram)
        twin.prepare_removal(X[:2])() if n > 20 else None
        twin.add(X[:20])
        left = expected + X[:20].T @ X[:20] - (X[:2].T @ X[:2] if n > 20 else 0)
        np.testing.assert_allclose(total_gram([twin], 30), np.tril(left), atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_inverse_is_the_same_at_every_moment(dtype: Any) -> None:
    rng, width = np.random.default_rng(2), 25
    inverse = Inverse(np.asfortranarray(np.eye(width)), dtype)
    A = np.eye(width)
    for z in rng.normal(size=(200, width)):
        assert inverse.add_row(z) is not None
        A += np.outer(z, z)
        for columns in (z, rng.normal(size=(width, 3))):
            expected = np.linalg.solve(A, columns)
            tolerance = 1e-12 if dtype is np.float64 else 1e-4
            np.testing.assert_allclose(inverse.times(columns), expected, atol=tolerance)
        twin = copy.deepcopy(inverse)
        twin.flush()
        np.testing.assert_allclose(np.tril(twin.matrix), np.tril(np.linalg.inv(A)), atol=tolerance)


def test_a_gram_mapped_from_a_file_is_copied_before_it_is_changed() -> None:
    rng = np.random.default_rng(4)
    X, gram = rng.normal(size=(40, 30)), Gram(30, raw_limit=16, recent_apart=True)
    for row in X[:18]:
        gram.add(row[None])
    assert isinstance(gram.flushed, Triangles)
    gram.flushed.store.flags.writeable = False  # as joblib maps it
    held, before = gram.flushed.store, gram.flushed.store.copy()
    for row in X[18:]:
        gram.add(row[None])
    np.testing.assert_array_equal(held, before)
    np.testing.assert_allclose(total_gram([gram], 30), np.tril(X.T @ X), atol=1e-12)
