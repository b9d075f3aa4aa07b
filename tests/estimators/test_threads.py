"""Any number of threads may ask while others teach."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, load
from newfound.features import Identity
from newfound.recognition.recogniser import Recogniser
from tests.background import PATIENCE, together
from tests.streams import derived_anew

VARIANTS: list[tuple[type[IncrementalRidgeClassifier], dict[str, Any]]] = [
    (IncrementalRidgeClassifier, {}),
    (IncrementalRidgeClassifier, {"class_weight": "balanced"}),
    (IncrementalRidgeClassifier, {"class_weight": {}}),
    (IncrementalRidgeClassifierCV, {}),
    (IncrementalRidgeClassifierCV, {"rule": "paper", "class_weight": {}}),
]
D = 30
CENTRES = np.random.default_rng(0).normal(size=(12, D)) * 3


def views(n: int, classes: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return CENTRES[y] + rng.normal(size=(n, D)), y


@pytest.fixture(autouse=True)
def threads_that_take_turns_often() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def scores_by_label(model: Any, Q: Any) -> dict[Any, Any]:
    with model.lock:
        labels, values = model.classes_, model.decision_function(Q)
    return dict(zip(labels.tolist(), values.T, strict=True))


def same(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    return one.keys() == other.keys() and all(
        np.allclose(one[label], other[label], rtol=1e-6, atol=1e-8) for label in one
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "parameters"), VARIANTS, ids=str)
def test_an_answer_is_that_of_before_or_of_after_a_lesson(kind: Any, parameters: Any) -> None:
    Q, _ = views(3, 12, seed=1)
    X, y = views(25, 12, seed=2)
    for trial in range(4):
        model, twin = (kind(**parameters).fit(*views(100, 4, seed=trial)) for _ in range(2))
        allowed = [scores_by_label(twin, Q)]
        for row, label in zip(X, y, strict=True):
            twin.partial_fit(row[None], [label])
            allowed.append(scores_by_label(twin, Q))
        done = threading.Event()
        heard: list[dict[Any, Any]] = []

        def teach(model: Any = model, done: threading.Event = done) -> None:
            try:
                for row, label in zip(X, y, strict=True):
                    model.partial_fit(row[None], [label])
            finally:
                done.set()

        def ask(model: Any = model, done: threading.Event = done, heard: Any = heard) -> None:
            heard.append(scores_by_label(model, Q))
            while not done.is_set():
                heard.append(scores_by_label(model, Q))

        together(teach, ask, ask)
        assert heard
        for scores in heard:
            assert any(same(scores, each) for each in allowed)
        assert same(scores_by_label(model, Q), allowed[-1])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 40])
def test_predicting_needs_no_lock_of_the_users(rows: int) -> None:
    Q, _ = views(rows, 12, seed=1)
    X, y = views(30, 12, seed=2)
    names = np.array([f"class {label}" for label in range(12)])
    for trial in range(10):
        start, labels = views(60, 4, seed=trial)
        model = IncrementalRidgeClassifier().fit(start, names[labels])
        twin = IncrementalRidgeClassifier().fit(start, names[labels])
        allowed = [twin.predict(Q).tolist()]
        for row, label in zip(X, names[y], strict=True):
            allowed.append(twin.partial_fit(row[None], [label]).predict(Q).tolist())
        done = threading.Event()

        def teach(model: Any = model, done: threading.Event = done) -> None:
            for row, label in zip(X, names[y], strict=True):
                model.partial_fit(row[None], [label])
            done.set()

        def ask(model: Any = model, done: threading.Event = done, allowed: Any = allowed) -> None:
            while not done.is_set():
                assert model.predict(Q).tolist() in allowed
                assert np.isfinite(model.novelty(Q[:2])).all()
                assert model.predict_proba(Q).shape[1] in range(4, 13)

        together(teach, ask, ask)


@pytest.mark.parametrize(("kind", "parameters"), VARIANTS, ids=str)
def test_lessons_of_several_threads_are_all_learned(
    kind: Any, parameters: Any, tmp_path: Path
) -> None:
    model = kind(**parameters)
    lessons = [views(40, 12, seed=seed) for seed in range(3)]

    def teach(X: Any, y: Any) -> Callable[[], None]:
        def job() -> None:
            for place in range(0, 40, 2):
                model.partial_fit(X[place : place + 2], y[place : place + 2])
            model.forget(X[:4], y[:4])

        return job

    together(*(teach(X, y) for X, y in lessons))
    labels = np.concatenate([y[4:] for _, y in lessons])
    assert model.class_count_.tolist() == np.bincount(labels).tolist()
    if kind is IncrementalRidgeClassifier:
        X = np.concatenate([X[4:] for X, _ in lessons])
        expected = kind(**parameters).fit(X, labels)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)
    model.save(tmp_path / "model")
    Q, _ = views(20, 12, seed=9)
    found, loaded = model.decision_function(Q), load(tmp_path / "model").decision_function(Q)
    np.testing.assert_allclose(found, loaded, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "parameters"), VARIANTS, ids=str)
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, copy.copy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["deepcopy", "copy", "pickle"],
)
def test_a_copy_taken_during_a_lesson_is_whole(kind: Any, parameters: Any, copied: Any) -> None:
    model = kind(**parameters).fit(*views(60, 4, seed=0))
    X, y = views(30, 12, seed=2)
    done, copies = threading.Event(), []

    def teach() -> None:
        for row, label in zip(X, y, strict=True):
            model.partial_fit(row[None], [label])
        done.set()

    def take() -> None:
        while not done.is_set():
            copies.append(copied(model))

    together(teach, take)
    Q, _ = views(5, 12, seed=3)
    for each in copies[:: max(1, len(copies) // 20)]:
        anew = derived_anew(each)
        assert same(scores_by_label(anew, Q), scores_by_label(each, Q))
        each.partial_fit(Q[:1], [99])
    assert 99 not in model.classes_


def test_models_that_merge_each_other_do_not_wait_for_ever() -> None:
    one, two = (IncrementalRidgeClassifierCV().fit(*views(40, 4, seed=s)) for s in range(2))
    together(*([lambda: one.merge(two), lambda: two.merge(one)] * 2))
    assert one.n_samples_seen_ > 80
    assert two.n_samples_seen_ > 80


@pytest.mark.slow
def test_a_fork_waits_for_the_lesson_and_the_child_can_ask_and_learn() -> None:
    script = """
        import os, threading, sys
        import numpy as np
        from newfound import IncrementalRidgeClassifier, load
        rng = np.random.default_rng(0)
        model = IncrementalRidgeClassifier().fit(rng.normal(size=(50, 20)), rng.integers(0, 3, 50))
        done = threading.Event()
        def teach():
            while not done.is_set():
                model.partial_fit(rng.normal(size=(1, 20)), rng.integers(0, 9, 1))
        thread = threading.Thread(target=teach, daemon=True)
        thread.start()
        sys.setswitchinterval(1e-6)
        for trial in range(30):
            child = os.fork()
            if not child:
                try:
                    X = np.ones((2, 20))
                    before = model.decision_function(X)
                    # It derives all from the sums.
                    model = type(model).from_state(model.learner_.to_state())
                    ok = np.allclose(before, model.decision_function(X), atol=1e-8)
                    model.partial_fit(X, [1, 2]).predict(X)
                    os._exit(0 if ok else 3)
                except BaseException:
                    os._exit(4)
            assert os.waitpid(child, 0)[1] == 0, trial
        done.set()
        thread.join()
        print("all children asked and learned")
    """
    assert "all children asked and learned" in run_script(script)


def run_script(script: str) -> str:
    """Run a Python program of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_fork_waits_for_nobody_who_waits_for_it() -> None:
    """A thread may hold one model and ask another."""
    said = run_script("""
        import os, threading
        import numpy as np
        from newfound import IncrementalRidgeClassifier
        models = [IncrementalRidgeClassifier().fit(np.eye(9), np.arange(9) % 3) for _ in range(4)]
        done, asked = threading.Event(), threading.Event()
        def nested():
            while not done.is_set():
                for one in models:
                    with one.lock:
                        for other in models:
                            other.predict(np.eye(9))
                asked.set()
        thread = threading.Thread(target=nested, daemon=True)
        thread.start()
        asked.wait()
        for _ in range(5):
            child = os.fork()
            if not child:
                models[0].partial_fit(np.eye(9), np.arange(9) % 3).predict(np.eye(9))
                os._exit(0)
            os.waitpid(child, 0)
        done.set()
        thread.join()
        print("all forked")
    """)
    assert "all forked" in said


