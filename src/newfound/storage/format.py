"""What a model file looks like: one safetensors file with sums, labels and parameters."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.common.errors import ModelFileError as ModelFileError
from newfound.common.files import clear_leftovers, open_regular, write_whole
from newfound.features.identity import Identity
from newfound.storage.checks import LARGEST_HEADER, check_contents, check_definite, check_rows
from newfound.storage.table import require
from newfound.sums.arrays import from_arrays, to_arrays
from newfound.sums.labels import as_labels
from newfound.sums.sums import Sums

FORMAT = 1
_KEY = "newfound"
_NO_DIGEST = "0" * 64
# How a file begins: its header's length, then the metadata, of which the digest comes first.
_BEGINNING = re.compile(
    rb'.{8}{"__metadata__":{"newfound":"{\\"sha256\\": \\"([0-9a-f]{64})\\"', re.DOTALL
)


class State(NamedTuple):
    """All that makes a model: what a file holds, and what travels between processes.

    Examples
    --------
    >>> from newfound import IncrementalRidgeClassifier
    >>> model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
    >>> state = model.learner_.to_state()
    >>> state.estimator, state.sums.labels.tolist()
    ('IncrementalRidgeClassifier', ['cup', 'mug'])
    """

    estimator: str  # the name of its class
    parameters: dict[str, Any]  # in values that JSON can hold
    sums: Sums
    feature_names: list[str] | None = None
    extractor: Identity | None = None  # what made the vectors, where that is known
    # Beside those of the sums, each named "room.name" (storage/table.py).
    arrays: Mapping[str, NDArray[Any]] = {}
    targets: int = 0  # how many columns of the sums, the last ones, are targets of a regression
    is_flat: bool = False  # whether these came in one dimension
    width: int | None = None  # how many features rows have, if what is added up has others

    def keeping(self, arrays: Mapping[str, NDArray[Any]]) -> "State":
        """Return a state that holds these arrays, too."""
        return self._replace(arrays={**self.arrays, **arrays})


def write(path: str | os.PathLike[str], state: State, of: int | None = None) -> None:
    """Write a model file whole or not at all: to a temporary file, synced, then renamed.

    If it is known `of` which `moment` the state is, it does not replace that of a later one. What
    `read` would refuse is not written: ValueError is raised, and an older file stays as it is.
    """
    write_whole(path, to_bytes(state, os.fspath(path)), of)


def to_bytes(state: State, name: str) -> bytes | bytearray:
    """Return what a model file holds, or raise ValueError, with this name, if `read` refused it.

    The checksum is the SHA-256 of the whole file with the digest itself taken as zeros.
    """
    sums = state.sums
    header = {
        "sha256": _NO_DIGEST,  # first, so that its place is the first where it could be
        "format": FORMAT,
        "estimator": state.estimator,
        "parameters": state.parameters,
        "feature_names": state.feature_names,
        "extractor": None if state.extractor is None else state.extractor.to_json(),
        "labels": sums.labels.tolist(),
        "label_type": sums.labels.dtype.str,
        "per_class": sums.per_class,
        "dtype": None if sums.dtype is None else sums.dtype.str,
        "targets": state.targets,
        "is_flat": state.is_flat,
        **({} if state.width is None else {"width": state.width}),
    }
    # One key only: safetensors does not keep the order of several, and files must be repeatable.
    metadata = {_KEY: json.dumps(header, allow_nan=False)}
    tensors = to_arrays(sums)
    try:
        check_contents(header, tensors)
        check_rows(tensors, sums.per_class)
        if sums.is_weighted or sums.has_shrunk:  # beside what was larger, rounding may outgrow them
            check_definite(from_arrays(tensors, sums.labels, sums.per_class, sums.dtype))
        # safetensors writes memory as it lies, whatever the strides say.
        more = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        data = bytearray(safetensors.numpy.save({**tensors, **more}, metadata))
        require(_header_length(data, len(data)) > 0, "labels and names")
    except InputError as error:
        raise InputError(
            f"{name}: not written, for it could not be read again "
            f"({error}): something was taught or merged, and maybe forgotten, that was too large "
            "beside the rest. Teach a new model without it"
        ) from error
    offset = _digest_offset(data, _NO_DIGEST)
    data[offset : offset + len(_NO_DIGEST)] = hashlib.sha256(data).hexdigest().encode()
    return data


def read(path: str | os.PathLike[str]) -> State:
    """Read a model file; raise ModelFileError if a single byte of it is not as written.

    Nor are numbers taken that no teaching could have led to. Nothing is allocated that is much
    larger than the file.
    """
    clear_leftovers(path)
    with open_regular(path) as file:
        return from_bytes(file, os.fspath(path))


def digest_in(path: str | os.PathLike[str]) -> str | None:
    """Return the SHA-256 that a model file says it has, from its beginning; None: it is no model.

    Whether the rest agrees with it, only `read` tells.

    Examples
    --------
    >>> digest_in(os.__file__) is None
    True
    """
    with open_regular(path) as file:
        start = _BEGINNING.match(file.read(256))
    return start[1].decode() if start else None


def from_bytes(file: BinaryIO, name: str) -> State:
    """Return what `read` does of a file that is open, or of bytes in memory; errors name it so."""
    try:
        data = _whole(file)
        header = _verified_header(data)
        tensors = safetensors.numpy.load(data)
        more = {name: tensors.pop(name) for name in sorted(tensors) if "." in name}
        sums = _sums(header, tensors)
        require(isinstance(header["estimator"], str), "types")
        extractor = header["extractor"]
        return State(
            header["estimator"],
            header["parameters"],
            sums,
            header["feature_names"],
            None if extractor is None else Identity.from_json(extractor),
            more,
            header["targets"],
            header["is_flat"],
            header.get("width"),
        )
    except OSError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None
    except InputError as error:
        raise ModelFileError(f"{name}: damaged: {error}") from None
    except Exception as error:  # whatever a file that is not ours makes the parsers do
        raise ModelFileError(
            f"{name}: not a model file, or damaged ({type(error).__name__})"
        ) from error


def _whole(file: BinaryIO) -> bytes:
    """Return the bytes of a file, of which no more are read than it takes to see it is no model."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    start = file.read(9)
    length = _header_length(start, size)
    start += file.read(length - 1)
    tensors = [entry for name, entry in json.loads(start[8:]).items() if name != "__metadata__"]
    if 8 + length + max((entry["data_offsets"][1] for entry in tensors), default=0) != size:
        raise ModelFileError("not a model file, or cut short")
    return start + file.read(size - len(start))


