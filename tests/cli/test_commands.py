"""The command line: what each command does, prints and returns."""

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound import IncrementalRidgeClassifier, load
from newfound.recognition import lesson, reading
from newfound.recognition.recogniser import Recogniser
from tests import oracles
from tests.command_line import newfound, on_terminal, picture, write_pictures
from tests.features.test_extractors import small_network
from tests.old_labels import relabel
from tests.peak_memory import PEAK

THINGS = ("cup", "mug", "pot")
PIXELS = ("--extractor", "pixels:size=8")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for thing, name in enumerate(THINGS):
        write_pictures(tmp_path / "photos" / name, thing, range(40))
        write_pictures(tmp_path / "test" / name, thing, range(40, 50))
    write_pictures(tmp_path / "new", 3, range(5))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def model(world: Path) -> Path:
    path = world / "m.newfound"
    done = newfound("teach", path, "photos", *PIXELS)
    assert done.code == 0, done.err
    return path


def inspected(path: Path) -> Any:
    done = newfound("inspect", path, "--json")
    assert done.code == 0
    return json.loads(done.out)


def test_teaching_folders_makes_a_model_of_their_names(model: Path) -> None:
    found = inspected(model)
    assert found["classes"] == {"cup": 40, "mug": 40, "pot": 40}
    assert found["extractor"]["name"] == "pixels"
    assert found["penalty"] > 0
    assert set(found["recoding"]) == set(THINGS)
    assert found["estimator"] == "IncrementalRidgeClassifierCV"
    assert found["remembers"] == 120
    assert (found["unknown_above"], found["can_tell_unknown"]) == (0.5, True)
    assert found["sharpness"] > 0
    assert found["bytes"] == model.stat().st_size


def test_a_second_lesson_adds_to_the_first(model: Path) -> None:
    done = newfound("teach", model, *sorted(Path("new").iterdir()), "--as", "jug")
    assert done.code == 0
    assert "Learned 5 images" in done.err
    assert done.out == ""
    assert inspected(model)["classes"] == {"cup": 40, "mug": 40, "pot": 40, "jug": 5}
    answer = json.loads(newfound("predict", model, "new/000.png", "--json").out)
    assert answer["label"] == "jug"


@pytest.mark.slow
def test_two_lessons_are_as_good_as_one(model: Path, world: Path) -> None:
    whole, halves = world / "whole", world / "halves"
    for number, thing in enumerate(THINGS):
        write_pictures(world / "first" / thing, number, range(20))
    assert newfound("teach", whole, "photos", *PIXELS).code == 0
    assert newfound("teach", halves, "first", *PIXELS).code == 0
    done = newfound("teach", halves, "photos")
    assert "Skipped 60 that were taught already" in done.err
    one, two = load(whole), load(halves)
    assert inspected(whole)["classes"] == inspected(halves)["classes"]
    X = np.random.default_rng(0).uniform(size=(50, 64)).astype(np.float32)
    order = [two.classes_.tolist().index(label) for label in one.classes_.tolist()]
    np.testing.assert_allclose(one.novelty(X), two.novelty(X), rtol=0.1)
    np.testing.assert_array_equal(one.class_count_, two.class_count_[order])


@pytest.mark.slow
def test_taught_twice_is_not_taught_double(model: Path) -> None:
    before = model.read_bytes()
    done = newfound("teach", model, "photos")
    assert "Learned 0 images" in done.err
    assert "Skipped 120 that were taught already (--again teaches them)." in done.err
    assert model.read_bytes() == before
    shutil.copy("photos/cup/000.png", "another name.png")
    assert "Skipped 1 " in newfound("teach", model, "another name.png", "--as", "cup").err
    assert "Learned 1 " in newfound("teach", model, "another name.png", "--as", "mug").err
    assert "Learned 120 " in newfound("teach", model, "photos", "--again").err
    assert inspected(model)["classes"] == {"cup": 80, "mug": 81, "pot": 80}


def test_the_same_image_twice_in_one_lesson_is_taught_once(world: Path) -> None:
    for number in range(30):
        shutil.copy("photos/cup/000.png", f"photos/cup/copy {number}.png")
    done = newfound("teach", "m", "photos", *PIXELS)
    assert "Skipped 30 " in done.err
    assert inspected(Path("m"))["classes"]["cup"] == 40


