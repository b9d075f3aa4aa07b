"""Directions are those of the formula, whatever the machine, and as good as independent ones."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard as matrix

from newfound.layers.units import SMALLEST_BLOCK, STEP, directions, hadamard

# Of directions(18, 300, seed=7), made where this was written: they must never change.
DIGEST = "0015922517b7d5f3f6e97997a348a9feaba46fcf7dbab57255958be1c0ac6ab5"


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_the_quick_transform_is_the_product_with_the_matrix(size: int) -> None:
    rows = np.random.default_rng(0).normal(size=(5, size))
    np.testing.assert_allclose(hadamard(rows), rows @ matrix(size), atol=1e-12)


def test_directions_never_change() -> None:
    bits = directions(18, 300, seed=7).astype("<f8").tobytes()
    assert hashlib.sha256(bits).hexdigest() == DIGEST


@given(st.integers(1, 300), st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_they_are_whole_steps_and_the_first_are_the_same_however_many(
    width: int, number: int, seed: int
) -> None:
    some = directions(width, number, seed)
    assert some.shape == (width, number)
    np.testing.assert_array_equal(some, np.rint(some / STEP) * STEP)
    np.testing.assert_array_equal(some, directions(width, number + 70, seed)[:, :number])


def test_no_two_seeds_and_no_two_blocks_are_alike() -> None:
    many = directions(20, 10 * SMALLEST_BLOCK, seed=0)
    assert len(np.unique(many, axis=1).T) == many.shape[1]
    assert not (many == directions(20, many.shape[1], seed=1)).all(axis=0).any()


@pytest.mark.parametrize("width", [3, 64, 200, 785])
def test_they_are_like_normal_variables(width: int) -> None:
    some = directions(width, 4000, seed=3)
    # Of so many numbers mean and variance are this near to 0 and 1, and kurtosis to 3.
    error = 5 / np.sqrt(some.size)
    assert abs(some.mean()) < error
    assert abs(some.var() - 1) < 10 * error
    assert abs((some**4).mean() - 3) < 0.15


def test_those_of_a_block_are_orthogonal() -> None:
    block = directions(256, 256, seed=0)
    gram = block.T @ block / 256
    assert np.abs(gram - np.eye(256)).max() < 0.01
