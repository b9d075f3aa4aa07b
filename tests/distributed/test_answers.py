"""Answers to a collection: lazy, a partition at a time, and those of the model that was asked."""

import pickle
from functools import partial
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.distributed.answers import WARNS, lazily
from tests.covering import covering
from tests.streams import blobs

KINDS = IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

QUESTIONS = [
    "predict",
    "scores",
    "decision_function",
    "predict_proba",
    "novelty",
    "unknown_proba",
]
X, Y = blobs(90)
WORDS = np.array(["cup", "mug", "jug"])[Y]


def collections() -> dict[str, Any]:
    return {
        "array": da.from_array(X, chunks=(25, 4)),
        "cut in columns": da.from_array(X, chunks=(25, 3)),
        "empty partitions": da.from_array(X, chunks=((0, 40, 0, 50), 4)),
        "frame": dd.from_pandas(pd.DataFrame(X), npartitions=3),
        "unknown lengths": da.from_array(X, chunks=(25, 4))[da.ones(90, chunks=25, dtype=bool)],
    }


@covering("kind, question, collection, classes", KINDS, QUESTIONS, collections().keys(), (2, 3))
def test_answers_are_those_to_the_same_rows_in_memory(
    kind: Any, question: str, collection: str, classes: int
) -> None:
    some = classes > Y
    model, lazy = kind().fit(X[some], WORDS[some]), collections()[collection]
    expected = getattr(model, question)(X)
    answers = getattr(model, question)(lazy)
    assert isinstance(answers, da.Array)
    assert (answers.dtype, answers.ndim) == (expected.dtype, expected.ndim)
    assert answers.shape[1:] == expected.shape[1:]
    if isinstance(lazy, da.Array):
        np.testing.assert_array_equal(answers.chunks[0], lazy.chunks[0])
    found = answers.compute()
    assert found.dtype == expected.dtype
    if question == "predict":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("question", QUESTIONS)
def test_asking_computes_nothing_and_the_answer_is_of_the_model_at_that_time(question: str) -> None:
    computed = []

    def note(block: Any) -> Any:
        computed.append(len(block))
        return block

    model: Any = IncrementalRidgeClassifier().fit(X, WORDS)
    lazy = da.from_array(X, chunks=(30, 4)).map_blocks(note, dtype=float, meta=np.empty((0, 0)))
    then, answers = getattr(model, question)(X), getattr(model, question)(lazy)
    model.partial_fit(5 * X[::-1], WORDS).set_params(penalty=1e3)
    assert not computed
    found = answers[:30].compute()
    if question == "predict":
        np.testing.assert_array_equal(found, then[:30])
    else:
        np.testing.assert_allclose(found, then[:30], rtol=1e-10)
    assert computed == [30], "one partition is asked for, and one is computed"


def test_float32_stays_float32() -> None:
    model: Any = IncrementalRidgeClassifier().fit(X.astype(np.float32), WORDS)
    answers = model.scores(da.from_array(X.astype(np.float32), chunks=(30, 4)))
    assert answers.dtype == answers.compute().dtype == np.float32


def test_weights_are_in_the_graph_once_and_the_sums_are_not() -> None:
    wide = np.random.default_rng(0).normal(size=(400, 300))
    model: Any = IncrementalRidgeClassifier().fit(wide, np.arange(400) % 3)

    def size(chunks: int) -> int:
        answers = model.predict(da.zeros((40_000, 300), chunks=(chunks, 300)))
        return len(pickle.dumps(dict(answers.__dask_graph__())))

    weights = 8 * 300 * 3
    assert size(40_000) < 8 * 300**2 / 4
    assert size(40_000 // 64) - size(40_000) < 64 * weights / 2


def test_a_bad_partition_is_named() -> None:
    model: Any = IncrementalRidgeClassifier().fit(X, WORDS)
    bad = X.copy()
    bad[70] = np.nan
    with pytest.raises(InputError, match="partition 2: Input X contains NaN"):
        model.predict(da.from_array(bad, chunks=(30, 4))).compute()
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(da.from_array(bad[:, :3], chunks=(30, 3)))
    with pytest.raises(InputError, match=r"partition 1: .*strings"):
        model.score(da.from_array(X, chunks=(45, 4)), da.from_array(Y, chunks=45))
    with pytest.raises(NotFittedError):
        IncrementalRidgeClassifier().predict(da.from_array(X, chunks=(30, 4)))


def test_a_score_takes_weights() -> None:
    model, lazy = IncrementalRidgeClassifier().fit(X, WORDS), da.from_array(X, chunks=(30, 4))
    weights = np.random.default_rng(0).uniform(0.0, 3.0, 90)
    expected = model.score(X, WORDS, sample_weight=weights)
    for given in (weights, da.from_array(weights, chunks=20)):
        assert model.score(lazy, WORDS, sample_weight=given) == pytest.approx(expected)
    with pytest.raises(InputError, match="sample_weight has 89 numbers"):
        model.score(lazy, WORDS, sample_weight=weights[1:])


def test_threads_may_share_what_answers() -> None:
    model: Any = IncrementalRidgeClassifierCV().fit(X, WORDS)
    lazy = da.from_array(np.tile(X, (20, 1)), chunks=(50, 4))
    with dask.config.set(scheduler="threads", num_workers=4):
        found = model.unknown_proba(lazy).compute()
    np.testing.assert_allclose(found, np.tile(model.unknown_proba(X), 20), rtol=1e-9, atol=1e-12)


def last(rows: Any, weights: Any) -> Any:
    return rows[:, 0] * weights[-1]


def test_a_large_graph_of_others_is_still_warned_of() -> None:
    with dask.config.set({WARNS: "10MB"}):
        rows = da.ones((4, 3), chunks=2)
        lazily(partial(last, weights=np.ones(2_000_000)), rows, np.asarray, np.zeros(0))
        assert dask.config.get(WARNS) < 30_000_000
        with dask.config.set({WARNS: "1GB"}):
            lazily(partial(last, weights=np.ones(2_000_000)), rows, np.asarray, np.zeros(0))
            assert dask.config.get(WARNS) == "1GB"
    with dask.config.set({WARNS: "1MB"}):
        lazily(partial(last, weights=np.ones(2)), rows, np.asarray, np.zeros(0))
        assert dask.config.get(WARNS) == "1MB"