def test_predictions_come_as_lines_with_all_that_programs_need(model: Path) -> None:
    done = newfound("predict", model, "test/cup/040.png", "test/pot/041.png", "--json", "--top", 2)
    assert done.code == 0
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["file"] for line in lines] == ["test/cup/040.png", "test/pot/041.png"]
    for line, label in zip(lines, ("cup", "pot"), strict=True):
        assert line["label"] == label
        assert line["known"] is True
        assert 0 <= line["novelty"] < 1
        assert 0 < line["unknown"] < 0.5
        assert len(line["top"]) == 2
        assert line["top"][0] == {"label": label, "score": line["score"]}
    plain = newfound("predict", model, "test/cup/040.png").out.split("\t")
    assert plain[:2] == ["test/cup/040.png", "cup"]
    assert float(plain[2]) == round(lines[0]["score"], 2)
    assert float(plain[3]) == round(lines[0]["unknown"], 2)


def test_a_list_on_stdin_is_read(model: Path) -> None:
    Path("odd\nname.png").write_bytes(Path("test/cup/040.png").read_bytes())
    lines = newfound("predict", model, "-", stdin=b"test/cup/040.png\ntest/mug/040.png\r\n").out
    assert [line.split("\t")[1] for line in lines.splitlines()] == ["cup", "mug"]
    ended = newfound("predict", model, "-", "--json", stdin=b"odd\nname.png\0test/mug/040.png\0")
    assert json.loads(ended.out.splitlines()[0])["file"] == "odd\nname.png"


def test_strange_things_are_unknown(model: Path) -> None:
    Image.fromarray(np.tile([[0, 255], [255, 0]], (4, 4)).astype(np.uint8)).save("odd.png")
    line = json.loads(newfound("predict", model, "odd.png", "--json").out)
    assert line["known"] is False
    assert line["label"] in THINGS
    assert "\tunknown (" in newfound("predict", model, "odd.png").out
    assert "unknown" not in newfound("predict", model, "odd.png", "--unknown-above", 1).out
    known = newfound("predict", model, "test/cup/040.png", "--unknown-above", 0).out
    assert "unknown (cup?)" in known


def test_evaluation_is_the_share_of_right_answers(model: Path) -> None:
    shutil.copy("test/cup/040.png", "test/mug/from cup.png")
    done = newfound("evaluate", model, "test", "--json")
    result = json.loads(done.out)
    files = sorted(Path("test").rglob("*.png"))
    lines = newfound("predict", model, *files, "--json").out.splitlines()
    answers = [
        (path.parent.name, json.loads(line)["label"])
        for path, line in zip(files, lines, strict=True)
    ]
    right = [label == answer for label, answer in answers]
    assert result["n"] == len(right) == 31
    assert result["accuracy"] == pytest.approx(np.mean(right))
    of_mug = [label == answer for label, answer in answers if label == "mug"]
    assert result["per_class"]["mug"] == pytest.approx(np.mean(of_mug))
    mean = np.mean(list(result["per_class"].values()))
    assert result["mean_class_accuracy"] == pytest.approx(mean)
    assert {"label": "mug", "taken_for": "cup", "n": 1} in result["confusions"]
    text = newfound("evaluate", model, "test")
    assert "mean of classes" in text.out
    assert "1 of 11 mug are taken for cup" in text.err


def test_classes_never_taught_count_as_wrong_and_are_told(model: Path) -> None:
    Path("test/jug").mkdir()
    shutil.copy("new/000.png", "test/jug")
    result = json.loads(newfound("evaluate", model, "test", "--json").out)
    assert (result["never_taught"], result["per_class"]["jug"]) == (["jug"], 0.0)
    assert "Never taught: jug" in newfound("evaluate", model, "test").err


@pytest.mark.slow
def test_an_evaluation_can_be_drawn(model: Path) -> None:
    done = newfound("evaluate", model, "test", "--output", "confusion.png")
    assert done.code == 0
    assert Path("confusion.png").read_bytes().startswith(b"\x89PNG")
    assert "confusion.png" in done.err
    assert newfound("evaluate", model, "test", "--output", "confusion.bmpx").code == 2