def _header_length(start: bytes | bytearray, size: int) -> int:
    """Return how long the header of a file is that begins so and has `size` bytes."""
    length = int.from_bytes(start[:8], "little")
    if len(start) < 9 or start[8:9] != b"{" or length > min(size - 8, LARGEST_HEADER):
        raise ModelFileError("not a model file, or cut short")
    return length


def _digest_offset(data: bytes | bytearray, digest: str) -> int:
    mark = b'\\"sha256\\": \\"'
    return data.index(mark + digest.encode()) + len(mark)


def _verified_header(data: bytes) -> dict[str, Any]:
    length = _header_length(data, len(data))
    header: dict[str, Any] = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_KEY])
    require(type(header["format"]) is int and header["format"] >= 1, "format and contents")
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"written in format {header['format']}, but this version of newfound reads up to "
            f"{FORMAT}: upgrade newfound"
        )
    digest = header["sha256"]
    offset = _digest_offset(data, digest)
    expected = hashlib.sha256(data[:offset])
    expected.update(_NO_DIGEST.encode())
    expected.update(memoryview(data)[offset + len(digest) :])
    if expected.hexdigest() != digest:
        raise ModelFileError("damaged: its contents do not agree with its checksum")
    return header


def _sums(header: dict[str, Any], tensors: dict[str, np.ndarray[Any, Any]]) -> Sums:
    check_contents(header, tensors)
    labels = as_labels(np.array(header["labels"], dtype=header["label_type"]))
    require(labels.dtype.str == header["label_type"], "labels")
    require(labels.tolist() == header["labels"], "labels")
    require(list(map(type, labels.tolist())) == list(map(type, header["labels"])), "labels")
    require(len(set(header["labels"])) == len(labels), "labels")
    check_rows(tensors, header["per_class"])
    sums = from_arrays(tensors, labels, header["per_class"], np.dtype(header["dtype"]))
    check_definite(sums)
    return sums
