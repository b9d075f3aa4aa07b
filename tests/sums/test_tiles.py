"""BLAS on parts of matrices, against numpy on copies of them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.sums.tiles import add_product, add_square, factorise_block, solve_lower

SIZE, AT = st.integers(0, 5), st.integers(0, 4)
TYPES = st.sampled_from([np.float64, np.float32])
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-4}


def matrix(seed: int, dtype: Any, order: Any = "F") -> Any:
    return np.asarray(np.random.default_rng(seed).normal(size=(9, 9)), dtype=dtype, order=order)


@given(SIZE, SIZE, SIZE, AT, AT, TYPES, st.sampled_from("FC"), st.sampled_from("FC"))
def test_a_product_is_added_to_a_part_and_to_nothing_else(
    m: int, n: int, k: int, top: int, left: int, dtype: Any, first: str, second: str
) -> None:
    target, a, b = matrix(0, dtype), matrix(1, dtype, first), matrix(2, dtype, second)
    expected = target.copy()
    rows, columns = slice(top, top + m), slice(left, left + n)
    A, B = a[left : left + m, top : top + k], b[top : top + k, left : left + n]
    expected[rows, columns] += -2.0 * (A @ B)
    add_product(target[rows, columns], A, B, -2.0)
    np.testing.assert_allclose(target, expected, atol=TOLERANCE[dtype])


@given(SIZE, SIZE, AT, TYPES, st.booleans(), st.sampled_from("FC"))
def test_squares_are_added_to_one_triangle_of_a_part(
    k: int, n: int, at: int, dtype: Any, lower: bool, order: str
) -> None:
    target, rows = matrix(0, dtype), matrix(1, dtype, order)[:k, at : at + n]
    expected, part = target.copy(), slice(at, at + n)
    expected[part, part] += 1.5 * (np.tril if lower else np.triu)(rows.T @ rows)
    add_square(target[part, part], rows, 1.5, lower=lower)
    np.testing.assert_allclose(target, expected, atol=TOLERANCE[dtype])


@given(SIZE, SIZE, TYPES, st.booleans(), st.booleans())
def test_triangles_are_solved_with_in_place(
    n: int, k: int, dtype: Any, transposed: bool, from_right: bool
) -> None:
    factor = matrix(0, dtype)[:n, :n] + 9 * np.eye(n, dtype=dtype)
    factor = np.asfortranarray(factor)
    triangle = np.tril(factor).T if transposed else np.tril(factor)
    target = matrix(1, dtype)
    part = target[1 : 1 + k, 2 : 2 + n] if from_right else target[1 : 1 + n, 2 : 2 + k]
    before, outside = part.copy(), target.copy()
    solve_lower(factor, part, transposed=transposed, from_right=from_right)
    back = part @ triangle if from_right else triangle @ part
    np.testing.assert_allclose(back, before, atol=TOLERANCE[dtype])
    part[:] = before
    np.testing.assert_array_equal(target, outside)  # nothing beside it was written


def test_a_block_is_factorised_in_place_or_said_to_be_indefinite() -> None:
    whole = np.zeros((6, 6), order="F")
    block = whole[2:5, 2:5]
    rows = np.random.default_rng(0).normal(size=(4, 3))
    block[:] = rows.T @ rows
    expected = np.linalg.cholesky(rows.T @ rows)
    assert factorise_block(block)
    np.testing.assert_allclose(np.tril(block), expected, atol=1e-13)
    assert not whole[:2].any()
    assert not factorise_block(np.asfortranarray(-np.eye(2)))


def test_what_cannot_be_written_is_not() -> None:
    fixed = np.zeros((2, 2), order="F")
    fixed.flags.writeable = False
    strange = (np.zeros((3, 3))[:2, :2], np.zeros((3, 2), order="F")[::-2, ::-1])
    for target in (fixed, *strange, np.zeros((2, 2), dtype=np.float32, order="F")):
        with pytest.raises((TypeError, ValueError)):
            add_product(target, np.ones((2, 1)), np.ones((1, 2)), 1.0)
        assert not target.any()