@pytest.mark.slow
def test_forgetting_an_image_is_as_if_it_had_never_been_taught(model: Path, world: Path) -> None:
    (world / "photos" / "cup" / "007.png").rename(world / "wrong.png")
    never = world / "never.newfound"
    newfound("teach", never, "photos", *PIXELS)
    done = newfound("forget", model, "wrong.png", "--as", "cup")
    assert (done.code, "Forgot 1 image." in done.err) == (0, True)
    assert inspected(model)["classes"] == inspected(never)["classes"]
    done = newfound("forget", model, "wrong.png", "--as", "cup")
    assert done.code == 3
    assert "wrong.png: was not taught as cup" in done.err
    one, two = load(model), load(never)
    one_sums, two_sums = (
        oracles.seen_from_zero(model.learner_.to_state().sums) for model in (one, two)
    )
    np.testing.assert_allclose(np.tril(one_sums.gram), np.tril(two_sums.gram), atol=1e-6)


def test_forgetting_more_often_than_taught_is_refused(model: Path) -> None:
    shutil.copy("photos/cup/000.png", "copy.png")
    done = newfound("forget", model, "photos/cup/000.png", "copy.png", "--as", "cup")
    assert (done.code, inspected(model)["classes"]["cup"]) == (3, 39)


def test_forgetting_all_removes_the_model(model: Path) -> None:
    assert newfound("forget", model, "photos").code == 0
    assert not model.exists()


@pytest.mark.slow
def test_a_class_is_forgotten_renamed_and_joined(model: Path) -> None:
    assert newfound("rename", model, "cup", "beaker").code == 0
    assert inspected(model)["classes"] == {"beaker": 40, "mug": 40, "pot": 40}
    assert "Skipped 40 " in newfound("teach", model, "photos/cup", "--as", "beaker").err
    done = newfound("rename", model, "beaker", "mug", "--force")
    assert "beaker is now part of mug" in done.err
    assert inspected(model)["classes"] == {"mug": 80, "pot": 40}
    assert newfound("forget-class", model, "mug").code == 0
    found = inspected(model)
    assert (found["classes"], found["remembers"]) == ({"pot": 40}, 40)
    done = newfound("forget-class", model, "mug")
    assert (done.code, "no class 'mug' here" in done.err) == (1, True)


def test_a_lean_model_cannot_forget_a_class_but_its_images(world: Path) -> None:
    newfound("teach", "lean", "photos", "--no-class-sums", *PIXELS)
    done = newfound("forget-class", "lean", "cup")
    assert done.code == 1
    assert "newfound forget lean IMAGES --as cup" in done.err
    assert newfound("forget", "lean", "photos/cup", "--as", "cup").code == 0
    assert inspected(Path("lean"))["classes"] == {"mug": 40, "pot": 40}


@pytest.mark.slow
def test_merged_models_are_as_one_that_was_taught_all(model: Path, world: Path) -> None:
    newfound("teach", "b", "new", "--as", "jug", *PIXELS)
    newfound("teach", "b", "photos/cup", "--as", "cup")
    done = newfound("merge", model, "b", "-o", "c")
    assert done.code == 0
    assert "40 images taught to more than one of them" in done.err
    assert inspected(Path("c"))["classes"] == {"cup": 80, "mug": 40, "pot": 40, "jug": 5}
    assert newfound("merge", model, "b", "-o", "c").code == 2
    assert newfound("merge", model, "b", "-o", "c", "--force").code == 0
    assert newfound("merge", "c", "b", "-o", "c").code == 2
    assert newfound("merge", "c", "b", "-o", "c", "--force").code == 0
    assert newfound("merge", "c", "-o", "d").code == 2
    newfound("teach", "lean", "new", "--as", "jug", "--no-class-sums", *PIXELS)
    assert newfound("merge", model, "lean", "-o", "e").code == 0
    assert inspected(Path("e"))["classes"] == {"jug": 5, "cup": 40, "mug": 40, "pot": 40}
    newfound("teach", "other", "new", "--as", "jug", "--extractor", "pixels:size=4")
    done = newfound("merge", model, "other", "-o", "f")
    assert (done.code, Path("f").exists()) == (1, False)
    assert "this model was taught vectors of pixels" in done.err


