"""Vectors of a whole data set, made once by an extractor and kept in the user's cache."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newfound.common.files import cache_folder, make_private
from newfound.datasets.vectors_file import read_vectors, write_vectors

if TYPE_CHECKING:
    from newfound.features import Extractor


def cached_features(
    name: str, root: Path, files: Sequence[Path], extractor: "Extractor"
) -> NDArray[np.float32]:
    """Return the vectors of images, shape (m, d), looking at them only if that was not done yet.

    Parameters
    ----------
    name : str
        Of the data set; begins the name of the file in the cache.
    root : path
        The data set's folder.
    files : sequence of paths
        Below it. Vectors are known by the extractor and by where these files are in the folder.
    extractor : Extractor
    """
    names = [str(path.relative_to(root)) for path in files]
    mark = json.dumps([extractor.identity.to_json(), names]).encode()
    kept = cache_folder() / f"{name}-{hashlib.sha256(mark).hexdigest()[:16]}.npz"
    make_private(kept.parent)
    if not kept.is_file():
        vectors = extractor(files)
        write_vectors(kept, vectors, None, names, [b""] * len(names), extractor.identity)
    return np.asarray(read_vectors(kept).vectors)
