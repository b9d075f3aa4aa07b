"""Which collections are taken, and how others are refused: by name, with the model as before."""

import copy
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, InputError
from newfound.distributed.collections import cut_rows, is_collection
from tests.covering import covering
from tests.distributed.sameness import assert_identical, assert_same

KINDS = IncrementalRidgeClassifier, IncrementalRidgeClassifierCV

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.array(["cup", "mug", "jug"])[np.arange(60) % 3]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
ONE = IncrementalRidgeClassifier().fit(X, Y)


def rows(chunks: Any = 20) -> Any:
    return da.from_array(X, chunks=(chunks, 3))


def unknown(array: Any) -> Any:
    """The same array, which does not know how long its partitions are."""
    return array[da.ones(60, chunks=array.chunks[0], dtype=bool)]


def frame(npartitions: int = 4) -> Any:
    return dd.from_pandas(FRAME, npartitions=npartitions)


@pytest.mark.parametrize(
    ("lazy_rows", "labels"),
    [
        (rows(), da.from_array(Y, chunks=20)),
        (rows(), da.from_array(Y, chunks=7)),
        (rows(), da.from_array(Y[:, None], chunks=(20, 1))),
        (rows(), dd.from_pandas(pd.Series(Y), npartitions=3)),
        (rows(), Y),
        (rows(), Y.tolist()),
        (rows(), pd.Series(Y)),
        (rows(), Y.astype(object)),
        (unknown(rows()), unknown(da.from_array(Y, chunks=20))),
        (unknown(rows()), da.from_array(Y, chunks=20)),
        (unknown(rows()), Y.tolist()),
        (frame(), dd.from_pandas(pd.Series(Y), npartitions=4)),
        (frame(), dd.from_pandas(pd.Series(Y), npartitions=2)),
        (frame(), dd.from_pandas(pd.DataFrame({"y": Y}), npartitions=4)),
        (frame(), dd.from_pandas(pd.Series(Y, dtype="category"), npartitions=4)),
        (frame(), da.from_array(Y, chunks=15)),
        (frame(), Y.tolist()),
        (dd.from_pandas(FRAME, npartitions=4).clear_divisions(), Y),
    ],
)
def test_rows_and_labels_of_any_kind_are_taken(lazy_rows: Any, labels: Any) -> None:
    model: Any = IncrementalRidgeClassifier().fit(lazy_rows, labels)
    assert_same(model, ONE)
    np.testing.assert_array_equal(model.predict(lazy_rows).compute(), ONE.predict(X))
    assert model.score(lazy_rows, labels) == ONE.score(X, Y)


@pytest.mark.slow
def test_columns_of_the_same_files_go_together_however_many_files_dask_reads_as_one(
    tmp_path: Any,
) -> None:
    names = [f"f{index}" for index in range(30)]
    table = pd.DataFrame(RNG.normal(size=(60, 30)), columns=names)
    for folder, part in ("both", table), ("few", table[["f0", "f1"]]):
        (tmp_path / folder).mkdir()
        for start in range(0, 60, 10):
            piece = part.assign(label=Y)[start : start + 10]
            piece.to_parquet(tmp_path / folder / f"{start:02d}.parquet")
    lazy, few = dd.read_parquet(tmp_path / "both"), dd.read_parquet(tmp_path / "few")
    some = names[:12]
    assert lazy[some].optimize().npartitions != lazy["label"].optimize().npartitions
    one = IncrementalRidgeClassifier().fit(table[some], Y)
    for rows, labels in [
        (lazy[some], lazy["label"]),
        (lazy[some], lazy[["label"]]),
        (lazy[some], few["label"]),
        (lazy[some], Y),
    ]:
        model: Any = IncrementalRidgeClassifier().fit(rows, labels)
        assert_same(model, one)
        assert model.score(rows, labels) == one.score(table[some], Y)
        assert model.predict(rows).npartitions == 6


def test_rows_in_memory_go_with_lazy_labels() -> None:
    model: Any = IncrementalRidgeClassifier().fit(X, da.from_array(Y, chunks=9))
    assert_identical(model, ONE)
    assert model.score(X, da.from_array(Y, chunks=9)) == ONE.score(X, Y)


