"""Lines of a shell, run as a user would who stands in a folder: commands, examples, services."""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

from tests.command_line import Done, newfound
from tests.robot.bags import compressed, write_bag
from tests.robot.clips import write_clip

ROOT = Path(__file__).parent.parent
# Where `newfound` and `python` of this environment are.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
SERVES = re.compile(r"newfound (studio|serve)\b")


def run(line: str, folder: Path) -> Done:
    """Run a line. What a shell does to most is little, and done here: it saves a second each."""
    if SERVES.match(line):
        return _run_service(line, folder)
    if line.startswith("newfound listen "):
        return _run_listener(line, folder)
    if not re.search(r"[|<>$;&]", line):
        with contextlib.chdir(folder):
            program, *words = [
                word
                for given in shlex.split(line)
                for word in (sorted(map(str, Path().glob(given))) if "*" in given else [given])
            ]
            if program == "newfound":
                return newfound(*words)
            if program == "python" and words[0].startswith("examples/"):
                return _run_example(words)
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


def _run_example(words: list[str]) -> Done:
    """Run a script of the examples, in this process."""
    out, code = io.StringIO(), 0
    with mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(out):
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as exit:
            code = int(bool(exit.code))
    return Done(code, out.getvalue(), "")


@contextlib.contextmanager
def serving(line: str, folder: Path) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """Run a line that serves, and hand it out with the address that it has printed."""
    process = subprocess.Popen(
        [*shlex.split(line), "--port", "0"],  # whatever else is served here
        cwd=folder,
        env={**os.environ, "PATH": PATH, "BROWSER": "true"},  # a browser that shows nothing
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _run_service(line: str, folder: Path) -> Done:
    """Run a line that serves until it has printed its address, and end it as a system does."""
    with serving(line, folder) as (process, address):
        process.terminate()
        out, err = process.communicate(timeout=60)
        return Done(process.returncode, address + out, err)


def _run_listener(line: str, folder: Path) -> Done:
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


def write_belongings(folder: Path) -> None:
    """Write what readers of the pages and help texts are taken to have: photos and footage.

    A video shows six views of a mug for half a second each, a recording six views of a mug and then
    six of a cat, one a second, as labels.csv tells.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    for line in (
        "python examples/views.py photos mug=coffee.png cat=chelsea.png coins=coins.png",
        "python examples/views.py more mug=coffee.png --views 3 --seed 9",
    ):
        assert run(line, folder).code == 0
    shutil.move(folder / "more" / "mug", folder / "new")
    shutil.copy(folder / "photos" / "mug" / "00.jpg", folder / "a.jpg")
    shutil.copy(folder / "photos" / "cat" / "00.jpg", folder / "b.jpg")
    photos = [sorted((folder / "photos" / label).glob("*.jpg")) for label in ("mug", "cat")]
    unlike = [photos[0][number] for number in (0, 1, 2, 5, 6, 8)]  # correlations up to 0.90
    frames = [np.asarray(Image.open(path)) for path in unlike for _ in range(10)]
    write_clip(folder / "clip.mp4", frames, "png", "rgb24", rate=20)  # without loss
    told = [
        compressed(n, path.read_bytes(), topic="/camera/image/compressed")
        for n, path in enumerate(photos[0][:6] + photos[1][:6])
    ]
    shutil.move(write_bag(folder / "bag", "mcap", told), folder / "run.mcap")
    (folder / "labels.csv").write_text("start,end,label\n0,6,mug\n6,,cat\n")
