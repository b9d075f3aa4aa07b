"""Models and examples as files, and what hostile zips can do: nothing."""

import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound import Recogniser
from newfound.common.errors import InputError
from newfound.features.identity import Identity
from newfound.features.images import count_pixels
from newfound.features.pixels import Pixels
from newfound.studio import archives, zip_directory
from newfound.studio.folder_names import LONGEST_NAME, FolderNames, label_of
from newfound.studio.incoming import usable
from newfound.studio.limits import MB, ServiceLimits
from tests.command_line import newfound
from tests.studio.conftest import EXTRACTOR, Serve, Served, png, started

LABELS = ["mug", "Mug", "cup/blue", ".hidden", "100% wool", "a%41", "nul", "Zoë", "trailing."]


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def bring(served: Served, data: bytes) -> dict[str, object]:
    answer = served.http.post(
        "/api/import/examples", content=data, headers={"content-type": "application/zip"}
    )
    assert answer.status_code == 200, answer.text
    done: dict[str, object] = answer.json()
    return done


@pytest.mark.slow
def test_a_model_taken_along_is_the_model_and_one_brought_in_replaces_it(
    served: Served, tmp_path: Path
) -> None:
    assert served.http.get("/api/export/model").status_code == 409
    served.teach("mug", 0, 1)
    served.teach("cup", 0, 2)
    taken = served.http.get("/api/export/model")
    assert "kitchen.newfound" in taken.headers["content-disposition"]
    (tmp_path / "other.newfound").write_bytes(taken.content)
    other = Recogniser(tmp_path / "other.newfound", EXTRACTOR)
    assert other.counts == {"cup": 1, "mug": 1}
    other.teach(png(3, 3), "pot")
    other.save()
    data = (tmp_path / "other.newfound").read_bytes()
    done = served.http.post("/api/import/model?key=import-0001", content=data)
    assert done.status_code == 200, done.text
    assert served.counts() == {"cup": 1, "mug": 1, "pot": 1}
    again = served.http.post("/api/import/model?key=import-0001", content=data).json()
    assert again["repeated"]
    served.post("/api/undo")
    assert served.counts() == {"cup": 1, "mug": 1}


def test_what_is_no_model_changes_nothing_and_names_no_file_of_ours(served: Served) -> None:
    served.teach("mug")
    for data in (b"", b"no model", b"\xff" * 5000):
        answer = served.http.post("/api/import/model", content=data)
        assert answer.status_code == 422
        assert "this file" in answer.json()["error"]
        assert "/tmp" not in answer.text
    assert served.counts() == {"mug": 1}


def model_of(path: Path, extractor: str | None, *rows: list[float]) -> bytes:
    """The file of a model that was taught an image, or vectors of nobody knows what."""
    model = Recogniser(path, extractor)
    if rows:
        model.teach_vectors(rows, ["cup"] * len(rows))
    else:
        model.teach(png(1, 1), "cup")
    model.save()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("extractor", "rows", "words"),
    [
        (None, [[0.0, 1.0, 2.0]], "vectors of 3 features, but images become vectors of 64 here"),
        ("pixels:size=4", [], "pixels"),
    ],
)
def test_a_model_that_cannot_be_used_here_is_refused_and_changes_nothing(
    served: Served, tmp_path: Path, extractor: str | None, rows: list[list[float]], words: str
) -> None:
    served.teach("mug", 0, 1)
    data = model_of(tmp_path / "other.newfound", extractor, *rows)
    before = served.editor.history.position
    answer = served.http.post("/api/import/model", content=data)
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["error"]
    assert str(tmp_path) not in answer.text
    assert (served.counts(), served.editor.history.position) == ({"mug": 1}, before)
    assert served.http.post("/api/look", content=png()).status_code == 200


def test_a_model_of_vectors_as_wide_as_those_of_images_is_taken(
    served: Served, tmp_path: Path
) -> None:
    data = model_of(tmp_path / "other.newfound", None, [0.5] * 64)
    assert served.http.post("/api/import/model", content=data).status_code == 200
    assert served.http.post("/api/look", content=png()).json()["label"] == "cup"


def test_a_model_whose_network_is_not_here_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.newfound"
    other = Recogniser(path, None)
    made_by = Identity("onnx", "0" * 64, "features")
    other.teach_vectors([[0.0] * 64], ["cup"], extractor=made_by)
    other.save()
    here = Recogniser()  # by default a model brings its own extractor
    here.knowledge.identity = Pixels(size=8).identity
    with pytest.raises(InputError, match="say where that network's file is"):
        usable(path, here)


