"""Files from strangers: nothing is allocated, waited for or believed because a file says so."""

import io
import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier, IncrementalRidgeClassifierCV, ModelFileError
from newfound.common.files import cache_folder, make_private, open_regular, read_own, write_whole
from newfound.datasets.vectors_file import read_vectors
from newfound.features.efficientnet import graph
from tests.crafted import craft, put_together, taken_apart
from tests.peak_memory import PEAK

RNG = np.random.default_rng(0)
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs modes, owners and pipes")

# Runs Python code with the path of a file; prints what went wrong, and the peak of its memory.
MEASURED = (
    PEAK
    + """
import newfound, newfound.datasets.vectors_file as vectors_file
try:
    {call}(sys.argv[1])
except (ValueError, OSError) as error:
    print(error)
print(peak_mb())
"""
)


def said_and_peak(call: str, path: Path) -> tuple[str, int]:
    """Return what is said of a file, and how many MB it took to come to that."""
    command = [sys.executable, "-c", MEASURED.format(call=call), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    said, peak = run.stdout.splitlines()
    return said, int(peak)


def save_npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, allow_pickle=True, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


def write_bomb(path: Path, rows: int, declared: int | None = None) -> None:
    """Write zeros, 8 GB of them if there are a million rows, as an npz file of a few MB."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (declared or rows, 1000)}
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("vectors.npy", "w", force_zip64=True) as file,
    ):
        file.write(header.getvalue())
        for _ in range(0, rows, 1000):
            file.write(bytes(8_000_000))


@posix_only
def test_a_packed_file_that_unpacks_to_gigabytes_is_refused_unopened(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    write_bomb(path, 20_000)
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo("vectors.npy").file_size
    assert path.stat().st_size < member / 500
    # The same file, but its directory says that it holds 160 GB.
    data = path.read_bytes()
    at = data.rindex(member.to_bytes(4, "little"))
    path.write_bytes(data[:at] + (0xF0000000).to_bytes(4, "little") + data[at + 4 :])
    said, peak = said_and_peak("vectors_file.read_vectors", path)
    assert "do not have the size" in said
    assert peak < 300


def test_what_a_file_may_unpack_to_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.npz"
    write_bomb(path, 1000)
    monkeypatch.setenv("NEWFOUND_MAX_VECTORS_BYTES", "1000000")
    with pytest.raises(ValueError, match=r"bomb\.npz.*unpacks to .*NEWFOUND_MAX_VECTORS_BYTES=80"):
        read_vectors(path)
    monkeypatch.setenv("NEWFOUND_MAX_VECTORS_BYTES", "9000000")
    assert read_vectors(path).vectors.shape == (1000, 1000)
    # What is not packed is as large as it says, and never too large.
    monkeypatch.setenv("NEWFOUND_MAX_VECTORS_BYTES", "1000")
    assert len(read_vectors(save_npz(path, vectors=np.ones((100, 100)))).vectors) == 100


def test_an_array_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lie.npz"
    write_bomb(path, 1000, declared=10**9)
    with pytest.raises(ValueError, match="vectors do not have the size that it says"):
        read_vectors(path)


def write_headers(path: Path, **headers: tuple[str, tuple[int, ...]]) -> Path:
    """Write an npz file of arrays that have a type and a shape, and nothing in them."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, (descr, shape) in headers.items():
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(
                header, {"descr": descr, "fortran_order": False, "shape": shape}
            )
            archive.writestr(f"{name}.npy", header.getvalue())
    return path


@posix_only
@pytest.mark.parametrize(
    "headers",
    [
        {"vectors": ("<f8", (10**9, 0))},
        {"vectors": ("<f8", (0, 3)), "labels": ("<U0", (10**9,))},
        {"vectors": ("<f8", (0, 3)), "files": ("|S0", (10**9,))},
    ],
)
def test_a_billion_rows_of_nothing_take_no_memory(headers: Any, tmp_path: Path) -> None:
    path = write_headers(tmp_path / "nothing.npz", **headers)
    said, peak = said_and_peak("vectors_file.read_vectors", path)
    assert "not rows of numbers" in said or "do not have the size" in said
    assert peak < 300


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, [3])}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2, x)}",
        b"{'descr': '<q9', 'fortran_order': False, 'shape': (2, 3)}",
        b"{'descr': '<f8'",
        b"(" * 5000,
        b"\xff",
    ],
)
def test_an_array_that_begins_wrongly_is_refused_in_plain_words(
    header: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        start = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
        archive.writestr("vectors.npy", start + header + bytes(48))
    with pytest.raises(ValueError, match=r"\(its vectors do not begin as arrays of numpy do\)"):
        read_vectors(path)


def test_an_encrypted_file_is_called_that(tmp_path: Path) -> None:
    path = save_npz(tmp_path / "v.npz", vectors=np.ones((2, 3)))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # as its directory says
    path.write_bytes(data)
    with pytest.raises(ValueError, match="it is encrypted"):
        read_vectors(path)


@pytest.mark.parametrize("wrong", ["4G", "-1", "1e9", "²", "9" * 30])
def test_a_setting_that_is_no_number_is_blamed_and_not_the_file(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_npz(tmp_path / "v.npz", vectors=np.ones((2, 3)))
    monkeypatch.setenv("NEWFOUND_MAX_VECTORS_BYTES", wrong)
    with pytest.raises(ValueError, match=r"_MAX_VECTORS_BYTES is .* number of bytes") as why:
        read_vectors(path)
    assert "v.npz" not in str(why.value)


@pytest.mark.parametrize(
    ("labels", "read"),
    [
        ([b"mug", "café".encode()], ["mug", "café"]),
        ([5.0, -3.0], ["5", "-3"]),
        ([True, False], ["True", "False"]),
        (np.array([5, 7], dtype=np.uint8), ["5", "7"]),
    ],
)
def test_labels_of_any_plain_type_are_read_as_texts(
    labels: Any, read: list[str], tmp_path: Path
) -> None:
    path = save_npz(tmp_path / "v.npz", vectors=np.ones((2, 3)), labels=labels)
    assert read_vectors(path).labels == read


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([b"\xff\xfe", b"a"], "bytes that are not UTF-8"),
        ([1.5, 2.0], "not whole"),
        ([np.nan, 2.0], "not whole"),
        ([1j, 2.0], "not one text or whole number"),
        (np.array(["a" * 1001, "b"]), "wider than the 1000 characters"),
        ([b"a" * 1001, b"b"], "one of 1001 characters; a label may have 1000"),
        (["\U0001d160" * 400, "b"], "one of 1200 characters; a label may have 1000"),
        (["\ud800", "b"], r"its labels are no text: '.ud800'"),
        (np.zeros(2, dtype=[("x", "<f8")]), "labels are a structured array"),
        (np.array(["a", None], dtype=object), "Python objects, which are not read"),
        (["a"], "2 vectors, but another number"),
        ("a", "2 vectors, but another number"),
    ],
)
def test_labels_that_are_none_are_refused_in_words(
    labels: Any, message: str, tmp_path: Path
) -> None:
    path = save_npz(tmp_path / "v.npz", vectors=np.ones((2, 3)), labels=labels)
    with pytest.raises(ValueError, match=rf"v\.npz: not a file of vectors \(.*{message}"):
        read_vectors(path)


