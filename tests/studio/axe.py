"""axe-core, where npm has put it: what it finds wrong for people who do not see or point."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: "Page", script: str) -> list[str]:
    """Return what is wrong with a page as it stands: how bad, what, where."""
    page.evaluate(script)
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['impact']}: {one['id']} ({one['help']}) at {', '.join(map(str, node['target']))}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
