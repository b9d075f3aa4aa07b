"""What a model file looks like: one safetensors file with sums, labels and parameters."""

import hashlib
import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from scipy.linalg import lapack

from newfound.files import open_regular, write_whole
from newfound.labels import as_labels
from newfound.statistics import Statistics
from newfound.vectors import Identity

FORMAT = 1
_KEY = "newfound"
_SELECTION, _MEMORY = "selection.", "memory."
_NO_DIGEST = "0" * 64


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or comes from a later version."""


class Contents(NamedTuple):
    """What a model file holds."""

    estimator: str
    parameters: dict[str, Any]
    statistics: Statistics
    feature_names: list[str] | None
    extractor: Identity | None = None
    selection: Mapping[str, NDArray[Any]] = MappingProxyType({})  # what selection keeps, if any
    memory: Mapping[str, NDArray[Any]] = MappingProxyType({})  # what a recogniser keeps, if any


def write(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a model file whole or not at all: to a temporary file, synced, then renamed.

    The checksum is the SHA-256 of the whole file with the digest itself taken as zeros.
    """
    statistics = contents.statistics
    header = {
        "sha256": _NO_DIGEST,  # first, so that its place is the first where it could be
        "format": FORMAT,
        "estimator": contents.estimator,
        "parameters": contents.parameters,
        "feature_names": contents.feature_names,
        "extractor": None if contents.extractor is None else contents.extractor.to_json(),
        "labels": statistics.labels.tolist(),
        "label_type": statistics.labels.dtype.str,
        "per_class": statistics.per_class,
        "dtype": None if statistics.dtype is None else statistics.dtype.str,
    }
    # One key only: safetensors does not keep the order of several, and files must be repeatable.
    metadata = {_KEY: json.dumps(header, allow_nan=False)}
    tensors = _tensors(statistics)
    for prefix, more in ((_SELECTION, contents.selection), (_MEMORY, contents.memory)):
        tensors |= {prefix + name: tensor for name, tensor in more.items()}
    data = bytearray(safetensors.numpy.save(tensors, metadata))
    place = _digest_place(data, _NO_DIGEST)
    data[place : place + len(_NO_DIGEST)] = hashlib.sha256(data).hexdigest().encode()
    write_whole(path, data)


def read(path: str | os.PathLike[str]) -> Contents:
    """Read a model file; raise ModelFileError if a single byte of it is not as written."""
    with open_regular(path) as file:
        data = file.read()
    try:
        header = _verified_header(data)
        tensors = safetensors.numpy.load(data)
        selection, memory = (_taken(tensors, prefix) for prefix in (_SELECTION, _MEMORY))
        statistics = _statistics(header, tensors)
        names = header["feature_names"]
        if names is not None:
            _require(isinstance(names, list) and len(names) == statistics.width, "feature names")
            _require(all(isinstance(name, str) for name in names), "feature names")
        extractor = header.get("extractor")  # files of the first days have none
        return Contents(
            header["estimator"],
            header["parameters"],
            statistics,
            names,
            None if extractor is None else Identity.from_json(extractor),
            selection,
            memory,
        )
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except Exception as error:  # whatever a file that is not ours makes the parsers do
        raise ModelFileError(
            f"{os.fspath(path)}: not a model file, or damaged ({type(error).__name__})"
        ) from error


def _taken(tensors: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """Return the tensors whose names begin with `prefix`, without it, and take them out."""
    names = sorted(name for name in tensors if name.startswith(prefix))
    return {name.removeprefix(prefix): tensors.pop(name) for name in names}


def _digest_place(data: bytes | bytearray, digest: str) -> int:
    mark = b'\\"sha256\\": \\"'
    return data.index(mark + digest.encode()) + len(mark)


def _verified_header(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ModelFileError("not a model file, or cut short")
    header: dict[str, Any] = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_KEY])
    _require(type(header["format"]) is int and header["format"] >= 1, "format and contents")
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"written in format {header['format']}, but this version of newfound reads up to "
            f"{FORMAT}: upgrade newfound"
        )
    digest = header["sha256"]
    place = _digest_place(data, digest)
    expected = hashlib.sha256(data[:place])
    expected.update(_NO_DIGEST.encode())
    expected.update(memoryview(data)[place + len(digest) :])
    if expected.hexdigest() != digest:
        raise ModelFileError("damaged: its contents do not agree with its checksum")
    return header


