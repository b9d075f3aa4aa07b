"""What tests need that a machine may lack: `@pytest.mark.needs("torch")`.

A test that needs what is not here is skipped, with a reason that says how to get it; all reasons
are counted in one line at the end of a run. Under `NEWFOUND_EXPECT=all` it fails instead, under
`NEWFOUND_EXPECT=torch` if torch is what it needs.
"""

import importlib.util
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

DATA = Path(os.environ.get("NEWFOUND_DATA") or "no data")
CROPS = DATA / "washington-rgbd" / "rgbd-dataset"
# `make axe` puts it there.
AXE = Path(
    os.environ.get("NEWFOUND_AXE", Path(__file__).parents[1] / "node_modules/axe-core/axe.min.js")
)


def chromium() -> Path | None:
    """Return where a browser is that Playwright can drive; None: there is none."""
    asked = os.environ.get("NEWFOUND_CHROMIUM")
    names = [asked] if asked else ["chromium", "chromium-browser", "google-chrome"]
    found = [path for name in names if (path := shutil.which(name))]
    return Path(found[0]) if found else None


def _installed(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


class Need(NamedTuple):
    """Something that may be missing."""

    here: Callable[[], bool]
    how: str  # how to get it


NEEDS = {
    "torch": Need(_installed("torch"), "make .venv/torch"),
    "schemathesis": Need(_installed("schemathesis"), "make .venv/all"),
    "playwright": Need(_installed("playwright"), "make .venv/all"),
    "chromium": Need(lambda: chromium() is not None, "apt-get install chromium"),
    "axe": Need(AXE.is_file, "make axe"),
    "ros": Need(
        lambda: shutil.which("roscore") is not None, "apt-get install ros-core python3-rospy"
    ),
    "openssl": Need(lambda: shutil.which("openssl") is not None, "apt-get install openssl"),
    "mnist": Need((DATA / "mnist").is_dir, "put MNIST into $NEWFOUND_DATA"),
    "washington": Need((DATA / "washington-rgbd").is_dir, "put RGB-D into $NEWFOUND_DATA"),
}


def is_here(name: str) -> bool:
    """Tell whether there is something that tests may need; True: none of them asks for it."""
    return name not in NEEDS or NEEDS[name].here()


def require(*names: str) -> None:
    """Skip the test that asks if one of these is missing."""
    missing = [name for name in names if not NEEDS[name].here()]
    if missing:
        how = "; ".join(dict.fromkeys(NEEDS[name].how for name in missing))
        pytest.skip(f"needs {', '.join(missing)}: {how}")