def test_a_model_that_was_taught_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_of(tmp_path / "other.newfound", EXTRACTOR)
    monkeypatch.setattr(Recogniser, "is_taught", False)
    with pytest.raises(InputError, match="taught nothing"):
        usable(tmp_path / "other.newfound", Recogniser(extractor=EXTRACTOR))


@pytest.mark.slow
def test_examples_taken_along_are_read_back_by_the_service_and_by_teach(
    served: Served, tmp_path: Path
) -> None:
    for number, label in enumerate(LABELS):
        served.teach(label, number, number)
    data = served.http.get("/api/export/examples").content
    (tmp_path / "new").mkdir()
    with started(tmp_path / "new") as other:
        assert bring(other, data)["taught"] == len(LABELS)
        assert sorted(other.counts()) == sorted(LABELS)
        assert bring(other, data)["known"] == len(LABELS)
        assert other.post("/api/undo").status_code == 200  # a zip is undone as one
        assert other.counts() == {}
    zipfile.ZipFile(io.BytesIO(data)).extractall(tmp_path / "photos")
    done = newfound("teach", tmp_path / "m", tmp_path / "photos", "--extractor", EXTRACTOR)
    assert done.code == 0, done.err
    taught = Recogniser(tmp_path / "m", None).classes
    assert {"100% wool", "Zoë"} <= set(taught)
    assert sorted(map(label_of, taught)) == sorted(LABELS)


def folder_names(labels: list[str]) -> dict[str, str]:
    names = FolderNames()
    return {label: names.of(label) for label in labels}


@pytest.mark.slow
@given(st.lists(st.text(min_size=1, max_size=60), unique=True, max_size=8))
def test_folders_of_labels_are_safe_distinct_and_read_back(labels: list[str]) -> None:
    names = folder_names(labels)
    folded = {name.casefold() for name in names.values()}
    assert len(folded) == len(labels)
    for label, name in names.items():
        assert name not in ("", ".", "..")
        assert not set(name) & set('/\\:*?"<>|\0')
        assert not name.startswith(".")
        assert not name.endswith((".", " "))
        assert len(name.encode()) <= LONGEST_NAME
        if "~" not in name:
            assert label_of(name) == label


def test_labels_that_cannot_be_names_of_folders_are_escaped_as_documented() -> None:
    assert folder_names(["cup/blue", "../x", "con", "e\u0301", "Mug", "mug"]) == {
        "cup/blue": "cup%2Fblue",
        "../x": "%2E.%2Fx",
        "con": "%63on",
        "e\u0301": "e%CC%81",
        "Mug": "Mug",
        "mug": "%6D%75%67",
    }
    long = folder_names(["x" * 300, "x" * 301])
    assert [name[:184] for name in long.values()] == ["x" * 183 + "~"] * 2


def test_each_label_of_an_export_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    named = list[str]()

    def counted(label: str, letters: bool = False) -> str:
        named.append(label)
        return label

    monkeypatch.setattr("newfound.studio.folder_names._escaped", counted)
    labels = [f"class {number}" for number in range(50)]
    with archives.pack((n, label, b"") for n, label in enumerate(labels * 2)) as file:
        names = zipfile.ZipFile(file).namelist()
    assert names[60] == "class 10/60.jpg"
    assert named == labels


def test_folders_say_what_images_show(shared: Served) -> None:
    one = {"a1/1.png": png(0, 1), "a1/deeper/2.png": png(1, 1), "b1/3.png": png(2, 2)}
    assert bring(shared, zipped(one))["taught"] == 3
    around = {"photos/a2/1.png": png(3, 1), "photos/b2/2.png": png(4, 2)}
    assert bring(shared, zipped(around))["taught"] == 2
    assert {"a1": 2, "b1": 1, "a2": 1, "b2": 1}.items() <= shared.counts().items()


def test_what_cannot_be_used_is_listed_and_the_rest_is_taught(shared: Served) -> None:
    files = {
        "good/1.png": png(10, 1),
        "good/2.png": b"no image",
        "good/notes.txt": b"not listed",
        "good/.hidden.png": b"not listed",
        "__MACOSX/good/._1.png": b"not listed",
        "beside.png": png(),
        "bad\nlabel/1.png": png(),
        "../../escape/1.png": png(11, 1),
        "/etc/1.png": png(12, 1),
    }
    done = bring(shared, zipped(files))
    assert done["taught"] == 3
    problems = done["problems"]
    assert isinstance(problems, list)
    assert sorted(each["name"] for each in problems) == [
        "bad\nlabel/1.png",
        "beside.png",
        "good/2.png",
    ]
    assert {"good": 1, "escape": 1, "etc": 1}.items() <= shared.counts().items()


