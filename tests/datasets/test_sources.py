"""Data sets of the paper: found in any of their forms, fetched with a checksum, or explained."""

import gzip
import hashlib
import io
import itertools
import urllib.error
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from newfound import MissingDataError
from newfound.datasets import icubworld28, mnist, rgbd
from newfound.datasets.icubworld28 import DAYS
from newfound.features import Pixels

mnist_module = import_module("newfound.datasets.mnist")  # the function has the same name


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """NEWFOUND_DATA and the caches, all empty."""
    monkeypatch.setenv("NEWFOUND_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    return tmp_path


def idx(array: np.ndarray[Any, Any]) -> bytes:
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Files of an MNIST of three and two images, which then are the right ones."""
    rng = np.random.default_rng(0)
    files = {}
    for part, n in (("train", 3), ("t10k", 2)):
        files[f"{part}-images-idx3-ubyte"] = idx(rng.integers(0, 256, (n, 28, 28)))
        files[f"{part}-labels-idx1-ubyte"] = idx(rng.integers(0, 10, n))
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    monkeypatch.setattr(mnist_module, "FILES", digests)
    return files


def refuse(*_: Any, **__: Any) -> Any:
    raise urllib.error.URLError("no network here")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("place", ["data", "cache"])
def test_mnist_is_found_packed_or_not(
    places: Path, small: dict[str, bytes], packed: bool, place: str
) -> None:
    (places / place / "mnist").mkdir(parents=True)
    for name, data in small.items():
        path = places / place / "mnist" / (f"{name}.gz" if packed else name.replace("-idx", ".idx"))
        path.write_bytes(gzip.compress(data) if packed else data)
    found = mnist()
    assert found.images.shape == (3, 28, 28)
    assert found.test_labels.shape == (2,)
    assert idx(found.test_images) == small["t10k-images-idx3-ubyte"]


def test_mnist_that_is_another_is_refused(places: Path, small: dict[str, bytes]) -> None:
    (places / "data" / "mnist").mkdir(parents=True)
    for name, data in small.items():
        (places / "data" / "mnist" / name).write_bytes(
            data[:-1] + b"\0" if "labels" in name else data
        )
    with pytest.raises(ValueError, match="is not that of MNIST: its SHA-256"):
        mnist()
    for name in small:
        (places / "data" / "mnist" / name).unlink()
        (places / "data" / "mnist" / f"{name}.gz").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="is damaged"):
        mnist()


def test_mnist_is_fetched_once_from_whoever_has_the_right_files(
    places: Path, small: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def urlopen(address: str, timeout: float) -> Any:
        asked.append(address)
        mirror, _, name = address.rpartition("/")
        if mirror + "/" == mnist_module.MIRRORS[0]:
            return io.BytesIO(gzip.compress(b"something else"))
        return io.BytesIO(gzip.compress(small[name.removesuffix(".gz")]))

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    first = mnist()
    assert len(asked) == 8
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    np.testing.assert_array_equal(mnist().images, first.images)


def test_mnist_that_is_nowhere_is_explained(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    with pytest.raises(MissingDataError) as caught:
        mnist()
    text = str(caught.value)
    for part in (
        "no network here",
        "https://",
        "11 MB",
        "licence",
        str(places / "cache" / "mnist"),
    ):
        assert part in text


@pytest.mark.slow
def test_mnist_of_scikit_learn_counts(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = places / "sklearn" / "openml" / "openml.org" / "data" / "v1" / "download" / "52667"
    stored.mkdir(parents=True)
    (stored / "mnist_784.arff.gz").touch()
    pixels = np.random.default_rng(0).integers(0, 256, (60_002, 784)).astype(float)
    digits = np.array(["7"] * 60_000 + ["1", "2"])
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: (pixels, digits))
    found = mnist()
    assert found.test_labels.tolist() == [1, 2]
    np.testing.assert_array_equal(found.images[0].ravel(), pixels[0])


@pytest.mark.needs("mnist")
def test_the_real_mnist() -> None:
    found = mnist()
    assert found.images.shape == (60_000, 28, 28)
    assert np.bincount(found.labels).tolist()[8] == 5851
    assert np.bincount(found.test_labels).tolist()[8] == 974


TRIALS = "****** trial 1 ******\napple_1\nball_2\n\n****** trial 2 ******\napple_2\nball_1\n"


def make_crops(root: Path) -> None:
    folder = root / "washington-rgbd"
    for category, number, frame in itertools.product(("apple", "ball"), (1, 2), (1, 6)):
        name = f"{category}_{number}"
        path = folder / "rgbd-dataset" / category / name / f"{name}_1_{frame}_crop.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (20, 20), 10 * number + frame).save(path)
    (folder / "testinstance_ids.txt").write_text(TRIALS)


def test_rgbd_in_its_own_folders_is_looked_at_once(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_crops(places / "data")
    look = Pixels(size=2)
    frames = rgbd(look)
    assert frames.X.shape == (8, 4)
    assert frames.objects.tolist()[:3] == ["apple_1", "apple_1", "apple_2"]
    assert set(frames.categories.tolist()) == {"apple", "ball"}
    assert frames.trials == [{"apple_1", "ball_2"}, {"apple_2", "ball_1"}]
    np.testing.assert_allclose(frames.X[0], 11 / 255, atol=1e-6)
    monkeypatch.setattr(Pixels, "stream", None)  # must not be called again
    np.testing.assert_array_equal(rgbd(look).X, frames.X)
    assert len(list((places / "cache").glob("rgbd-*.npz"))) == 1


def test_packed_rgbd_is_unpacked(places: Path) -> None:
    folder = places / "data" / "washington-rgbd"
    folder.mkdir(parents=True)
    codes = np.array([[0, 255], [51, 102]], dtype=np.uint8)  # features x frames
    names = np.array(["apple_1_1_1_crop.png", "food_can_12_1_7_crop.png"])
    np.savez(folder / "efficientnet_lite0.npz", codes=codes, files=names)
    (folder / "testinstance_ids.txt").write_text(TRIALS + "food_can_12\n")
    frames = rgbd()
    np.testing.assert_allclose(frames.X, [[0, 0.04 * 6], [6, 0.16 * 6]], rtol=1e-6)
    assert frames.categories.tolist() == ["apple", "food_can"]
    assert frames.numbers.tolist() == [1, 7]
    assert frames.trials == [{"apple_1"}, {"food_can_12"}]


def test_rgbd_that_is_nowhere_is_explained(places: Path) -> None:
    with pytest.raises(MissingDataError, match=r"https://rgbd-dataset\.cs\.washington\.edu"):
        rgbd()
    make_crops(places / "data")
    (places / "data" / "washington-rgbd" / "testinstance_ids.txt").unlink()
    with pytest.raises(MissingDataError, match=r"testinstance_ids\.txt is not beside it"):
        rgbd(Pixels(size=2))


@pytest.mark.needs("washington")
def test_the_real_rgbd() -> None:
    frames = rgbd()
    assert frames.X.shape == (41_427, 1280)
    assert len(set(frames.categories.tolist())) == 51
    assert len(set(frames.objects.tolist())) == 300
    assert [len(trial) for trial in frames.trials] == [51] * 10


@pytest.mark.parametrize("day_first", [True, False])
def test_icubworld28_is_listed_as_it_is_published(places: Path, day_first: bool) -> None:
    root = places / "data" / "icubworld28"
    things = [(f"thing{c}", f"thing{c}{o}") for c in range(7) for o in range(1, 5)]
    for day, part, (category, thing) in itertools.product(DAYS, ("train", "test"), things):
        above = (day, part) if day_first else (part, day)
        path = root / "somewhere" / Path(*above) / category / thing / "00000001.ppm"
        path.parent.mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(path)
    Image.new("RGB", (8, 8)).save(root / "loose.ppm")
    shots = icubworld28()
    assert len(shots.files) == 4 * 2 * 28
    assert len(set(shots.objects)) == 28
    assert set(shots.days) == set(DAYS)
    assert sum(shots.is_test) == 4 * 28
    assert shots.objects[0] == "thing0/thing01"


def test_icubworld28_that_is_nowhere_is_explained(places: Path) -> None:
    with pytest.raises(MissingDataError, match=r"https://robotology\.github\.io/iCubWorld"):
        icubworld28()
    (places / "data" / "icubworld28").mkdir(parents=True)
    with pytest.raises(MissingDataError, match="lunedi22/train/category/object"):
        icubworld28()
