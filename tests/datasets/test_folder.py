"""Folders of images, and files of vectors: what is found, under which label, and what is not."""

import os
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from newfound.datasets import folder, read_vectors, write_vectors
from newfound.features import Identity


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_folders_are_classes_and_deeper_folders_part_of_them_or_classes_too(tmp_path: Path) -> None:
    make(tmp_path, "b/1.JPG", "a/x/2.png", "a/1.jpeg", "a/x/y/3.webp")
    first, whole = folder(tmp_path), folder(tmp_path, labels="path")
    assert [str(path.relative_to(tmp_path)) for path in first.files] == [
        "a/1.jpeg",
        "a/x/2.png",
        "a/x/y/3.webp",
        "b/1.JPG",
    ]
    assert first.labels == ["a", "a", "a", "b"]
    assert whole.labels == ["a", "a/x", "a/x/y", "b"]
    assert first.files == whole.files
    assert not first.ignored


def test_what_is_passed_over_is_counted(tmp_path: Path) -> None:
    make(tmp_path, "a/1.jpg", "a/.hidden.jpg", ".git/2.jpg", "a/notes.txt", "a/none", "loose.png")
    assert folder(tmp_path).ignored == Counter(
        {"hidden": 2, "not images": 2, "in no folder of a class": 1}
    )


def test_names_in_any_script_are_labels(tmp_path: Path) -> None:
    names = ["чашка", "マグカップ", "كوب", "tasse 🍵", "a\nb", " "]
    make(tmp_path, *(f"{name}/1.jpg" for name in names))
    assert sorted(folder(tmp_path).labels) == sorted(names)


def test_accents_are_the_same_however_they_are_written(tmp_path: Path) -> None:
    make(tmp_path, unicodedata.normalize("NFD", "théière") + "/1.jpg")
    assert folder(tmp_path).labels == [unicodedata.normalize("NFC", "théière")]


def test_names_that_are_no_text_are_labels_too(tmp_path: Path) -> None:
    make(tmp_path, os.fsdecode(b"\xff\xfe/1.jpg"))
    (label,) = folder(tmp_path).labels
    assert os.fsencode(label) == b"\xff\xfe"


def test_links_are_followed_but_not_in_circles(tmp_path: Path) -> None:
    make(tmp_path, "root/a/1.jpg", "elsewhere/2.jpg")
    root = tmp_path / "root"
    (root / "a" / "up").symlink_to(root)
    (root / "a" / "self").symlink_to(root / "a")
    (root / "a" / "around.jpg").symlink_to(root / "a" / "around.jpg")
    (root / "b").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "elsewhere")
    listing = folder(root)
    assert [(path.name, label) for path, label in zip(*listing[:2], strict=True)] == [
        ("1.jpg", "a"),
        ("around.jpg", "a"),  # whether it can be read is seen when it is
        ("2.jpg", "b"),
    ]
    assert listing.ignored == Counter({"folders linked again": 3})


def test_the_same_folder_may_belong_to_two_classes(tmp_path: Path) -> None:
    make(tmp_path, "root/a/1.jpg")
    (tmp_path / "root" / "b").symlink_to(tmp_path / "root" / "a")
    assert folder(tmp_path / "root").labels == ["a", "b"]


def test_pipes_and_dangling_links_are_listed_for_the_reader_to_refuse(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    os.mkfifo(tmp_path / "a" / "pipe.jpg")
    (tmp_path / "a" / "dangling.jpg").symlink_to("nowhere")
    assert [path.name for path in folder(tmp_path).files] == ["dangling.jpg", "pipe.jpg"]


def test_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        folder(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="labels must be 'first' or 'path'"):
        folder(tmp_path, labels="last")  # type: ignore[arg-type]


def test_vectors_come_back_as_they_went(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    rows = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    identity = Identity("pixels", "12ab", "features", {"size": [2, 3], "crop": None})
    files, labels, digests = (
        ["a", "b\n", "c 🍵"],
        ["x", "y", "x"],
        [b"0" * 16, b"1" * 16, b"2" * 16],
    )
    write_vectors(path, rows, labels, files, digests, identity)
    read = read_vectors(path)
    np.testing.assert_array_equal(read.vectors, rows)
    assert (read.extractor, read.labels, read.files) == (identity, labels, files)
    assert read.digests == digests
    write_vectors(path, rows, None, files, digests)
    assert read_vectors(path).labels is None


def test_any_npz_file_with_vectors_will_do(tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", vectors=np.ones((2, 3)), labels=np.array([3, 4]))
    read = read_vectors(tmp_path / "plain.npz")
    assert (read.labels, read.digests, read.extractor) == (["3", "4"], [b"", b""], None)


def test_what_is_no_file_of_vectors_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    for arrays in (
        {"other": np.ones((2, 3))},
        {"vectors": np.ones(3)},
        {"vectors": np.ones((2, 3)), "labels": np.array(["a"])},
        {"vectors": np.ones((2, 3)), "extractor": np.array('{"name": 3}')},
        {"vectors": np.array([[object()]], dtype=object)},
    ):
        np.savez(path, allow_pickle=True, **arrays)
        with pytest.raises(ValueError, match=r"bad\.npz: not a file of vectors"):
            read_vectors(path)
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="not a file of vectors"):
        read_vectors(path)