@pytest.mark.slow
def test_vectors_are_as_good_as_the_images(model: Path, world: Path) -> None:
    assert newfound("features", "photos", "-o", "v.npz", *PIXELS).code == 0
    assert newfound("teach", "v", "v.npz").code == 0
    assert Path("v").read_bytes() == model.read_bytes()
    assert "Skipped 120 " in newfound("teach", "v", "photos").err
    images = json.loads(newfound("evaluate", model, "photos", "--json").out)
    vectors = json.loads(newfound("evaluate", model, "v.npz", "--json").out)
    assert images == vectors
    files = newfound("predict", model, "v.npz").out.splitlines()
    assert files[0].startswith("photos/cup/000.png\tcup\t")
    assert newfound("features", "photos", "-o", "v.txt").code == 2


def test_vectors_of_another_extractor_are_refused(model: Path) -> None:
    before = model.read_bytes()
    newfound("features", "photos", "-o", "v.npz", "--extractor", "pixels:size=4")
    for done in (
        newfound("teach", model, "v.npz"),
        newfound("evaluate", model, "v.npz"),
        newfound("teach", model, "photos", "--again", "--extractor", "pixels:size=4"),
        newfound("predict", model, "new/000.png", "--extractor", "pixels:range=-1/1"),
    ):
        assert done.code == 1
        assert "this model was taught vectors of pixels (size=8/8" in done.err
    assert model.read_bytes() == before


def test_pipes_are_refused_and_not_waited_for(model: Path) -> None:
    os.mkfifo("pipe.npz")
    os.mkfifo("pipe.newfound")
    done = newfound("predict", model, "pipe.npz", "new/000.png")
    assert (done.code, "pipe.npz: a named pipe, not a file" in done.err) == (3, True)
    assert done.out.startswith("new/000.png\t")
    for command in (("inspect", "pipe.newfound"), ("teach", "pipe.newfound", "photos", *PIXELS)):
        done = newfound(*command)
        assert (done.code, "a named pipe, not a file" in done.err) == (1, True)


def test_forgetting_all_through_a_link_removes_what_it_points_to(world: Path) -> None:
    Path("real").mkdir()
    newfound("teach", "real/m", "new", "--as", "jug", *PIXELS)
    Path("link").symlink_to("real/m")
    assert newfound("forget", "link", "new", "--as", "jug").code == 0
    assert not Path("real/m").exists()


def test_one_bad_name_does_not_keep_others_from_being_read(model: Path) -> None:
    long = "a" * 300 + ".jpg"
    Path("photos/cup/link.jpg").symlink_to("b" * 300)
    done = newfound("predict", model, long, "nowhere.npz", "new/000.png")
    assert done.code == 3
    assert len(done.out.splitlines()) == 1
    assert "file name too long" in done.err
    assert "nowhere.npz: No such file" in done.err
    done = newfound("teach", model, "photos")
    assert (done.code, "Skipped 120 " in done.err) == (3, True)