@pytest.mark.slow
def test_who_forks_with_a_lock_in_hand_holds_it_in_the_child_too() -> None:
    said = run_script("""
        import os
        import numpy as np
        from newfound import IncrementalRidgeClassifier
        model = IncrementalRidgeClassifier().fit(np.eye(3), [0, 1, 2])
        with model.lock:
            child = os.fork()
            model.partial_fit(np.eye(3), [0, 1, 2])
        model.predict(np.eye(3))
        if not child:
            os._exit(7)
        print("child said", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert "child said 7" in said


@pytest.mark.slow
def test_a_signal_that_comes_while_a_fork_waits_leaves_nothing_locked() -> None:
    said = run_script("""
        import os, signal, threading
        import numpy as np
        from newfound import IncrementalRidgeClassifier
        models = [IncrementalRidgeClassifier().fit(np.eye(9), np.arange(9) % 3) for _ in range(6)]
        held, free = threading.Event(), threading.Event()
        def hold():
            with models[3].lock:
                held.set()
                free.wait()
            for model in models:
                model.predict(np.eye(9))
        thread = threading.Thread(target=hold, daemon=True)
        thread.start()
        held.wait()
        def interrupt(*_):
            raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        for last in (False, True):
            if not last:
                signal.setitimer(signal.ITIMER_REAL, 0.2)  # comes while the fork waits
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            free.set()
            thread.join()
        print("all forked")
    """)
    assert "all forked" in said


def test_a_recogniser_answers_while_it_is_taught() -> None:
    identity = Identity("made")
    start, labels = views(60, 4, seed=0)
    recogniser = Recogniser()
    marks = [os.urandom(16) for _ in range(100)]
    recogniser.teach_vectors(start, labels.tolist(), marks[:60], identity)
    X, y = views(40, 12, seed=1)
    done = threading.Event()

    def teach() -> None:
        for place in range(40):
            row, label = X[place : place + 1], y[place : place + 1].tolist()
            recogniser.teach_vectors(row, label, [marks[60 + place]], identity)
            if place % 10 == 9:
                recogniser.forget_vectors(row, label, [marks[60 + place]], identity)
                recogniser.refresh()
        done.set()

    def ask() -> None:
        while not done.is_set():
            for answer in recogniser.look_at_vectors(X[:3], top=3):
                assert 0 <= answer.score <= 1
                assert len(answer.top) == 3

    together(teach, ask, ask)
    assert recogniser.model.n_samples_seen_ == len(recogniser.taught) == 96
    again = copy.deepcopy(recogniser)
    assert again.look_at_vectors(X[:3]) == recogniser.look_at_vectors(X[:3])
    assert len(pickle.loads(pickle.dumps(recogniser)).taught) == 96
