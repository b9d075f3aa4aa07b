"""A stranger's walk: all that the start page prints is done, from nothing and in its order."""

import contextlib
import doctest
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.test_printed_commands import ROOT, masked, run

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "start.md"


def blocks(text: str) -> list[str]:
    """Return the pieces of code of a page: what is indented, without the indentation."""
    lines = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    code = "\n".join(line[4:] if line.startswith("    ") else "" for line in lines)
    return [piece for piece in re.split(r"\n\n+", code) if piece.strip()]


def steps(text: str) -> list[tuple[str, list[str]]]:
    """Return each command, and the lines printed below it."""
    found: list[tuple[str, list[str]]] = []
    for line in "\n".join(blocks(text)).strip().splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line.strip())
    return found


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder like a fresh clone whose environment is there: that of these tests."""
    for name in ("Makefile", "pyproject.toml", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / ".venv" / "ready").touch()
    return tmp_path


def test_every_command_of_the_start_page_works_as_printed(clone: Path) -> None:
    walked = steps(PAGE.read_text())
    doors = {line.partition(" ")[0] + " " + line.split()[1] for line, _ in walked}
    assert {"make demo", "newfound teach", "newfound predict", "newfound studio"} <= doors
    for line, told in walked:
        done = run(line, clone)
        assert done.code == 0, (line, done.out, done.err)
        shown = {masked(each.strip()) for each in (done.out + done.err).splitlines()}
        assert {masked(each) for each in told} <= shown, (line, told, shown)


def test_the_python_of_the_start_page_prints_what_it_says(tmp_path: Path) -> None:
    with contextlib.chdir(tmp_path):
        failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert not failed
    assert tried >= 8


def test_extras_that_the_start_page_names_are_there() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    text = PAGE.read_text()
    said = text.partition("The extra ")[2].partition("What needs an extra")[0]
    named = set(re.findall(r"`(\w+)`", said)) | set(
        "".join(re.findall(r"pip install '\.\[(.*?)\]'", text)).split(",")
    )
    assert {"vision", "studio"} <= named <= extras.keys()
    assert shutil.which("make"), "the page begins with it"
