"""A model with a layer on the command line: how it begins, what it says of it, how it is merged."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from newfound import IncrementalClassifier, load
from newfound.recognition.editor import Editor
from tests.command_line import Done, newfound

PIXELS = ("--extractor", "pixels:size=8")
TAUGHT, TEST = 320, 200


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digits as images and as vectors, to teach and to test; and a model with a layer of them."""
    folder = tmp_path_factory.mktemp("digits")
    X, y = load_digits(return_X_y=True)
    names = np.array([f"digit {label}" for label in y])
    for number in range(TAUGHT + TEST):
        part = folder / ("taught" if number < TAUGHT else "test") / names[number]
        part.mkdir(parents=True, exist_ok=True)
        pixels = (X[number].reshape(8, 8) * 255 / 16).astype(np.uint8)
        Image.fromarray(pixels).save(part / f"{number:03}.png")
    parts = {"all": (0, TAUGHT), "few": (0, 60), "more": (320, 470), "some": (320, 350)}
    for name, rows in ((name, slice(*ends)) for name, ends in parts.items()):
        np.savez(folder / f"{name}.npz", vectors=X[rows], labels=names[rows])
    assert newfound("teach", folder / "m", folder / "all.npz", "--layer").code == 0
    return folder


@pytest.fixture
def world(digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(digits, tmp_path / "world")
    monkeypatch.chdir(tmp_path / "world")
    return tmp_path / "world"


def done(*words: object) -> Done:
    """Run a command that must succeed."""
    result = newfound(*words)
    assert result.code == 0, result
    return result


def inspected(model: str) -> Any:
    return json.loads(done("inspect", model, "--json").out)


def accuracy(model: str, *inputs: object) -> float:
    return float(json.loads(done("evaluate", model, *inputs, "--json").out)["accuracy"])


def labels(model: str) -> list[str]:
    answers = done("predict", model, "some.npz", "--json").out.splitlines()
    return [json.loads(answer)["label"] for answer in answers]


@pytest.mark.slow
def test_pixels_are_known_better_with_a_layer_and_inspect_says_so(world: Path) -> None:
    done("teach", "with", "taught", "--layer", *PIXELS)
    done("teach", "without", "taught", *PIXELS)
    assert accuracy("with", "test") > accuracy("without", "test") + 0.03
    assert len(done("predict", "with", "test").out.splitlines()) == TEST
    found = inspected("with")
    assert found["estimator"] == "IncrementalClassifier"
    layer = found["layer"]
    assert (layer["units"], layer["made"], layer["used"]) == (2000, True, True)
    assert layer["advantage"] > 2
    said = f"2,000 units, used (advantage: {layer['advantage']:.1f} standard errors)"
    assert said in done("inspect", "with").out
    assert inspected("without")["layer"] is None
    assert "units" not in done("inspect", "without").out
    assert type(load("with")) is IncrementalClassifier


def test_a_layer_that_does_not_pay_is_there_but_not_used(world: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(160, 20))
    np.savez("plane.npz", vectors=rows, labels=np.where(rows[:, 0] > 0, "left", "right"))
    done("teach", "plane", "plane.npz", "--layer")
    layer = inspected("plane")["layer"]
    assert (layer["made"], layer["used"]) == (True, False)
    assert layer["advantage"] < 2
    assert "2,000 units, not used (advantage: " in done("inspect", "plane").out


def test_a_layer_is_made_with_the_hundredth_vector(world: Path) -> None:
    done("teach", "young", "few.npz", "--layer")
    young = {"units": 2000, "made": False, "used": False, "advantage": None}
    assert inspected("young")["layer"] == young
    assert "2,000 units, to be made of the first 100 images" in done("inspect", "young").out
    said = done("teach", "young", "all.npz").err
    assert "Learned 260 images" in said
    assert inspected("young")["layer"]["made"]
    assert accuracy("young", "more.npz") == accuracy("m", "more.npz")


def test_vectors_of_images_make_the_same_model(world: Path) -> None:
    done("features", "taught", "-o", "v.npz", *PIXELS)
    done("teach", "images", "taught", "--layer", *PIXELS)
    done("teach", "vectors", "v.npz", "--layer")
    assert Path("images").read_bytes() == Path("vectors").read_bytes()


def test_the_flag_comes_too_late_for_a_model_that_was_made_without(world: Path) -> None:
    done("teach", "without", "few.npz")
    said = done("teach", "without", "more.npz", "--layer").err
    assert "without exists, without a layer: --layer is for new models." in said
    assert inspected("without")["layer"] is None
    assert "for new models" not in done("teach", "m", "more.npz", "--layer").err


@pytest.mark.slow
@pytest.mark.parametrize("has_journal", [False, True])
def test_every_change_is_exact_and_undone_and_done_again(world: Path, has_journal: bool) -> None:
    model = "new"
    if has_journal:
        Editor(model).journal.close()
    done("teach", model, "more.npz", "--layer")
    layer = load(model).learner_.engine.memory.layer
    changes: list[tuple[str, ...]] = [
        ("teach", model, "few.npz"),
        ("forget", model, "some.npz"),
        ("forget-class", model, "digit 3"),
        ("rename", model, "digit 3", "three"),
        ("rename", model, "digit 3", "digit 8", "--force"),
    ]
    for change in changes:
        before, said = inspected(model), labels(model)
        done(*change)
        after = inspected(model)
        assert after["classes"] != before["classes"]
        assert after["layer"]["made"]
        done("undo", model)
        assert inspected(model)["classes"] == before["classes"]
        assert labels(model) == said
        done("redo", model)
        assert inspected(model)["classes"] == after["classes"]
        done("undo", model)
    assert load(model).learner_.engine.memory.layer == layer


def test_forgetting_a_class_takes_sums_per_class_as_without_a_layer(world: Path) -> None:
    done("teach", "lean", "all.npz", "--layer", "--no-class-sums")
    assert inspected("lean")["layer"] == inspected("m")["layer"]
    assert "newfound forget lean IMAGES" in newfound("forget-class", "lean", "digit 3").err
    done("forget-class", "m", "digit 3")
    assert "digit 3" not in inspected("m")["classes"]


@pytest.mark.slow
def test_models_with_layers_of_their_own_are_merged_into_one_without(world: Path) -> None:
    done("teach", "other", "more.npz", "--layer", "--no-class-sums")
    refused = newfound("merge", "m", "other", "-o", "both")
    assert (refused.code, Path("both").exists()) == (1, False)
    assert "m cannot be merged with other: each has a layer of its own; with --no-layer" in (
        refused.err
    )
    done("merge", "m", "other", "-o", "both", "--no-layer")
    done("teach", "linear", "all.npz", "more.npz", "--no-class-sums")
    assert inspected("both")["layer"] is None
    assert inspected("both")["classes"] == inspected("linear")["classes"]
    assert accuracy("both", "more.npz") == accuracy("linear", "more.npz")


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--no-class-sums",)])
def test_a_model_with_a_layer_and_one_without_make_one_without(
    world: Path, options: tuple[str, ...]
) -> None:
    done("teach", "layered", "more.npz", "--layer", *options)
    done("teach", "linear", "all.npz")
    said = done("merge", "layered", "linear", "-o", "both").err
    assert "Not all have a layer, so the result has none." in said
    assert sum(inspected("both")["classes"].values()) == TAUGHT + 150
    assert inspected("both")["layer"] is None


def test_copies_of_one_file_are_merged_with_their_layer(world: Path) -> None:
    shutil.copy("m", "copy")
    done("teach", "copy", "more.npz")
    done("merge", "m", "copy", "-o", "both")
    assert inspected("both")["layer"]["made"]
    assert load("both").learner_.engine.memory.layer == load("m").learner_.engine.memory.layer
