"""MNIST: handwritten digits in idx files, found on disk or fetched."""

import gzip
import hashlib
import io
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.common.files import cache_folder, open_regular, write_whole
from newfound.datasets.origin import Origin

ORIGIN = Origin(
    name="MNIST",
    folder="mnist",
    address="https://ossci-datasets.s3.amazonaws.com/mnist/",
    size="11 MB, four files",
    licence="CC BY-SA 3.0 (LeCun, Cortes and Burges, from data of NIST)",
)
MIRRORS = (ORIGIN.address, "https://storage.googleapis.com/cvdf-datasets/mnist/")
# SHA-256 of each file, unpacked.
FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
PATIENCE = 30  # seconds
LARGEST = 2**26  # bytes of a file, packed or not, and more than any has


class Mnist(NamedTuple):
    """60,000 images to learn and 10,000 to test, with the digits they show."""

    images: NDArray[np.uint8]  # shape (60000, 28, 28), 0 is black
    labels: NDArray[np.uint8]  # shape (60000,)
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]


def mnist() -> Mnist:
    """Return MNIST: from NEWFOUND_DATA, the user's cache, scikit-learn's, or else fetched.

    Files may be packed with gzip or not. They are fetched into the user's cache once, from places
    that are well known, and must have the right checksum wherever they come from.

    Returns
    -------
    Mnist

    Raises
    ------
    MissingDataError
        If it is nowhere to be had; the message says how to get it.
    """
    for folder in ORIGIN.folders:
        paths = {name: path for name in FILES if (path := _find(folder, name)) is not None}
        if len(paths) == len(FILES):
            files = (_checked(name, _unpacked(path)) for name, path in paths.items())
            return Mnist(*map(_parsed, files))
    cached = _from_openml_cache()
    if cached is not None:
        return cached
    return Mnist(*(_parsed(_fetched(name)) for name in FILES))


def _find(folder: Path, name: str) -> Path | None:
    # Some tools write a dot where others write a dash.
    stems = (name, name.replace("-idx", ".idx"))
    paths = (folder / f"{stem}{suffix}" for stem in stems for suffix in ("", ".gz"))
    return next((path for path in paths if path.is_file()), None)


def _unpacked(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST)
        return _gunzipped(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} is damaged ({error}): remove it, to have it fetched") from error


def _gunzipped(packed: bytes) -> bytes:
    with gzip.open(io.BytesIO(packed)) as file:
        return file.read(LARGEST)


def _checked(name: str, data: bytes) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    if digest != FILES[name]:
        raise InputError(f"{name} is not that of MNIST: its SHA-256 is {digest}, not {FILES[name]}")
    return data


def _fetched(name: str) -> bytes:
    """Fetch a file, keep it in the cache, and return what is in it."""
    import urllib.request

    problems = []
    for mirror in MIRRORS:
        try:
            with urllib.request.urlopen(f"{mirror}{name}.gz", timeout=PATIENCE) as answer:
                packed: bytes = answer.read(LARGEST)
            data = _checked(name, _gunzipped(packed))
        except (OSError, EOFError, ValueError) as error:  # URLError is one, too
            problems.append(str(error))
            continue
        folder = cache_folder() / ORIGIN.folder
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{name}.gz", packed)
        return data
    raise ORIGIN.missing(f"it could not be fetched ({'; '.join(problems)})")


def _parsed(data: bytes) -> NDArray[np.uint8]:
    """Return the array that an idx file of bytes holds."""
    shape = [int.from_bytes(data[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(shape)).reshape(shape)


def _from_openml_cache() -> Mnist | None:
    """Return what scikit-learn's `fetch_openml("mnist_784")` has stored, if it has."""
    from sklearn.datasets import fetch_openml

    # Where scikit-learn's get_data_home() is; asked for it, it would make the folder. Users
    # without a home are no error here.
    home = os.path.expanduser(os.environ.get("SCIKIT_LEARN_DATA", "~/scikit_learn_data"))  # noqa: PTH111
    stored = Path(home) / "openml" / "openml.org"
    if not stored.is_dir() or not any("mnist_784" in path.name for path in stored.rglob("*.gz")):
        return None
    try:
        pixels, digits = fetch_openml(
            "mnist_784", version=1, return_X_y=True, as_frame=False, parser="liac-arff"
        )
    except Exception:  # what is stored is not whole, and the network is not there
        return None
    images: Any = pixels.astype(np.uint8).reshape(-1, 28, 28)
    labels: Any = digits.astype(np.uint8)
    return Mnist(images[:60_000], labels[:60_000], images[60_000:], labels[60_000:])
