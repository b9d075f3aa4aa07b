"""A chromium whose camera is a film, driven by Playwright."""

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@contextmanager
def chromium(film: Path) -> Iterator["Browser"]:
    """Start a browser that takes a film for its camera and asks nobody whether it may."""
    from playwright.sync_api import sync_playwright

    # The page shows the film's path as the name of the camera: a short one looks like one.
    with chdir(film.parent), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=needs.chromium(),
            # Containers have no room in /dev/shm, and root has no sandbox.
            chromium_sandbox=False,
            args=[
                "--disable-dev-shm-usage",
                "--use-fake-device-for-media-stream",
                "--use-fake-ui-for-media-stream",
                f"--use-file-for-fake-video-capture={film.name}",
            ],
        )
        try:
            yield browser
        finally:
            browser.close()
