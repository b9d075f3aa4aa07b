"""A projection is the matrix that its hash says, and a row becomes the same wherever it stands."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from newfound import InputError, Projection
from newfound.common.scatter import BITS, STEP, scattered_one


def matrix(projection: Projection) -> Any:
    """Return P, a column and a place at a time, in Python's own whole numbers."""
    P, quarter = np.zeros((projection.inputs, projection.outputs)), projection.outputs // 4
    start = scattered_one((projection.seed + STEP) & BITS)
    for column in range(projection.inputs):
        bits = scattered_one((start + column * STEP) & BITS)
        for place in range(4):
            where, sign = (bits & 0x7FFF) * quarter >> 15, bits >> 15 & 1
            P[column, place * quarter + where] = -0.5 if sign else 0.5
            bits >>= 16
    return P


def rows(m: int, d: int, seed: int = 0, density: float = 0.2) -> Any:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((m, d)) < density, rng.normal(size=(m, d)), 0.0)


@pytest.mark.parametrize(("outputs", "seed"), [(4, 0), (64, 7), (100, 2**64 - 1), (131_072, 1)])
def test_rows_become_their_product_with_the_matrix_of_the_hash(outputs: int, seed: int) -> None:
    projection, X = Projection(50, outputs, seed), rows(9, 50)
    np.testing.assert_allclose(projection(X), X @ matrix(projection), atol=1e-14)


def test_each_feature_keeps_its_length_and_goes_to_each_quarter() -> None:
    P = Projection(3000, 64, 5)(np.eye(3000))
    np.testing.assert_array_equal(np.square(P).sum(axis=1), 1.0)
    assert (np.count_nonzero(P.reshape(3000, 4, 16), axis=2) == 1).all()
    # Signs and places are even, as those of 12,000 throws of a coin, and of a die, are.
    assert abs(np.sign(P).sum()) < 5 * np.sqrt(12_000)
    assert abs(np.count_nonzero(P, axis=0) - 3000 / 16).max() < 5 * np.sqrt(3000 / 16)


def test_products_of_rows_stay_what_they_were_in_expectation() -> None:
    X = rows(2, 400, density=0.5)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    products = []
    for seed in range(400):
        x, z = Projection(400, 128, seed)(X)
        products.append(x @ z)
    bound = np.sqrt(2 / 128)
    assert np.std(products) < 1.1 * bound
    assert abs(np.mean(products) - X[0] @ X[1]) < 5 * bound / np.sqrt(400)


@given(st.integers(1, 30), st.integers(1, 60), st.integers(0, 99), st.booleans())
def test_a_row_becomes_the_same_bits_alone_and_among_others_sparse_and_dense(
    m: int, d: int, seed: int, single: bool
) -> None:
    X = rows(m, d, seed).astype(np.float32 if single else np.float64)
    projection = Projection(d, 16, seed)
    together = projection(X)
    assert together.dtype == X.dtype
    np.testing.assert_array_equal(projection(sparse.csc_array(X)), together)
    np.testing.assert_array_equal(projection(np.asfortranarray(X[::-1])), together[::-1])
    for i in range(m):
        np.testing.assert_array_equal(
            projection(sparse.csr_array(X[i : i + 1])), together[i : i + 1]
        )


def test_rows_that_are_taken_in_parts_become_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, projection = sparse.csr_array(rows(70, 90)), Projection(90, 16)
    together = projection(X)
    monkeypatch.setattr("newfound.layers.projection.SOME", 50)
    np.testing.assert_array_equal(projection(X), together)


def test_neither_order_nor_zeros_nor_parts_of_numbers_matter() -> None:
    stored = [3.0, 1.0, 0.0, 2.0, -5.0], ([0, 0, 0, 0, 1], [7, 2, 5, 7, 0])
    X = sparse.csr_array(sparse.coo_array(stored, (2, 9)))
    unsorted = sparse.csr_array((np.array([3.0, 1.0, 0.0, 2.0, -5.0]), [7, 2, 5, 7, 0], [0, 4, 5]))
    unsorted.resize((2, 9))
    before = unsorted.copy()
    projection = Projection(9, 8)
    for each in (X, unsorted, sparse.coo_array(stored, (2, 9))):
        np.testing.assert_array_equal(projection(each), projection(X.toarray()))
    np.testing.assert_array_equal(unsorted.indices, before.indices)  # nobody's rows are changed


def test_rows_of_single_precision_are_rounded_once() -> None:
    X = rows(20, 300, density=1.0).astype(np.float32)
    projection = Projection(300, 16)
    np.testing.assert_array_equal(projection(X), projection(X.astype(np.float64)).astype("f4"))


def test_a_projection_is_its_numbers() -> None:
    assert Projection(9, 8, 1) == Projection(9, 8, 1)
    assert len({Projection(9, 8, 1), Projection(9, 8), Projection(9, 4), Projection(8, 8)}) == 4
    X = rows(3, 9)
    assert (Projection(9, 8, 1)(X) != Projection(9, 8)(X)).any()


@pytest.mark.parametrize(
    "numbers", [(0,), (9, 6), (9, 0), (9, 2**20), (9, 8, -1), (9, 8, 2**64), (9.5,), (2**60,)]
)
def test_numbers_that_no_projection_has_are_refused(numbers: Any) -> None:
    with pytest.raises(InputError, match="must be a"):
        Projection(*numbers)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 8)), "X has 8 features, but this projection is for 9"),
        (np.full((1, 9), np.nan), "Input X contains NaN"),
        (sparse.csr_array(np.full((1, 9), np.inf)), "Input X contains infinity"),
        (sparse.csr_array(np.full((1, 9), 1e200)), "squares overflow"),
        (sparse.coo_array(([1.5e308] * 2, ([0, 0], [3, 3])), (1, 9)), "Input X contains"),
        (sparse.csr_array(np.full((1, 9), 3e38, dtype=np.float32)), "Input X contains infinity"),
        (sparse.csr_array(np.ones((1, 9)) * 1j), "X must be rows of numbers"),
        (np.ones(9), "two dimensions"),
    ],
)
def test_rows_that_nothing_can_be_learned_of_are_refused(X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Projection(9, 8)(X)


def test_no_rows_become_none() -> None:
    assert Projection(9, 8)(sparse.csr_array((0, 9))).shape == (0, 8)
