"""An environment with what newfound needs, and nothing else: no extra, no network."""

import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def core() -> set[Path]:
    """Where the packages are that newfound needs without any extra, and what they need."""
    found: set[Path] = set()
    seen: set[str] = set()
    todo: list[str] = PROJECT["dependencies"].copy()
    while todo:
        requirement = Requirement(todo.pop())
        is_for_us = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if requirement.name not in seen and is_for_us:
            seen.add(requirement.name)
            installed = distribution(requirement.name)
            todo += installed.requires or []
            tops = {file.parts[0] for file in installed.files or []} - {"..", "__pycache__"}
            found |= {Path(str(installed.locate_file(top))) for top in tops}
    return found


def make_bare(folder: Path) -> Path:
    """Make an environment with these packages, but without newfound; return its Python."""
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("lib/python*/site-packages")
    for path in core():
        (site / path.name).symlink_to(path)
    return folder / "bin" / "python"
