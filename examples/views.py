"""Make folders of photos to try newfound with: views cut from photos that come with scikit-image.

    python examples/views.py photos mug=coffee.png cat=chelsea.png --views 12

Each view is another part of the photo, with another brightness, as a JPEG of 320 x 240.
"""

import argparse
from pathlib import Path

import numpy as np
import skimage
from PIL import Image, ImageEnhance

PHOTOS = Path(skimage.__file__).parent / "data"


def cut(photo: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Return a part of a photo, 0.6 to 0.95 times as wide, as seen in other light."""
    part = rng.uniform(0.6, 0.95)
    width = part * min(photo.width, 4 / 3 * photo.height)
    height = 3 / 4 * width
    left = rng.uniform(0, photo.width - width)
    top = rng.uniform(0, photo.height - height)
    box = (left, top, left + width, top + height)
    view = photo.resize((320, 240), Image.Resampling.BICUBIC, box=box)
    return ImageEnhance.Brightness(view).enhance(rng.uniform(0.7, 1.3))


def write_views(folder: Path, photo: str, views: int, seed: int) -> None:
    """Write views of a photo that comes with scikit-image into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = Image.open(PHOTOS / photo).convert("RGB")
    rng = np.random.default_rng(seed)
    for number in range(views):
        cut(whole, rng).save(folder / f"{number:02}.jpg", quality=90)


def main() -> None:
    """Make the folders that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("things", nargs="+", metavar="name=photo", help="mug=coffee.png")
    parser.add_argument("--views", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for thing in arguments.things:
        name, _, photo = thing.partition("=")
        write_views(arguments.folder / name, photo, arguments.views, arguments.seed)


if __name__ == "__main__":
    main()
