"""Roots at unit length: what the mathematics says of sign(x) sqrt(|x|) / sqrt(sum |x|)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from newfound.features import take_root

Rows = NDArray[Any]
SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=8)


def finite(dtype: type) -> st.SearchStrategy[Rows]:
    """Any rows of finite numbers, from the smallest denormal to the largest there is."""
    return hnp.arrays(
        dtype,
        SHAPES,
        elements=hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False),
    )


ANY = st.one_of(finite(np.float32), finite(np.float64))
NUMBERS = st.one_of(st.just(0.0), st.floats(1e-100, 1e6), st.floats(-1e6, -1e-100))
ORDINARY = hnp.arrays(np.float64, SHAPES, elements=NUMBERS)


@given(ANY)
def test_rows_have_unit_length_and_those_of_zeros_stay(rows: Rows) -> None:
    taken = take_root(rows)
    lengths = np.sqrt(np.square(taken, dtype=np.float64).sum(axis=1))
    np.testing.assert_allclose(lengths, rows.any(axis=1).astype(float), rtol=4 * eps(rows))
    assert taken.dtype == rows.dtype


@given(ANY)
def test_signs_are_kept_also_of_the_smallest(rows: Rows) -> None:
    np.testing.assert_array_equal(np.sign(take_root(rows)), np.sign(rows))


@given(ANY)
def test_what_is_larger_stays_so_and_what_is_equal_too(rows: Rows) -> None:
    order = np.argsort(rows, axis=1)
    assert (np.diff(np.take_along_axis(take_root(rows), order, axis=1), axis=1) >= 0).all()
    equal = np.diff(np.take_along_axis(rows, order, axis=1), axis=1) == 0
    assert not np.diff(np.take_along_axis(take_root(rows), order, axis=1), axis=1)[equal].any()


@given(ORDINARY)
def test_it_is_the_root_of_each_features_share(rows: Rows) -> None:
    sums = np.abs(rows).sum(axis=1, keepdims=True)
    shares = rows / np.where(sums == 0, 1, sums)
    np.testing.assert_allclose(take_root(rows), np.sign(rows) * np.sqrt(np.abs(shares)), rtol=1e-14)


@given(ORDINARY, st.floats(1e-100, 1e100))
def test_the_size_of_a_row_does_not_matter(rows: Rows, factor: float) -> None:
    np.testing.assert_allclose(take_root(factor * rows), take_root(rows), rtol=1e-14)


@given(ANY)
def test_a_row_is_the_same_to_the_last_bit_in_any_company(rows: Rows) -> None:
    alone = np.concatenate([take_root(row[None]) for row in rows])
    np.testing.assert_array_equal(take_root(rows), alone)


def test_wide_rows_are_the_same_to_the_last_bit_in_any_company() -> None:
    rows = np.random.default_rng(0).normal(size=(16, 1280)).astype(np.float32)
    alone = np.concatenate([take_root(row[None]) for row in rows])
    np.testing.assert_array_equal(take_root(rows), alone)


def test_what_is_given_is_left_as_it_was() -> None:
    rows = np.array([[4.0, -9.0]])
    take_root(rows)
    np.testing.assert_array_equal(rows, [[4.0, -9.0]])


def test_whole_numbers_and_no_rows_will_do() -> None:
    np.testing.assert_allclose(take_root([[9, 16]]), [[0.6, 0.8]])
    assert take_root(np.empty((0, 3), dtype=np.float32)).shape == (0, 3)
    assert take_root(np.empty((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_stays_none_in_its_row_and_only_there(bad: float) -> None:
    taken = take_root([[1.0, bad, 0.0], [9.0, 0.0, -16.0]])
    assert np.isnan(taken[0]).all()
    np.testing.assert_allclose(taken[1], [0.6, 0.0, -0.8])


def eps(rows: Rows) -> float:
    """Return the rounding of one number, for so many in a row."""
    return float(np.finfo(rows.dtype).eps * max(1, rows.shape[1]))
