"""Cases that once went wrong, each with the reason why it is hard."""

import copy
import hashlib
import json
import threading
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import safetensors.numpy

import newfound
from newfound import IncrementalRidgeClassifier, ModelFileError, file_format, gram
from newfound.gram import Gram
from tests.streams import assert_same_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 10))
Y = np.array(list("abcd") * 50)


def state(model: IncrementalRidgeClassifier, folder: Path) -> bytes:
    model.save(folder / "state")
    return (folder / "state").read_bytes()


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6, 1e8])
def test_features_large_beside_the_penalty_are_exact_from_the_first_row(scale: float) -> None:
    """The first rows of such a stream cancel most digits of the carried inverse."""
    model = IncrementalRidgeClassifier()
    for i in range(60):
        model.partial_fit(scale * X[i : i + 1], Y[i : i + 1])
        at_once = IncrementalRidgeClassifier().fit(scale * X[: i + 1], Y[: i + 1])
        if i > 3:
            rows = scale * X[: i + 1]
            np.testing.assert_allclose(
                model.decision_function(rows), at_once.decision_function(rows), atol=1e-7
            )


@pytest.mark.parametrize("scale", [1e1, 1e2, 1e3, 3e3, 1e4, 1e6])
def test_an_outlier_taught_and_taken_back_leaves_no_trace(scale: float) -> None:
    """Taking it out divides by what is left of its leverage, of which rounding left nothing."""
    for seed in range(20):
        model = IncrementalRidgeClassifier().fit(X, Y)
        before = model.coef_
        outlier = np.random.default_rng(seed).normal(size=(1, 10)) * scale
        model.partial_fit(outlier, ["a"]).forget(outlier, ["a"])
        np.testing.assert_allclose(model.coef_, before, atol=1e-9 * np.abs(before).max())


def test_the_drift_of_a_single_class_is_watched_too() -> None:
    """Its weights are all zero, so that nothing is seen along them."""
    model = IncrementalRidgeClassifier(penalty=1e-8)
    for row in RNG.normal(size=(500, 10)):
        model.partial_fit(row[None], ["a"])
    inverse = model._solver._inverse  # type: ignore[union-attr]
    assert inverse is not None
    inverse.fold()
    inverse.matrix *= 1.001
    assert model._solver.drift() > 1e-4  # type: ignore[union-attr]


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


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_questions_to_a_read_only_model_are_answered(class_weight: Any, tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y).partial_fit(X, Y)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))
    mapped.save(tmp_path / "model.newfound")
    assert newfound.load(tmp_path / "model.newfound").n_samples_seen_ == 400


def test_float32_rows_far_from_zero_can_be_forgotten() -> None:
    rows = (RNG.normal(size=(1000, 20)) + 100).astype(np.float32)
    model = IncrementalRidgeClassifier().fit(rows, ["a", "b"] * 500)
    assert model.forget(rows[:990], ["a", "b"] * 495).n_samples_seen_ == 10


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_rows_of_zeros_can_be_forgotten(class_weight: Any) -> None:
    rows = [[0.0, 0.0]] * 5 + [[1.0, 2.0]]
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows, ["a"] * 5 + ["b"])
    assert model.forget([[0.0, -0.0]] * 5, ["a"] * 5).classes_.tolist() == ["b"]


def test_whole_numbers_that_no_float_can_tell_apart_are_refused() -> None:
    model = IncrementalRidgeClassifier().fit(X[:4], [2**53, 2**53 + 1] * 2)
    with pytest.raises(ValueError, match="no number type holds both int64 and float64"):
        model.partial_fit(X[4:5], [0.0])
    with pytest.raises(ValueError, match="beyond 64 bits"):
        model.fit(X[:3], [2**53 + 1, 1.0, 2**53])
    large = np.array([2**63 + 5, 2**63 + 6], dtype=np.uint64)
    with pytest.raises(ValueError, match="no number type holds both uint64 and int64"):
        IncrementalRidgeClassifier().fit(X[:2], large).partial_fit(X[2:3], [-1])


def test_true_is_not_one() -> None:
    model = IncrementalRidgeClassifier(class_weight={}).fit(X[:4], [1, 2] * 2)
    with pytest.raises(ValueError, match="no class True here"):
        model.forget_class(True)
    with pytest.raises(ValueError, match="no class True here"):
        model.forget(X[:1], [True])


@pytest.mark.parametrize(
    "label", ["0" * 64, 'a"b\\', '\\"sha256\\": \\"' + "0" * 64, "\ud800", "\n"]
)
def test_any_label_survives_the_file(label: str, tmp_path: Path) -> None:
    """The place of the checksum is found by its text, which a label could hold as well."""
    IncrementalRidgeClassifier().fit([[0.0], [1.0]], [label, "b"]).save(tmp_path / "file")
    assert label in newfound.load(tmp_path / "file").classes_.tolist()


def test_what_cannot_be_loaded_is_not_saved(tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y).set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="taught with class_weight=None"):
        model.save(tmp_path / "file")
    with pytest.raises(ValueError, match="class_weight"):
        IncrementalRidgeClassifier(class_weight={("a", 1): 2.0}).fit(X, Y)
    assert not any(tmp_path.iterdir())


