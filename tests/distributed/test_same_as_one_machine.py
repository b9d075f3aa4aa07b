"""However rows are cut, and whatever runs the tasks, the model is that of one machine."""

import threading
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.background import PATIENCE
from tests.covering import first_of
from tests.distributed.sameness import assert_identical, assert_same
from tests.streams import Stream, streams

MODELS: dict[str, Callable[[], Any]] = {
    "plain": lambda: IncrementalRidgeClassifier(),
    "balanced": lambda: IncrementalRidgeClassifier(class_weight="balanced"),
    "choosing": lambda: IncrementalRidgeClassifierCV(witnesses=3),
}


def chunks(draw: st.DataObject, n: int, name: str) -> tuple[int, ...]:
    """Cut n into pieces, some of which may be empty."""
    cuts = draw.draw(st.lists(st.integers(0, n), max_size=6), label=name)
    return tuple(np.diff([0, *sorted(cuts), n]).tolist())


@given(stream=streams(), draw=st.data(), kind=st.sampled_from(sorted(MODELS)))
def test_any_chunking_gives_the_sums_of_one_machine(
    stream: Stream, draw: st.DataObject, kind: str
) -> None:
    n, d = stream.X.shape
    rows, columns = chunks(draw, n, "rows"), tuple(c for c in chunks(draw, d, "columns") if c)
    X = da.from_array(stream.X, chunks=(rows, columns))
    y = da.from_array(stream.y, chunks=(chunks(draw, n, "labels"),))
    assert_same(MODELS[kind]().fit(X, y), MODELS[kind]().fit(stream.X, stream.y))


@given(stream=streams(min_rows=2), draw=st.data(), kind=st.sampled_from(sorted(MODELS)))
def test_partial_fit_adds_to_what_is_known(stream: Stream, draw: st.DataObject, kind: str) -> None:
    early = draw.draw(st.integers(1, len(stream) - 1))
    expected, model = MODELS[kind](), MODELS[kind]()
    for each in (expected, model):
        each.partial_fit(stream.X[:early], stream.y[:early])
    late = slice(early, None)
    expected.partial_fit(stream.X[late], stream.y[late])
    rows = chunks(draw, len(stream) - early, "rows")
    X = da.from_array(stream.X[late], chunks=(rows, -1))
    model.partial_fit(X, da.from_array(stream.y[late], chunks=(rows,)))
    assert_same(model, expected)


def blobs(n: int = 400, d: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return rng.normal(size=(n, d)) + 2 * np.eye(4, d)[y], np.array(["cup", "mug", "jug", "pot"])[y]


@pytest.mark.parametrize("scheduler", first_of(["threads", "processes"], slow=True))
@pytest.mark.parametrize("kind", first_of(sorted(MODELS)))
def test_every_scheduler_comes_to_the_same_model(kind: str, scheduler: str) -> None:
    X, y = blobs()
    lazy = da.from_array(X, chunks=(37, 3)), da.from_array(y, chunks=50)
    in_turn = MODELS[kind]().fit(*lazy)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        model = MODELS[kind]().fit(*lazy)
    assert_same(model, in_turn, rtol=1e-15)
    np.testing.assert_array_equal(model.predict(X), in_turn.predict(X))
    for one, other in zip(model.witnesses_, in_turn.witnesses_, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("seed", range(4))
def test_whichever_partition_is_ready_first_the_model_is_the_same_to_the_bit(
    kind: str, seed: int
) -> None:
    X, y = blobs()
    in_turn = MODELS[kind]().fit(da.from_array(X, chunks=(50, 5)), y)
    order = np.random.default_rng(seed).permutation(8).tolist()
    done = [threading.Event() for _ in order]

    def delayed(block: Any, block_id: Any = None) -> Any:
        """Return a block once the one that comes before it in the odd order was returned."""
        place = order.index(block_id[0])
        assert place == 0 or done[place - 1].wait(PATIENCE)
        done[place].set()
        return block

    lazy = da.from_array(X, chunks=(50, 5)).map_blocks(delayed, dtype=float, meta=np.empty((0, 0)))
    with dask.config.set(scheduler="threads", num_workers=8):
        assert_identical(MODELS[kind]().fit(lazy, y), in_turn)


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_one_partition_is_learned_to_the_bit_as_on_one_machine(kind: str) -> None:
    X, y = blobs()
    expected = MODELS[kind]().fit(X, y)
    model = MODELS[kind]().fit(da.from_array(X, chunks=-1), da.from_array(y, chunks=-1))
    assert_same(model, expected, rtol=0)
    for one, other in zip(model.witnesses_, expected.witnesses_, strict=True):
        np.testing.assert_array_equal(one, other)
    ours, theirs = (each.learner_.engine.factors for each in (model, expected))
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


def test_fit_lets_witnesses_vote_once_on_all_rows_and_learns_anew() -> None:
    X, y = blobs()
    lazy = da.from_array(X, chunks=(50, 5)), da.from_array(y, chunks=50)
    model = IncrementalRidgeClassifierCV().partial_fit(X[:9] + 100, ["old"] * 9).fit(*lazy)
    again = IncrementalRidgeClassifierCV().fit(*lazy)
    assert_identical(model, again)
    assert model.penalty_ == again.penalty_
    assert model.penalty_ == again.reconsider().penalty_


def test_store_learns_the_same() -> None:
    X, y = blobs()
    lazy = da.from_array(X, chunks=(50, 5)), da.from_array(y, chunks=50)
    model = IncrementalRidgeClassifier().store(X[:99], y[:99]).store(*lazy)
    assert_same(model, IncrementalRidgeClassifier().fit(X[:99], y[:99]).partial_fit(X, y))


def test_witnesses_of_equal_partitions_are_not_copies_of_each_other() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.zeros(30, dtype=int)
    lazy = da.concatenate([da.from_array(X, chunks=-1)] * 8)
    model = IncrementalRidgeClassifierCV(witnesses=16).fit(lazy, np.tile(y, 8))
    rows, _ = model.witnesses_
    assert len(rows) == 16
    assert len(np.unique(rows, axis=0)) > 8


@pytest.mark.exhaustive
def test_every_row_is_equally_likely_to_become_a_witness() -> None:
    X, trials, cap = np.arange(24.0)[:, None], 600, 6
    lazy, y = da.from_array(X, chunks=((2, 10, 1, 11), 1)), np.zeros(24, dtype=int)
    times = np.zeros(24)
    for seed in range(trials):
        model = IncrementalRidgeClassifierCV(witnesses=cap, random_state=seed)
        times[model.partial_fit(lazy, y).witnesses_[0][:, 0].astype(int)] += 1
    share = cap / 24
    assert np.abs(times - trials * share).max() < 5 * (trials * share * (1 - share)) ** 0.5


def test_a_second_lesson_has_witnesses_of_its_own() -> None:
    X = da.from_array(np.random.default_rng(0).normal(size=(40, 2)), chunks=(20, 2))
    y = np.zeros(40, dtype=int)
    model = IncrementalRidgeClassifierCV(witnesses=10).partial_fit(X, y).partial_fit(X, y)
    rows, _ = model.witnesses_
    assert len(np.unique(rows, axis=0)) > 5
    assert model.n_samples_seen_ == 80