@pytest.mark.parametrize("labels", [np.arange(60) % 3, np.arange(60) % 2 == 0, Y])
def test_labels_of_any_type_are_kept(labels: Any) -> None:
    expected = IncrementalRidgeClassifier().fit(X, labels)
    assert_same(
        IncrementalRidgeClassifier().fit(rows(), da.from_array(labels, chunks=20)), expected
    )
    assert_same(IncrementalRidgeClassifier().fit(rows(), labels), expected)


def test_labels_grow_longer_from_partition_to_partition() -> None:
    names = np.array(["a"] * 20 + ["bb"] * 20 + ["a long name"] * 20)
    pieces = [da.from_array(names[i : i + 20].astype("U11"), chunks=20) for i in (0, 20, 40)]
    model: Any = IncrementalRidgeClassifier().fit(rows(), da.concatenate(pieces))
    assert model.classes_.tolist() == ["a", "a long name", "bb"]


def test_float32_is_kept_and_frames_keep_their_names() -> None:
    lazy = frame().astype(np.float32)
    model: Any = IncrementalRidgeClassifier().fit(lazy, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.coef_.dtype == np.float32
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(lazy[["b", "a", "c"]], Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(lazy[["b", "a", "c"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.partial_fit(rows(), Y)
    assert model.n_samples_seen_ == 120


def test_classes_can_be_announced() -> None:
    model: Any = IncrementalRidgeClassifier().partial_fit(rows(), Y, classes=["zebra", "cup"])
    assert model.classes_.tolist() == ["cup", "jug", "mug", "zebra"]
    assert model.class_count_.tolist() == [20, 20, 20, 0]
    with pytest.raises(InputError, match="labels are strings"):
        model.partial_fit(rows(), Y, classes=[1])
    with pytest.raises(InputError, match="the labels in `classes` are numbers"):
        IncrementalRidgeClassifier().partial_fit(rows(), Y, classes=[1])


def test_empty_partitions_do_no_harm_but_some_row_there_must_be() -> None:
    lazy = frame()
    some = lazy[lazy["a"] > FRAME["a"].sort_values().iloc[-4]]
    labels = dd.from_pandas(pd.Series(Y), npartitions=4)
    model: Any = IncrementalRidgeClassifier().fit(some, labels[lazy["a"] > some["a"].min() - 1e-9])
    assert model.n_samples_seen_ == 3
    with pytest.raises(InputError, match="holds no rows"):
        IncrementalRidgeClassifier().fit(lazy[lazy["a"] > 99], labels[lazy["a"] > 99])
    assert len(model.predict(lazy[lazy["a"] > 99]).compute()) == 0
    with pytest.raises(InputError, match="holds no rows"):
        model.score(lazy[lazy["a"] > 99], labels[lazy["a"] > 99])


def test_divisions_that_do_not_fit_are_refused_before_anything_is_computed() -> None:
    lazy = frame().map_partitions(stop, meta=FRAME[:0])
    labels = dd.from_pandas(pd.Series(Y, index=range(5, 65)), npartitions=3)
    message = "divided differently: the index of X goes from 0 to 59, that of y from 5 to 64"
    with pytest.raises(InputError, match=message):
        IncrementalRidgeClassifier().fit(lazy, labels)
    model: Any = IncrementalRidgeClassifier().fit(FRAME, Y)
    with pytest.raises(InputError, match=message):
        model.score(lazy, labels)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_what_needs_all_rows_at_once_asks_for_them_in_memory(kind: str) -> None:
    model: Any = IncrementalRidgeClassifier().fit(X, Y)
    stopping = {
        "array": rows().map_blocks(stop, dtype=float, meta=np.empty((0, 0))),
        "frame": frame().map_partitions(stop, meta=FRAME[:0]),
    }[kind]
    with pytest.raises(InputError, match=r"forget takes rows in memory: pass X.compute\(\)"):
        model.forget(stopping, Y)
    assert_identical(model, ONE)


def block_of(change: Callable[[Any], Any], number: int = 1) -> Any:
    """The rows, with one partition that is not what it seems."""
    parts = [
        change(X[i : i + 20].copy()) if i == 20 * number else X[i : i + 20] for i in (0, 20, 40)
    ]
    lazy = [da.from_delayed(dask.delayed(part), (20, 3), dtype=float) for part in parts]
    return da.concatenate(lazy)


@pytest.mark.parametrize("kind", [IncrementalRidgeClassifier, IncrementalRidgeClassifierCV])
def test_a_partition_may_be_sparse(kind: Any) -> None:
    lazy = block_of(sparse.csr_array)
    model = kind().fit(lazy, Y)
    assert_identical(model, kind().fit(rows(), Y))
    np.testing.assert_array_equal(model.predict(lazy).compute(), model.predict(X))
    assert model.score(lazy, Y) == model.score(X, Y)


def with_nan(part: Any) -> Any:
    part[3, 1] = np.nan
    return part


def with_infinity(part: Any) -> Any:
    part[3, 1] = np.inf
    return part


def labels_with(change: Any) -> Any:
    parts = [Y[:20], change, Y[40:]]
    lazy = [da.from_delayed(dask.delayed(part), (20,), dtype=object) for part in parts]
    return da.concatenate(lazy)


BAD = {
    "nan": (block_of(with_nan), Y, ValueError, "partition 1: Input X contains NaN"),
    "infinity": (block_of(with_infinity), Y, ValueError, "partition 1: Input X contains infinity"),
    "large": (block_of(lambda part: part * 1e200), Y, ValueError, "partition 1: .*overflow"),
    "narrow": (block_of(lambda part: part[:, :2]), Y, ValueError, "partition 1: X has 2 features"),
    "wide": (block_of(lambda part: part[:, [0, 0, 1, 2]]), Y, ValueError, "partition 1: X has 4"),
    "short": (block_of(lambda part: part[:7]), Y, ValueError, "partition 1: .*7, 20"),
    "one row": (block_of(lambda part: part[0]), Y, ValueError, "partition 1: "),
    "words": (block_of(lambda part: part.astype("U9")[:, :2]), Y, ValueError, "partition 1: "),
    "objects": (block_of(lambda part: np.full((20, 3), [{}])), Y, TypeError, "partition 1: .*num"),
    "no label": (rows(), labels_with(np.array([None] * 20)), ValueError, "partition 1: .*None"),
    "NaN for a label": (
        rows(),
        labels_with(pd.Series(["cup", None] * 10, dtype="category").to_numpy()),
        ValueError,
        "partition 1: Input y contains NaN at position 1; every row needs a label",
    ),
    "NA for a label": (
        rows(),
        labels_with(np.array(["cup", pd.NA] * 10, dtype=object)),
        ValueError,
        "partition 1: Input y contains NA at position 1; every row needs a label",
    ),
    "half": (rows(), labels_with(np.full(20, 0.5)), ValueError, "partition 1: .*continuous"),
    "another type": (rows(), labels_with(np.arange(20)), ValueError, "partition 1: .*are strings"),
    "few labels": (rows(), labels_with(Y[:19]), ValueError, "partition 1: .*20, 19"),
    "labels that are gone": (rows(), labels_with(Y[:0]), ValueError, "partition 1: .*20, 0"),
    "fewer labels": (rows(), Y[:59], ValueError, "60 rows, but y has 59 labels"),
    "fewer lazy labels": (rows(), da.from_array(Y[:59]), ValueError, "60 rows, but y has 59"),
    "other cut": (unknown(rows(20)), unknown(da.from_array(Y, chunks=30)), ValueError, "3 parti"),
    "flat": (da.ones(60, chunks=20), Y, ValueError, "two dimensions"),
    "delayed": (dask.delayed(X), Y, ValueError, "Dask array or DataFrame .* Delayed"),
    "two columns of labels": (rows(), da.ones((60, 2), chunks=20), ValueError, "1d .*2 dim"),
    "penalty": (rows(), Y, ValueError, "penalty must be"),
}


@covering("what, call, kind", BAD.keys(), ("fit", "partial_fit", "store"), KINDS)
def test_what_cannot_be_learned_is_refused_and_the_model_is_as_before(
    what: str, call: str, kind: Any
) -> None:
    if what == "penalty" and kind is IncrementalRidgeClassifierCV:
        what = "nan"
    bad_rows, labels, error, message = BAD[what]
    model = kind().partial_fit(X[:30], Y[:30])
    before = copy.deepcopy(model)
    if what == "penalty":
        model.penalty = -1
    with pytest.raises(error, match=f"(?s){message}"):
        getattr(model, call)(bad_rows, labels)
    if what == "penalty":
        model.penalty = 1.0
    assert_identical(model, before)
    np.testing.assert_array_equal(model.scores(X), before.scores(X))
    if what not in ("penalty", "another type", "few labels"):
        untaught = kind()
        with pytest.raises(error):
            getattr(untaught, call)(bad_rows, labels)
        assert not untaught.__sklearn_is_fitted__()


def test_labels_of_two_types_are_refused_by_the_partition_that_differs() -> None:
    with pytest.raises(InputError, match="partition 1: this model's labels are"):
        IncrementalRidgeClassifier().fit(rows(), labels_with(np.arange(20)))


def test_a_model_without_sums_per_class_is_refused_before_anything_is_computed() -> None:
    model: Any = IncrementalRidgeClassifier().fit(X, Y)
    model.class_weight = "balanced"
    with pytest.raises(InputError, match="class_weight needs the sums of each class"):
        model.partial_fit(da.map_blocks(stop, rows(), dtype=float), Y)


def test_sums_per_class_stay_so_when_weights_are_taken_away() -> None:
    model: Any = IncrementalRidgeClassifier(class_weight={}).fit(X, Y)
    model.class_weight = None
    assert model.partial_fit(rows(), Y).learner_.engine.memory.sums.per_class
    assert model.n_samples_seen_ == 120


def stop(block: Any) -> Any:
    raise AssertionError("this should not have been computed")


def test_ctrl_c_leaves_the_model_as_before() -> None:
    def interrupt(block: Any) -> Any:
        raise KeyboardInterrupt

    model: Any = IncrementalRidgeClassifier().fit(X, Y)
    before = copy.deepcopy(model)
    lazy = rows().map_blocks(interrupt, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(lazy, Y)
    assert_identical(model, before)


def test_others_may_ask_while_workers_learn() -> None:
    model: Any = IncrementalRidgeClassifier().fit(X, Y)
    asked = []

    def ask(block: Any) -> Any:
        asked.append(model.predict(X[:1]))
        return block

    with dask.config.set(scheduler="threads"):
        model.partial_fit(rows().map_blocks(ask, dtype=float, meta=np.empty((0, 0))), Y)
    assert len(asked) == 3
    assert model.n_samples_seen_ == 120


def test_others_may_not_teach_other_features_meanwhile() -> None:
    model: Any = IncrementalRidgeClassifier()
    renamed = FRAME.rename(columns={"a": "z"})

    def teach(block: Any) -> Any:
        model.fit(renamed, Y)
        return block

    with pytest.raises(InputError, match="features of other names"):
        model.partial_fit(frame().map_partitions(teach, meta=FRAME[:0]), Y)
    assert_identical(model, IncrementalRidgeClassifier().fit(renamed, Y))


def test_saved_models_know_nothing_of_dask(tmp_path: Any) -> None:
    model: Any = IncrementalRidgeClassifierCV().fit(rows(), Y)
    model.save(tmp_path / "m.newfound")
    assert_identical(newfound.load(tmp_path / "m.newfound"), model)


class Wrapped:
    """Rows with a unit, as other libraries have them: lazy, if what they wrap is."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def __dask_graph__(self) -> Any:
        return self.rows.__dask_graph__() if isinstance(self.rows, da.Array) else None

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.rows, dtype=dtype)


def test_what_could_be_lazy_but_is_in_memory_is_taken_as_such() -> None:
    held: Any = Wrapped(X)
    assert not is_collection(held)
    assert is_collection(Wrapped(rows()))
    assert is_collection(frame())
    assert is_collection(dask.delayed(X))
    assert_identical(IncrementalRidgeClassifier().fit(held, Y), ONE)


def test_partitions_are_counted_only_where_their_lengths_are_unknown() -> None:
    assert cut_rows(rows()).count_rows() == (20, 20, 20)
    assert cut_rows(unknown(rows())).count_rows() == (20, 20, 20)
    assert cut_rows(frame(3)).count_rows() == (20, 20, 20)
