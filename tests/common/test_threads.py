"""Whose threads compute: limits are kept and given back, tasks are done once, nobody waits."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from newfound import IncrementalRidgeClassifier
from newfound.common import threads
from newfound.common.threads import alone, one_thread, spread
from tests.background import PATIENCE, in_the_background


def forks(test: Any) -> Any:
    """Mark a test that forks."""
    warned = "ignore:.*multi-threaded.*fork.*:DeprecationWarning"
    test = pytest.mark.filterwarnings(warned)(test)
    return pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")(test)


def limits() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two() -> Iterator[None]:
    """Let BLAS have two threads, on whatever machine."""
    with threadpool_limits(2, user_api="blas"):
        yield


@contextmanager
def another_inside() -> Iterator[None]:
    """Have another thread be inside meanwhile."""
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with one_thread:
            entered.set()
            leave.wait(PATIENCE)

    with in_the_background(stay):
        entered.wait(PATIENCE)
        try:
            yield
        finally:
            leave.set()


def test_blas_has_one_thread_inside_and_what_it_had_outside(two: None) -> None:
    assert set(limits()) == {2}
    with one_thread:
        assert set(limits()) == {1}
        with one_thread:
            assert one_thread.allowed == 2
        assert set(limits()) == {1}
    assert set(limits()) == {2}


def test_an_exception_gives_the_limits_back(two: None) -> None:
    with pytest.raises(KeyError), one_thread:
        raise KeyError
    assert set(limits()) == {2}


def test_the_users_limit_is_respected_and_kept() -> None:
    with threadpool_limits(1, user_api="blas"):
        with one_thread:
            assert one_thread.allowed == 1
        assert set(limits()) == {1}


def test_what_others_set_meanwhile_stays(two: None) -> None:
    with one_thread:
        theirs = threadpool_limits(3, user_api="blas")
    assert set(limits()) == {3}
    theirs.restore_original_limits()


@forks
def test_a_child_forked_inside_leaves_as_its_parent_does(two: None) -> None:
    def fork_inside() -> int:
        with one_thread:
            return os.fork()

    child = fork_inside()
    if child == 0:
        os._exit(0 if set(limits()) == {2} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_last_thread_to_leave_gives_the_limits_back(two: None) -> None:
    with ExitStack() as other:
        with one_thread:
            other.enter_context(another_inside())
        assert set(limits()) == {1}
    assert set(limits()) == {2}


def test_tasks_are_done_side_by_side_and_once_each(two: None) -> None:
    both = threading.Barrier(2)  # which one thread alone would wait at for ever
    done: list[int] = []
    meet = partial(both.wait, PATIENCE)
    spread([meet, meet, *(partial(done.append, i) for i in range(50))])
    assert sorted(done) == list(range(50))
    assert set(limits()) == {2}


def test_nobody_returns_before_the_tasks_of_others_are_done(two: None) -> None:
    both, caller, done = threading.Barrier(2), threading.get_ident(), list[None]()

    def task() -> None:
        both.wait(PATIENCE)
        if threading.get_ident() != caller:
            time.sleep(0.2)
            done.append(None)

    spread([task, task])
    assert len(done) == 1


@pytest.mark.parametrize("limit", [1, 2])
def test_alone_or_limited_all_tasks_are_done_by_the_caller(limit: int) -> None:
    by: list[int] = []

    def task() -> None:
        time.sleep(0.01)  # time enough for others to come
        by.append(threading.get_ident())

    with threadpool_limits(limit, user_api="blas"), ExitStack() as inside:
        if limit == 2:
            inside.enter_context(alone())
        with alone():
            pass  # which ends nothing but itself
        spread([task] * 20)
    assert by == [threading.get_ident()] * 20


def test_a_task_that_fails_is_heard_of_and_leaves_no_limit(two: None) -> None:
    def fail() -> None:
        raise MemoryError

    for _ in range(20):  # be it in this thread or in another
        with pytest.raises(MemoryError):
            spread([fail, fail])
        assert set(limits()) == {2}
    spread([lambda: None] * 5)


def test_after_a_failure_no_further_task_is_begun(two: None) -> None:
    both, done = threading.Barrier(2), list[None]()

    def fail() -> None:
        both.wait(PATIENCE)
        raise MemoryError

    def some_more() -> None:
        time.sleep(0.01)
        done.append(None)

    with pytest.raises(MemoryError):
        spread([fail, partial(both.wait, PATIENCE), *[some_more] * 1000])
    assert len(done) < 1000


@forks
def test_a_child_forked_while_others_compute_has_its_limits_and_its_pool(two: None) -> None:
    spread([lambda: None] * 4)  # so that there is a pool to be lost
    with another_inside():
        child = os.fork()
        if child == 0:
            both = threading.Barrier(2)
            code = 1
            try:
                meet = partial(both.wait, PATIENCE)
                spread([meet, meet])
                X = np.random.default_rng(0).normal(size=(50, 5))
                IncrementalRidgeClassifier().fit(X, np.arange(50) % 3).predict(X)
                code = 0 if set(limits()) == {2} else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert set(limits()) == {2}


def test_a_thread_that_was_kept_from_leaving_is_put_right_when_it_enters_again(two: None) -> None:
    def enter_and_never_leave() -> None:
        one_thread.__enter__()

    enter_and_never_leave()
    assert set(limits()) == {1}
    with one_thread:
        assert set(limits()) == {1}
        assert one_thread.allowed == 2
    assert set(limits()) == {2}


@pytest.mark.parametrize("there_are", [0, 1])
def test_where_no_more_threads_can_be_made_those_there_are_do_it(
    there_are: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_helpers", threads._Helpers())  # noqa: SLF001  (of no threads yet)
    start, started = threading.Thread.start, list[None]()

    def refuse(self: threading.Thread) -> None:
        if len(started) >= there_are:
            raise RuntimeError("can't start new thread")
        started.append(None)
        start(self)

    done: list[int] = []
    with threadpool_limits(4, user_api="blas"):
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            spread([partial(done.append, i) for i in range(100)])
        assert sorted(done) == list(range(100))
        both = threading.Barrier(4)  # and they are made once that is possible again
        spread([partial(both.wait, PATIENCE)] * 4)
