"""Vectors in a file: images turned into features once, to be learned many times."""

import io
import json
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from newfound.files import DIGEST_BYTES, open_regular, write_whole
from newfound.vectors import Identity, Vectors


class VectorsFile(NamedTuple):
    """What a file of vectors holds."""

    vectors: Vectors  # shape (n, d), float32 or float64
    labels: list[str] | None  # of each, if they have any
    files: list[str]  # where each came from, as it was called then
    digests: list[bytes]  # of the files they came from; empty where that is not known


def write_vectors(
    path: str | os.PathLike[str],
    vectors: Vectors,
    labels: Sequence[str] | None,
    files: Sequence[str],
    digests: Sequence[bytes],
) -> None:
    """Write vectors, whole or not at all, as an npz file that numpy reads without pickle.

    It holds `vectors`, `labels` (none if there are none), `files`, `digests` and, as JSON,
    `extractor`.
    """
    sizes = {len(digest) for digest in digests}
    if not len(vectors) == len(files) == len(digests) or not sizes <= {0, DIGEST_BYTES}:
        raise ValueError(f"each vector needs a file and a digest of {DIGEST_BYTES} bytes, or none")
    if len(sizes) > 1:
        raise ValueError("either all vectors have a digest or none has")
    identity = None if vectors.extractor is None else vectors.extractor.to_json()
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

    Raises
    ------
    ValueError
        If the file is no such file; nothing in it is ever run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "vectors.npz")
    ...     vectors = Vectors([[1.0, 2.0]], Identity("pixels"))
    ...     write_vectors(path, vectors, ["mug"], ["a.jpg"], [b"0" * 16])
    ...     read = read_vectors(path)
    >>> read.vectors, read.labels, read.vectors.extractor.name
    (Vectors([[1., 2.]]), ['mug'], 'pixels')
    """
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as arrays:
            vectors = arrays["vectors"]
            if vectors.ndim != 2 or vectors.dtype.kind != "f":
                raise ValueError("its vectors are not rows of numbers")
            n = len(vectors)
            labels, names, digests = (arrays.get(name) for name in ("labels", "files", "digests"))
            text = str(arrays["extractor"]) if "extractor" in arrays else "null"
        identity = json.loads(text)
        parts = [part for part in (labels, names, digests) if part is not None]
        if any(len(part) != n for part in parts):
            raise ValueError(f"it has {n} vectors, but another number of labels or names")
        if labels is not None and (labels.ndim != 1 or labels.dtype.kind not in "USiub"):
            raise ValueError("its labels are not one text or whole number for each vector")
        if digests is not None and (
            digests.dtype != np.uint8 or digests.shape not in ((n, DIGEST_BYTES), (n, 0))
        ):
            raise ValueError(f"its digests are not of {DIGEST_BYTES} bytes each")
        extractor = None if identity is None else Identity.from_json(identity)
        return VectorsFile(
            Vectors(vectors, extractor),
            None if labels is None else [str(label) for label in labels],
            [f"row {row}" for row in range(n)] if names is None else [str(name) for name in names],
            [b""] * n if digests is None else [digest.tobytes() for digest in digests],
        )
    except OSError:
        raise
    except Exception as error:  # whatever a file that is not ours makes the parsers do
        raise ValueError(f"{os.fspath(path)}: not a file of vectors ({error})") from error