def test_names_of_files_may_be_bytes_but_nothing_that_cannot_be_written(tmp_path: Path) -> None:
    path, rows = tmp_path / "v.npz", np.ones((1, 3))
    odd = os.fsdecode(b"\xff.jpg")
    assert read_vectors(save_npz(path, vectors=rows, files=[odd])).files == [odd]
    with pytest.raises(ValueError, match="its files are no text"):
        read_vectors(save_npz(path, vectors=rows, files=["\udfff.jpg"]))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_])
def test_whole_numbers_are_vectors(dtype: Any, tmp_path: Path) -> None:
    values = np.array([[0, 1], [1, 1]], dtype=dtype)
    vectors = read_vectors(save_npz(tmp_path / "v.npz", vectors=values)).vectors
    assert vectors.dtype == np.float64
    np.testing.assert_array_equal(vectors, values)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.full((2, 2), 2**53 + 1), "no float64 holds exactly"),
        (np.full((2, 2), 2**64 - 1, dtype=np.uint64), "no float64 holds exactly"),
        (np.ones(3), "not rows of numbers"),
        (np.ones((5, 0)), "not rows of numbers"),
        (np.ones(()), "not rows of numbers"),
        (np.zeros((2, 2), dtype=[("x", "<f8")]), "vectors are a structured array"),
        (np.full((2, 2), "a"), "not rows of numbers"),
        (np.full((2, 2), None), "Python objects, which are not read"),
    ],
)
def test_vectors_that_are_none_are_refused_in_words(
    vectors: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        read_vectors(save_npz(tmp_path / "v.npz", vectors=vectors))


def test_junk_is_refused_without_advice_to_trust_it(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    for junk in (b"", b"junk", b"\x80\x04]\x94.", b"PK\x03\x04" + bytes(100)):
        path.write_bytes(junk)
        with pytest.raises(ValueError, match="not a file of vectors") as refused:
            read_vectors(path)
        assert "pickle" not in str(refused.value)


def test_a_label_has_at_most_a_thousand_characters(tmp_path: Path) -> None:
    model = IncrementalRidgeClassifier()
    for labels in (["a" * 1001], np.array(["a" * 1001]), np.array(["a" * 1001], dtype=object)):
        with pytest.raises(ValueError, match="label of 1001 characters; a label may have 1000"):
            model.fit([[1.0]], labels)
    model.fit([[1.0]], ["a" * 1000]).save(tmp_path / "long")
    with pytest.raises(ValueError, match="label may have 1000"):
        model.rename_class("a" * 1000, "b" * 1001)
    assert newfound.load(tmp_path / "long").classes_.tolist() == ["a" * 1000]
    wide = np.array(["a", "b"], dtype="<U5000")
    assert IncrementalRidgeClassifier().fit(np.eye(2), wide).classes_.dtype == "<U1"


@posix_only
def test_a_model_file_cannot_ask_for_memory_by_the_width_of_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "bomb.newfound"
    model = IncrementalRidgeClassifier().fit(RNG.normal(size=(60, 4)), list("abc") * 20)
    craft(model, path, header={"label_type": "<U300000000"})
    said, peak = said_and_peak("newfound.load", path)
    assert "a label may have 1000" in said
    assert peak < 300


@posix_only
@pytest.mark.parametrize("start", [b"", bytes(4) + b"ftypmp42", b"\xff\xff\xff\x01\0\0\0\0{"])
def test_a_large_file_that_is_no_model_is_not_read(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(4 * 2**30)  # of zeros, which take no room on the disk
    said, peak = said_and_peak("newfound.load", path)
    assert "not a model file" in said
    assert peak < 300


@posix_only
def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, kind in ((tmp_path / "pipe", "a named pipe"), (tmp_path, "a folder")):
        with pytest.raises(OSError, match=f"{kind}, not a file: '{name}'"):
            open_regular(name)
        with pytest.raises(OSError, match=f"{kind}, not a file: '{name}'"):
            newfound.load(name)
    with pytest.raises(OSError, match="a device, not a file: '/dev/null'"):
        write_whole("/dev/null", b"nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_named_with_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*kitchen'"):
        write_whole(tmp_path / "kitchen", b"whole")
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '.*nowhere/kitchen'"):
        write_whole(tmp_path / "nowhere" / "kitchen", b"whole")


@posix_only
def test_the_cache_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path))
    whole = graph()
    (made,) = tmp_path.iterdir()
    for disturb in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir):
        made.unlink()
        disturb(made)
        assert graph() == whole
        if made.is_dir():
            made.rmdir()
            assert graph() == whole
        assert made.is_file()
        assert not made.is_symlink()
    assert stat.S_ISCHR(Path("/dev/zero").stat().st_mode)
    with made.open("r+b") as file:
        file.truncate(2**40)
    assert graph() == whole


