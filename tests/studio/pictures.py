"""Pictures as JPEG: as the page sends them, and made up."""

from io import BytesIO

import numpy as np
from PIL import Image


def jpeg(frame: Image.Image, side: int = 224) -> bytes:
    """Return the square in the middle of a frame, as a page would send it."""
    width, height = frame.size
    left = (width - height) // 2
    return _bytes(frame.crop((left, 0, left + height, height)).resize((side, side)))


def picture(thing: int, number: int, side: int = 64) -> bytes:
    """Return a JPEG: each thing has a pattern of its own, each picture noise of its own."""
    pattern = np.random.default_rng(thing).uniform(0, 255, (8, 8, 3))
    noise = np.random.default_rng((thing, number)).normal(0, 25, (8, 8, 3))
    small = Image.fromarray(np.clip(pattern + noise, 0, 255).astype(np.uint8))
    return _bytes(small.resize((side, side), Image.Resampling.NEAREST))


def _bytes(image: Image.Image) -> bytes:
    held = BytesIO()
    image.save(held, "JPEG", quality=85)
    return held.getvalue()
