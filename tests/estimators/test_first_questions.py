"""The first questions after a lesson may come from many threads at once."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV
from tests.streams import blobs

RNG = np.random.default_rng(0)


def state(model: IncrementalRidgeClassifier, folder: Path) -> bytes:
    model.save(folder / "state")
    return (folder / "state").read_bytes()


def test_questions_from_many_threads_change_no_sums(tmp_path: Path) -> None:
    rows, labels = RNG.normal(size=(1060, 100)), np.array(list("ab") * 530)
    model = IncrementalRidgeClassifier().fit(rows[:1000], labels[:1000])
    model.partial_fit(rows[1000:], labels[1000:])
    before = state(model, tmp_path)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(model.predict(rows))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state(model, tmp_path) == before
    assert all((answer == answers[0]).all() for answer in answers)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0}])
def test_all_threads_get_the_right_answer(class_weight: Any) -> None:
    """What is derived is worked out by whoever asks first, while others ask."""
    rows, labels = RNG.normal(size=(2000, 200)), RNG.integers(0, 20, 2000)
    expected = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, labels)
    for _ in range(5):
        model = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, labels)
        barrier = threading.Barrier(8)
        found: list[Any] = []

        def ask(model: Any = model, barrier: Any = barrier, found: Any = found) -> None:
            barrier.wait()
            found.append(model.decision_function(rows[:5]))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for scores in [*found, model.decision_function(rows[:5])]:
            np.testing.assert_allclose(scores, expected.decision_function(rows[:5]), atol=1e-9)


@pytest.mark.slow
def test_first_questions_may_come_from_several_threads() -> None:
    X, y = blobs()
    for _ in range(5):
        model = IncrementalRidgeClassifierCV().fit(X, y)
        answers: list[Any] = []

        def ask(model: Any = model, answers: list[Any] = answers) -> None:
            answers.append(model.predict(X))

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == 6
        assert all((answer == answers[0]).all() for answer in answers)