def test_a_merge_that_fails_changes_nothing(tmp_path: Path) -> None:
    model, other = (IncrementalRidgeClassifier().fit(X, Y) for _ in range(2))
    before = state(model, tmp_path)
    model.set_params(class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight"):
        model.merge(other)
    assert state(model.set_params(class_weight=None), tmp_path) == before


def test_a_failure_in_the_second_class_leaves_the_first_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier(class_weight="balanced").fit(X, Y)
    before = state(model, tmp_path)
    for method in ("prepare", "prepare_removal"):
        calls: list[Any] = []
        original = getattr(Gram, method)

        def fail_later(self: Gram, rows: Any, original: Any = original, calls: Any = calls) -> Any:
            calls.append(rows)
            if len(calls) == 3:
                raise MemoryError
            return original(self, rows)

        with monkeypatch.context() as patch:
            patch.setattr(Gram, method, fail_later)
            with pytest.raises(MemoryError):
                (model.partial_fit if method == "prepare" else model.forget)(X[:40], Y[:40])
        assert state(model, tmp_path) == before


def test_a_failure_while_folding_leaves_the_sums_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    for i in range(16):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    before = state(copy.deepcopy(model), tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(gram, "add_exactly", fail)
        with pytest.raises(MemoryError):
            model.partial_fit(X[16:17], Y[16:17])
    assert state(model, tmp_path) == before


def test_constant_features_of_any_size_do_no_harm() -> None:
    """The penalty was once added before the mean was taken out, and lost beside it."""
    twins = IncrementalRidgeClassifier().fit([[1e8], [1e8]], ["a", "b"])
    np.testing.assert_allclose(twins.predict_proba([[1e8]]), [[0.5, 0.5]])
    labels = (X[:, 0] > 0).astype(int)
    for constant in (1e3, 1e6):
        rows = np.column_stack([X, np.full(200, constant)])
        streamed = IncrementalRidgeClassifier()
        for i in range(200):
            streamed.partial_fit(rows[i : i + 1], labels[i : i + 1])
        plain = IncrementalRidgeClassifier().fit(X, labels)
        agreement = np.mean(streamed.predict(rows) == plain.predict(X))
        assert agreement > 0.99


def test_weights_by_label_follow_a_rename_whatever_is_set_in_between() -> None:
    model = IncrementalRidgeClassifier(class_weight={"a": 5.0}).fit(X, Y)
    model.predict(X)
    model.set_params(class_weight="balanced").rename_class("a", "z")
    model.set_params(class_weight={"a": 5.0})
    other = IncrementalRidgeClassifier(class_weight={"a": 5.0}).fit(X, np.where(Y == "a", "z", Y))
    assert_same_scores(model, other, X)


def test_the_last_examples_of_a_class_must_be_those_taught() -> None:
    model = IncrementalRidgeClassifier().fit(np.vstack([X, [np.arange(10.0)]]), [*Y, "jug"])
    with pytest.raises(ValueError, match="do not add up to what was taught"):
        model.forget([[0.1] * 10], ["jug"])
    with pytest.raises(ValueError, match="do not add up to what was taught"):
        model.forget(np.full((201, 10), 100.0), [*Y, "jug"])
    assert model.n_samples_seen_ == 201


def crafted(folder: Path, header: dict[str, Any], tensors: dict[str, Any]) -> Path:
    """A file with a valid checksum over whatever it holds."""
    text = json.dumps({**header, "sha256": "0" * 64})
    rest = {key: value for key, value in json.loads(text).items() if key != "sha256"}
    text = json.dumps({"sha256": "0" * 64, **rest})
    data = bytearray(safetensors.numpy.save(tensors, {"newfound": text}))
    place = file_format._digest_place(data, "0" * 64)
    data[place : place + 64] = hashlib.sha256(data).hexdigest().encode()
    (folder / "crafted").write_bytes(data)
    return folder / "crafted"


CRAFTED: list[Any] = [
    ({"labels": ["a", "a", "c", "d"]}, {}),
    ({"label_type": "|O"}, {}),
    ({"labels": ["aa", "ab", "c", "d"], "label_type": "<U1"}, {}),
    ({"labels": [1.5, 2, 3, 4], "label_type": "<f8"}, {}),
    ({"dtype": "<i4"}, {}),
    ({"feature_names": ["too few"]}, {}),
    ({"parameters": {}}, {}),
    (
        {"parameters": {"penalty": -1, "recoding": 0, "class_weight": None, "fit_intercept": True}},
        {},
    ),
    ({"per_class": True}, {}),
    ({"estimator": 3}, {}),
    ({}, {"counts": np.array([-1, 50, 50, 50])}),
    ({}, {"counts": np.array([50.5, 50, 50, 50])}),
    ({}, {"counts": np.array([50, 50])}),
    ({}, {"cross": np.full((4, 10), np.nan)}),
    ({}, {"cross": np.zeros((4, 10), dtype=np.int64)}),
    ({}, {"gram": np.zeros((0, 55))}),
    ({}, {"gram": np.zeros((2, 55))}),
    ({}, {"gram": np.zeros((1, 54))}),
    ({}, {"rows": np.zeros((3, 10))}),
    ({}, {"rows_held": np.array([-1])}),
    ({}, {"gram_is_folded": np.array([False])}),
]


@pytest.mark.parametrize(("header", "tensors"), CRAFTED)
def test_a_file_that_contradicts_itself_is_refused(
    header: dict[str, Any], tensors: dict[str, Any], tmp_path: Path
) -> None:
    IncrementalRidgeClassifier().fit(X, Y).save(tmp_path / "good")
    data = (tmp_path / "good").read_bytes()
    good_header = file_format._verified_header(data)
    good_tensors = safetensors.numpy.load(data)
    assert newfound.load(crafted(tmp_path, good_header, good_tensors)).n_samples_seen_ == 200
    bad = crafted(tmp_path, good_header | header, good_tensors | tensors)
    with pytest.raises(ModelFileError, match="crafted: "):
        newfound.load(bad)


def test_nested_nonsense_is_refused(tmp_path: Path) -> None:
    body = b"[" * 200_000
    (tmp_path / "deep").write_bytes(len(body).to_bytes(8, "little") + body)
    with pytest.raises(ModelFileError, match="not a model file"):
        newfound.load(tmp_path / "deep")
