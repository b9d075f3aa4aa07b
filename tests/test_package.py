"""What is shipped: built without a network, installed where nothing else is, and complete."""

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from newfound import __version__
from tests.bare import PROJECT, ROOT, make_bare

SOURCE = ROOT / "src" / "newfound"
WITHOUT_PATH = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
# Where a version stands, as what is found there.
NAMED = {
    "src/newfound/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: \"?([^\"\s]+)\"?$",
}


def run(*words: Any, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=WITHOUT_PATH, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Built(NamedTuple):
    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source distribution, and the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="module")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel and what it needs, without any extra."""
    folder = tmp_path_factory.mktemp("installed")
    python = make_bare(folder)
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    run(*pip, "--no-index", "--no-deps", "--disable-pip-version-check", built.wheel, cwd=folder)
    return python.parent


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package_and_no_other(built: Built) -> None:
    files = [path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    expected = {path.relative_to(SOURCE.parent).as_posix() for path in files}
    names = set(zipfile.ZipFile(built.wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {"newfound/py.typed", "newfound/paper/published.json"} <= expected
    assert "newfound/studio/page/index.html" in expected


@pytest.mark.slow
def test_the_source_distribution_can_be_tested_and_built_again(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "conftest.py", "noxfile.py", "Makefile", "LICENSE", "README.md"}
    assert needed <= names
    assert {"tests/conftest.py", "docs/river.md", "src/newfound/py.typed"} <= names


@pytest.mark.slow
def test_the_metadata_says_what_the_project_does(built: Built) -> None:
    archive = zipfile.ZipFile(built.wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
    metadata = HeaderParser().parsestr(archive.read(name).decode())
    assert metadata["Version"] == __version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Author"] == "the newfound developers"
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])


@pytest.mark.slow
def test_the_package_that_is_installed_is_the_one_that_was_built(installed: Path) -> None:
    found = run(
        installed / "python", "-c", "import newfound; print(newfound.__file__)", cwd=installed
    )
    assert Path(found.strip()).is_relative_to(installed.parent)
    assert run(installed / "newfound", "--version", cwd=installed).strip() == __version__
    assert "Usage" in run(installed / "newfound", "--help", cwd=installed)


@pytest.mark.slow
def test_the_demo_runs_where_the_package_is_installed(installed: Path, tmp_path: Path) -> None:
    demo = run(installed / "newfound", "demo", "--trials", "1", "--json", cwd=tmp_path)
    assert json.loads(demo)


@pytest.mark.slow
def test_files_that_are_no_code_are_found_where_the_package_is_installed(
    installed: Path, tmp_path: Path
) -> None:
    program = (
        "from newfound.paper.table import published_numbers\n"
        "from newfound.studio.page_files import page_files\n"
        "print(len(page_files()), 'mnist' in published_numbers()['datasets'])\n"
    )
    pages = len(list((SOURCE / "studio" / "page").iterdir()))
    count, has_numbers = run(installed / "python", "-c", program, cwd=tmp_path).split()
    assert int(count) >= pages
    assert has_numbers == "True"


@pytest.mark.parametrize("place", NAMED)
def test_every_place_that_names_the_version_names_the_same(place: str) -> None:
    path = ROOT / place
    if not path.exists():
        pytest.skip(f"there is no {place}")
    assert re.findall(NAMED[place], path.read_text(), re.M) == [__version__]


def test_the_changelog_begins_with_the_version_or_with_what_is_not_released() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest is not None
    assert newest[1] in ("Unreleased", __version__)
