"""Who teaches and asks a recogniser does not wait for scikit-learn; who wants its model has it."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn.exceptions import NotFittedError

from newfound import (
    IncrementalRidgeClassifier,
    IncrementalRidgeClassifierCV,
    Recogniser,
)
from newfound.learner.learner import Learner

RNG = np.random.default_rng(0)
SLOW = {"sklearn", "pandas", "scipy.stats", "matplotlib", "joblib", "dask", "distributed", "fsspec"}
X, Y = RNG.normal(size=(60, 6)), [f"class {n % 3}" for n in range(60)]


def imported_by(script: str, folder: Path) -> set[str]:
    """Run a program of its own in a folder; return which slow modules it has imported."""
    program = f"import sys\n{textwrap.dedent(script)}\nprint(*{SLOW!r} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for label in ("cup", "mug"):
        (tmp_path / "photos" / label).mkdir(parents=True)
        for n in range(12):
            pixels = RNG.integers(0, 256, (20, 20, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / "photos" / label / f"{n}.jpg")
    return tmp_path


@pytest.mark.slow
def test_modules_that_are_imported_are_noticed(tmp_path: Path) -> None:
    assert "sklearn" in imported_by("from newfound import IncrementalRidgeClassifier", tmp_path)


@pytest.mark.slow
def test_a_recogniser_imports_nothing_slow(photos: Path) -> None:
    script = """
        import copy, pickle
        from newfound import Recogniser
        it = Recogniser("m", extractor="pixels:size=4")
        assert it.teach("photos").taught == 24
        it.look("photos/cup/0.jpg")
        it.save()
        it = copy.deepcopy(pickle.loads(pickle.dumps(Recogniser("m"))))
        it.forget("photos/cup/0.jpg", "cup")
        it.teach("photos/cup/0.jpg", "cup")
        it.merge(Recogniser("m"))
        it.rename("cup", "beaker")
        it.forget_class("beaker")
        it.refresh()
        it.save("n")
        assert Recogniser("n").evaluate("photos/mug", "mug").accuracy == 1
    """
    assert imported_by(script, photos) == set()


@pytest.mark.slow
def test_an_extractor_imports_scikit_learn_only_when_scikit_learn_asks(tmp_path: Path) -> None:
    script = """
        import numpy as np
        from newfound.features import Pixels
        pixels = Pixels(size=4).set_params(size=2)
        assert repr(pixels) == "Pixels(size=2)"
        assert pixels.fit_transform([np.zeros((8, 8), dtype=np.uint8)]).shape == (1, 4)
        assert len(pixels.get_feature_names_out()) == 4
    """
    assert imported_by(script, tmp_path) == set()
    assert "sklearn" in imported_by(f"{script}\n        pixels.__sklearn_tags__()", tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "teach n photos --extractor pixels:size=4",
        "predict m photos/cup/0.jpg",
        pytest.param("evaluate m photos", marks=pytest.mark.slow),
        pytest.param("evaluate m photos/cup --unknown photos/mug", marks=pytest.mark.slow),
        pytest.param("forget m photos/cup/0.jpg --as cup", marks=pytest.mark.slow),
        pytest.param("forget-class m cup", marks=pytest.mark.slow),
        pytest.param("rename m cup beaker", marks=pytest.mark.slow),
        pytest.param("merge m m -o n", marks=pytest.mark.slow),
    ],
)
def test_a_command_imports_nothing_slow(words: str, photos: Path) -> None:
    recogniser = Recogniser(photos / "m", extractor="pixels:size=4")
    recogniser.teach(photos / "photos")
    recogniser.save()
    script = f"""
        from newfound.cli import main
        sys.argv = ["newfound", *{words.split()!r}]
        try:
            main()
        except SystemExit as end:
            assert not end.code, end.code
    """
    assert imported_by(script, photos) == set()


def test_model_and_recogniser_know_the_same() -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(X[:30], Y[:30])
    model = recogniser.model
    assert type(model) is IncrementalRidgeClassifierCV
    assert recogniser.model is model
    recogniser.teach_vectors(X[30:], Y[30:])
    assert model.n_samples_seen_ == 60
    model.partial_fit(X[:1], ["new"])
    assert recogniser.counts["new"] == 1
    assert recogniser.look_at_vectors(X[:9], top=4)[3].label == model.predict(X[:9])[3]
    recogniser.forget_class("new")
    assert model.classes_.tolist() == recogniser.classes == ["class 0", "class 1", "class 2"]


def test_a_model_is_the_same_as_one_that_was_never_without_its_face(tmp_path: Path) -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(X, Y, at_once=True)
    model = IncrementalRidgeClassifierCV(class_weight={}).partial_fit(X, Y)
    assert repr(recogniser.model) == repr(model)
    assert recogniser.model.get_params() == model.get_params()
    np.testing.assert_array_equal(recogniser.model.scores(X), model.scores(X))
    assert recogniser.model.n_features_in_ == 6
    for name, each in ("one", model), ("other", recogniser.model):
        each.save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_parameters_that_are_set_on_the_model_count_for_the_recogniser() -> None:
    model = IncrementalRidgeClassifier(fit_intercept=False)
    recogniser = Recogniser(extractor=None, model=model)
    recogniser.teach_vectors(X, Y)
    assert recogniser.model is model
    novelty = [recogniser.look_at_vectors(X[:1])[0].novelty]
    model.penalty = 1e6
    novelty.append(recogniser.look_at_vectors(X[:1])[0].novelty)
    assert novelty[1] < novelty[0] / 10


def test_who_waits_for_the_lock_while_the_model_gets_its_face_is_not_left_behind() -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(X[:30], Y[:30])
    start = threading.Barrier(3)

    def teach() -> None:
        start.wait()
        for n in range(30, 60):
            recogniser.teach_vectors(X[n : n + 1], Y[n : n + 1], at_once=True)

    lock, models = recogniser.lock, list[IncrementalRidgeClassifier]()

    def ask() -> None:
        start.wait()
        models.append(recogniser.model)

    threads = [threading.Thread(target=job) for job in (teach, ask, ask)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert models == [recogniser.model] * 2
    assert models[0].lock is lock
    assert models[0].n_samples_seen_ == len(recogniser.taught) == 60


@pytest.mark.parametrize("with_model", [False, True])
def test_what_was_taught_nothing_says_so_as_scikit_learn_does(with_model: bool) -> None:
    recogniser = Recogniser("nowhere", extractor=None)
    if with_model:
        assert recogniser.model.lock is recogniser.lock
    message = "This IncrementalRidgeClassifierCV has not been taught anything"
    with pytest.raises(NotFittedError, match=message):
        recogniser.look_at_vectors(X)
    with pytest.raises(NotFittedError, match=message):
        recogniser.save()


@pytest.mark.parametrize("with_model", [False, True])
def test_copies_and_pickles_answer_as_the_first(with_model: bool) -> None:
    recogniser = Recogniser(extractor=None)
    recogniser.teach_vectors(X, Y)
    if with_model:
        assert recogniser.model is not None
    for other in (copy.deepcopy(recogniser), pickle.loads(pickle.dumps(recogniser))):
        assert other.look_at_vectors(X) == recogniser.look_at_vectors(X)
        other.teach_vectors(X[:1], ["new"])
        assert "new" not in recogniser.counts
        assert other.model.n_samples_seen_ == 61


@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        (X[:, :2], Y, "X has 2 features, but this model was taught 6"),
        (X[:0], Y[:0], "X holds no rows"),
        (X, Y[:3], "X has 60 rows, but y has 3 labels"),
        (X * np.nan, Y, "NaN"),
    ],
)
def test_a_plain_learner_refuses_what_an_estimator_refuses(
    rows: np.ndarray, labels: list[str], said: str
) -> None:
    learner, model = Learner(), IncrementalRidgeClassifierCV().fit(X, Y)
    learner.learn(X, Y)
    with pytest.raises(ValueError, match=said):
        learner.learn(rows, labels)
    with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn has its own words
        model.partial_fit(rows, labels)
    for known in (learner, model.learner_):
        assert known.engine.memory.sums.total == 60
