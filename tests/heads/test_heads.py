"""Small pure functions: recoding, labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.heads.recoding import recoding_factors
from newfound.sums.labels import as_labels
from tests import oracles


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=50), st.floats(0, 1))
def test_factors_are_the_papers_up_to_a_common_factor(counts: list[int], recoding: float) -> None:
    weight_sums = np.array(counts, dtype=np.float64)
    factors = recoding_factors(weight_sums, recoding)
    np.testing.assert_allclose(factors, oracles.recode(counts, recoding), rtol=1e-12)
    paper = (weight_sums.sum() / weight_sums) ** recoding
    np.testing.assert_allclose(factors / factors[0], paper / paper[0], rtol=1e-12)
    doubled = recoding_factors(2 * weight_sums, recoding)
    np.testing.assert_allclose(doubled, factors, rtol=1e-12)


def test_classes_without_examples_do_not_show_in_the_factors() -> None:
    taught = recoding_factors(np.array([8.0, 1.0]), 0.7)
    announced = recoding_factors(np.array([8.0, 0.0, 1.0, 0.0]), 0.7)
    np.testing.assert_array_equal(announced, [taught[0], 1.0, taught[1], 1.0])


def test_factors_do_not_underflow_with_many_uneven_classes() -> None:
    weight_sums = np.logspace(0, 9, 2000)
    factors = recoding_factors(weight_sums, 1.0)
    assert np.isfinite(factors).all()
    assert (factors > 0).all()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "bc"], "U"),
        ([1, 2], "i"),
        ([np.uint8(1), np.uint8(2)], "u"),
        ([True, False], "b"),
        ([1.0, 2], "f"),
        (range(3), "i"),
        ({"a": 1}.keys(), "U"),
        (np.array([1, 2], dtype=object), "i"),
    ],
)
def test_labels_become_arrays_of_their_type(values: Any, kind: str) -> None:
    labels = as_labels(values)
    assert labels.dtype.kind == kind
    assert labels.tolist() == list(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array(["2026-01-01"], dtype="datetime64[D]"), "Unknown label type: datetime64"),
        ([{"a": 1}], "Unknown label type: dict"),
        ([[1], [2, 3]], "Unknown label type: list"),
        ([[1, 2], [2, 3]], "1d array of labels, got an array of shape"),
        (7, "for one row pass \\[7\\]"),
        ([1, np.inf], "contains infinity"),
        ([True, 1], "mixes labels of different types: bool, int"),
    ],
)
def test_what_is_no_label_is_named(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_labels(values)


def test_equal_exponents_recode_as_one_number_does() -> None:
    weight_sums = np.array([7.0, 0.0, 120.0, 1.0, 33.0])
    for recoding in (0.0, 0.3, 1.0):
        one = recoding_factors(weight_sums, recoding)
        many = recoding_factors(weight_sums, np.full(5, recoding))
        np.testing.assert_allclose(many, one, rtol=1e-14)
    # With exponents of their own, classes are raised above the largest, whatever its own is.
    ratios = recoding_factors(weight_sums, np.array([0.5, 1.0, 0.9, 0.2, 0.0]))
    np.testing.assert_allclose(
        ratios[[0, 3, 4]] / ratios[2], [(120 / 7) ** 0.5, 120**0.2, 1.0], rtol=1e-14
    )
