"""Models of photos taught with and without roots: each goes on as it began, and they do not mix."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from safetensors import safe_open

from newfound import Recogniser, WrongExtractorError
from newfound.features import EfficientNetLite0
from tests.command_line import newfound


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for label, hue in {"red": (220, 40, 40), "blue": (40, 40, 220)}.items():
        (folder / label).mkdir()
        for number in range(4):
            noise = rng.integers(-30, 30, (40, 40, 3))
            pixels = np.clip(np.array(hue) + noise, 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(folder / label / f"{number}.png")
    return folder


@pytest.fixture(scope="module")
def old(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model as 0.1.0 left it: its file has no word of roots."""
    path = tmp_path_factory.mktemp("models") / "old.newfound"
    recogniser = Recogniser(path, extractor=EfficientNetLite0(root=False))
    for label in ("red", "blue"):
        recogniser.teach([photos / label / f"{number}.png" for number in range(3)], label)
    recogniser.save()
    with safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["newfound"])
    assert "root" not in json.dumps(header["extractor"])
    return path.read_bytes()


@pytest.fixture
def model(old: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "old.newfound"
    path.write_bytes(old)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("named", [(), ("--extractor", "efficientnet-lite0")])
def test_a_model_taught_without_roots_is_asked_and_taught_without(
    photos: Path, model: Path, named: tuple[str, ...]
) -> None:
    expected = Recogniser(model, EfficientNetLite0(root=False)).look(photos / "red" / "3.png")
    done = newfound("predict", model, photos / "red" / "3.png", "--json", *named)
    assert done.code == 0
    answer = json.loads(done.out)
    assert answer["label"] == expected.label == "red"
    assert answer["score"] == pytest.approx(expected.score, abs=1e-4)
    done = newfound("teach", model, photos, *named)
    assert done.code == 0
    assert "Learned 2 images" in done.err
    again = Recogniser(model)
    assert again.counts == {"blue": 4, "red": 4}
    assert again.identity == EfficientNetLite0(root=False).identity


@pytest.mark.slow
def test_a_new_model_is_taught_roots_and_told_not_to_by_name(photos: Path, tmp_path: Path) -> None:
    for name, options, root in (
        ("new", (), True),
        ("plain", ("--extractor", "efficientnet-lite0:root=no"), False),
    ):
        assert newfound("teach", tmp_path / name, photos, *options).code == 0
        identity = Recogniser(tmp_path / name).identity
        assert identity == EfficientNetLite0(root=root).identity
    shown = newfound("inspect", tmp_path / "new")
    assert "layout=chw, root=yes)" in shown.out


@pytest.mark.slow
def test_vectors_of_the_other_kind_are_refused_with_what_differs(
    photos: Path, model: Path, tmp_path: Path
) -> None:
    differs = r"they differ in root \(no, yes\)"
    with pytest.raises(WrongExtractorError, match=differs):
        Recogniser(model, extractor=EfficientNetLite0())
    with pytest.raises(WrongExtractorError, match=differs):
        Recogniser(model, extractor="efficientnet-lite0:root=yes")
    vectors = tmp_path / "v.npz"
    assert newfound("features", photos, "-o", vectors).code == 0
    done = newfound("teach", model, vectors)
    assert done.code == 1
    assert "they differ in root (no, yes)" in " ".join(done.err.split())
    new = Recogniser()
    new.teach(vectors)
    with pytest.raises(WrongExtractorError, match=r"they differ in root \("):
        new.merge(Recogniser(model))


@pytest.mark.slow
def test_photos_beside_vectors_without_roots_are_taught_without(
    photos: Path, tmp_path: Path
) -> None:
    vectors, plain = tmp_path / "v.npz", "efficientnet-lite0:root=no"
    assert newfound("features", photos / "red", "-o", vectors, "--extractor", plain).code == 0
    recogniser = Recogniser()
    recogniser.teach(vectors)
    recogniser.teach(photos / "blue")
    assert recogniser.counts == {"blue": 4, "red": 4}
    assert recogniser.identity == EfficientNetLite0(root=False).identity
