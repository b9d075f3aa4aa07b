"""Every command in README, docs and help texts is run as printed."""

import contextlib
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from newfound.cli import app
from newfound.recognition.journal import NewExample
from newfound.recognition.journalled import JournalledRecogniser
from tests.command_line import Done, newfound
from tests.robot.bags import compressed, write_bag
from tests.robot.clips import write_clip

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
# Where `newfound` and `python` of this environment are.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]  # type: ignore[union-attr]


def run(line: str, folder: Path) -> Done:
    """Run a line as a user would who stands in a folder."""
    if re.match(r"newfound (studio|serve)\b", line):
        return run_service(line, folder)
    if line.startswith("newfound listen "):
        return run_listener(line, folder)
    if line.startswith("python examples/studio_client.py "):
        return run_client(line, folder)
    if line.startswith("newfound ") and not re.search(r"[|<>$;&]", line):
        # What a shell does to it is little enough to be done here, which saves a second a line.
        with contextlib.chdir(folder):
            words = [
                sorted(map(str, Path().glob(word))) if "*" in word else [word]
                for word in shlex.split(line)[1:]
            ]
            return newfound(*itertools.chain(*words))
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": PATH},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def serving(line: str, folder: Path) -> "tuple[subprocess.Popen[str], str]":
    """Run a line that serves, and return it with the address that it has printed."""
    process = subprocess.Popen(
        [*shlex.split(line), "--port", "0"],  # whatever else is served here
        cwd=folder,
        env={**os.environ, "PATH": PATH, "BROWSER": "true"},  # a browser that shows nothing
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline()


def run_service(line: str, folder: Path) -> Done:
    """Run a line that serves until it has printed its address, and end it as a system does."""
    process, address = serving(line, folder)
    process.terminate()
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, address + out, err)


