"""Features of one unit keep their proportions, and those of another are brought near."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.layers.scale import UNALIKE, scales_of


def around(rows: Any) -> Any:
    return rows - rows.mean(axis=0)


def test_features_that_reach_about_equally_far_have_one_scale() -> None:
    rng = np.random.default_rng(0)
    pixels = around(rng.uniform(0, 255, (100, 30)) * (rng.random((100, 30)) < 0.3))
    scale, length = scales_of(pixels)
    np.testing.assert_allclose(scale, length)


@given(st.integers(0, 99), st.floats(-9, 9))
def test_scales_follow_the_unit_of_all_features(seed: int, decades: float) -> None:
    rows = around(np.random.default_rng(seed).normal(size=(20, 4)))
    scale, length = scales_of(rows)
    other, longer = scales_of(10**decades * rows)
    np.testing.assert_allclose(other, 10**decades * scale)
    assert longer == pytest.approx(10**decades * length)


@given(st.integers(0, 99))
def test_a_feature_of_another_unit_counts_about_as_much_whatever_that_is(seed: int) -> None:
    rows = around(np.random.default_rng(seed).normal(size=(50, 5)))
    usual = float(np.median(np.abs(rows).max(axis=0)))
    for unit in (1e-6, 1e6):
        rows[:, 2] *= unit / np.abs(rows[:, 2]).max()
        reach = np.abs(rows / scales_of(rows)[0]).max(axis=0)
        expected = UNALIKE if unit > usual else 1 / UNALIKE
        assert reach[2] / np.median(np.delete(reach, 2)) == pytest.approx(expected, rel=0.5)


@given(st.integers(0, 99), st.integers(1, 6))
def test_rows_have_length_one_behind_the_scales(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    rows = around(rng.normal(size=(30, d)) * 10 ** rng.uniform(-4, 4, d))
    scale, length = scales_of(rows)
    assert np.square(rows / scale).sum(axis=1).mean() == pytest.approx(1)
    assert np.square(rows).sum(axis=1).mean() == pytest.approx(length**2)


def test_a_feature_that_did_not_vary_yet_is_as_usual() -> None:
    rows = around(np.random.default_rng(0).normal(size=(40, 3)))
    rows[:, 1] = 0
    scale, _ = scales_of(rows)
    assert scale[1] == pytest.approx(np.median(np.delete(scale, 1)), rel=0.5)
    assert np.isfinite(scales_of(np.zeros((40, 3)))[0]).all()