def test_colours_that_are_forced_do_not_change_data(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = newfound("predict", model, "new/000.png")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert newfound("predict", model, "new/000.png") == plain


def test_a_network_is_not_taken_for_pixels(model: Path) -> None:
    Path("net.onnx").write_bytes(small_network(["m", 3, 8, 8]))
    done = newfound("predict", model, "new/000.png", "--extractor", "net.onnx")
    assert (done.code, "this model was taught vectors of pixels" in done.err) == (1, True)


@pytest.mark.slow
def test_any_label_can_be_drawn_and_printed(world: Path) -> None:
    odd = ["$x^$", "☕", "two\nlines"]
    for number, name in enumerate(odd):
        write_pictures(world / "plain" / str(number), number, range(8))
        write_pictures(world / "odd" / name, number, range(8))
    assert newfound("teach", "m", "plain", *PIXELS).code == 0
    relabel(Path("m"), {str(number): name for number, name in enumerate(odd)})
    assert newfound("evaluate", "m", "odd", "--output", "p.png").code == 0
    command = [sys.executable, "-m", "newfound", "inspect", "m"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert rb"\u2615" in done.stdout


@pytest.mark.slow
def test_closed_streams_are_survived(model: Path) -> None:
    for line, code in (
        (f"predict {model} - <&-", 2),
        (f"predict {model} new/000.png >&-", 0),
        (f"inspect {model} --json >&-", 0),
    ):
        command = ["bash", "-c", f"{sys.executable} -m newfound {line}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_models_whose_labels_are_numbers_grow(world: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    IncrementalRidgeClassifier().fit(rows[:4], [1, 2, 1, 2]).save("n")
    np.savez("more.npz", vectors=rows[4:], labels=np.array([2, 3]))
    assert newfound("teach", "n", "more.npz").code == 0
    assert newfound("rename", "n", "1", "5").code == 0
    assert load("n").class_count_.tolist() == [3, 1, 2]
    assert load("n").classes_.tolist() == [2, 3, 5]


def test_what_does_not_go_together_is_said(model: Path) -> None:
    rows = np.zeros((2, 7), dtype=np.float32)
    np.savez("bare.npz", vectors=np.zeros((2, 64)))
    np.savez("narrow.npz", vectors=rows, labels=np.array(["a", "a"]))
    np.savez("odd.npz", vectors=rows, labels=np.array([["a"], ["a"]]))
    newfound("features", "photos", "-o", "v.npz", *PIXELS)
    for words, code, said in (
        (("features", "v.npz", "bare.npz", "-o", "w.npz"), 1, "some of these have labels"),
        (("teach", model, "v.npz", "narrow.npz"), 1, "vectors of 7 and of 64 features"),
        (("teach", model, "odd.npz"), 3, "labels are not one text"),
        (("features", "photos", "-o", "no/w.npz"), 2, "there is no folder no"),
        (("predict", model, "narrow.npz"), 1, "7 features, but this model was taught 64"),
    ):
        done = newfound(*words)
        assert (done.code, said in " ".join(done.err.split())) == (code, True), done


def test_no_images_are_wrong_usage_everywhere(model: Path) -> None:
    Path("empty").mkdir()
    for command in ("teach", "predict", "evaluate", "forget"):
        assert newfound(command, model, "empty").code == 2
    assert newfound("features", "empty", "-o", "v.npz").code == 2


def test_a_list_ended_by_nuls_is_taken_as_it_is(model: Path) -> None:
    name = "cr\r\nlf.png"
    shutil.copy("new/000.png", name)
    done = newfound("predict", model, "-", "--json", stdin=name.encode() + b"\0")
    assert json.loads(done.out)["file"] == name


def test_vectors_of_two_extractors_are_not_mixed(model: Path) -> None:
    newfound("features", "photos", "-o", "a.npz", "--extractor", "pixels:size=8")
    newfound("features", "photos", "-o", "b.npz", "--extractor", "pixels:size=8,range=-1/1")
    for done in (
        newfound("features", "a.npz", "b.npz", "-o", "c.npz"),
        newfound("predict", model, "a.npz", "b.npz"),
        newfound("evaluate", model, "a.npz", "b.npz"),
    ):
        assert (done.code, done.out) == (1, "")
        assert "there are vectors of pixels" in done.err
    assert not Path("c.npz").exists()
    done = newfound("features", "a.npz", "new", "-o", "d.npz", "--as", "x")
    assert done.code == 0
    assert "125 vectors of pixels (size=8/8, range=0/1" in done.err


@pytest.mark.slow
def test_hostile_vectors_are_survived(model: Path) -> None:
    before = model.read_bytes()
    rows, labels = np.zeros((3, 64), dtype=np.float32), np.array(["a"] * 3)
    digests = np.zeros((3, 32), dtype=np.uint8)
    np.savez("long.npz", vectors=rows, labels=labels, digests=digests)
    np.save("array.npy", rows)
    Path("array.npy").rename("array.npz")
    np.savez("scalar.npz", vectors=rows, labels=np.array("a"))
    Path("cut.npz").write_bytes(Path("long.npz").read_bytes()[:200])
    for name in ("long.npz", "array.npz", "scalar.npz", "cut.npz"):
        done = newfound("teach", model, name)
        assert done.code == 3
        assert f"{name}: not a file of vectors" in done.err
    assert model.read_bytes() == before
    rows[1, 3] = np.nan
    rows[2] = 1.0
    np.savez("nan.npz", vectors=rows, labels=labels)
    done = newfound("teach", model, "nan.npz")
    assert done.code == 3
    assert "row 1: a vector with numbers that are not finite" in done.err
    assert inspected(model)["classes"]["a"] == 2


@pytest.mark.slow
def test_names_are_the_same_however_their_accents_are_written(model: Path) -> None:
    composed, decomposed = "th\u00e9", "the\u0301"
    newfound("teach", model, "new/000.png", "--as", composed)
    newfound("teach", model, "new/001.png", "--as", decomposed)
    newfound("rename", model, "cup", decomposed, "--force")
    assert inspected(model)["classes"] == {"mug": 40, "pot": 40, composed: 42}
    assert newfound("forget-class", model, decomposed).code == 0
    assert newfound("teach", model, "new/000.png", "--as", "").code == 2


@pytest.mark.slow
def test_every_change_settles_what_is_called_unknown(model: Path) -> None:
    newfound("teach", "other", "new", "--as", "jug", *PIXELS)
    for command in (
        ("rename", model, "cup", "beaker"),
        ("forget", model, "photos/pot", "--as", "pot"),
        ("merge", model, "other", "-o", model, "--force"),
        ("forget-class", model, "beaker"),
    ):
        assert newfound(*command).code == 0
        settled = Recogniser(model)
        before = settled.model.calibration_
        assert before.bound is not None or len(settled.classes) < 2
        settled.refresh()
        after = settled.model.calibration_
        assert after.sharpness == pytest.approx(before.sharpness)
        assert after.bound == (before.bound and pytest.approx(before.bound))


def test_one_photo_may_be_taught_under_two_labels(model: Path) -> None:
    Path("a").mkdir()
    for name in ("x", "y"):
        Path("a", name).mkdir()
        shutil.copy("new/000.png", Path("a", name))
    assert "Learned 2 images" in newfound("teach", model, "a").err


@pytest.mark.slow
def test_a_linked_model_is_changed_where_it_is(model: Path) -> None:
    Path("elsewhere").mkdir()
    model.rename("elsewhere/real.newfound")
    model.symlink_to("elsewhere/real.newfound")
    assert newfound("teach", model, "new", "--as", "jug").code == 0
    assert model.is_symlink()
    assert Path("elsewhere/.real.newfound.lock").exists()
    assert inspected(Path("elsewhere/real.newfound"))["classes"]["jug"] == 5


def test_a_network_in_a_file_is_named_once_and_then_found(world: Path) -> None:
    Path("net.onnx").write_bytes(small_network(["m", 3, 8, 8]))
    done = newfound("teach", "m", "photos", "--extractor", "net.onnx:output=inner,scale=255")
    assert done.code == 3  # pictures of 8 x 8 are too small for networks
    for path in sorted(Path("photos").rglob("*.png")):
        Image.open(path).resize((32, 32)).save(path)
    done = newfound("teach", "m", "photos", "--extractor", "net.onnx:output=inner,scale=255")
    assert done.code == 0, done.err
    done = newfound("predict", "m", "photos/cup/000.png")
    assert (done.code, "--extractor FILE.onnx" in done.err) == (1, True)
    assert newfound("predict", "m", "photos/cup/000.png", "--extractor", "net.onnx").code == 0


def test_vectors_without_an_origin_will_do(world: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(6, 4))
    np.savez("plain.npz", vectors=rows, labels=np.array(["a", "b"] * 3))
    assert "Learned 6 " in newfound("teach", "m", "plain.npz").err
    assert "Skipped 6 " in newfound("teach", "m", "plain.npz").err
    assert inspected(Path("m"))["extractor"] is None
    np.savez("bare.npz", vectors=rows)
    assert newfound("teach", "m", "bare.npz").code == 2
    assert newfound("predict", "m", "bare.npz", "--json").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["teach", "m", "photos/cup/000.png"], 2, "say what it shows with --as"),
        (["teach", "m", "nothing here.png", "--as", "a", *PIXELS], 3, "there is no such file"),
        (["teach", "m", "empty"], 2, "no images there"),
        (["teach", "m"], 2, "Missing argument"),
        (["predict", "m", "photos/cup/000.png"], 1, "There is no model m: newfound teach"),
        (["predict", "notes.txt", "photos/cup/000.png"], 1, "notes.txt: not a model file"),
        (["evaluate", "m", "photos"], 1, "There is no model"),
        (["inspect", "m"], 1, "There is no model"),
        (["teach", "m", "photos", "--extractor", "magic"], 1, "no extractor 'magic'"),
        (["teach", "m", "photos", "--wait", "-1"], 2, "Invalid value"),
        (["teach", "no/such/folder/m", "photos", *PIXELS], 2, "no/such/folder"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_what_goes_wrong_is_said_in_words(
    world: Path, arguments: list[str], code: int, words: str
) -> None:
    Path("empty").mkdir()
    Path("notes.txt").write_text("not a model")
    done = newfound(*arguments)
    assert done.code == code, done
    assert words in done.err.replace("\n", " ")
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not Path("m").exists()


def hostile(root: Path) -> None:
    """Files that have no business among photos, and some that have."""
    folder = root / "things"
    write_pictures(folder, 0, range(4))
    picture(9, 0).save(folder / "new\nline.png")
    picture(10, 0).save(folder / "tea 🍵.png")
    (folder / "empty.jpg").touch()
    (folder / "truncated.png").write_bytes((folder / "000.png").read_bytes()[:50])
    (folder / "text.jpg").write_text("I am a photo, honestly.")
    Image.new("RGB", (1, 1)).save(folder / "one.gif")
    Image.new("1", (30_000, 30_000)).save(folder / "huge.png")
    os.mkfifo(folder / "pipe.jpg")
    (folder / "dangling.jpg").symlink_to("nowhere")


@pytest.mark.slow
def test_hostile_files_are_survived(world: Path) -> None:
    hostile(world / "bad")
    for seed in range(2):
        large = picture(seed, 0).resize((64, 64))
        (world / "bad" / "photos").mkdir(exist_ok=True)
        large.save(world / "bad" / "photos" / f"{seed}.png")
    program = (
        f"{PEAK}\nfrom newfound.cli import main\n"
        "try: main()\n"
        "finally: print(peak_mb(), file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "teach", "m", "bad"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 3, done.stderr
    assert int(done.stderr.split()[-1]) < 1000  # megabytes
    assert inspected(Path("m"))["classes"] == {"photos": 2}
    assert "8 x 8 pixels, too small: each side must have 16" in done.stderr  # for a network
    done_here = newfound("teach", "p", "bad", *PIXELS)
    assert done_here.code == 3
    assert inspected(Path("p"))["classes"] == {"photos": 2, "things": 6}
    for reason in (
        "empty.jpg: an empty file",
        "truncated.png: damaged or cut short",
        "text.jpg: not an image",
        "one.gif: 1 x 1 pixels, too small",
        "huge.png: more than the 64,000,000 pixels",
        "pipe.jpg: a named pipe, not a file",
        "dangling.jpg: a link to a file that is not there",
    ):
        assert reason in done_here.err
    lines = newfound("predict", "p", "bad")
    assert lines.code == 3
    assert len(lines.out.splitlines()) == 8
    assert "bad/things/new\\nline.png\t" in lines.out


@pytest.mark.slow
def test_one_process_at_a_time_changes_a_model(model: Path) -> None:
    program = (
        "from pathlib import Path; from newfound.recognition.locking import locked\n"
        "with locked(Path('m.newfound')):\n"
        "    print('held', flush=True)\n"
        "    input()"
    )
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        before = model.read_bytes()
        for words in (
            ["teach", model, "new", "--as", "jug"],
            ["forget", model, "photos/cup/000.png", "--as", "cup"],
            ["forget-class", model, "cup"],
            ["rename", model, "cup", "beaker"],
        ):
            done = newfound(*words)
            assert done.code == 1
            assert "Another process is changing m.newfound" in done.err
            assert "--wait" in done.err
        assert model.read_bytes() == before
        assert newfound("predict", model, "new/000.png").code == 0  # reading needs no leave
        patient = ("teach", "m.newfound", "new", "--as", "jug", "--wait", "600")
        command = [sys.executable, "-m", "newfound", *patient]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as waiting:
            assert waiting.stderr is not None
            assert "waiting up to 600 s" in waiting.stderr.readline()
            holder.communicate("enough\n")
            waiting.communicate()
        assert (holder.returncode, waiting.returncode) == (0, 0)
    assert inspected(model)["classes"]["jug"] == 5


@pytest.mark.slow
def test_two_at_once_lose_nothing(world: Path) -> None:
    commands = [
        [sys.executable, "-m", "newfound", "teach", "m", f"photos/{name}", "--as", name, *PIXELS]
        for name in THINGS
    ]
    running = [subprocess.Popen([*command, "--wait", "600"]) for command in commands]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert inspected(Path("m"))["classes"].keys() == set(THINGS)
    assert sum(inspected(Path("m"))["classes"].values()) == 120


@pytest.mark.slow
def test_an_interrupted_lesson_keeps_whole_blocks_and_goes_on(world: Path) -> None:
    write_pictures(world / "many" / "cup", 0, range(3000))
    undisturbed = newfound("teach", "whole", "many", *PIXELS)
    assert undisturbed.code == 0
    command = [sys.executable, "-m", "newfound", "teach", "m", "many", *PIXELS, "--save-every", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not Path("m").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "run it again to go on" in err
    assert "Traceback" not in err
    learned = Recogniser("m").model.n_samples_seen_
    assert 0 < learned < 3000
    assert learned % 16 == 0
    assert newfound("teach", "m", "many").code == 0
    assert inspected(Path("m"))["classes"] == {"cup": 3000}


@pytest.mark.parametrize("when", ["teaching", "settling"])
def test_an_interruption_saves_what_was_learned(
    world: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def interrupt(*_: Any) -> Any:
        raise KeyboardInterrupt

    if when == "settling":
        monkeypatch.setattr(Recogniser, "refresh", interrupt)
    else:
        examples = reading.examples

        def some(*given: Any) -> Any:
            yield from itertools.islice(examples(*given), 40)
            interrupt()

        monkeypatch.setattr(lesson, "examples", some)
    done = newfound("teach", "m", "photos", *PIXELS)
    assert (done.code, done.out) == (130, "")
    learned = 120 if when == "settling" else 32  # whole blocks of 16
    assert f"Interrupted after {learned} images; run it again to go on." in done.err
    assert Recogniser("m").model.n_samples_seen_ == learned
    assert "go on" not in newfound("teach", "m", "photos", "--again").err


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_and_nowhere_else(model: Path, world: Path) -> None:
    piped = newfound("teach", model, "photos", "nothing.png", "--as", "x")
    assert "\x1b" not in piped.err
    assert "teaching" not in piped.err
    _, shown = on_terminal("teach", "t", "photos", *PIXELS)
    assert "teaching" in shown
    assert "120/120" in shown
    code, coloured = on_terminal("predict", "m.newfound", "nothing.png", "new/000.png")
    assert code == 3
    assert "\x1b[31m" in coloured
    assert "\x1b[31m" not in on_terminal("predict", "m.newfound", "nothing.png", NO_COLOR="1")[1]
    assert "teaching" not in on_terminal("teach", "t", "new", "--as", "x", "--quiet")[1]


def test_quiet_says_nothing_but_what_went_wrong(world: Path) -> None:
    done = newfound("teach", "m", "photos", *PIXELS, "--quiet")
    assert done == (0, "", "")
    done = newfound("teach", "m", "nothing.png", "--as", "x", "--quiet")
    assert done.code == 3
    assert "nothing.png: there is no such file" in done.err


def test_files_left_by_a_killed_process_are_cleared_away(model: Path) -> None:
    left = model.with_name(f".{model.name}.0123456789abcdef.tmp")
    others = [model.with_name(f".{model.name}.bak.0123456789abcdef.tmp"), model.with_name("a.tmp")]
    for path in (left, *others):
        path.touch()
    newfound("teach", model, "new/001.png", "--as", "jug")
    assert not left.exists()
    assert all(path.exists() for path in others)


@pytest.mark.slow
def test_help_needs_neither_scikit_learn_nor_images() -> None:
    program = (
        "import sys; sys.argv = ['newfound', 'teach', '--help']\n"
        "from newfound.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sklearn', 'PIL', 'onnxruntime', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
