"""What benchmarks say, of our rivals and of memory, is true."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV


@pytest.mark.parametrize("intercept", [False, True])
def test_rivals_are_judged_by_their_own_answers_also_where_a_class_came_late(
    intercept: bool,
) -> None:
    from benchmarks import choosing  # here, for collection shall not load it

    stream = next(choosing.of_scikit_learn(0))
    late = np.argsort(np.isin(stream.y, [0, 8]), kind="stable")[:-230]
    stream = stream._replace(X=stream.X[late], y=stream.y[late], fit_intercept=intercept)
    fixed, hindsight = choosing.rivals(stream, len(late))
    spread = ((stream.X - stream.X.mean(axis=0) * intercept) ** 2).mean()

    def accuracy(penalty: float, recoding: float) -> float:
        model = IncrementalRidgeClassifier(penalty, recoding, fit_intercept=intercept)
        answers = model.fit(stream.X, stream.y).predict(stream.X_test)
        return choosing.per_class(answers, stream.y_test)

    assert fixed == pytest.approx(accuracy(600 * spread, 0.7))
    length = 64 * spread
    some = [accuracy(length * penalty, a) for penalty in (0.01, 0.1, 1.0) for a in (0.0, 0.5, 0.8)]
    assert hindsight >= max(some) - 1e-9
    assert hindsight < 100


@pytest.mark.slow
def test_a_stream_is_taught_row_by_row() -> None:
    from benchmarks import choosing

    stream = next(choosing.of_scikit_learn(0))
    stream = stream._replace(moments=(70, 300))
    found = choosing.judge(stream)
    model = IncrementalRidgeClassifierCV()
    for moment, start, end in zip(found, (0, 70), (70, 300), strict=True):
        model.partial_fit(stream.X[start:end], stream.y[start:end])
        answers = model.predict(stream.X_test)
        assert moment.chosen == pytest.approx(choosing.per_class(answers, stream.y_test))
        assert moment.hindsight >= moment.fixed


class Holder:
    """Holds what it is given."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing


def in_a_generator(array: Any) -> Iterator[None]:
    def inner() -> Iterator[None]:
        held = array + 1
        yield
        held.sum()

    yield from inner()


def started(waiting: Iterator[None]) -> Iterator[None]:
    next(waiting)
    return waiting


@pytest.mark.parametrize(
    ("hold", "arrays"),
    [
        (lambda array: [array, {"it": array}, (array,)], 1),
        (lambda array: array[:3], 1),
        (lambda array: [array[:3], array[5:]], 1),
        (lambda array: lambda: array, 1),
        (lambda array: Holder(array).__init__, 1),  # type: ignore[misc]
        (lambda array: started(in_a_generator(array)), 2),
        (lambda array: [array, array.copy()], 2),
        (lambda array: np, 0),
    ],
)
def test_all_arrays_that_are_held_are_counted_once(hold: Callable[[Any], Any], arrays: int) -> None:
    from benchmarks.common import held_bytes

    array = np.zeros(1000)
    assert held_bytes(Holder(hold(array))) == arrays * array.nbytes


@pytest.mark.slow
def test_the_most_that_is_held_is_noticed_if_only_for_a_moment() -> None:
    from benchmarks.common import peak_bytes

    def call() -> None:
        np.zeros(100_000)
        np.zeros(50_000)

    assert 800_000 <= peak_bytes(call) < 810_000


@pytest.mark.slow
def test_workers_measure_what_they_are_asked_for_and_begin_anew() -> None:
    from benchmarks.worker import worker

    with worker("steps", "plain", 8, 2, 20, 5, blas_threads=1) as one:
        assert len(one.ask(3)) == 3
        with pytest.raises(RuntimeError, match="ended"):
            one.ask(3)  # there are but five rows
    with worker("steps", "choosing", 8, 2, 20, 5) as one:
        for _ in range(2):
            assert one.ask("anew") == []
            assert all(seconds > 0 for seconds in one.ask(5))


def test_peers_of_the_unknown_are_judged_as_scikit_learn_judges() -> None:
    from benchmarks import unknown
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    strange, known = rng.integers(0, 9, 40).astype(float), rng.integers(0, 6, 70).astype(float)
    truth = np.repeat([1, 0], [40, 70])
    expected = 100 * roc_auc_score(truth, np.concatenate([strange, known]))
    assert unknown.auc(strange, known) == pytest.approx(expected)


def test_the_calibration_error_is_what_confidence_and_accuracy_differ_by() -> None:
    from benchmarks import unknown

    sure = np.array([[0.9, 0.1]] * 10)
    assert unknown.ece(sure, np.repeat([0, 1], [9, 1])) == pytest.approx(0.0, abs=1e-9)
    assert unknown.ece(sure, np.repeat([0, 1], [5, 5])) == pytest.approx(40.0)


