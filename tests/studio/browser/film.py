"""Films for chromium's fake camera: an object that is held up and moves a little."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import skimage
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

WIDTH, HEIGHT, RATE = 640, 480, 15
FRAMES = 30  # two seconds, then it begins anew
HEADER = b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT, RATE)
WALL = (128, 124, 118)
# Objects of Washington RGB-D, and photos that stand in for them where that is absent. The first
# three are taught; another thing is not taken for the first; the stranger stays unknown.
CROPS = {
    "mug": "coffee_mug/coffee_mug_2",
    "stapler": "stapler/stapler_3",
    "banana": "banana/banana_1",
    "another": "coffee_mug/coffee_mug_3",
    "stranger": "keyboard/keyboard_1",
}
PHOTOS = {
    "mug": "coffee.png",
    "cat": "chelsea.png",
    "coins": "coins.png",
    "another": "motorcycle_left.png",
    "stranger": "astronaut.png",
}


def crops() -> Path | None:
    """Return where the objects of Washington RGB-D are, or None where they are not."""
    data = os.environ.get("NEWFOUND_DATA")
    folder = Path(data or "", "washington-rgbd", "rgbd-dataset")
    return folder if data and folder.is_dir() else None


def objects() -> list[str]:
    """Return the names of what can be held up: three to teach, another, and a stranger."""
    return list(CROPS if crops() else PHOTOS)


def views(name: str) -> list[Image.Image]:
    """Return pictures of an object from several sides, in an order that never changes."""
    if folder := crops():
        return [Image.open(path).convert("RGB") for path in sorted(folder.glob(f"{CROPS[name]}/*"))]
    photo = Image.open(Path(skimage.__file__).parent / "data" / PHOTOS[name]).convert("RGB")
    side = 0.85 * min(photo.size)
    corners = np.random.default_rng(0).uniform(0, np.array(photo.size) - side, (8, 2))
    return [photo.crop((int(x), int(y), int(x + side), int(y + side))) for x, y in corners.tolist()]


def frames(name: str, part: int, seed: int = 0) -> Iterator[Image.Image]:
    """Yield a film of an object: of every other side (part 0), or of those between (part 1).

    What is taught from one part and seen in the other is recognised from sides never shown.
    """
    rng = np.random.default_rng((objects().index(name), part, seed))
    sides = views(name)[part::2]
    for number in range(FRAMES):
        # All sides within moments: what is taught does not depend on how fast a machine takes
        # lessons.
        side = sides[number % len(sides)]
        held = side.resize((HEIGHT, HEIGHT), Image.Resampling.BICUBIC)
        angle, right, down, light = rng.uniform(-1, 1, 4).tolist()
        moved = held.rotate(
            6 * angle,
            Image.Resampling.BILINEAR,
            translate=(15 * right, 15 * down),
            fillcolor=WALL,
        )
        frame = Image.new("RGB", (WIDTH, HEIGHT), WALL)
        frame.paste(moved, ((WIDTH - HEIGHT) // 2, 0))
        yield ImageEnhance.Brightness(frame).enhance(1 + 0.1 * light)


@cache
def film(name: str, part: int) -> bytes:
    """Return the bytes of a .y4m file. Those of all films are equally long."""
    return HEADER + b"".join(b"FRAME\n" + planes(frame) for frame in frames(name, part))


def planes(frame: Image.Image) -> bytes:
    """Return brightness and colours of an image, colours at half its size: 4:2:0."""
    whole = np.asarray(frame.convert("YCbCr"))
    return b"".join([whole[:, :, 0].tobytes(), _halved(whole[:, :, 1]), _halved(whole[:, :, 2])])


def _halved(plane: NDArray[np.uint8]) -> bytes:
    blocks = plane.reshape(HEIGHT // 2, 2, WIDTH // 2, 2)
    halved: NDArray[np.uint8] = (blocks.mean(axis=(1, 3)) + 0.5).astype(np.uint8)
    return halved.tobytes()


class Camera:
    """The file that chromium takes for a camera, and what is held before it.

    Chromium reads the file frame by frame, so what is written into it is seen within moments.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(film("stranger", 0))

    def show(self, name: str, part: int = 0) -> None:
        """Hold up an object."""
        with self.path.open("r+b") as file:
            file.write(film(name, part))
