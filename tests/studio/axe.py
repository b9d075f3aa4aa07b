"""axe-core, where npm has put it: what it finds wrong for people who do not see or point."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

# `make axe` puts it there.
PLACE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def script() -> str:
    """Return axe-core, or skip the test and say why."""
    path = Path(os.environ.get("NEWFOUND_AXE", PLACE))
    if not path.is_file():
        pytest.skip(f"there is no axe-core at {path}: make axe")
    return path.read_text(encoding="utf-8")


def violations(page: "Page", script: str) -> list[str]:
    """Return what is wrong with a page as it stands: how bad, what, where."""
    page.evaluate(script)
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['impact']}: {one['id']} ({one['help']}) at {', '.join(map(str, node['target']))}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
