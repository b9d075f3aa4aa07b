"""Pictures of the page: light and dark, wide and narrow."""

import os
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Literal

from PIL import Image

from tests.studio.browser.person import Person

SIZES = {1280: 1000, 390: 844}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def look_over(me: Person, step: str) -> None:
    """See whether the page is wider than the window, at each size.

    Where NEWFOUND_SCREENSHOTS names a folder, pictures of it go there.
    """
    folder = os.environ.get("NEWFOUND_SCREENSHOTS")
    page, before = me.page, me.page.viewport_size
    for (width, height), scheme in product(SIZES.items(), SCHEMES if folder else SCHEMES[:1]):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            me.too_wide.append(f"{step}: {wide} pixels wide in a window of {width}")
        if folder:
            _write(page.screenshot(), Path(folder) / f"{step}-{scheme}-{width}.png")
    page.emulate_media(color_scheme="light")
    if before:
        page.set_viewport_size(before)


def _write(picture: bytes, path: Path) -> None:
    """Write a picture with 256 colours: a third of the bytes, and hardly a difference to see."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = Image.open(BytesIO(picture)).convert("RGB")
    whole.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