@posix_only
def test_only_what_the_user_wrote_is_read_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    assert read_own(tmp_path / "mine", 4) == b"mine"
    with pytest.raises(OSError, match="larger than 3 bytes"):
        read_own(tmp_path / "mine", 3)
    make_private(tmp_path / "folder")
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o700
    (tmp_path / "folder").chmod(0o777)
    with pytest.raises(PermissionError, match="belongs to others"):
        make_private(tmp_path / "folder")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(PermissionError, match="someone else"):
        read_own(tmp_path / "mine", 4)
    with pytest.raises(PermissionError, match="belongs to others"):
        make_private(tmp_path)


@posix_only
def test_users_without_a_home_have_a_cache_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: Any) -> Path:
        raise RuntimeError("no home")

    for name in ("NEWFOUND_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    folder = cache_folder()
    assert folder.parent == Path(tempfile.gettempdir())
    assert str(os.geteuid()) in folder.name


def test_candidates_are_boundedly_many() -> None:
    X, y = RNG.normal(size=(20, 2)), ["a", "b"] * 10
    model = IncrementalRidgeClassifierCV(penalties=np.linspace(1, 2, 1001), recodings=0.5)
    with pytest.raises(ValueError, match="1001 penalties times 1 recodings are more candidates"):
        model.fit(X, y)


EVIL: list[dict[str, Any]] = [
    {"gram": lambda gram: np.full_like(gram, 1.7e308)},
    {"cross": lambda cross: np.full_like(cross, 1.2e308)},
    {"counts": lambda counts: np.full_like(counts, 2**62)},
    {"counts": lambda counts: np.full_like(counts, 2**53)},
    {"gram_folds": lambda folds: folds - 7},
    {"gram_folds": lambda folds: folds * 0 + 2**62},
    {"gram": lambda gram: gram * np.where(np.arange(10) == 1, 1e6, 1)},  # not positive definite
    {"gram": lambda gram: gram * np.where(np.arange(10) == 1, -1e4, 1)},
    {"gram": lambda gram: -gram},
    {"gram": np.zeros_like},
    {"cross": lambda cross: 0 * cross + 1e4},  # n mean mean' beyond X'X
    {"gram_dropped": lambda dropped: dropped + 1.0},
    {"cross_dropped": lambda dropped: dropped + 1.0},
    {"gram_peak": lambda peak: peak - 1.0},
    {"gram_peak": lambda peak: peak * np.nan},
    {"counts": lambda counts: counts * [0, 1, 1]},
]


@pytest.mark.parametrize("class_weight", [None, {}])
@pytest.mark.parametrize("tensors", EVIL)
def test_sums_that_no_teaching_leads_to_are_refused(
    tensors: dict[str, Any], class_weight: Any, tmp_path: Path
) -> None:
    model = IncrementalRidgeClassifier(class_weight=class_weight)
    model.fit(RNG.normal(size=(180, 4)), list("abc") * 60)
    craft(model, tmp_path / "evil", tensors=tensors)
    with pytest.raises(ModelFileError, match=r"evil: damaged: its .* do not fit together"):
        newfound.load(tmp_path / "evil")


def test_sums_of_no_data_are_refused_also_without_a_word_on_what_went_through(
    tmp_path: Path,
) -> None:
    model = IncrementalRidgeClassifier().fit(RNG.normal(size=(180, 4)), list("abc") * 60)
    model.save(tmp_path / "evil")
    header, tensors = taken_apart(tmp_path / "evil")
    del tensors["gram_peak"]
    tensors["gram"] = tensors["gram"] * np.where(np.arange(10) == 1, 50.0, 1.0)
    put_together(tmp_path / "evil", header, tensors)
    with pytest.raises(ModelFileError, match="damaged: its sums do not fit together"):
        newfound.load(tmp_path / "evil")


def no_features(tensor: Any) -> Any:
    return tensor[..., :0]


@pytest.mark.parametrize(
    ("header", "tensors", "message"),
    [
        (
            {},
            dict.fromkeys(("cross", "cross_dropped", "gram", "gram_dropped", "rows"), no_features),
            "labels do not fit",
        ),
        (
            {
                "extractor": {
                    "name": "a",
                    "weights": "",
                    "output": "",
                    "preprocessing": {"size": int("9" * 400)},
                }
            },
            {},
            "damaged",
        ),
        ({"parameters": {"penalties": [1.0 + k for k in range(20_000)]}}, {}, "more candidates"),
        ({"estimator": ["IncrementalRidgeClassifier"]}, {}, "types do not fit"),
        ({"labels": [True, False, 2], "label_type": "<i8"}, {}, "labels do not fit"),
        ({"label_type": "|O"}, {}, "labels do not fit"),
        ({"parameters": None}, {}, "not a model's"),
    ],
)
def test_headers_that_no_model_has_are_refused(
    header: dict[str, Any], tensors: dict[str, Any], message: str, tmp_path: Path
) -> None:
    model = IncrementalRidgeClassifierCV().fit(RNG.normal(size=(180, 4)), list("abc") * 60)
    craft(model, tmp_path / "evil", header=header, tensors=tensors)
    with pytest.raises(ModelFileError, match=f"evil: .*{message}"):
        newfound.load(tmp_path / "evil")


@pytest.mark.parametrize("part", ["gram", "cross", "counts", "shown"])
def test_what_could_not_be_loaded_is_not_written_and_the_old_file_stays(
    part: str, tmp_path: Path
) -> None:
    """Merging adds what was within bounds until it no longer is."""
    path = tmp_path / "kitchen.newfound"
    model = IncrementalRidgeClassifierCV().fit(RNG.normal(size=(180, 4)), list("abc") * 60)
    model.save(path)
    before = path.read_bytes()
    if part == "gram":
        (gram,) = model._sums.grams
        assert gram.flushed is not None
        gram.flushed.store *= 1e305
    elif part == "cross":
        model._sums._cross.totals[:] *= 1e200
    elif part == "counts":
        model._sums.counts = model._sums.counts + 2**52
    else:
        model._selector.held.shown["a"] = 2**53 + 1
    with pytest.raises(ValueError, match=r"could not be read again|do not fit together"):
        model.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kitchen.newfound"]
