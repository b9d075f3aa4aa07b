"""What evaluate says of known and unknown things, and the curve that it draws."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from newfound.cli.roc_plot import draw
from newfound.recognition.evaluation import Evaluation
from newfound.recognition.recogniser import Recogniser
from tests.command_line import newfound, write_pictures, write_rows
from tests.needs import CROPS

PIXELS = ("--extractor", "pixels:size=8")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for thing, name in enumerate(("cup", "mug", "pot")):
        write_pictures(tmp_path / "photos" / name, thing, range(20))
        write_pictures(tmp_path / "test" / name, thing, range(20, 30))
    write_pictures(tmp_path / "strange", 3, range(6))
    assert newfound("teach", "m", "photos", *PIXELS).code == 0
    return tmp_path


def evaluated(*words: object) -> Any:
    done = newfound("evaluate", "m", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def answers(*words: object) -> list[Any]:
    lines = newfound("predict", "m", *words, "--json").out.splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("bound", [None, 0.0, 1.0])
def test_both_mistakes_are_counted_as_predict_makes_them(bound: float | None, world: Path) -> None:
    options = () if bound is None else ("--unknown-above", bound)
    result = evaluated("test", "--unknown", "strange", *options)
    known, unknown = answers("test", *options), answers("strange", *options)
    assert (result["n"], result["known_n"], result["unknown_n"]) == (30, 30, 6)
    assert result["unknown_above"] == (0.5 if bound is None else bound)
    mistaken = sum(not each["known"] for each in known), sum(each["known"] for each in unknown)
    assert (result["known_called_unknown"], result["unknown_called_known"]) == mistaken
    pairs = [(one["unknown"], two["unknown"]) for one in known for two in unknown]
    wins = [(two > one) + (two == one) / 2 for one, two in pairs]
    assert result["auc"] == pytest.approx(np.mean(wins))
    said = newfound("evaluate", "m", "test", "--unknown", "strange", *options).err
    share = 100 * mistaken[0] / 30
    assert f"{mistaken[0]} of 30 images of known things ({share:.1f} %) would be called" in said
    share = 100 * mistaken[1] / 6
    assert f"{mistaken[1]} of 6 images of things never taught ({share:.1f} %) would be" in said
    assert f"AUC {result['auc']:.3f}" in said


def test_strangers_are_told_from_what_was_taught(world: Path) -> None:
    result = evaluated("test", "--unknown", "strange")
    assert (result["accuracy"], result["known_called_unknown"]) == (1.0, 0)
    assert result["unknown_called_known"] <= 1
    assert result["auc"] > 0.95


def test_classes_never_taught_are_unknown_things_too(world: Path) -> None:
    shutil.copytree("strange", "test/jug")
    apart = evaluated("test", "--unknown", "strange")
    both = evaluated("test")
    assert (both["n"], both["known_n"], both["unknown_n"], apart["unknown_n"]) == (36, 30, 6, 12)
    assert both["auc"] == pytest.approx(apart["auc"])
    assert evaluated("test/cup", "--unknown", "test/jug", "--unknown", "strange")["unknown_n"] == 12
    alone = evaluated("test/cup")
    assert (alone["unknown_n"], alone["unknown_called_known"], alone["auc"]) == (0, 0, None)
    said = newfound("evaluate", "m", "test/cup").err
    assert "known things" in said
    assert "never taught" not in said
    assert "AUC" not in said


def test_labels_of_strangers_play_no_part(world: Path) -> None:
    write_rows(Path("v.npz"), ["a", "b", "", "a"], width=64)
    named = evaluated("test", "--unknown", "v.npz")
    with np.load("v.npz") as file:
        np.savez("bare.npz", vectors=file["vectors"])
    assert named == evaluated("test", "--unknown", "bare.npz")
    assert named["unknown_n"] == 4


def test_what_cannot_be_read_of_either_is_listed(world: Path) -> None:
    Path("strange/junk.png").write_text("junk")
    done = newfound("evaluate", "m", "test", "--unknown", "strange", "--json")
    assert (done.code, "strange/junk.png" in done.err) == (3, True)
    assert (json.loads(done.out)["unreadable"], json.loads(done.out)["unknown_n"]) == (1, 6)
    Path("empty").mkdir()
    assert newfound("evaluate", "m", "test", "--unknown", "empty").code == 2
    Path("bad").mkdir()
    shutil.copy("strange/junk.png", "bad")
    done = newfound("evaluate", "m", "test", "--unknown", "bad", "--roc", "roc.png")
    assert (done.code, "No ROC curve" in done.err, Path("roc.png").exists()) == (1, True, False)


def test_the_curve_is_drawn(world: Path) -> None:
    done = newfound("evaluate", "m", "test", "--unknown", "strange", "--roc", "roc.png")
    assert (done.code, "ROC curve in roc.png" in done.err) == (0, True), done.err
    assert Path("roc.png").read_bytes().startswith(b"\x89PNG")


def test_no_work_is_done_for_a_curve_that_cannot_be(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(Path("few.npz"), ["cup", "mug", "cup"], width=64)
    newfound("teach", "few", "few.npz")
    monkeypatch.setattr(Recogniser, "look_at_vectors", lambda *_: 1 / 0)
    for words, said in (
        (("m", "test", "--roc", "roc.png"), "all classes there were taught"),
        (("m", "test", "--roc", "roc.txt", "--unknown", "strange"), "does not end in .png"),
        (("m", "test", "--roc", "no/roc.png", "--unknown", "strange"), "there is no folder no"),
        (("m", "test", "--roc", "a.png", "--output", "./a.png"), "that is where --output goes"),
        (("m", "strange", "--roc", "roc.png"), "no images of classes that were taught"),
        (("few", "few.npz", "--roc", "roc.png", "--unknown", "strange"), "two classes with two"),
    ):
        done = newfound("evaluate", *words)
        assert (done.code, "--roc" in done.err) == (2, True), done
        assert said in " ".join(done.err.split())


def test_the_curve_goes_through_the_bound_and_says_how_large_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    seen: Any = {}
    result = Evaluation(seen, set(), 0.5, [0.0, 0.1, 0.3, 0.8], [0.2, 0.6, 0.7, 0.9, 1.0])
    draw(result, tmp_path / "p.png")
    axes = figures[0].axes[0]
    _, curve, point = axes.get_lines()
    np.testing.assert_allclose(np.array(point.get_xydata()), [[25.0, 80.0]])
    corners = np.array(curve.get_xydata())
    assert np.isclose(corners, [25.0, 80.0]).all(axis=1).any()
    assert axes.get_title() == "Known or unknown? AUC 0.800"
    assert "above 0.5: 80.0 % of unknown things" in str(point.get_label())


def absurd() -> dict[str, Any]:
    """Images that show nothing."""
    rng, size = np.random.default_rng(0), (224, 224, 3)
    coarse = rng.integers(0, 256, (14, 14, 3), dtype=np.uint8)
    return {
        "noise": rng.integers(0, 256, size, dtype=np.uint8),
        "blocks": np.kron(coarse, np.ones((16, 16, 1), np.uint8)),
        "black": np.zeros(size, np.uint8),
        "white": np.full(size, 255, np.uint8),
        "grey": np.full(size, 128, np.uint8),
        "stripes": np.tile(np.uint8(np.arange(224) // 8 % 2 * 255), (224, 1)),
    }


@pytest.mark.slow
@pytest.mark.needs("washington")
def test_real_things_are_told_from_others_and_from_images_that_show_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("apple", "banana", "coffee_mug", "keyboard", "stapler")
    for name in names:  # two of three frames of the same objects are taught
        for number, path in enumerate(sorted((CROPS / name).rglob("*.png"))):
            folder = Path("asked" if number % 3 == 0 else "taught") / name
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder)
    Path("absurd").mkdir()
    for name, image in absurd().items():
        Image.fromarray(image).save(f"absurd/{name}.png")
    assert newfound("teach", "m", "taught").code == 0
    # Some of the others look much like what was taught: whether most of them are called unknown
    # depends on which. But they are less known than what is.
    strangers = [path for path in sorted(CROPS.iterdir()) if path.name not in names]
    result = evaluated("asked", *(word for each in strangers for word in ("--unknown", each)))
    assert (result["known_n"], result["unknown_n"]) == (40, 168)
    assert result["known_called_unknown"] <= 4
    assert result["auc"] > 0.9
    result = evaluated("asked", "--unknown", "absurd")
    assert (result["unknown_n"], result["unknown_called_known"]) == (6, 0)
    assert result["auc"] == 1.0
