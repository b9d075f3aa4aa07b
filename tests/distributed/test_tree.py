"""The tree: its shape depends on the number of leaves alone, and it adds them in their order."""

import pickle
import sys
from itertools import chain
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.distributed.part import Part, merged
from newfound.distributed.tree import added_up, fan_in, levels
from newfound.memory.memory import Memory, Quota
from newfound.sums.arrays import to_arrays


@given(number=st.integers(1, 700), width=st.integers(2, 8))
def test_every_node_is_added_once_and_the_tree_is_no_deeper_than_it_must_be(
    number: int, width: int
) -> None:
    found = levels(number, width)
    for level in found:
        assert [child for node in level for child in node] == list(range(number))
        assert max(map(len, level)) <= width
        number = len(level)
    assert number == 1
    least = next(depth for depth in range(1, 20) if width**depth >= len_of_leaves(found))
    assert len(found) == least


def len_of_leaves(found: list[list[range]]) -> int:
    return found[0][-1].stop


@given(number=st.integers(1, 60), width=st.integers(2, 8))
def test_leaves_are_added_in_their_order(number: int, width: int) -> None:
    letters = da.from_array(np.arange(number), chunks=1).map_blocks(lambda x: [int(x[0])])
    joined = added_up(letters, lambda parts: list(chain(*parts)), width).compute()
    assert joined == list(range(number))


@pytest.mark.parametrize("d", [64, 1280, 2000, 4096, 20_000])
def test_what_a_task_adds_fits_into_its_room_if_two_do(d: int) -> None:
    assert fan_in(d, per_class=False) * 8 * d**2 <= 256 * 2**20 or fan_in(d, False) == 2
    assert 2 <= fan_in(d, per_class=False) <= 8


def part(rows: int, seed: int, per_class: bool = False, dtype: Any = np.float32) -> Part:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(rows, 40)).astype(dtype), rng.integers(0, 3, rows)
    memory = Memory.blank(40, per_class=per_class, quota=Quota(5), seed=seed)
    if rows:
        memory.add(memory.batch(X, y))
    return Part(memory, seed)


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("rows", [3, 900])
def test_a_part_is_the_same_once_it_has_travelled(rows: int, per_class: bool) -> None:
    before = part(rows, 1, per_class).memory
    after = pickle.loads(pickle.dumps(Part(before, 1), protocol=5)).memory
    assert after.sums.labels.tolist() == before.sums.labels.tolist()
    assert after.sums.dtype == before.sums.dtype
    assert (after.cap, after.targets) == (before.cap, before.targets)
    for name, array in to_arrays(before.sums).items():
        np.testing.assert_array_equal(to_arrays(after.sums)[name], array, err_msg=name)
    for label, reservoir in before.witnesses.of_class.items():
        for one, other in zip(after.witnesses[label], reservoir, strict=True):
            np.testing.assert_array_equal(one, other)
        assert after.witnesses[label].rows[0].dtype == reservoir.rows[0].dtype


def test_a_part_says_what_it_weighs_and_travels_at_half_of_that() -> None:
    memory = Memory.blank(200)
    rows = np.random.default_rng(0).normal(size=(999, 200))
    memory.add(memory.batch(rows, np.zeros(999, dtype=int)))
    one = Part(memory, 0)
    assert 8 * 200**2 < sys.getsizeof(one) < 1.1 * 8 * 200**2 + 8 * 200 * 16
    assert len(pickle.dumps(one, protocol=5)) < 0.55 * 8 * 200**2


def test_merging_changes_none_of_the_parts() -> None:
    parts = [part(rows, seed) for seed, rows in enumerate((0, 3, 900, 40))]
    before = pickle.dumps(parts)
    first, second = merged(parts), merged(parts)
    assert pickle.dumps(parts) == before
    assert pickle.dumps(first) == pickle.dumps(second)
    assert first.memory.sums.total == 943
    assert first.partition == 1
