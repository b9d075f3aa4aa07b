"""Witnesses: a fair sample of bounded size, the same however rows come, and of two streams."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from newfound.memory.reservoir import Reservoir, rank
from newfound.memory.witnesses import Witnesses, hashes_of, keys_of
from tests.oracles import bottom_k

TRIALS = 2000


def rows(n: int, first: int = 0) -> Any:
    """Rows (n, 1) that tell which they are."""
    return np.arange(float(first), float(first + n))[:, None]


def told(n: int, seed: int, first: int = 0, cap: int = 5) -> Witnesses:
    return Witnesses(seed).add(rows(n, first), np.array(["a"] * n), cap)


def held(witnesses: Witnesses, label: Any = "a") -> list[float]:
    return [float(row[0]) for row in witnesses[label].rows]


def contents(witnesses: Witnesses) -> dict[Any, Any]:
    """All that there is, in values that can be compared."""
    return {
        label: list(zip(*map(list, of[:4]), [row.tobytes() for row in of.rows], strict=True))
        for label, of in witnesses.of_class.items()
    }


def pairs_of(sample: Reservoir) -> list[tuple[int, Any]]:
    return list(zip(sample.keys.tolist(), sample.rows, strict=True))


def of_keys(*keys: int) -> Reservoir:
    """A sample of rows that have these keys and say so."""
    rows, given = tuple(np.array([float(key)]) for key in keys), np.array(keys, dtype=np.uint64)
    return Reservoir.of(hashes_of(np.array(rows)), given, np.ones(len(keys)), rows)


def assert_equally_often(times: Any) -> None:
    """Chi-square over rows: beyond this in one of a million runs, were all equally likely."""
    expected = times.sum() / len(times)
    # Without replacement, counts vary less than independent ones: by the factor 1 - share.
    spread = expected * (1 - expected / TRIALS)
    statistic = ((times - expected) ** 2 / spread).sum() * (len(times) - 1) / len(times)
    assert statistic < chi2(len(times) - 1).isf(1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("one_by_one", [False, True])
def test_every_row_is_equally_likely_to_be_a_witness(one_by_one: bool) -> None:
    times = np.zeros(25)
    for seed in range(TRIALS):
        witnesses = Witnesses(seed)
        for part in np.array_split(rows(25), 25 if one_by_one else 1):
            witnesses = witnesses.add(part, np.array(["a"] * len(part)), cap=5)
        times[np.array(held(witnesses), dtype=int)] += 1
    assert times.sum() == 5 * TRIALS
    assert_equally_often(times)


def test_any_two_rows_are_witnesses_together_as_often_as_any_other_two() -> None:
    """Rows that follow each other, or look alike, have keys that are strangers to each other."""
    together = np.zeros((12, 12))
    for seed in range(TRIALS):
        here = np.array(held(told(12, seed, cap=4)), dtype=int)
        together[np.ix_(here, here)] += 1
    pairs = together[np.triu_indices(12, 1)]
    expected = TRIALS * (4 / 12) * (3 / 11)
    assert pairs.sum() == TRIALS * 6
    assert abs(pairs - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.slow
def test_rows_of_all_streams_that_merge_are_equally_likely() -> None:
    times = np.zeros(30)
    for seed in range(TRIALS):
        one, two = told(10, seed), told(20, seed + 10**6, first=10)
        times[np.array(held(one.merge(two, cap=5)), dtype=int)] += 1
    assert times.sum() == 5 * TRIALS
    assert_equally_often(times)


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=80),
    st.sets(st.integers(1, 79)),
    st.integers(2, 6),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_how_rows_are_cut_into_calls_does_not_matter(
    labels: list[str], cuts: set[int], cap: int, dtype: Any, alike: bool
) -> None:
    X = np.random.default_rng(len(labels)).normal(size=(len(labels), 3)).astype(dtype)
    X, y = np.ones_like(X) if alike else X, np.array(labels)
    whole, parts = Witnesses(3).add(X, y, cap), Witnesses(3)
    edges = sorted(cut for cut in cuts if cut < len(labels))
    for rows_, names in zip(np.split(X, edges), np.split(y, edges), strict=True):
        parts = parts.add(rows_, names, cap)
    assert contents(parts) == contents(whole)
    for label, sample in whole.of_class.items():
        times = labels.count(label)
        assert len(sample.rows) == (1 if alike else min(cap, times))
        assert sum(sample.weights) == (times if alike else min(cap, times))
        assert {row.dtype for row in sample.rows} == {np.dtype(dtype)}


@given(st.lists(st.integers(1, 12), max_size=4), st.integers(2, 5), st.booleans())
def test_merging_is_the_smallest_keys_of_all_in_any_order(
    sizes: list[int], cap: int, same_rows: bool
) -> None:
    """Also where streams begin with the same rows; these are one witness, of all their weight."""
    firsts = [0] * len(sizes) if same_rows else np.cumsum([0, *sizes]).tolist()
    streams = [told(n, 0, first, cap) for n, first in zip(sizes, firsts, strict=False)]
    one, other = Witnesses(0), Witnesses(0)
    for stream in streams:
        one = one.merge(stream, cap)
    for stream in reversed(streams):
        other = stream.merge(other, cap)
    if not same_rows or max(sizes, default=0) <= cap:  # of equal rows, the kept ones are counted
        assert contents(one) == contents(other)
    if streams and not same_rows:
        everything = [pair for each in streams for pair in pairs_of(each["a"])]
        assert held(one) == [float(row[0]) for row in bottom_k(everything, cap)]
    if same_rows and sizes and max(sizes) <= cap:
        weights = dict(zip(held(one), one["a"].weights, strict=True))
        assert weights == {float(i): sum(n > i for n in sizes) for i in range(max(sizes))}


def test_rows_of_one_key_are_joined_the_same_in_either_order() -> None:
    """Two rows may have the same key by chance."""
    key = np.array([5], dtype=np.uint64)
    one, other = (
        Reservoir.of(key, key, np.ones(1), (np.array([number]),)) for number in (1.0, 2.0)
    )
    for cap in (1, 2):
        joined, reverse = one.merge(other, cap), other.merge(one, cap)
        np.testing.assert_array_equal(joined.rows, reverse.rows)
        assert joined.keys.tolist() == [5] * cap


def test_the_sample_of_a_stream_is_the_sample_of_its_samples() -> None:
    """With keys given: whatever was dropped on the way would not have been in the end."""
    keys = np.random.default_rng(0).permutation(60) * 2**40
    joined = Reservoir()
    for part in np.split(keys, 6):
        joined = joined.merge(of_keys(*part.tolist()).first(4), 4)
    assert joined.keys.tolist() == [0, 2**40, 2 * 2**40, 3 * 2**40]


def test_smaller_caps_are_nested_in_larger_ones() -> None:
    for seed in range(20):
        largest = told(50, seed, cap=20)
        for cap in (3, 10, 19, 20, 30):
            assert held(largest.first(cap)) == held(largest)[:cap]
            if cap <= 20:
                assert contents(told(50, seed, cap=cap)) == contents(largest.first(cap))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_cap_that_was_lowered_holds_from_the_next_row_on(one_by_one: bool) -> None:
    before = told(50, seed=0, cap=20)
    after = before
    for part in np.array_split(rows(10, 50), 10 if one_by_one else 1):
        after = after.add(part, np.array(["a"] * len(part)), cap=4)
    assert contents(after) == contents(told(60, seed=0, cap=4))


def test_identical_rows_are_one_witness_that_stands_for_all_of_them() -> None:
    """A thousand frames of one still scene, then as many different ones: half and half."""
    X, y = np.concatenate([np.full((1000, 1), -1.0), rows(1000)]), np.array(["a"] * 2000)
    shares = []
    for seed in range(50):
        sample = Witnesses(seed).add(X, y, 40)["a"]
        is_still = np.array(sample.rows)[:, 0] == -1.0
        votes = np.array(sample.adjusted_weights(40))
        assert votes[is_still].tolist() == [pytest.approx(1000)]
        shares.append(1000 / sum(votes))
    # How much the other 39 stand for varies as the 40th of a thousand ranks does.
    assert abs(np.mean(shares) - 0.5) < 5 * 0.25 / np.sqrt(40 * 50)


def test_heavy_rows_are_drawn_by_their_weight() -> None:
    """Ten rows that weigh nine times as much as each of ninety others have half of all weight."""
    weights, heavy = np.where(np.arange(100) < 10, 9.0, 1.0), []
    for seed in range(400):
        sample = Witnesses(seed).add(rows(100), np.array(["a"] * 100), 1, weights)["a"]
        heavy.append(sample.rows[0][0] < 10)
    assert abs(np.mean(heavy) - 0.5) < 5 * 0.5 / np.sqrt(400)


def test_votes_add_up_to_the_weight_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    weights, found = rng.exponential(size=300) ** 2, []
    for seed in range(200):
        sample = Witnesses(seed).add(rows(300), np.array(["a"] * 300), 30, weights)["a"]
        found.append(sum(sample.adjusted_weights(30)[:-1]))  # the last says where ranks end
    error = np.std(found) / np.sqrt(200)
    assert abs(np.mean(found) - weights.sum()) < 5 * error
    everything = Witnesses(0).add(rows(300), np.array(["a"] * 300), 301, weights)["a"]
    np.testing.assert_allclose(np.sort(everything.adjusted_weights(301)), np.sort(weights))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_a_row_of_weight_two_is_a_row_taught_twice(times: list[int], seed: int) -> None:
    X, y, rng = rows(len(times)), np.array(["a"] * len(times)), np.random.default_rng(seed)
    weighted = Witnesses(1).add(X, y, 40, np.array(times, dtype=np.float64))
    order = rng.permutation(np.repeat(np.arange(len(times)), times))
    repeated = Witnesses(1)
    for part in np.array_split(order, rng.integers(1, len(order) + 1)):
        repeated = repeated.add(X[part], y[:1].repeat(len(part)), 40)
    assert contents(repeated) == contents(weighted)


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1, 2**64 - 512])
def test_any_key_has_a_rank(key: int) -> None:
    assert 0 < rank(key, 1.0) < 40


@pytest.mark.slow
@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 2.0), (-2.0, 2.0), (0.0, 0.5), (1.0, 3.0)])
def test_rows_of_two_values_have_keys_of_their_own(values: tuple[float, float]) -> None:
    X = np.random.default_rng(0).choice(values, size=(50_000, 40))
    keys = keys_of(hashes_of(X), seed=0)
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))


def test_the_order_of_rows_does_not_matter() -> None:
    X, y = rows(200), np.array(["a", "b"] * 100)
    order = np.random.default_rng(0).permutation(200)
    one, other = Witnesses(0).add(X, y, 9), Witnesses(0).add(X[order], y[order], 9)
    assert contents(one) == contents(other)


def test_forgetting_drops_a_witness_that_equals_the_row_and_no_other() -> None:
    witnesses = told(30, seed=1)
    first = held(witnesses)[0]
    left = witnesses.remove(np.array([[first]]), np.array(["a"]))
    assert held(left) == held(witnesses)[1:]
    others = [row for row in range(30) if row not in held(witnesses)][:1]
    left = witnesses.remove(np.array([others], dtype=float), np.array(["a"]))
    assert held(left) == held(witnesses)
    left = witnesses.remove(np.array([[first]]), np.array(["b"]))
    assert held(left) == held(witnesses)


def test_of_rows_that_are_equal_one_goes_for_each_row_forgotten() -> None:
    X, y = np.ones((3, 2)), np.array(["a"] * 3)
    witnesses = Witnesses(0).add(X, y, 9, np.array([0.3, 0.4, 0.2]))
    for gone, left in ((0.4, 0.5), (0.2, 0.3)):
        witnesses = witnesses.remove(X[:1], y[:1], np.array([gone]))
        assert witnesses["a"].weights.tolist() == [pytest.approx(left)]
    assert witnesses.remove(X[:1], y[:1], np.array([0.3]))["a"].size == 0


def test_what_was_taught_and_forgotten_leaves_no_trace_while_there_is_room() -> None:
    before = told(4, seed=0)
    gone = np.array([[99.0]])
    after = before.add(gone, np.array(["a"]), 5).remove(gone, np.array(["a"]))
    assert contents(after) == contents(before)
    assert contents(after.add(rows(9, 4), np.array(["a"] * 9), 5)) == contents(told(13, seed=0))


def test_the_same_numbers_in_another_precision_have_the_same_witnesses() -> None:
    X, y = np.random.default_rng(0).normal(size=(90, 3)).astype(np.float32), np.array(["a"] * 90)
    single, double = (Witnesses(0).add(X.astype(kind), y, 9) for kind in (np.float32, np.float64))
    assert single["a"].keys.tolist() == double["a"].keys.tolist()
    np.testing.assert_array_equal(single["a"].rows, double["a"].rows)


def test_rows_of_single_precision_are_found_by_their_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    witnesses = Witnesses(0).add(X, np.array(["a"] * 6), 9)
    assert witnesses["a"].rows[0].dtype == np.float32
    left = witnesses.remove(X.astype(np.float64), np.array(["a"] * 6))
    assert not left["a"].rows


def test_witnesses_are_copies() -> None:
    for n in (1, 3):
        X = rows(n)
        witnesses = Witnesses(0).add(X, np.array(["a"] * n), 5)
        X += 100
        assert sorted(held(witnesses)) == list(range(n))


def test_a_class_renamed_keeps_its_witnesses_or_shares_them() -> None:
    X, y = rows(40), np.array(["a", "b"] * 20)
    witnesses = Witnesses(0).add(X, y, 5)
    renamed = witnesses.rename("a", "c", 5)
    assert contents(renamed)["c"] == contents(witnesses)["a"]
    assert "a" not in renamed.of_class
    joined = witnesses.rename("a", "b", 5)
    pairs = [pair for each in "ab" for pair in pairs_of(witnesses[each])]
    assert held(joined, "b") == [float(row[0]) for row in bottom_k(pairs, 5)]
    assert list(joined.of_class) == ["b"]


def test_what_a_method_returns_leaves_its_model_as_it_was() -> None:
    witnesses = told(30, seed=1)
    before = contents(witnesses)
    witnesses.add(rows(30), np.array(["b", "a"] * 15), 2)
    witnesses.remove(witnesses["a"].rows[0][None], np.array(["a"]))
    witnesses.rename("a", "b", 2)
    witnesses.merge(told(9, seed=2), 3)
    witnesses.first(1)
    assert witnesses.only([]).of_class == {}
    assert contents(witnesses) == before


def test_all_are_stacked_class_by_class() -> None:
    witnesses = Witnesses(0).add(rows(3), np.array(["b", "a", "b"]), 9)
    stacked, index = witnesses.stack(np.array(["a", "new", "b"]), 1)
    assert index.tolist() == [0, 2, 2]
    assert stacked[0] == [1.0]
    assert sorted(stacked[1:, 0]) == [0.0, 2.0]
    nothing, none = Witnesses(0).stack(np.array(["a"]), 4)
    assert nothing.shape == (0, 4)
    assert none.shape == (0,)