def damaged() -> bytes:
    data = bytearray(zipped({"mug/1.png": png(5, 5)}, zipfile.ZIP_STORED))
    start = data.index(b"IDAT")
    data[start + 4 : start + 8] = b"\0\0\0\0"
    return bytes(data)


def locked() -> bytes:
    data = bytearray(zipped({"mug/1.png": png(6, 6)}))
    for mark, offset in (b"PK\x03\x04", 6), (b"PK\x01\x02", 8):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


@pytest.mark.parametrize("data", [damaged(), locked()])
def test_a_damaged_or_locked_entry_is_a_problem_of_its_own(shared: Served, data: bytes) -> None:
    done = bring(shared, data)
    assert done["taught"] == 0
    assert isinstance(done["problems"], list)
    assert [each["name"] for each in done["problems"]] == ["mug/1.png"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello", "not a zip"),
        (b"", "not a zip"),
        (zipped({"mug/1.png": png()})[:-30], "not a zip"),
        (zipped({}), "no images"),
        (zipped({"mug/a.txt": b"x"}), "no images"),
    ],
)
def test_what_is_no_zip_of_images_is_refused(shared: Served, data: bytes, words: str) -> None:
    answer = shared.http.post("/api/import/examples", content=data)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_a_bomb_is_refused_before_it_is_unpacked(
    shared: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_ARCHIVE", 5 * MB)
    monkeypatch.setattr(archives, "MOST_ENTRIES", 10)
    monkeypatch.setattr(archives, "LARGEST_ENTRY", 1 * MB)
    bomb = zipped({f"mug/{n}.png": bytes(MB) for n in range(6)})
    answer = shared.http.post("/api/import/examples", content=bomb)
    assert "more than 5 MB" in answer.json()["error"]
    many = zipped({f"mug/{n}.png": b"" for n in range(11)})
    answer = shared.http.post("/api/import/examples", content=many)
    assert "11 files" in answer.json()["error"]
    done = bring(shared, zipped({"mug/1.png": bytes(2 * MB)}))
    assert done["problems"] == [{"name": "mug/1.png", "reason": "more than 1 MB"}]


def with_record(data: bytes, **said: int) -> bytes:
    """A zip whose last record says something else."""
    end = bytearray(data[-22:])
    places = {"entries": (10, 2), "size": (12, 4)}
    for name, value in said.items():
        start, length = places[name]
        end[start : start + length] = value.to_bytes(length, "little")
    return data[:-22] + bytes(end)


def commented(data: bytes) -> bytes:
    """A zip with a comment."""
    file = io.BytesIO(data)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"photos of the kitchen"
    return file.getvalue()


ELEVEN = zipped({f"mug/{n}.png": b"" for n in range(11)})
LOCATOR = b"PK\x06\x07" + bytes(16)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ELEVEN, "a zip of 11 files; at most 10"),
        (commented(ELEVEN), "a zip of 11 files"),
        (b"before" + ELEVEN, "a zip of 11 files"),
        (with_record(ELEVEN, entries=1), "a zip of 11 files"),
        (with_record(zipped({"mug/1.png": b""}), entries=60_000), "a zip of 60000 files"),
        (with_record(ELEVEN, size=2**32 - 1), "not a zip"),
        (ELEVEN[:-22] + LOCATOR + ELEVEN[-22:], "zip64"),
        (zipped({"mug/" + "x" * 2000 + ".png": b""}), "names that are too long"),
    ],
)
def test_a_directory_is_measured_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch, data: bytes, words: str
) -> None:
    def read(_: object) -> None:
        pytest.fail("the directory is read")

    monkeypatch.setattr(archives, "MOST_ENTRIES", 10)
    monkeypatch.setattr(zip_directory, "LARGEST_DIRECTORY", 1000)
    monkeypatch.setattr(zipfile, "ZipFile", read)
    with pytest.raises(InputError, match=words):
        archives.unpack(io.BytesIO(data))


@pytest.mark.parametrize("change", [bytes, commented, b"before".__add__])
def test_a_zip_with_something_around_it_is_a_zip(change: Callable[[bytes], bytes]) -> None:
    archive, found, problems = archives.unpack(io.BytesIO(change(ELEVEN)))
    assert (len(found), problems) == (11, [])
    archive.close()


