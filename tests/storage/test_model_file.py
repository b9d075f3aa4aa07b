"""The model file: whole or not at all, refused when damaged, the same bytes every time."""

import hashlib
import multiprocessing
import os
import pickle
import signal
import stat
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import newfound
from newfound import IncrementalRidgeClassifier, ModelFileError
from newfound.storage import format as file_format
from tests.effort import share_of
from tests.streams import Stream, streams

RNG = np.random.default_rng(0)


def kitchen(**parameters: Any) -> IncrementalRidgeClassifier:
    X = RNG.normal(size=(200, 8))
    return IncrementalRidgeClassifier(**parameters).fit(X, RNG.choice(["mug", "cup", "杯"], 200))


@given(streams(), st.sampled_from([None, "balanced", {}]), st.booleans())
@settings(max_examples=share_of(60))
def test_save_load_save_gives_the_same_bytes(
    stream: Stream, class_weight: Any, intercept: bool
) -> None:
    folder = Path(os.environ["PYTEST_TMP"])
    model = IncrementalRidgeClassifier(
        0.25, 0.5, class_weight=class_weight, fit_intercept=intercept
    )
    for X, y in stream.parts():
        model.partial_fit(X, y)
    first, second = folder / "first.newfound", folder / "second.newfound"
    model.save(first)
    loaded = newfound.load(first)
    loaded.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert loaded.get_params() == model.get_params()
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.classes_.dtype == model.classes_.dtype
    assert [type(label) for label in loaded.classes_.tolist()] == [
        type(label) for label in model.classes_.tolist()
    ]
    assert loaded.class_count_.tolist() == model.class_count_.tolist()
    assert loaded.coef_.dtype == model.coef_.dtype
    tolerance = 1e-9 if stream.X.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(loaded.coef_, model.coef_, rtol=tolerance, atol=tolerance)


