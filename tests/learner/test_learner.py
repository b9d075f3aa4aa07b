"""A choice made on a copy, and answers with a row left out."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier
from newfound.common.errors import NotTaughtError
from newfound.engine.engine import Engine
from newfound.learner.learner import Learner


def rows(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.array(["b", "a", "c"])[rng.integers(0, 3, n)]
    return rng.normal(size=(n, 5)) + (y == "a")[:, None], y


def test_a_choice_made_on_a_copy_is_the_one_made_in_place() -> None:
    X, y = rows(80)
    one, other = Learner(), Learner()
    for learner in (one, other):
        learner.learn(X, y)
    one.reconsider()
    other.reconsider(aside=True)
    ours, theirs = (learner.predict(X).scores for learner in (one, other))
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_what_is_taught_while_a_copy_is_made_up_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (X, y), learner, reconsider = rows(30), Learner(), Engine.reconsider
    learner.learn(X, y)
    came = iter([True])

    def interrupted(engine: Engine) -> None:
        reconsider(engine)
        if next(came, False):
            learner.learn(X[:1], y[:1])

    monkeypatch.setattr(Engine, "reconsider", interrupted)
    learner.reconsider(aside=True)
    assert learner.engine.memory.sums.total == 31


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_row_left_out_is_answered_as_if_it_had_not_been_taught(fit_intercept: bool) -> None:
    X, y = rows(60)

    def plain() -> IncrementalRidgeClassifier:
        # Recoding would change with the counts.
        return IncrementalRidgeClassifier(0.5, recoding=0.0, fit_intercept=fit_intercept)

    model, said = plain().partial_fit(X, y), []
    for out in range(len(X)):
        others = np.arange(len(X)) != out
        said.append(plain().fit(X[others], y[others]).predict(X[out : out + 1])[0])
    assert model.learner_.left_out(X, y).tolist() == said
    assert model.predict(X).tolist() != said


def test_a_class_that_was_not_taught_cannot_be_left_out() -> None:
    (X, y), learner = rows(20), Learner()
    learner.learn(X, y)
    with pytest.raises(NotTaughtError, match="z was not taught"):
        learner.left_out(X[:1], ["z"])


def test_what_is_known_waits_for_a_thread_that_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), learner, learn = rows(30), Learner(), Engine.learn
    learner.learn(X, y)
    lock, waits = learner.lock, threading.Event()

    class Noticed:
        def __enter__(self) -> None:
            if threading.current_thread() is not threading.main_thread():
                waits.set()
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    with ThreadPoolExecutor(1) as others:

        def watched(engine: Engine, *args: Any) -> None:
            asked.append(others.submit(lambda: learner.learned.schema.width))
            while not (waits.is_set() or asked[0].done()):
                wait(asked, timeout=0.01)
            learn(engine, *args)

        asked: list[Future[int]] = []
        monkeypatch.setattr(Engine, "learn", watched)
        monkeypatch.setattr(learner, "lock", Noticed())
        learner.learn(X, y)
        assert asked[0].result() == 5