def test_an_entry_that_lies_about_its_size_gives_no_more_than_it_says(shared: Served) -> None:
    data = bytearray(zipped({"mug/1.png": bytes(8 * MB)}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    done = bring(shared, bytes(data))
    assert done["taught"] == 0
    assert isinstance(done["problems"], list)
    assert len(done["problems"]) == 1


def test_a_slow_upload_stops_nobody_else(served: Served, tmp_path: Path) -> None:
    served.teach("cup", 0, 2)
    model = served.http.get("/api/export/model").content
    data = zipped({"mug/1.png": png()})

    def slowly() -> Iterator[bytes]:
        yield data[:10]
        assert served.http.get("/api/export/examples").status_code == 200
        assert served.http.get("/api/export/model").status_code == 200
        assert served.http.post("/api/import/model", content=model).status_code == 200
        yield data[10:]

    answer = served.http.post("/api/import/examples", content=slowly())
    assert answer.json()["taught"] == 1


def test_no_more_files_are_on_their_way_than_may_be(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(uploads=1))
    data = zipped({"mug/1.png": png()})

    def slowly() -> Iterator[bytes]:
        yield data[:10]
        while not served.service.uploads:  # it has not begun to read yet
            sleep(0.01)
        refused = served.http.post("/api/import/examples", content=data)
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "5"
        yield data[10:]

    assert served.http.post("/api/import/examples", content=slowly()).json()["taught"] == 1
    assert bring(served, data)["known"] == 1


def test_one_file_at_a_time_is_made_or_read(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    packing, go_on = threading.Event(), threading.Event()

    def slow(examples: Iterator[tuple[int, str, bytes]]) -> IO[bytes]:
        packing.set()
        assert go_on.wait(20)
        return archives.pack(examples)

    monkeypatch.setattr("newfound.studio.routes.exchange.pack", slow)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(served.http.get, "/api/export/examples")
        assert packing.wait(20)
        refused = served.http.get("/api/export/examples")
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "5"
        brought = threads.submit(bring, served, zipped({"mug/1.png": png()}))
        go_on.set()
        assert first.result(20).status_code == 200
        assert brought.result(20)["taught"] == 1


FIVE = zipped({f"mug/{n}.png": png(n, 1) for n in range(5)})


def test_an_import_ends_when_it_has_decoded_what_it_may_and_goes_on_when_it_is_sent_again(
    serve: Serve,
) -> None:
    served = serve(limits=ServiceLimits(import_pixels=2 * count_pixels(png())))
    names = ("taught", "known", "left")
    first, second, third = bring(served, FIVE), bring(served, FIVE), bring(served, FIVE)
    assert [first[name] for name in names] == [2, 0, 3]
    assert "megapixels; import the same zip again" in str(first["stopped"])
    assert [second[name] for name in names] == [2, 2, 1]
    assert [third[name] for name in names] == [1, 4, 0]
    assert (first["problems"], third["stopped"]) == ([], None)
    served.post("/api/undo")
    served.post("/api/undo")
    assert served.counts() == {"mug": 2}  # what was taught stays, and is undone as one


def test_an_import_ends_when_it_has_taken_as_long_as_it_may(serve: Serve) -> None:
    done = bring(serve(limits=ServiceLimits(import_seconds=0.0)), FIVE)
    assert (done["taught"], done["left"]) == (0, 5)
    assert "an import may take 0 minutes" in str(done["stopped"])


def test_all_see_how_far_an_import_is_and_it_can_be_stopped(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow(archive: zipfile.ZipFile, image: archives.ArchiveImage) -> bytes:
        if image.name == "mug/2.png":
            reading.set()
            assert go_on.wait(20)
        return archives.read(archive, image)

    monkeypatch.setattr("newfound.studio.imports.read", slow)
    with ThreadPoolExecutor() as threads, served.live() as talk:
        brought = threads.submit(bring, served, FIVE)
        assert reading.wait(20)
        talk.next("state", importing={"done": 2, "of": 5})
        assert served.http.get("/api/state").json()["importing"] == {"done": 2, "of": 5}
        assert served.post("/api/import/stop").status_code == 204
        go_on.set()
        done = brought.result(20)
        talk.next("state", importing=None)
    assert (done["taught"], done["left"], done["stopped"]) == (3, 2, "it was stopped")
    assert served.counts() == {"mug": 3}


def test_to_stop_an_import_where_there_is_none_does_nothing(served: Served) -> None:
    assert served.post("/api/import/stop").status_code == 204
    done = bring(served, FIVE)
    assert (done["taught"], done["left"], done["stopped"]) == (5, 0, None)


def test_nothing_of_a_zip_is_written_anywhere(shared: Served, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        bring(shared, zipped({"../up/1.png": png(20, 1), "here/1.png": png(21, 1)}))
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent / "up").exists()