@pytest.fixture(autouse=True)
def _folder_for_hypothesis(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_TMP", str(tmp_path_factory.mktemp("files")))


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    script = (
        "import sys, numpy as np; from newfound import IncrementalRidgeClassifier as C;"
        "C(class_weight={'b': 2.0, 'a': 1}).fit(np.eye(3), ['a', 'b', 'c']).save(sys.argv[1])"
    )
    for name in ("one", "two"):
        os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", script, str(tmp_path / name))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_learning_goes_on_after_loading(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(300, 8)), RNG.choice(["mug", "cup"], 300)
    for class_weight in (None, "balanced", {"mug": 3.0}):
        whole = IncrementalRidgeClassifier(class_weight=class_weight).fit(X, y)
        half = IncrementalRidgeClassifier(class_weight=class_weight).fit(X[:150], y[:150])
        half.save(tmp_path / "half.newfound")
        resumed = newfound.load(tmp_path / "half.newfound").partial_fit(X[150:], y[150:])
        np.testing.assert_allclose(resumed.coef_, whole.coef_, atol=1e-12)
        assert resumed.forget(X[:10], y[:10]).n_samples_seen_ == 290


def test_feature_names_are_kept(tmp_path: Path) -> None:
    frame = pd.DataFrame(RNG.normal(size=(20, 2)), columns=["weight", "höhe"])
    model = IncrementalRidgeClassifier().fit(frame, [0, 1] * 10)
    model.save(tmp_path / "named.newfound")
    loaded = newfound.load(tmp_path / "named.newfound")
    assert loaded.feature_names_in_.tolist() == ["weight", "höhe"]
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen().save(path)
    whole = path.read_bytes()
    for length in {0, 1, 7, 8, 9, len(whole) - 1, *RNG.integers(0, len(whole), 200).tolist()}:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match=r"kitchen\.newfound: (not a model|damaged)"):
            newfound.load(path)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_file_with_any_byte_changed_is_refused(class_weight: Any, tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen(class_weight=class_weight).save(path)
    whole = path.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    places = [*range(8), *RNG.integers(8, header, 250), *RNG.integers(header, len(whole), 250)]
    for place in places:
        changed = bytearray(whole)
        changed[place] ^= int(RNG.integers(1, 256))
        path.write_bytes(changed)
        with pytest.raises(ModelFileError, match=r"kitchen\.newfound: "):
            newfound.load(path)
    path.write_bytes(whole + b" ")
    with pytest.raises(ModelFileError):
        newfound.load(path)
    path.write_bytes(whole)
    assert newfound.load(path).classes_.tolist()


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", pickle.dumps({"a": 1}), safetensors.numpy.save({"a": np.zeros(3)}), bytes(100)],
)
def test_other_files_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(ModelFileError, match="other: not a model file"):
        newfound.load(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        newfound.load(tmp_path / "missing")


def test_a_later_format_and_an_unknown_estimator_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "later.newfound"
    with monkeypatch.context() as patch:
        patch.setattr(file_format, "FORMAT", 4)
        kitchen().save(path)
    with pytest.raises(ModelFileError, match=r"format 4.*upgrade newfound"):
        newfound.load(path)

    class Stranger(IncrementalRidgeClassifier):
        pass

    Stranger().fit([[0.0]], ["mug"]).save(path)
    with pytest.raises(ModelFileError, match="holds a Stranger"):
        newfound.load(path)


def test_the_file_is_plain_safetensors(tmp_path: Path) -> None:
    X = RNG.normal(size=(200, 8))
    model = IncrementalRidgeClassifier().fit(X, [0, 1] * 100)
    model.save(tmp_path / "plain.newfound")
    tensors = safetensors.numpy.load_file(tmp_path / "plain.newfound")
    assert tensors["counts"].tolist() == [100, 100]
    assert (tensors["origin"] == X).any(axis=0).all()
    X = X - tensors["origin"]
    np.testing.assert_allclose(tensors["cross"], [X[::2].sum(0), X[1::2].sum(0)], atol=1e-12)
    upper = (X.T @ X)[np.triu_indices(8)]
    np.testing.assert_allclose(tensors["gram"][0], upper, atol=1e-12)


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen().save(path)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        kitchen().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kitchen.newfound"]


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "kitchen.newfound", tmp_path / "link.newfound"
    kitchen().save(path)
    path.chmod(0o640)
    link.symlink_to(path)
    kitchen(penalty=9.0).save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert newfound.load(path).penalty == 9.0


def save_for_ever(path: Path) -> None:
    rng = np.random.default_rng()
    model = IncrementalRidgeClassifier().fit(rng.normal(size=(400, 300)), [0, 1] * 200)
    while True:
        model.save(path)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "kitchen.newfound"
    kitchen().save(path)
    context = multiprocessing.get_context("spawn")
    for trial in range(share_of(5)):
        process = context.Process(target=save_for_ever, args=(path,))
        process.start()
        first = path.stat().st_ino
        waited = time.monotonic() + 60
        while path.stat().st_ino == first and time.monotonic() < waited:
            time.sleep(0.001)
        assert path.stat().st_ino != first, "a file is replaced by a whole one, and not written to"
        time.sleep(0.003 * trial)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert newfound.load(path).n_samples_seen_ == 400


def test_estimators_still_pickle() -> None:
    model = kitchen(class_weight="balanced")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(copy.coef_, model.coef_, atol=1e-12)
    assert "new" in copy.partial_fit(np.zeros((1, 8)), ["new"]).classes_
    assert "new" not in model.classes_


def test_the_beginning_of_a_file_tells_which_model_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m"
    kitchen().save(path)
    data = path.read_bytes()
    digest = file_format.digest_in(path) or ""
    assert hashlib.sha256(data.replace(digest.encode(), b"0" * 64)).hexdigest() == digest
    path.write_bytes(data[:256])  # more is not read
    assert file_format.digest_in(path) == digest
    for beginning in (b"", data[:99], b" " + data):
        path.write_bytes(beginning)
        assert file_format.digest_in(path) is None
