"""Exact sums: nothing lost as rows add up, wherever they are held."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound.sums.blas import second_moment
from newfound.sums.exact import add_exactly
from newfound.sums.gram import Gram, total_gram
from newfound.sums.triangles import STRIP_COLUMNS


def lower(matrix: NDArray[Any]) -> NDArray[Any]:
    return np.tril(matrix)


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=60))
def test_add_exactly_keeps_what_float64_drops(terms: list[float]) -> None:
    total, residue = np.zeros(1), np.zeros(1)
    for term in terms:
        total, residue = add_exactly(total, residue, np.array([term]))
    exact = sum(map(Fraction, terms))
    error = abs(Fraction(total[0]) + Fraction(residue[0]) - exact)
    # Twice the working precision, relative to the largest partial sum.
    largest = max(abs(Fraction(term)) for term in terms) * len(terms)
    assert error <= largest * Fraction(1, 2**100)
    assert total[0] == float(Fraction(total[0]) + Fraction(residue[0]))


def test_small_terms_are_not_lost_beside_large_ones() -> None:
    total, residue = np.array([1e16]), np.zeros(1)
    for _ in range(1000):
        total, residue = add_exactly(total, residue, np.ones(1))
    assert total[0] == 1e16 + 1000


@pytest.mark.parametrize("width", [1, 5, STRIP_COLUMNS, STRIP_COLUMNS + 1, 200])
@pytest.mark.parametrize("raw_limit", [0, 3, 32, 100])
@pytest.mark.parametrize("apart", [True, False])
def test_every_way_of_adding_gives_the_product(width: int, raw_limit: int, apart: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, width))
    gram, start = Gram(width, raw_limit, apart), 0
    for size in [1] * 130 + [2, 50, 64, 65, 300, 1, 70]:
        gram.add(X[start : start + size])
        start += size
        vector = rng.normal(size=width)
        np.testing.assert_allclose(
            gram.times(vector), X[:start].T @ (X[:start] @ vector), rtol=1e-12, atol=1e-9
        )
        target = np.zeros((width, width), order="F")
        gram.add_to(target, 2.0)
        np.testing.assert_allclose(
            lower(target), 2 * lower(X[:start].T @ X[:start]), rtol=1e-12, atol=1e-10
        )
    np.testing.assert_allclose(gram.trace, np.vdot(X[:start], X[:start]), rtol=1e-12)
    for other in (Gram(width, recent_apart=True), Gram(width)):
        other.add(X[start:])
        other.merge(gram)
        other.prepare_removal(X[start + 1 :])()
        other.prepare_removal(X[: start - 9])()
        rest = X[start - 9 : start + 1]
        np.testing.assert_allclose(
            lower(total_gram([other], width)), lower(rest.T @ rest), atol=1e-10
        )


def test_grouping_and_order_do_not_show_in_the_sums() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 6)) * np.logspace(0, 8, 6)
    found = []
    for size in (1, 64, 1000, 20_000):
        gram = Gram(6, recent_apart=True)
        order = rng.permutation(len(X))
        for start in range(0, len(X), size):
            gram.add(X[order[start : start + size]])
        found.append(total_gram([gram], 6))
    plain = np.zeros((6, 6))
    for row in X:
        plain += np.outer(row, row)
    exact = lower(np.array(X.astype(np.longdouble).T @ X.astype(np.longdouble), dtype=float))
    scale = np.sqrt(np.outer(exact.diagonal(), exact.diagonal())) * np.finfo(float).eps
    # One BLAS product of all rows is itself off by about two units in the last place.
    assert all((np.abs(gram - exact) < 4 * scale).all() for gram in found)
    assert (np.abs(lower(plain) - exact) > 10 * scale).any()


def test_float32_rows_are_summed_in_float64() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3)).astype(np.float32)
    exact = X.astype(np.float64).T @ X.astype(np.float64)
    np.testing.assert_allclose(lower(second_moment(X)), lower(exact), rtol=1e-12)
