"""Cases that once went wrong, each with the reason why it is hard."""

import copy
import hashlib
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import safetensors.numpy

import newfound
from newfound import IncrementalRidgeClassifier, ModelFileError
from newfound.solvers.recursive import RecursiveSolver
from newfound.storage import format as file_format
from newfound.sums import cross, exact, triangles
from newfound.sums.gram import Gram
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
    solver = model._solver
    assert isinstance(solver, RecursiveSolver)
    inverse = solver._inverse
    assert inverse is not None
    inverse.flush()
    inverse.matrix *= 1.001
    assert solver.drift() > 1e-4


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


@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_model_mapped_from_a_file_answers_and_learns(
    class_weight: Any, rows: int, tmp_path: Path
) -> None:
    """BLAS writes to read-only memory without asking, and the process is gone."""
    model = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, Y).partial_fit(X, Y)
    model.predict(X)
    joblib.dump(model, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))
    mapped.save(tmp_path / "model.newfound")
    assert newfound.load(tmp_path / "model.newfound").n_samples_seen_ == 400
    mapped.partial_fit(X[:rows], Y[:rows])
    assert_same_scores(mapped, model.partial_fit(X[:rows], Y[:rows]), X)
    mapped = joblib.load(tmp_path / "model", mmap_mode="r").forget(X[:rows], Y[:rows])
    assert_same_scores(mapped, model.forget(X[:rows], Y[:rows]).forget(X[:rows], Y[:rows]), X)


def test_large_float32_features_are_not_carried_in_float32() -> None:
    """Pixels from 0 to 255: their squares beside the penalty are more than float32 can tell."""
    pixels = RNG.integers(0, 256, (40, 784)).astype(np.float32)
    labels = np.array(list("ab") * 20)
    model = IncrementalRidgeClassifier().fit(pixels, labels)
    model.predict(pixels)
    again = RNG.integers(0, 40, 20)
    other = np.where(labels[again] == "a", "b", "a")
    for place, label in zip(again, other, strict=True):
        model.partial_fit(pixels[[place]], [label])
    at_once = IncrementalRidgeClassifier().fit(
        np.vstack([pixels, pixels[again]]), np.append(labels, other)
    )
    scores, expected = (m.decision_function(pixels) for m in (model, at_once))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    double = IncrementalRidgeClassifier().fit(pixels.astype(float), labels)
    single = IncrementalRidgeClassifier().fit(pixels, labels)
    np.testing.assert_allclose(single.novelty(pixels), double.novelty(pixels), atol=1e-4)


@pytest.mark.skipif(os.name != "posix", reason="sends signals")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_ctrl_c_leaves_the_sums_as_they_were_or_as_they_should_be(
    class_weight: Any, tmp_path: Path
) -> None:
    rows, labels = RNG.normal(size=(12_000, 100)), RNG.choice(list("ab"), 12_000)
    before = IncrementalRidgeClassifier(class_weight=class_weight).fit(rows[:500], labels[:500])
    after = copy.deepcopy(before).partial_fit(rows, labels)
    whole = [state(copy.deepcopy(model), tmp_path) for model in (before, after)]
    interrupted = 0
    for delay in np.linspace(0.001, 0.06, 30):
        model = copy.deepcopy(before)
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            model.partial_fit(rows, labels)
            timer.join()
            time.sleep(0.001)
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
        assert state(model, tmp_path) in whole
    assert interrupted


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


def test_a_failure_while_flushing_leaves_the_sums_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier().fit(X, Y)
    for i in range(32):
        model.partial_fit(X[i : i + 1], Y[i : i + 1])
    flushed = model._sums.grams[0].flushed
    assert flushed is not None
    flushed.flushes = 4  # so that a strip of columns is due to be moved
    before = state(copy.deepcopy(model), tmp_path)

    def fail(*_: Any) -> None:
        raise MemoryError

    for where, what in ((triangles, "add_exactly"), (np, "tril"), (triangles, "room_for")):
        with monkeypatch.context() as patch:
            patch.setattr(where, what, fail)
            with pytest.raises(MemoryError):
                model.partial_fit(X[32:33], Y[32:33])
            with pytest.raises(MemoryError):
                model.partial_fit(X[32:82], Y[32:82])
            with pytest.raises(MemoryError):
                model.forget(X[100:117], Y[100:117])
        assert state(model, tmp_path) == before


def test_a_failure_while_two_classes_become_one_leaves_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IncrementalRidgeClassifier(class_weight="balanced").fit(X, Y)
    before = state(model, tmp_path)
    for failing in (1, 2, 3, 4):
        calls: list[Any] = []
        original = exact.add_exactly

        def fail_later(
            *parts: Any, calls: Any = calls, failing: int = failing, original: Any = original
        ) -> None:
            calls.append(parts)
            if len(calls) == failing:
                raise MemoryError
            original(*parts)

        with monkeypatch.context() as patch:
            patch.setattr(triangles, "add_exactly", fail_later)
            patch.setattr(cross, "add_exactly", fail_later)
            with pytest.raises(MemoryError):
                model.rename_class("a", "b")
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
    ({"format": 0.5}, {}),
    ({"per_class": "no"}, {}),
    ({"dtype": None}, {}),
    ({"feature_names": "abcdefghij"}, {}),
    ({}, {"counts": np.zeros(4, dtype=np.int64)}),
    ({}, {"gram": np.full((1, 55), -1.0)}),
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
