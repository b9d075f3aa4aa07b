"""Workers in processes of their own: rows stay there, and the client gets one sum."""

import os
from functools import partial
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.distributed.answers import WARNS, lazily
from tests.covering import first_of
from tests.distributed import remote
from tests.distributed.sameness import assert_same

pytestmark = pytest.mark.slow
MODELS = [
    IncrementalRidgeClassifier(),
    IncrementalRidgeClassifier(class_weight="balanced"),
    IncrementalRidgeClassifierCV(),
]


@pytest.fixture(autouse=True)
def _on_the_cluster(client: Any) -> Any:
    with dask.config.set(scheduler="distributed"):
        yield


@pytest.mark.parametrize("model", first_of(MODELS), ids=["plain", "balanced", "choosing"])
def test_rows_stay_with_the_workers_and_the_model_is_that_of_one_machine(model: Any) -> None:
    lazy, whole = remote.collections(20, client=os.getpid()), remote.in_memory(20)
    expected = type(model)(**model.get_params()).fit(*whole)
    assert_same(model.fit(*lazy), expected)
    assert_same(model.partial_fit(*lazy), expected.partial_fit(*whole))
    assert model.score(*lazy) == model.score(*whole)
    np.testing.assert_array_equal(model.predict(lazy[0]).compute(), model.predict(whole[0]))


def test_rows_stay_with_processes_of_a_pool_as_well() -> None:
    with dask.config.set(scheduler="processes", num_workers=2):
        model = IncrementalRidgeClassifier().fit(*remote.collections(6, client=os.getpid()))
    assert_same(model, IncrementalRidgeClassifier().fit(*remote.in_memory(6)))


def test_frames_and_rows_that_are_held_by_workers(client: Any) -> None:
    X, y = remote.in_memory(4)
    expected = IncrementalRidgeClassifierCV().fit(X, y)
    held = client.persist(da.from_array(X, chunks=(30, 7)))
    assert_same(IncrementalRidgeClassifierCV().fit(held, y), expected)
    frame = dd.from_pandas(pd.DataFrame(X).assign(label=y), npartitions=5)
    model: Any = IncrementalRidgeClassifierCV().fit(frame.drop(columns="label"), frame["label"])
    assert_same(model, expected)
    assert model.score(frame.drop(columns="label"), frame["label"]) == model.score(X, y)


def test_an_error_comes_back_as_it_was_raised() -> None:
    X, y = remote.in_memory(4)
    X[111] = np.nan
    model: Any = IncrementalRidgeClassifier()
    with pytest.raises(InputError, match="partition 2: Input X contains NaN"):
        model.fit(da.from_array(X, chunks=(50, -1)), y)
    assert not model.__sklearn_is_fitted__()


def sum_of(rows: Any, weights: Any) -> Any:
    return rows @ weights[: rows.shape[1]]


@pytest.mark.exhaustive
def test_large_answers_need_no_worker_that_was_there_when_they_were_asked_for(client: Any) -> None:
    X, _ = remote.in_memory(4)
    with dask.config.set({WARNS: "10MB"}):  # and warnings are errors
        answer, rows = (
            partial(sum_of, weights=np.ones(2_000_000)),
            da.from_array(X, chunks=(50, -1)),
        )
        found = lazily(answer, rows, np.asarray, np.zeros(0))
        np.testing.assert_allclose(found.compute(), X.sum(axis=1))
        client.restart()
        np.testing.assert_allclose(found.compute(), X.sum(axis=1))
        for scheduler in "synchronous", "threads", "processes":
            there = found.compute(scheduler=scheduler)
            np.testing.assert_allclose(there, X.sum(axis=1), err_msg=scheduler)