def _tensors(statistics: Statistics) -> dict[str, np.ndarray[Any, Any]]:
    folded = [gram.settled() for gram in statistics.grams if gram.sums is not None]
    width = statistics.width
    packed = [lapack.dtrttp(gram.sums, uplo="L")[0] for gram in folded]
    rows = [
        np.zeros((0, width)) if g.sums is not None else g.waiting_rows for g in statistics.grams
    ]
    cross, dropped = statistics.cross_parts
    # Rows that came as float32 are that still, to the last bit.
    held_as = np.float64 if statistics.dtype is None else statistics.dtype
    return {
        "counts": statistics.counts,
        "cross": cross,
        "cross_dropped": dropped,
        "gram": np.array(packed).reshape(-1, width * (width + 1) // 2),
        "gram_dropped": np.array([gram.dropped for gram in folded]).reshape(-1, width),
        "gram_folds": np.array([gram.folds for gram in folded], dtype=np.int64),
        "gram_peak": np.array([gram.highest for gram in folded], dtype=np.float64),
        "gram_is_folded": np.array(
            [gram.sums is not None for gram in statistics.grams], dtype=bool
        ),
        "rows": np.concatenate([np.zeros((0, width)), *rows]).astype(held_as),
        "rows_held": np.array([len(part) for part in rows], dtype=np.int64),
    }


def _statistics(header: dict[str, Any], tensors: dict[str, np.ndarray[Any, Any]]) -> Statistics:
    labels = as_labels(np.array(header["labels"], dtype=header["label_type"]))
    _require(labels.dtype.str == header["label_type"], "labels")
    _require(labels.tolist() == header["labels"], "labels")
    _require(len(set(header["labels"])) == len(labels), "labels")
    _require(header["dtype"] in ("<f4", "<f8"), "types")
    _require(type(header["per_class"]) is bool, "types")
    counts, cross, folded = (tensors[name] for name in ("counts", "cross", "gram_is_folded"))
    rows, held = tensors["rows"], tensors["rows_held"]
    for tensor in tensors.values():
        _require(bool(np.isfinite(tensor).all()), "numbers")
    for name in ("cross", "cross_dropped", "gram", "gram_dropped"):
        _require(tensors[name].dtype == np.float64, "sums")
    _require(rows.dtype in (np.float64, np.dtype(header["dtype"])), "rows")
    _require(counts.dtype == held.dtype == np.int64 and bool((counts >= 0).all()), "counts")
    _require(bool(counts.any()), "counts")

    width = cross.shape[1]
    statistics = Statistics(width, header["per_class"])
    dtype = np.dtype(header["dtype"])
    statistics.restore(labels, counts, cross, tensors["cross_dropped"], dtype)
    expected = counts if statistics.per_class else counts.sum(keepdims=True)
    _require(len(folded) == len(held) == len(expected), "Gram matrices")
    _require(bool((held == np.where(folded, 0, expected)).all()), "rows")
    _require(len(rows) == held.sum() and len(tensors["gram"]) == folded.sum(), "rows")
    parts = [tensors[name] for name in ("gram", "gram_dropped", "gram_folds")]
    # Files of the first days have no peaks.
    peaks = tensors.get("gram_peak", np.zeros(len(tensors["gram"])))
    matrices = zip(*parts, peaks, strict=True)
    ends = np.cumsum(held)
    for gram, whole, end, size in zip(statistics.grams, folded, ends, held, strict=True):
        gram.add(rows[end - size : end])
        if whole:
            packed, dropped, folds, peak = next(matrices)
            full, _ = lapack.dtpttr(width, packed, uplo="L")
            _require(bool((full.diagonal() >= 0).all()), "sums")
            gram.restore(
                np.asfortranarray(np.tril(full)), dropped.copy(), int(folds), float(peak)
            )
    return statistics


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ModelFileError(f"damaged: its {what} do not fit together")
