"""Images at addresses: what is listed there, what is read, and what is refused."""

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from newfound import InputError, Recogniser, UnreadableImageError
from newfound.datasets import addresses
from newfound.datasets.addresses import images_at, is_address, local_path, read_address
from newfound.recognition import sources
from tests.command_line import newfound, write_pictures


@pytest.fixture
def memory() -> Iterator[Any]:
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://b/a", True),
        ("simplecache::s3://b", True),
        ("zip://a::simplecache::s3://b", True),
        ("C:/a", False),
        ("a/b:c", False),
        ("cats::dogs", False),
        ("cats::", False),
        ("cats::dogs/a::b", False),
    ],
)
def test_addresses_are_told_from_paths(text: str, expected: bool) -> None:
    assert is_address(text) == expected


def test_two_colons_in_the_name_of_a_folder_are_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pictures(tmp_path / "cats::dogs", 0, range(3))
    assert Recogniser(extractor="pixels:size=4").teach("cats::dogs").taught == 3
    done = newfound("teach", "m", "cats::mice", "--extractor", "pixels:size=4")
    assert done.code == 2
    assert "cats::mice" in done.err


def test_a_folder_at_an_address_is_what_it_is_on_a_disk(tmp_path: Path, memory: Any) -> None:
    names = ("b/1.png", "b/x/2.png", "a/3.jpg", "a/notes.txt", "a/.hidden.png", "beside.png")
    for name in names:
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).touch()
        memory.pipe(f"/photos/{name}", b"")
    for labels in ("first", "path"):
        there = sources.find(["memory://photos"], labels=labels)
        here = sources.find([tmp_path / "photos"], labels=labels)
        listed = [(each.path.removeprefix("memory://"), each.label) for each in there.images]  # type: ignore[union-attr]
        assert listed == [
            (str(each.path.relative_to(tmp_path)), each.label)  # type: ignore[union-attr]
            for each in here.images
        ]
        assert sorted(there.passed_over.values()) == sorted(here.passed_over.values())
    class_itself = sources.find(["memory://photos/b/x"])
    assert [each.label for each in class_itself.images] == ["x"]
    assert [each.label for each in sources.find(["memory://photos"], "it").images] == ["it"] * 4


def test_a_single_image_at_an_address_needs_a_label(memory: Any) -> None:
    with pytest.raises(sources.NoLabelError, match="is not a folder"):
        sources.find(["memory://a.png"])
    assert sources.find(["memory://a.png"], "mug").images[0].label == "mug"


def test_files_of_vectors_are_read_from_paths(memory: Any) -> None:
    found = sources.find(["memory://a.npz"])
    assert found.problems == [("memory://a.npz", "files of vectors are read from paths only")]


def test_what_a_listing_puts_elsewhere_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("top/a/1.png", "top/../secret/2.png", "elsewhere/a/3.png")
    listed = {name: {"type": "file"} for name in names}
    monkeypatch.setattr(addresses, "_listed", lambda _: (listed, "top/"))
    assert [found.address for found in images_at("x://top", Counter())] == ["x://top/a/1.png"]


def test_a_file_that_is_too_large_is_not_read_whole(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(addresses, "LARGEST_FILE", 10)
    memory.pipe("/a.png", b"0" * 10)
    assert read_address("memory://a.png") == b"0" * 10
    memory.pipe("/a.png", b"0" * 11)
    with pytest.raises(UnreadableImageError, match="a file of more than"):
        read_address("memory://a.png")


def test_what_no_address_can_name_is_passed_over(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("mug/x::y.png", b"")
        archive.writestr("mug/z.png", b"")
    ignored = Counter[str]()
    (found,) = images_at(f"zip://::file://{tmp_path}/a.zip", ignored)
    assert found.address == f"zip://mug/z.png::file://{tmp_path}/a.zip"
    assert ignored == {"named with ::": 1}


def test_an_address_of_a_file_is_a_path(tmp_path: Path) -> None:
    write_pictures(tmp_path / "mug", 0, range(3))
    assert local_path(f"file://{tmp_path}") == tmp_path
    recogniser = Recogniser(extractor="pixels:size=4")
    assert recogniser.teach(f"file://{tmp_path}/mug").taught == 3
    assert recogniser.teach(tmp_path / "mug").known == 3


def test_images_in_an_archive_are_taught_and_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("photos.zip", "w") as archive:
        for number, thing in enumerate(("cup", "mug")):
            for path in write_pictures(tmp_path / "photos" / thing, number, range(9)):
                archive.write(path, path.relative_to(tmp_path / "photos"))
        archive.writestr("mug/damaged.png", b"no image")
    done = newfound("teach", "m", "zip://::photos.zip", "--extractor", "pixels:size=4")
    assert done.code == 3
    assert "Learned 18 images" in done.err
    assert "zip://mug/damaged.png::photos.zip: not an image" in done.err
    answer = newfound("predict", "m", "zip://cup/000.png::photos.zip")
    assert answer.code == 0
    assert answer.out.split("\t")[1] == "cup"


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("nonsense://photos", 2, "Protocol not known: nonsense"),
        ("gs://bucket/photos", 1, "gcsfs"),
        ("zip://photos::nowhere.zip", 1, "nowhere.zip"),
    ],
)
def test_addresses_that_cannot_be_listed_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = newfound("teach", "m", address, "--extractor", "pixels:size=4")
    assert done.code == code, done.err
    assert said in done.err
    assert "internal error" not in done.err


def test_a_package_that_is_missing_is_no_fault_of_an_image() -> None:
    with pytest.raises(ModuleNotFoundError, match="gcsfs"):
        read_address("gs://bucket/a.png")
    with pytest.raises(UnreadableImageError, match="Protocol not known"):
        read_address("nonsense://a.png")
    with pytest.raises(InputError):
        sources.find(["nonsense://a"], "mug")
