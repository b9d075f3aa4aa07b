"""Vectors in a file: images turned into features once, to be learned many times."""

import io
import json
import math
import os
import unicodedata
import zipfile
from collections.abc import Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.arrays import Rows
from newfound.common.errors import InputError
from newfound.common.files import DIGEST_BYTES, open_regular, write_whole
from newfound.common.limits import LONGEST_LABEL
from newfound.features.identity import Identity

# Bytes that a file may unpack to, where that is more than the file has; and what raises it.
MOST_UNPACKED, MOST_UNPACKED_NAME = 4 * 2**30, "NEWFOUND_MAX_VECTORS_BYTES"
# Bytes that are unpacked at a time.
_PIECE = 2**20
# Of the flags of a zip file's member.
_ENCRYPTED = 1
# Up to here every whole number is a float64.
_WHOLE = 2**53


class VectorsFile(NamedTuple):
    """What a file of vectors holds."""

    vectors: Rows  # shape (n, d)
    labels: list[str] | None  # of each, if they have any
    files: list[str]  # where each came from, as it was called then
    digests: list[bytes]  # of the files they came from; empty where that is not known
    extractor: Identity | None  # what made them, if that is known


def write_vectors(
    path: str | os.PathLike[str],
    vectors: Rows,
    labels: Sequence[str] | None,
    files: Sequence[str],
    digests: Sequence[bytes],
    extractor: Identity | None = None,
) -> None:
    """Write vectors, whole or not at all, as an npz file that numpy reads without pickle.

    It holds `vectors`, `labels` (none if there are none), `files`, `digests` and, as JSON,
    `extractor`.
    """
    sizes = {len(digest) for digest in digests}
    if not len(vectors) == len(files) == len(digests) or not sizes <= {0, DIGEST_BYTES}:
        raise InputError(f"each vector needs a file and a digest of {DIGEST_BYTES} bytes, or none")
    if len(sizes) > 1:
        raise InputError("either all vectors have a digest or none has")
    identity = None if extractor is None else extractor.to_json()
    arrays = {
        "vectors": np.asarray(vectors),
        "files": np.array(files, dtype=np.str_),
        "digests": np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(digests), -1),
        "extractor": np.array(json.dumps(identity)),
    }
    if labels is not None:
        arrays["labels"] = np.array(labels, dtype=np.str_)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    write_whole(path, buffer.getvalue())


def read_vectors(path: str | os.PathLike[str]) -> VectorsFile:
    """Read what `write_vectors` wrote, or any npz file with `vectors` and, if wished, `labels`.

    Vectors are numbers of any type that float64 holds exactly. Labels are texts (bytes are taken
    for UTF-8), booleans or whole numbers. A packed file may unpack to 4 GiB; the environment
    variable NEWFOUND_MAX_VECTORS_BYTES says otherwise.

    Raises
    ------
    ValueError
        If the file is no such file, or has a label that no class may have; nothing in it is ever
        run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vectors.npz")
    ...     rows, pixels = np.array([[1.0, 2.0]]), Identity("pixels")
    ...     write_vectors(path, rows, ["mug"], ["a.jpg"], [b"0" * 16], pixels)
    ...     read = read_vectors(path)
    >>> read.vectors, read.labels, read.extractor.name
    (array([[1., 2.]]), ['mug'], 'pixels')
    """
    most, name = most_unpacked(), os.fspath(path)
    try:
        with open_regular(path) as file:
            arrays = _arrays(file, most)
        vectors = _numbers(arrays["vectors"])
        n = len(vectors)
        labels, names, digests = (arrays.get(part) for part in ("labels", "files", "digests"))
        parts = [part for part in (labels, names, digests) if part is not None]
        if any(part.shape[:1] != (n,) for part in parts):
            raise InputError(f"it has {n} vectors, but another number of labels or names")
        if digests is not None and (
            digests.dtype != np.uint8 or digests.shape not in ((n, DIGEST_BYTES), (n, 0))
        ):
            raise InputError(f"its digests are not of {DIGEST_BYTES} bytes each")
        identity = json.loads(str(arrays.get("extractor", "null")))
        extractor = None if identity is None else Identity.from_json(identity)
        return VectorsFile(
            vectors,
            None if labels is None else _texts(labels, "labels"),
            [f"row {row}" for row in range(n)] if names is None else _texts(names, "files"),
            [b""] * n if digests is None else [digest.tobytes() for digest in digests],
            extractor,
        )
    except OSError:
        raise
    except zipfile.BadZipFile as error:
        raise InputError(f"{name}: not a file of vectors (no npz file, or damaged)") from error
    except Exception as error:  # whatever a file that is not ours makes the parsers do
        raise InputError(f"{name}: not a file of vectors ({error})") from error


def most_unpacked() -> int:
    """Return how many bytes a packed file may unpack to, or raise ValueError."""
    text = os.environ.get(MOST_UNPACKED_NAME) or str(MOST_UNPACKED)
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InputError(
            f"the environment variable {MOST_UNPACKED_NAME} is {text!r}: it takes a number of "
            f"bytes, such as {MOST_UNPACKED}"
        )
    return int(text)


