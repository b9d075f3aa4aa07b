"""Every command in a help text is run as printed. (tests/test_pages.py follows the pages.)"""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from newfound.cli import app
from newfound.recognition.editor import Editor
from newfound.recognition.sources import NewExample
from tests.command_line import newfound
from tests.shell import run, write_belongings

pytestmark = pytest.mark.slow

COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]  # type: ignore[union-attr]

# Some take ten seconds and more: of these, `make test` has smaller twins.
LONG = {"bench", "demo", "reproduce"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the photos and models that the help texts speak of."""
    world = tmp_path_factory.mktemp("prepared")
    write_belongings(world)
    for line in (
        "python examples/views.py garage rocket=rocket.jpg --views 6",
        "newfound teach kitchen.newfound photos/",
        "newfound teach garage.newfound garage/",
        "newfound features photos/ -o vectors.npz",
    ):
        done = run(line, world)
        assert done.code == 0, (line, done.err)
    return world


@pytest.fixture
def world(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared, tmp_path / "world", symlinks=True)
    return tmp_path / "world"


def printed(text: str) -> list[str]:
    """Return the lines of a help text that are commands: indented, and begin like one."""
    lines = [line.strip() for line in text.splitlines() if line[:1] == " "]
    start = re.compile(r"(newfound [a-z-]+ |newfound [a-z-]+$|ls .*\| newfound|python examples/)")
    return [line.partition("  #")[0].rstrip() for line in lines if start.match(line)]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(each, marks=[pytest.mark.exhaustive] if each in LONG else [])
        for each in COMMANDS
    ],
)
def test_every_command_in_a_help_text_works_as_printed(command: str, world: Path) -> None:
    lines = printed(newfound(command, "--help").out)
    assert lines, "a help text begins with examples"
    if command == "redo":  # what was undone, in a journal
        Editor(world / "kitchen.newfound").journal.close()
        for line in (
            "newfound forget-class kitchen.newfound mug",
            "newfound undo kitchen.newfound",
        ):
            assert run(line, world).code == 0
    if command == "inbox":  # two things that were asked about
        kitchen = Editor(world / "kitchen.newfound")
        for number in range(2):
            vector = np.full(kitchen.knowledge.width or 0, number, dtype=np.float32)
            kitchen.ask([NewExample(vector, bytes([number] * 16), kitchen.knowledge.identity)])
        kitchen.journal.close()
    for line in lines:
        assert (
            line.partition(" newfound ")[2]
            or line.startswith(f"newfound {command}")
            or (command == "features")
        )
        done = run(line, world)
        assert done.code == 0, (line, done.out, done.err)
