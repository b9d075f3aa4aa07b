"""Files of vectors from strangers: nothing is allocated or believed because a file says so."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.datasets.vectors_file import read_vectors
from tests.peak_memory import said_and_peak

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs modes, owners and pipes")


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


@pytest.mark.slow
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


@pytest.mark.slow
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