def test_every_way_to_tell_strangers_does_so_where_it_is_easy() -> None:
    from benchmarks import unknown

    rng = np.random.default_rng(0)
    centres = 5 * rng.normal(size=(9, 30))
    y = np.repeat(np.arange(5), 25)
    X, near = (centres[y] + rng.normal(size=(len(y), 30)) for _ in range(2))
    strange = centres[5:].repeat(10, axis=0) + rng.normal(size=(40, 30))
    case = unknown.Case(X, y, near, y, near, y, strange)
    model = IncrementalRidgeClassifierCV().fit(X, y)
    for name, score in unknown.peers(case, model).items():
        assert unknown.auc(score(strange), score(near)) > 90, name


def test_a_replayed_cluster_takes_what_arithmetic_says_where_that_is_easy() -> None:
    from benchmarks.cluster_size import BANDWIDTH, LATENCY, Costs, replay

    rows_only = Costs(row=1e-3, add=0.0, pack=0.0, part_bytes=0, task=0.0)
    for workers in (1, 5, 100):
        found = replay(rows_only, workers, partitions=100, size=50)
        assert found.seconds == pytest.approx(100 / workers * 0.05, abs=20 * LATENCY)
        assert found.depth == 3  # 8 at a time
    scheduler_only = Costs(row=0.0, add=0.0, pack=0.0, part_bytes=0, task=1.0)
    tasks = 100 + 13 + 2 + 1
    assert replay(scheduler_only, 7, 100, 50).seconds == pytest.approx(tasks, rel=0.01)
    alone = replay(Costs(0.0, 1.0, 0.0, 10**6, 0.0), 1, 100, 50)
    assert alone.seconds == pytest.approx(99 + 10**6 / BANDWIDTH + LATENCY)
    assert alone.moved == 10**6, "to the client"
    many = replay(Costs(1e-3, 1e-4, 1e-4, 10**6, 0.0), 1000, 1000, 50)
    assert many.moved > 900 * 10**6, "each worker has one part"


@pytest.mark.slow
def test_blocks_of_the_distributed_benchmark_have_their_labels() -> None:
    from benchmarks.distributed import block, labels_of

    np.testing.assert_array_equal(block(3)[1], labels_of((3,)))


@pytest.mark.needs("torch")
def test_streams_of_the_comparison_hold_what_they_say() -> None:
    from benchmarks import comparison

    found = {stream.name: stream for stream in itertools.islice(comparison.streams(0), 2)}
    sequence, tail = found["digits, in sequence"], found["digits, long tail"]
    assert (np.diff(sequence.y) >= 0).all()
    assert len(np.unique(sequence.y)) == 10
    assert np.sort(np.bincount(tail.y))[:5].max() <= 60
    for stream in found.values():
        assert not {row.tobytes() for row in stream.X} & {row.tobytes() for row in stream.X_test}


@pytest.mark.needs("torch")
def test_the_gap_to_the_best_is_the_mean_over_streams_and_names_the_worst() -> None:
    from benchmarks.comparison import behind_the_best

    a = {"newfound": [90.0, 80.0], "two": [60.0]}
    first, second, mean, worst = behind_the_best({"a": a, "b": {"newfound": [70.0], "two": [76.0]}})
    assert (first.what, first.value) == ("behind the best: newfound", 3.0)
    assert (mean.value, worst.value) == (3.0, 6.0)
    assert first.note == "2 streams; most, 6.0, on b"
    assert second.value == pytest.approx(12.5)


def test_tables_of_the_comparison_are_written_where_the_page_has_them(tmp_path: Path) -> None:
    from benchmarks.common import Measurement
    from benchmarks.comparison_page import write_tables

    page = tmp_path / "page.md"
    for name in ("accuracy", "time"):
        start, end = f"<!-- {name}: written by benchmarks.everything -->", f"<!-- {name} ends -->"
        page.write_text(f"{page.read_text() if page.exists() else ''}Some {start}old{end} words.\n")
    found = [
        Measurement("a: one", 91.26, "%", note="worst 90.0 of 3"),
        Measurement("a: two", 5.0, "%", note="1 draw"),
        Measurement("b: two", 70.0, "%", note="1 draw"),
        Measurement("behind the best: one", 3.0, "points"),
        Measurement("a: one: step", 0.1234, "ms"),
        Measurement("a: two: step", 4567.0, "ms"),
    ]
    for _ in range(2):
        write_tables(found, page)
        text = page.read_text()
        assert "| | a | b |\n|---|---|---|\n| one | 91.3 (90.0) |  |\n| two | 5.0 | 70.0 |" in text
        assert "| | a: step |\n|---|---|\n| one | 0.12 ms |\n| two | 4600 ms |" in text
        assert text.count("words.") == 2
        assert "old" not in text
