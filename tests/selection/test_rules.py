"""The rules: what follows from a table of votes, whoever made it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound.selection.rules import (
    first_best,
    nearest,
    paper_rule,
    prior,
    weighted_recodings,
)

RECODINGS = np.linspace(0, 1, 5)
COUNTS = np.array([1.0, 4.0, 16.0])


def tables(*shape: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """Accuracies with many ties: a few right answers among seven."""
    size = int(np.prod(shape))
    hits = st.lists(st.integers(0, 7), min_size=size, max_size=size)
    return hits.map(lambda drawn: np.reshape(drawn, shape) / 7)


def naive_paper_rule(table: Any, tolerance: float) -> tuple[int, int]:
    """Section VI-C, read aloud."""
    penalties, recodings = range(len(table)), range(len(table[0]))
    best = {a: max(penalties, key=lambda k: table[k][a]) for a in recodings}
    worst = table[best[0]][0] - tolerance - 1e-9
    recoding = max(a for a in recodings if table[best[a]][a] >= worst)
    return best[recoding], recoding


@given(tables(4, 5), st.sampled_from([0.0, 1 / 7, 0.3]))
def test_the_papers_rule_is_what_it_says(table: Any, tolerance: float) -> None:
    assert paper_rule(table, tolerance) == naive_paper_rule(table.tolist(), tolerance)


def test_a_tie_goes_to_the_first_whatever_rounding_says() -> None:
    table = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]])
    assert paper_rule(table, 0.0) == (0, 1)
    assert first_best(table).tolist() == [0, 0]


@given(st.floats(1e-90, 1e90), st.integers(1, 10**6), st.floats(1e-3, 1e3))
def test_a_prior_is_about_ratios_even_and_rising_on_both_sides(
    usual: float, voters: int, factor: float
) -> None:
    steps = np.logspace(-5, 5, 11)
    points = prior(usual * steps, usual, voters)
    assert points[5] == 0
    np.testing.assert_allclose(points, points[::-1])
    assert (np.diff(points[5:]) > 0).all()
    np.testing.assert_allclose(points, prior(factor * usual * steps, factor * usual, voters))


def test_the_fewer_vote_the_more_it_takes() -> None:
    points = [prior(np.array([100.0]), 1.0, voters)[0] for voters in (10, 20, 10_000, 20_000)]
    assert points[0] == pytest.approx(2 * points[1])  # one vote is worth twice as much
    assert points[1] > points[2] == points[3] > 0


@given(tables(3, 5), st.integers(1, 1000))
def test_recodings_are_middles_that_follow_the_votes(table: Any, voters: int) -> None:
    table = table / 100  # no more than a point, so that nothing is certain
    found = weighted_recodings(table, COUNTS, RECODINGS, voters)
    assert ((found > 0) & (found < 1)).all()
    # Votes for all alike change nothing, and those for more recoding raise it.
    np.testing.assert_allclose(weighted_recodings(table + 0.1, COUNTS, RECODINGS, voters), found)
    raised = weighted_recodings(table + 0.05 * RECODINGS, COUNTS, RECODINGS, voters)
    assert (raised > found).all()
    # The rarer a class is, the more care is taken.
    same = np.tile(table[:1], (3, 1))
    assert (np.diff(weighted_recodings(same, COUNTS, RECODINGS, voters)) > 0).all()


def test_clear_votes_decide_and_few_do_not() -> None:
    table = np.array([[1.0, 0.5, 0.5, 0.5, 0.5]])
    often = np.array([1e9])
    expected = weighted_recodings(np.ones((1, 5)), often, RECODINGS, 1000)[0]
    assert weighted_recodings(table, often, RECODINGS, 1000)[0] == pytest.approx(0.0, abs=1e-9)
    of_two = weighted_recodings(table, often, RECODINGS, 2)[0]
    assert 0 < of_two < expected


@given(tables(5), st.floats(0, 1))
def test_the_nearest_is_the_nearest(values: Any, wanted: float) -> None:
    assert abs(values[nearest(values, wanted)] - wanted) == abs(values - wanted).min()
