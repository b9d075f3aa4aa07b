"""Six things on a track, through every kind of recording and through video, from end to end.

The first half of the frames is taught, the second is asked about: other pictures of the same
things, in another order.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.command_line import newfound
from tests.covering import first_of
from tests.needs import CROPS
from tests.robot.bags import Told, compressed, image, write_bag
from tests.robot.clips import write_clip

OBJECTS = ("apple_1", "coffee_mug_1", "flashlight_1", "food_can_1", "lemon_1", "stapler_1")
PHOTOS = (
    "astronaut.png",
    "chelsea.png",
    "coffee.png",
    "motorcycle_left.png",
    "retina.jpg",
    "ihc.png",
)
# Frames a second; and of each thing, in each half, so many.
RATE, FRAMES = 10, 25


def views(name: str, half: int) -> list[Image.Image]:
    """Pictures of an object: other ones in each half."""
    if CROPS.is_dir():
        files = sorted((CROPS / name.rpartition("_")[0] / name).iterdir())
        return [Image.open(file).convert("RGB") for file in files[half::2]]
    import skimage.data

    photo = Image.open(Path(skimage.data.__file__).with_name(name)).convert("RGB")
    width, height = photo.width * 3 // 4, photo.height * 3 // 4
    corners = [(0, 0), (photo.width - width, photo.height - height)]
    left, top = corners[half]
    return [photo.crop((left, top, left + width, top + height))]


def moved(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A picture as a hand holds it: turned, nearer or farther, brighter or darker."""
    turned = picture.rotate(rng.uniform(-8, 8), Image.Resampling.BILINEAR)
    width, height = picture.size
    left, top = rng.uniform(0, 0.12, 2) * picture.size
    right, bottom = (1 - rng.uniform(0, 0.12, 2)) * (width, height)
    near = turned.resize((160, 120), box=(left, top, right, bottom))
    light = rng.uniform(0.8, 1.2)
    return near.point(lambda value: min(255, int(value * light)))


@pytest.fixture(scope="module")
def frames() -> list[tuple[str, Image.Image]]:
    rng = np.random.default_rng(18)
    names = OBJECTS if CROPS.is_dir() else PHOTOS
    track = []
    for half, order in enumerate((names, rng.permutation(names).tolist())):
        for name in order:
            pictures = views(name, half)
            track += [
                (name, moved(pictures[n * len(pictures) // FRAMES], rng)) for n in range(FRAMES)
            ]
    return track


def write_labels(folder: Path, frames: list[tuple[str, Image.Image]]) -> None:
    half = len(frames) // 2
    for name, start in (("first.csv", 0), ("second.csv", half)):
        spans = range(start, start + half, FRAMES)
        lines = [f"{n / RATE},{(n + FRAMES) / RATE},{frames[n][0]}" for n in spans]
        (folder / name).write_text("\n".join(["start,end,label", *lines]))


def jpeg(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    return file.getvalue()


def told(kind: str, frames: list[tuple[str, Image.Image]]) -> Iterator[Told]:
    for n, (_, picture) in enumerate(frames):
        pixels = np.asarray(picture)
        if kind == "mcap":
            yield compressed(n / RATE, jpeg(picture))
        else:
            yield image(n / RATE, pixels if kind == "ros1" else pixels[:, :, ::-1], ENCODING[kind])


ENCODING = {"ros1": "rgb8", "sqlite3": "bgr8"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_of(["video", "ros1", "sqlite3", "mcap"]))
def test_what_the_first_half_taught_is_recognised_in_the_second(
    kind: str, tmp_path: Path, frames: list[tuple[str, Image.Image]]
) -> None:
    assert len(frames) == 300
    if kind == "video":
        pictures = [np.asarray(picture) for _, picture in frames]
        path = write_clip(tmp_path / "run.mp4", pictures, "libx264", "yuv420p", RATE)
    else:
        path = write_bag(tmp_path, kind, told(kind, frames))
    write_labels(tmp_path, frames)
    model = tmp_path / "kitchen.newfound"
    taught = newfound("teach", model, path, "--labels", tmp_path / "first.csv")
    assert taught.code == 0, taught.err
    assert "150 outside any label" in taught.err
    asked = newfound("evaluate", model, path, "--labels", tmp_path / "second.csv", "--json")
    assert asked.code == 0, asked.err
    result = json.loads(asked.out)
    assert result["n"] == 150
    assert result["accuracy"] >= 0.9
