"""What a model file looks like: one safetensors file with sums, labels and parameters."""

import copy
import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError
from scipy.linalg import lapack

from newfound.statistics import Statistics

FORMAT = 1
_KEY = "newfound"
_NO_DIGEST = "0" * 64


class ModelFileError(ValueError):
    """A file is not a model, is damaged, or comes from a later version."""


class Contents(NamedTuple):
    """What a model file holds."""

    estimator: str
    parameters: dict[str, Any]
    statistics: Statistics
    feature_names: list[str] | None


def write(path: str | os.PathLike[str], contents: Contents) -> None:
    """Write a model file whole or not at all: to a temporary file, synced, then renamed.

    The checksum is the SHA-256 of the whole file with the digest itself taken as zeros.
    """
    statistics = contents.statistics
    header = {
        "format": FORMAT,
        "estimator": contents.estimator,
        "parameters": contents.parameters,
        "feature_names": contents.feature_names,
        "labels": statistics.labels.tolist(),
        "label_type": statistics.labels.dtype.str,
        "per_class": statistics.per_class,
        "dtype": None if statistics.dtype is None else statistics.dtype.str,
        "sha256": _NO_DIGEST,
    }
    # One key only: safetensors does not keep the order of several, and files must be repeatable.
    text = json.dumps(header, sort_keys=True, ensure_ascii=False, allow_nan=False)
    data = bytearray(safetensors.numpy.save(_tensors(statistics), {_KEY: text}))
    digest = hashlib.sha256(data).hexdigest().encode()
    place = data.index(_NO_DIGEST.encode())
    data[place : place + len(digest)] = digest
    _replace(Path(os.path.realpath(path)), data)


def read(path: str | os.PathLike[str]) -> Contents:
    """Read a model file; raise ModelFileError if a single byte of it is not as written."""
    data = Path(path).read_bytes()
    try:
        header = _verified_header(data)
        tensors = safetensors.numpy.load(data)
        statistics = _statistics(header, tensors)
        return Contents(
            header["estimator"], header["parameters"], statistics, header["feature_names"]
        )
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except (ValueError, KeyError, TypeError, IndexError, SafetensorError) as error:
        raise ModelFileError(
            f"{os.fspath(path)}: not a model file, or damaged ({error!r})"
        ) from None


def _verified_header(data: bytes) -> dict[str, Any]:
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ModelFileError("not a model file, or cut short")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_KEY])
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"written in format {header['format']}, but this version of newfound reads up to "
            f"{FORMAT}: upgrade newfound"
        )
    digest = str(header["sha256"]).encode()
    place = data.index(digest)
    expected = hashlib.sha256(data[:place])
    expected.update(_NO_DIGEST.encode())
    expected.update(memoryview(data)[place + len(digest) :])
    if expected.hexdigest().encode() != digest:
        raise ModelFileError("damaged: its contents do not agree with its checksum")
    return dict(header)


def _tensors(statistics: Statistics) -> dict[str, np.ndarray[Any, Any]]:
    folded = [copy.deepcopy(gram) for gram in statistics.grams if gram.sums is not None]
    for gram in folded:
        gram.settle_all()
    width = statistics.width
    packed = [lapack.dtrttp(gram.sums, uplo="L")[0] for gram in folded]
    rows = [
        np.zeros((0, width)) if g.sums is not None else g.waiting_rows for g in statistics.grams
    ]
    cross, dropped = statistics.cross_parts
    return {
        "counts": statistics.counts,
        "cross": cross,
        "cross_dropped": dropped,
        "gram": np.array(packed).reshape(-1, width * (width + 1) // 2),
        "gram_dropped": np.array([gram.dropped for gram in folded]).reshape(-1, width),
        "gram_folds": np.array([gram.folds for gram in folded], dtype=np.int64),
        "gram_is_folded": np.array(
            [gram.sums is not None for gram in statistics.grams], dtype=bool
        ),
        "rows": np.concatenate([np.zeros((0, width)), *rows]),
        "rows_held": np.array([len(part) for part in rows], dtype=np.int64),
    }


def _statistics(header: dict[str, Any], tensors: dict[str, np.ndarray[Any, Any]]) -> Statistics:
    labels = np.array(header["labels"], dtype=header["label_type"])
    cross, folded = tensors["cross"], tensors["gram_is_folded"]
    width = cross.shape[1]
    statistics = Statistics(width, header["per_class"])
    dtype = None if header["dtype"] is None else np.dtype(header["dtype"])
    statistics.restore(labels, tensors["counts"], cross, tensors["cross_dropped"], dtype)
    ends = np.cumsum(tensors["rows_held"])
    if len(ends) != len(statistics.grams) or len(folded) != len(ends):
        raise ModelFileError("damaged: it holds another number of Gram matrices than of classes")
    parts = [tensors[name] for name in ("gram", "gram_dropped", "gram_folds")]
    matrices = zip(*parts, strict=True)
    for gram, whole, end, held in zip(
        statistics.grams, folded, ends, tensors["rows_held"], strict=True
    ):
        gram.add(tensors["rows"][end - held : end])
        if whole:
            packed, dropped, folds = next(matrices)
            full, _ = lapack.dtpttr(width, packed, uplo="L")
            gram.restore(np.asfortranarray(np.tril(full)), dropped.copy(), int(folds))
    return statistics


def _replace(path: Path, data: bytes | bytearray) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
