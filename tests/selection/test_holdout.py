"""What is held back: every i-th of a class, boundedly many, none of it lost."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.selection.holdout import HeldBack


def show(held: HeldBack, X: Any, labels: list[Any], every: int, cap: int) -> list[float]:
    plan = held.plan(X, labels, every, cap)
    plan.commit()
    return plan.learned.ravel().tolist()


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=80),
    st.sets(st.integers(0, 80)),
    st.integers(2, 7),
    st.integers(2, 6),
)
def test_any_split_holds_back_the_same_and_loses_nothing(
    labels: list[str], cuts: set[int], every: int, cap: int
) -> None:
    X = np.arange(float(len(labels)))[:, None]
    whole, parts = HeldBack(seed=3), HeldBack(seed=3)
    learned = show(whole, X, labels, every, cap)
    edges = [0, *sorted(cut for cut in cuts if cut < len(labels)), len(labels)]
    learned_in_parts = [
        row for a, b in pairwise(edges) for row in show(parts, X[a:b], labels[a:b], every, cap)
    ]
    held = {label: sorted(float(row[0]) for row in rows) for label, rows in whole.rows.items()}
    assert held == {label: sorted(float(r[0]) for r in rows) for label, rows in parts.rows.items()}
    assert sorted(learned) == sorted(learned_in_parts)
    assert sorted(learned + [row for rows in held.values() for row in rows]) == X.ravel().tolist()
    for label, rows in held.items():
        numbers = [place for place, other in enumerate(labels) if other == label]
        offered = numbers[every - 1 :: every]
        assert set(rows) <= set(map(float, offered))
        assert len(rows) == min(cap, len(offered))


@pytest.mark.slow
def test_every_row_offered_is_equally_likely_to_be_held() -> None:
    times = np.zeros(60)
    for seed in range(3000):
        held = HeldBack(seed)
        show(held, np.arange(120.0)[:, None], ["a"] * 120, every=2, cap=12)
        for row in held.rows["a"]:
            times[int(row[0]) // 2] += 1
    # 3000 draws, each held with probability 1/5: a standard deviation is 22.
    assert abs(times - 600).max() < 5 * 22


def test_a_plan_changes_nothing_until_it_is_carried_out() -> None:
    held = HeldBack(0)
    show(held, np.arange(20.0)[:, None], ["a"] * 20, 2, 3)
    before = [row.tolist() for row in held.rows["a"]], dict(held.shown), dict(held.offered)
    held.plan(np.arange(20.0)[:, None], ["a"] * 20, 2, 3)
    found, left = held.plan_removal(held.rows["a"][0][None], ["a"])
    assert found.tolist() == [True]
    assert left.count("a") == 2
    assert before == ([row.tolist() for row in held.rows["a"]], held.shown, held.offered)


@pytest.mark.slow
def test_merging_keeps_a_fair_sample_and_returns_the_rest() -> None:
    times = np.zeros(40)
    for seed in range(2000):
        one, two = HeldBack(seed), HeldBack(seed + 1)
        show(one, np.arange(20.0)[:, None], ["a"] * 20, 2, 50)
        show(two, np.arange(20.0, 40.0)[:, None], ["a"] * 20, 2, 50)
        union, rest, labels = one.merged(two).trimmed(cap=8)
        assert union.count("a") == 8
        assert labels == ["a"] * 12
        kept = [int(row[0]) for row in union.rows["a"]]
        assert sorted(kept + [int(row[0]) for row in rest]) == list(range(1, 40, 2))
        times[kept] += 1
    assert abs(times[1::2] - 800).max() < 5 * 22
