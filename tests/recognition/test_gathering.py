"""From the command line to rows: folders, bad rows, equal rows."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound import load
from tests.command_line import newfound, write_pictures, write_rows

PIXELS = ("--extractor", "pixels:size=8")


@pytest.fixture(autouse=True)
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def classes(path: str) -> Any:
    done = newfound("inspect", path, "--json")
    assert done.code == 0, done
    return json.loads(done.out)["classes"]


@pytest.mark.parametrize("bad", [np.nan, -np.inf, 1e200, 1e153])
def test_a_row_that_cannot_be_learned_is_listed_and_the_rest_is_learned(bad: float) -> None:
    rows = write_rows(Path("v.npz"), ["a", "b"] * 20)
    rows[5, 2] = bad
    np.savez("v.npz", vectors=rows, labels=np.array(["a", "b"] * 20))
    done = newfound("teach", "m", "v.npz")
    assert done.code == 3
    assert "1 could not be used:" in done.err
    assert "  v.npz, row 5: a vector with numbers " in done.err
    assert classes("m") == {"a": 20, "b": 19}
    for command in ("predict", "evaluate", "forget"):
        done = newfound(command, "m", "v.npz")
        assert (done.code, "v.npz, row 5: " in done.err) == (3, True), done


def test_a_bad_row_that_has_a_name_is_listed_with_both() -> None:
    rows = write_rows(Path("v.npz"), ["a"] * 3)
    rows[1] = 1e200
    np.savez("v.npz", vectors=rows, labels=["a"] * 3, files=["x.jpg", "y.jpg", "z.jpg"])
    assert "v.npz, row 1 (y.jpg): a vector with" in newfound("teach", "m", "v.npz").err


def test_a_row_with_an_empty_label_is_listed_and_the_rest_is_learned() -> None:
    labels = ["a", "b"] * 20
    labels[4] = ""
    write_rows(Path("v.npz"), labels)
    done = newfound("teach", "m", "v.npz")
    assert (done.code, "  v.npz, row 4: a label that is empty" in done.err) == (3, True), done
    assert classes("m") == {"a": 19, "b": 20}
    assert newfound("evaluate", "m", "v.npz").code == 3
    assert newfound("predict", "m", "v.npz").out.count("\n") == 40  # labels are nothing to it
    assert newfound("teach", "n", "v.npz", "--as", "cup").code == 0


@pytest.mark.filterwarnings("ignore:a penalty of")  # there is none above 1e100
def test_rows_as_large_as_can_be_are_learned() -> None:
    rows = write_rows(Path("v.npz"), ["a", "b"] * 20) * 1e140
    np.savez("v.npz", vectors=rows, labels=np.array(["a", "b"] * 20))
    assert newfound("teach", "m", "v.npz").code == 0
    assert newfound("forget", "m", "v.npz").code == 0


def test_equal_rows_all_count_and_are_taught_once() -> None:
    rows = np.array([[1.0, 2.0]] * 3 + [[3.0, 1.0]] * 5 + [[1.0, 2.0]] * 2)
    np.savez("v.npz", vectors=rows, labels=np.array(["a"] * 5 + ["b"] * 5))
    assert "Learned 10 images" in newfound("teach", "m", "v.npz").err
    assert classes("m") == {"a": 5, "b": 5}
    again = newfound("teach", "m", "v.npz").err
    assert ("Learned 0 " in again, "Skipped 10 " in again) == (True, True)
    np.savez("w.npz", vectors=rows[:3][[0, 0, 0, 1]], labels=np.array(["a"] * 4))
    more = newfound("teach", "m", "w.npz").err  # the fourth of them is new
    assert ("Learned 1 " in more, "Skipped 3 " in more) == (True, True)
    assert newfound("forget", "m", "v.npz").code == 0
    assert classes("m") == {"a": 1}
    done = newfound("forget", "m", "w.npz")
    assert (done.code, "Forgot 1 image." in done.err) == (3, True)
    assert done.err.count("was not taught as a") == 3


def test_a_lesson_of_equal_rows_that_broke_off_goes_on() -> None:
    rows = np.array([[1.0, 2.0]] * 40)
    np.savez("part.npz", vectors=rows[:16], labels=np.array(["a"] * 16))
    np.savez("whole.npz", vectors=rows, labels=np.array(["a"] * 40))
    newfound("teach", "m", "part.npz")
    assert "Learned 24 images" in newfound("teach", "m", "whole.npz").err
    assert classes("m") == {"a": 40}


def test_equal_photos_are_one_photo_also_as_vectors() -> None:
    write_pictures(Path("photos/cup"), 0, range(3))
    Path("photos/cup/copy.png").write_bytes(Path("photos/cup/000.png").read_bytes())
    newfound("features", "photos", "-o", "v.npz", *PIXELS)
    done = newfound("teach", "m", "v.npz")
    assert ("Learned 3 " in done.err, "Skipped 1 " in done.err) == (True, True)


@pytest.mark.slow
def test_equal_measurements_stay_several_when_they_are_written_anew() -> None:
    np.savez("v.npz", vectors=np.ones((40, 3)), labels=np.array(["a"] * 40))
    said = newfound("features", "v.npz", "-o", "w.npz").err
    assert "40 vectors of an extractor that is not known in w.npz" in said
    assert "Learned 40 images" in newfound("teach", "m", "w.npz").err
    assert "Learned 0 images" in newfound("teach", "m", "v.npz").err


def test_a_file_has_all_digests_or_none() -> None:
    write_pictures(Path("photos/cup"), 0, range(3))
    newfound("features", "photos", "-o", "v.npz", *PIXELS)
    held = np.load("v.npz")
    np.savez("bare.npz", vectors=held["vectors"], labels=held["labels"])
    assert newfound("features", "v.npz", "bare.npz", "-o", "both.npz").code == 0
    assert np.load("both.npz")["digests"].shape == (6, 0)
    assert newfound("features", "v.npz", "-o", "again.npz").code == 0
    np.testing.assert_array_equal(np.load("again.npz")["digests"], held["digests"])


def test_vectors_of_no_features_are_listed_as_no_file_of_vectors() -> None:
    np.savez("v.npz", vectors=np.zeros((5, 0)), labels=np.array(["a"] * 5))
    done = newfound("teach", "m", "v.npz")
    assert (done.code, "v.npz: not a file of vectors (its vectors are" in done.err) == (3, True)
    done = newfound("features", "v.npz", "-o", "w.npz")
    assert (done.code, Path("w.npz").exists()) == (1, False)


def test_packed_and_very_large_kinds_of_npz_files_are_read() -> None:
    rows = write_rows(Path("v.npz"), ["a", "b"] * 20)
    newfound("teach", "m", "v.npz")
    np.savez_compressed("packed.npz", vectors=rows, labels=np.array(["a", "b"] * 20))
    with (
        zipfile.ZipFile("large.npz", "w") as archive,
        archive.open("vectors.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array(file, rows)
    answers = {newfound("predict", "m", name).out for name in ("v.npz", "packed.npz", "large.npz")}
    assert len(answers) == 1
    assert answers.pop().count("\n") == 40


def test_so_many_features_that_nobody_can_ask_are_told_while_teaching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_rows(Path("v.npz"), ["a", "b"] * 20)
    assert "GiB" not in newfound("teach", "m", "v.npz").err
    monkeypatch.setattr("newfound.cli.commands.teach.MOST_TO_ASK", 2 * 8 * 6**2 - 1)
    done = newfound("teach", "n", "v.npz", "--quiet")
    assert done.code == 0
    assert done.err.count("Vectors of 6 features are learned, but to ask") == 1
    assert classes("n") == {"a": 20, "b": 20}


def test_one_that_is_passed_over_is_not_several() -> None:
    write_pictures(Path("photos/cup"), 0, range(4))
    Path("photos/cup/self").symlink_to("../cup")
    Path("photos/cup/notes.txt").touch()
    said = newfound("teach", "m", "photos", *PIXELS).err
    assert "Passed over: 1 folder linked again, 1 not an image\n" in said


def test_folders_of_images_are_classes_of_their_names() -> None:
    write_pictures(Path("mug"), 0, range(8))
    write_pictures(Path("all/cup"), 1, range(8))
    write_pictures(Path("more/pot"), 2, range(8))
    done = newfound("teach", "m", "mug/", "all/cup", "more", *PIXELS)
    assert done.code == 0, done
    assert classes("m") == {"cup": 8, "mug": 8, "pot": 8}
    result = json.loads(newfound("evaluate", "m", "mug", "--json").out)
    assert result["per_class_n"] == {"mug": 8}
    assert newfound("features", "mug", "-o", "v.npz", *PIXELS).code == 0
    assert set(np.load("v.npz")["labels"]) == {"mug"}
    assert newfound("forget", "m", "mug").code == 0
    assert classes("m") == {"cup": 8, "pot": 8}
    assert newfound("teach", "m", "mug", "--as", "beaker").code == 0
    assert classes("m")["beaker"] == 8


@pytest.mark.parametrize("name", [".", "../mug", "../mug/.", "in/..", "in/../"])
def test_a_folder_is_called_by_its_own_name(
    name: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pictures(world / "mug", 0, range(4))
    (world / "mug" / "in").mkdir()
    monkeypatch.chdir(world / "mug")
    assert newfound("teach", world / "m", name, *PIXELS).code == 0
    assert load(world / "m").classes_.tolist() == ["mug"]


def test_a_link_to_a_folder_is_called_as_it_is_named() -> None:
    write_pictures(Path("0001"), 0, range(4))
    Path("mug").symlink_to("0001")
    newfound("teach", "m", "mug", *PIXELS)
    assert classes("m") == {"mug": 4}


def test_images_beside_folders_of_classes_are_passed_over_in_words() -> None:
    write_pictures(Path("photos/cup"), 0, range(4))
    write_pictures(Path("photos"), 1, range(2))
    done = newfound("teach", "m", "photos", *PIXELS)
    assert done.code == 0
    said = "Passed over: 2 beside the folders of classes in photos (see --as)"
    assert said in done.err
    assert classes("m") == {"cup": 4}
