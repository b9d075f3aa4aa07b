"""Work in pieces: as many of them however it is done, and each task once, in its turn."""

import threading
import time
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from newfound.common.pieces import WORTH_SPREADING, Pieces, Stages, Task, at_once
from newfound.common.threads import spread
from tests.background import PATIENCE

COSTS = st.lists(st.lists(st.floats(0, 5), max_size=6), max_size=6)


def work(costs: list[list[float]], done: list[tuple[int, int]]) -> Stages[str]:
    def task(stage: int, place: int) -> Any:
        def run() -> None:
            assert not any(earlier > stage for earlier, _ in done)
            done.append((stage, place))

        return run

    for stage, row in enumerate(costs):
        yield [Task(cost, task(stage, place)) for place, cost in enumerate(row)]
        assert len(done) == sum(map(len, costs[: stage + 1]))  # all are done before it goes on
    return "found"


@pytest.mark.slow
@given(COSTS, st.integers(0, 40))
def test_the_number_of_pieces_depends_on_the_work_alone(
    costs: list[list[float]], steps: int
) -> None:
    done: list[tuple[int, int]] = []
    stepwise, mixed, whole = (Pieces(work(costs, each), 3.0) for each in (done, [], []))
    while not stepwise.is_done:
        before = stepwise.number
        stepwise.step()
        assert stepwise.number == before + 1
    for _ in range(steps):
        if not mixed.is_done:
            mixed.step()
    assert mixed.finish() == whole.finish() == stepwise.result == "found"
    assert mixed.number == whole.number == stepwise.number
    assert sorted(done) == [(i, j) for i, row in enumerate(costs) for j in range(len(row))]


@given(COSTS)
def test_a_piece_is_no_larger_than_it_should_be_but_for_its_last_task(
    costs: list[list[float]],
) -> None:
    done: list[tuple[int, int]] = []
    pieces = Pieces(work(costs, done), 3.0)
    while not pieces.is_done:
        before = len(done)
        pieces.step()
        spent = [costs[stage][place] for stage, place in done[before:]]
        assert sum(spent[:-1]) < 3.0


def test_a_large_task_is_a_piece_of_its_own() -> None:
    pieces = Pieces(work([[7.0, 1.0, 1.0]], []), 3.0)
    assert pieces.finish() == "found"
    assert pieces.number == 2


@pytest.mark.parametrize("how", ["step", "finish small", "finish large"])
def test_other_threads_help_only_where_all_is_done_at_once_and_worth_it(how: str) -> None:
    caller, both, by = threading.get_ident(), threading.Barrier(2), list[int]()

    def task() -> None:
        if how == "finish large":
            both.wait(PATIENCE)
        time.sleep(0.01)  # time enough for others to come
        by.append(threading.get_ident())

    def stages() -> Stages[None]:
        share = 0.6 if how == "finish large" else 0.4
        yield [Task(share * WORTH_SPREADING, task)] * 2
        if how == "step":
            yield [Task(1.0, partial(spread, [task] * 20))]

    pieces = Pieces(stages(), float("inf"))
    with threadpool_limits(2, user_api="blas"):
        (pieces.step if how == "step" else pieces.finish)()
    assert pieces.is_done
    assert (set(by) == {caller}) == (how != "finish large")


def test_all_of_it_can_be_done_at_once() -> None:
    done: list[tuple[int, int]] = []
    assert at_once(work([[1.0, 1.0], [2.0]], done)) == "found"
    assert len(done) == 3


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("where", ["task", "stage"])
def test_work_that_was_interrupted_does_not_go_on(at_once: bool, where: str) -> None:
    done: list[int] = []

    def interrupt() -> None:
        raise KeyboardInterrupt

    def stages() -> Stages[str]:
        yield [Task(1.0, lambda: done.append(1)), *([Task(1.0, interrupt)] * (where == "task"))]
        if where == "stage":
            interrupt()
        yield [Task(1.0, lambda: done.append(2))]
        return "found"

    pieces = Pieces(stages(), 1.0)
    if not at_once:
        pieces.step()
    with pytest.raises(KeyboardInterrupt):
        pieces.finish() if at_once else pieces.step()
    assert pieces.has_failed
    for go_on in (pieces.finish, pieces.step):
        with pytest.raises(RuntimeError, match="interrupted"):
            go_on()
    assert pieces.result is None
    assert done == [1]
