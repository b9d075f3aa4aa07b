"""Film the studio's page while somebody teaches it three things: the picture of the README.

    python -m tests.studio.browser.animation docs/studio.webp

It needs chromium, and shows photos that come with scikit-image (NEWFOUND_DATA must not be set).
"""

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from tests.studio.browser.chromium import chromium
from tests.studio.browser.film import Camera, objects
from tests.studio.browser.person import Person, person
from tests.studio.process import studio

WINDOW = {"width": 1120, "height": 760}
WIDTH = 760  # of the animation
LESSONS = 12  # of each thing
# How long pictures are shown, in milliseconds: of what moves, of an answer, and at the end.
MOVES, ANSWERS, LAST = 180, 450, 1800


class Shot(NamedTuple):
    """One picture, and how long it is shown."""

    picture: Image.Image
    milliseconds: int


class Film:
    """Pictures of a page, one after the other."""

    def __init__(self, me: Person) -> None:
        self.me = me
        self.shots: list[Shot] = []

    def take(self, milliseconds: int) -> None:
        """Take a picture of the window as it is."""
        picture = Image.open(BytesIO(self.me.page.screenshot())).convert("RGB")
        size = WIDTH, round(WIDTH * WINDOW["height"] / WINDOW["width"])
        self.shots.append(Shot(picture.resize(size, Image.Resampling.LANCZOS), milliseconds))

    def teach(self, label: str) -> None:
        """Hold a thing up, type its name, and hold the space bar for some lessons."""
        self.clear_name()
        self.me.hold_up(label)
        # While one class is known, the page takes everything for it: that is not worth a picture.
        honest = (self.me.page.locator("#answer").text_content() or "") not in self.me.counts()
        if honest:
            self.take(ANSWERS)
        self.me.page.locator("#name").fill(label)
        if honest:
            self.take(ANSWERS)
        self.me.page.locator("#name").press("Enter")
        self.me.page.keyboard.down("Space")
        while self.me.counts().get(label, 0) < LESSONS:
            self.take(MOVES)
        self.me.page.keyboard.up("Space")
        self.me.page.locator("#teach .words", has_text="Taught").wait_for()

    def clear_name(self) -> None:
        """Clear the name that was taught last: the button beside an answer speaks of none."""
        self.me.page.locator("#name").fill("")
        self.me.page.locator("#name").blur()

    def ask(self, name: str, says: str) -> None:
        """Hold a thing up from sides that were not taught, and wait for what the page says."""
        self.me.hold_up(name, part=1)
        self.me.until_it_says(says)
        for _ in range(3):
            self.me.says(1)
            self.take(ANSWERS)

    def write(self, path: Path) -> None:
        """Write all pictures as one animation, which begins again when it has ended."""
        first, *others = [shot.picture for shot in self.shots]
        times = [shot.milliseconds for shot in self.shots]
        first.save(
            path, save_all=True, append_images=others, duration=[*times[:-1], LAST], loop=0,
            quality=62, method=6, minimize_size=True,
        )  # fmt: skip


def main() -> None:
    """Film the story, and write it where the command line says."""
    *things, _, stranger = objects()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        camera = Camera(folder / "camera.y4m")
        with studio(folder / "my.newfound") as served, chromium(camera.path) as browser:
            camera.show(things[0])
            film = Film(person(browser, camera, served.url, viewport=WINDOW))
            film.me.open()
            for thing in things:
                film.teach(thing)
            film.clear_name()
            for thing in things[1:]:
                film.ask(thing, thing)
            film.ask(stranger, "Unknown")
            film.ask(things[0], things[0])  # the last picture is an answer
    path = Path(sys.argv[1]).resolve()
    film.write(path)
    print(f"{path.name}: {len(film.shots)} pictures, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