def run_listener(line: str, folder: Path) -> Done:
    """Run a line that listens until it says so, and end it as a system does."""
    if "--ros1" in line and shutil.which("roscore") is None:
        return Done(0, "", "needs ROS 1, which is not here")
    nobody = () if "--ros1" in line else ("--listen", "tcp/127.0.0.1:0")  # nobody else is met
    process = subprocess.Popen(
        [*shlex.split(line), *nobody],
        cwd=folder,
        env={**os.environ, "PATH": PATH, "ROS_MASTER_URI": "http://127.0.0.1:1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    process.terminate()
    out, err = process.communicate(timeout=60)
    assert "Listening" in said or "waiting" in said, said + err
    return Done(process.returncode, out, said + err)


def run_client(line: str, folder: Path) -> Done:
    """Run a line that asks a service, which is another one than the line says."""
    process, address = serving("newfound serve kitchen.newfound", folder)
    try:
        words = shlex.split(re.sub(r"http://\S+", address.strip(), line))
        done = subprocess.run(
            [sys.executable, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=60
        )
    finally:
        process.terminate()
        process.communicate(timeout=60)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the photos and models that the help texts speak of."""
    world = tmp_path_factory.mktemp("prepared")
    (world / "examples").symlink_to(ROOT / "examples")
    for line in (
        "python examples/views.py photos mug=coffee.png cat=chelsea.png coins=coins.png",
        "python examples/views.py garage rocket=rocket.jpg --views 6",
        "mkdir new",
        "python examples/views.py more mug=coffee.png --views 3 --seed 9",
        "mv more/mug/*.jpg new",
        "cp photos/mug/00.jpg a.jpg",
        "cp photos/cat/00.jpg b.jpg",
        "newfound teach kitchen.newfound photos/",
        "newfound teach garage.newfound garage/",
        "newfound features photos/ -o vectors.npz",
    ):
        done = run(line, world)
        assert done.code == 0, (line, done.err)
    write_footage(world)
    return world


def write_footage(world: Path) -> None:
    """Write a video of a mug, and a recording of a mug and then a cat that labels.csv tells of."""
    photos = [sorted((world / "photos" / label).glob("*.jpg"))[:6] for label in ("mug", "cat")]
    pictures = [np.asarray(Image.open(path).resize((320, 240))) for path in photos[0]]
    write_clip(world / "clip.mp4", pictures, "mpeg4", "yuv420p", rate=2)
    told = [
        compressed(n, path.read_bytes(), topic="/camera/image/compressed")
        for n, path in enumerate(itertools.chain(*photos))
    ]
    shutil.move(write_bag(world / "bag", "mcap", told), world / "run.mcap")
    (world / "labels.csv").write_text("start,end,label\n0,6,mug\n6,,cat\n")


@pytest.fixture
def world(prepared: Path, tmp_path: Path) -> Path:
    shutil.copytree(prepared, tmp_path / "world", symlinks=True)
    return tmp_path / "world"


def printed(text: str) -> list[str]:
    """Return the lines of a text that are commands: indented, and begin like one."""
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines() if line[:1] == " "]
    start = re.compile(r"(newfound [a-z-]+ |newfound [a-z-]+$|ls .*\| newfound|python examples/)")
    return [line.partition("  #")[0].rstrip() for line in lines if start.match(line)]


def test_what_pages_show_of_commands_that_need_no_photos_is_in_help_texts() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    helped = [line for name in COMMANDS for line in printed(newfound(name, "--help").out)]
    for page in pages:
        for line in printed(page.read_text()):
            if line.startswith(("newfound reproduce", "newfound demo", "newfound bench")):
                assert line in helped


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_a_help_text_works_as_printed(command: str, world: Path) -> None:
    lines = printed(newfound(command, "--help").out)
    assert lines, "a help text begins with examples"
    if command == "redo":  # what was undone, in a journal
        JournalledRecogniser(world / "kitchen.newfound").journal.close()
        for line in (
            "newfound forget-class kitchen.newfound mug",
            "newfound undo kitchen.newfound",
        ):
            assert run(line, world).code == 0
    if command == "inbox":  # two things that were asked about
        kitchen = JournalledRecogniser(world / "kitchen.newfound")
        for number in range(2):
            vector = np.full(kitchen.width or 0, number, dtype=np.float32)
            kitchen.ask([NewExample(vector, bytes([number] * 16), kitchen.identity)])
        kitchen.journal.close()
    for line in lines:
        assert (
            line.partition(" newfound ")[2]
            or line.startswith(f"newfound {command}")
            or (command == "features")
        )
        done = run(line, world)
        assert done.code == 0, (line, done.out, done.err)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md") if p.name != "start.md"),
    ],
)
def test_every_command_in_a_page_works_as_printed(
    page: str, prepared: Path, tmp_path: Path
) -> None:
    text = (ROOT / page).read_text()
    # What needs no photos is in a help text, too, and run there.
    alone = ("newfound reproduce", "newfound demo", "newfound bench")
    lines = [line for line in printed(text) if not line.startswith(alone)]
    if page == "docs/photos.md":  # tells a whole story, from nothing
        world = tmp_path
        (world / "examples").symlink_to(ROOT / "examples")
    else:
        world = tmp_path / "world"
        shutil.copytree(prepared, world, symlinks=True)
        if "newfound teach kitchen.newfound photos/" in lines:
            (world / "kitchen.newfound").unlink()
    for line in lines:
        done = run(line, world)
        assert done.code == 0, (line, done.out, done.err)
        if f"$ {line}\n" in text:  # what is printed below it is what it prints
            text = text.partition(f"$ {line}\n")[2]
            said = text.partition("    $ ")[0].partition("\n\n")[0]
            told = {masked(each.strip()) for each in said.splitlines()}
            shown = {masked(each.strip()) for each in (done.out + done.err).splitlines()}
            assert told <= shown, (line, told, shown)


def test_the_script_of_the_worked_example_tells_the_same_story() -> None:
    script = (ROOT / "examples" / "two_robots.sh").read_text()
    script = script.replace("\\\n    ", "").replace("\nviews ", "\npython examples/views.py ")
    told = printed((ROOT / "docs" / "photos.md").read_text())
    again = "newfound teach kitchen.newfound kitchen/"  # the page shows what a second time does
    assert told.count(again) == 2
    told.remove(again)
    assert printed("".join(f" {line}\n" for line in script.splitlines())) == told
    assert run(f"bash -n {ROOT / 'examples' / 'two_robots.sh'}", ROOT).code == 0


def masked(line: str) -> str:
    """Return a line without the digits that depend on the machine."""
    return re.sub(r"\d+\.\d+", "#", line)
