"""A chromium whose camera is a film, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")


def needed() -> Path:
    """Return where the browser is, or skip the test and say why."""
    pytest.importorskip("playwright", reason="the browser's tests need Playwright's Python client")
    asked = os.environ.get("NEWFOUND_CHROMIUM")
    found = [path for name in NAMES if (path := shutil.which(asked or name))]
    if not found:
        pytest.skip("there is no chromium: apt-get install chromium")
    return Path(found[0])


@contextmanager
def chromium(film: Path) -> Iterator["Browser"]:
    """Start a browser that takes a film for its camera and asks nobody whether it may."""
    path = needed()
    from playwright.sync_api import sync_playwright

    # The page shows the film's path as the name of the camera: a short one looks like one.
    with chdir(film.parent), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
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