def _arrays(file: IO[bytes], most: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file that are of use, if they are no larger than they may be."""
    wanted = ("vectors", "labels", "files", "digests", "extractor")
    with zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if "vectors" not in members:
            raise InputError("it has no array called vectors")
        there = {name: members[name] for name in wanted if name in members}
        most = max(most, os.fstat(file.fileno()).st_size)
        if any(info.flag_bits & _ENCRYPTED for info in there.values()):
            raise InputError("it is encrypted: unpack it first")
        unpacked = sum(info.file_size for info in there.values())
        if unpacked > most:
            raise InputError(
                f"it unpacks to {unpacked / 2**30:.1f} GiB, more than the {most / 2**30:.1f} GiB "
                f"that are read; if it is to be trusted, set {MOST_UNPACKED_NAME}={unpacked}"
            )
        return {name: _array(archive, info, name) for name, info in there.items()}


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    """Return an array of an npz file; nothing is allocated before it is known to be all there."""
    with archive.open(info) as part:
        shape, by_columns, dtype = _header(part, name)
        if dtype.fields is not None:
            raise InputError(
                f"its {name} are a structured array, with fields, which is not read: save "
                "numbers and texts"
            )
        if dtype.hasobject:
            raise InputError(
                f"its {name} are Python objects, which are not read: save numbers and texts"
            )
        # Rows of no numbers take no room, however many of them a file says there are.
        if name == "vectors" and (len(shape) != 2 or shape[1] < 1):
            raise InputError("its vectors are not rows of numbers")
        if dtype.kind in "US" and name == "labels" and dtype.itemsize > 4 * LONGEST_LABEL:
            raise InputError(f"its labels are wider than the {LONGEST_LABEL} characters of a label")
        size = math.prod(shape) * dtype.itemsize
        is_there = size == info.file_size - part.tell() and dtype.itemsize > 0
        if not is_there or min(shape, default=0) < 0:
            raise InputError(f"its {name} do not have the size that it says")
        array = np.empty(shape, dtype, order="F" if by_columns else "C")
        flat = array.ravel(order="K").view(np.uint8) if size else np.zeros(0, np.uint8)
        for start in range(0, size, _PIECE):
            piece = part.read(min(_PIECE, size - start))
            if len(piece) < min(_PIECE, size - start):
                raise InputError(f"its {name} are cut short")
            flat[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
        return array


def _header(part: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether by columns, and type of an array, or raise ValueError."""
    npy = np.lib.format
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(part)
        header = readers[version](part) if version in readers else None
    except zipfile.BadZipFile:
        raise
    except Exception as error:  # of numpy and of Python's own parser, in words for programmers
        raise InputError(f"its {name} do not begin as arrays of numpy do") from error
    if header is None:
        raise InputError(f"its {name} are in a format of numpy that is not read")
    return header


def _numbers(vectors: NDArray[Any]) -> NDArray[np.floating]:
    """Return vectors as floats, or raise ValueError."""
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiub":
        raise InputError("its vectors are not rows of numbers")
    if vectors.dtype.kind == "f":
        return vectors
    if vectors.size and not -_WHOLE <= int(vectors.min()) <= int(vectors.max()) <= _WHOLE:
        raise InputError(
            "its vectors are whole numbers beyond 2^53, which no float64 holds exactly"
        )
    return vectors.astype(np.float64)


def _texts(array: NDArray[Any], name: str) -> list[str]:
    """Return texts, booleans or whole numbers as texts that can be written, or raise ValueError."""
    if array.ndim != 1 or array.dtype.kind not in "USiubf":
        raise InputError(f"its {name} are not one text or whole number for each vector")
    texts = _as_texts(array, name)
    for text in set(texts):
        try:  # names of files may be bytes, which Python writes as surrogates of its own
            text.encode(errors="surrogateescape")
        except UnicodeEncodeError:
            raise InputError(f"its {name} are no text: {text[:40]!a}") from None
        if name == "labels":
            longest = max(len(text), len(unicodedata.normalize("NFC", text)))
            if longest > LONGEST_LABEL:
                raise InputError(
                    f"its labels hold one of {longest} characters; a label may have {LONGEST_LABEL}"
                )
    return texts


def _as_texts(array: NDArray[Any], name: str) -> list[str]:
    if array.dtype.kind == "f":
        if not (np.isfinite(array).all() and (array == np.round(array)).all()):
            raise InputError(f"its {name} are numbers that are not whole, and so no classes")
        return [str(int(value)) for value in array.tolist()]
    if array.dtype.kind == "S":
        try:
            return [value.decode() for value in array.tolist()]
        except UnicodeDecodeError:
            raise InputError(f"its {name} are bytes that are not UTF-8: save texts") from None
    return [str(value) for value in array.tolist()]
