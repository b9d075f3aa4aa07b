"""Views of photos that come with scikit-image, as a camera that moves would see them."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.append(str(Path(__file__).resolve().parent.parent))
from views import PHOTOS, cut

FILES = {
    "mug": "coffee.png",
    "cat": "chelsea.png",
    "coins": "coins.png",
    "scooter": "motorcycle_left.png",
    "rocket": "rocket.jpg",
    "person": "astronaut.png",
}


def views(thing, how_many, seed=0):
    """Return views of a thing, as images of 320 x 240."""
    whole = Image.open(PHOTOS / FILES[thing]).convert("RGB")
    rng = np.random.default_rng((list(FILES).index(thing), seed))
    return [cut(whole, rng) for _ in range(how_many)]
