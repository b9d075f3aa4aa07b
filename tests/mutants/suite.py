"""A copy of the tree that may be broken, and its tests, run there."""

import os
import re
import shutil
import signal
import site
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.mutants.catalog import Mutant

TIERS = ("quick", "test", "all")
# Where else a room's breakages are likely to be seen first, beside tests/<room> and its examples.
NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "checks": ("tests/test_checks.py", "tests/estimators"),
    "cli": ("tests/test_printed_commands.py", "tests/studio/test_service_process.py"),
    "common": ("tests/sums", "tests/storage", "tests/estimators"),
    "datasets": ("tests/recognition", "tests/cli"),
    "distributed": ("tests/estimators",),
    "engine": ("tests/estimators",),
    "estimators": ("tests/test_checks.py", "tests/engine"),
    "features": ("tests/recognition",),
    "heads": ("tests/engine", "tests/estimators"),
    "learner": ("tests/estimators", "tests/distributed"),
    "memory": ("tests/selection", "tests/estimators", "tests/distributed"),
    "paper": ("tests/cli",),
    "recognition": ("tests/studio", "tests/cli"),
    "river": ("tests/test_river.py",),
    "robot": ("tests/cli",),
    "selection": ("tests/engine", "tests/estimators"),
    "solvers": ("tests/engine", "tests/estimators"),
    "storage": ("tests/estimators", "tests/test_river.py"),
    "studio": ("tests/cli",),
    "sums": ("tests/test_checks.py", "tests/solvers", "tests/estimators"),
}
# Those of the mutants themselves see every mutant, and say nothing of it.
OWN = "tests/mutants"
# How pytest ends: some failed; it was stopped, or could not collect; there is nothing to run.
PASSED, FAILED, STOPPED, NOTHING_RUN = 0, 1, 2, 5
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# The last of what pytest said that is shown when it cannot run.
_SHOWN = 3000


class Outcome(NamedTuple):
    """What came of a run of some tests."""

    failures: list[str]  # ids of tests that failed; with -x, of the first
    seconds: float


class CannotRunError(Exception):
    """The tests cannot be run at all; that is nothing that a mutant is to blame for."""


class Tree:
    """A copy of all files that git knows, in which mutants are tried one after the other.

    Its tests run in an environment of their own: packages are those of this one, but newfound is
    the copy's, in children, too, whatever they do with PYTHONPATH.

    Parameters
    ----------
    source : path
        Of the tree that is copied.
    folder : path
        An empty one.
    suite : path, optional
        A folder of other tests, which are copied as `tests`; a conftest.py and a pyproject.toml
        beside it count instead of the tree's own.
    """

    # _writes: how often a file was written. Each gets a time of its own, for Python tells by that,
    #     in whole seconds, whether what it has compiled is current.

    def __init__(self, source: Path, folder: Path, suite: Path | None = None) -> None:
        self.root, self._folder, self._writes = folder / "tree", folder, 0
        _copy_tracked(source, self.root)
        if suite is not None:
            _replace_suite(self.root, suite)
        if (source / "node_modules").exists():  # git does not know what the page is tried with
            (self.root / "node_modules").symlink_to((source / "node_modules").resolve())
        self.python = _environment(folder / "environment", self.root / "src")

    def shadowed(self) -> str:
        """Return which newfound the tests import, or raise CannotRunError if it is not the copy."""
        question = "import newfound; print(newfound.__file__)"
        plain = {name: text for name, text in self._variables().items() if name != "PYTHONPATH"}
        for variables in (self._variables(), plain):
            found = subprocess.run(
                [self.python, "-c", question],
                cwd=self._folder,
                env=variables,
                capture_output=True,
                text=True,
            )
            if not found.stdout.startswith(str(self.root)):
                said = found.stdout + found.stderr
                raise CannotRunError(f"the tests would import another newfound: {said}")
        return found.stdout.strip()

    @contextmanager
    def broken_by(self, mutant: Mutant) -> Iterator[None]:
        """Apply a mutant, and take it back."""
        path = self.root / mutant.file
        before = path.read_text()
        self._write(path, mutant.applied(before))
        try:
            yield
        finally:
            self._write(path, before)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text)
        self._writes += 1
        then = int(time.time()) - 10**6 + self._writes
        os.utime(path, (then, then))

    def existing(self, paths: Sequence[str]) -> list[str]:
        """Return those of these paths, below the root, that there are."""
        return [path for path in dict.fromkeys(paths) if (self.root / path).exists()]

    def tests_of(self, room: str) -> list[str]:
        """Return where a room's breakages are likely to be seen, the likeliest first."""
        package = f"src/newfound/{room}"
        own = (f"tests/{room}", f"tests/test_{room}.py", package, f"{package}.py")
        return self.existing([*own, *NEIGHBOURS.get(room, ())])

    def run(
        self,
        paths: Sequence[str],
        tier: str,
        *,
        jobs: int,
        patience: float,
        to_the_end: bool = False,
        without: Sequence[str] = (),
    ) -> Outcome:
        """Run tests of a tier in the copy; without paths, all of them.

        Parameters
        ----------
        paths : sequence of str
            Below the root.
        tier : str
        jobs : int
            Processes; 0 for none but pytest's own.
        patience : float
            Seconds after which tests count as failed.
        to_the_end : bool, default=False
            Go on after the first failure.
        without : sequence of str
            Ids of tests that are left out.
        """
        words = [self.python, "-m", "pytest", "-q", "-n", str(jobs), "-p", "no:cacheprovider"]
        words += ["--tb=no", f"--ignore={OWN}", *(f"--deselect={each}" for each in without)]
        words += [] if to_the_end else ["-x"]
        words += ["--tier", tier]
        start = time.monotonic()
        code, said = _run([*words, *paths], self.root, self._variables(), patience)
        seconds = time.monotonic() - start
        if code is None:
            return Outcome([f"(still running after {patience:.0f} s)"], seconds)
        if code == PASSED or (code == NOTHING_RUN and paths):  # a room may have none in a tier
            return Outcome([], seconds)
        if code not in (FAILED, STOPPED):
            raise CannotRunError(f"pytest ended with {code}:\n{said[-_SHOWN:]}")
        failures = list(dict.fromkeys(_FAILURE.findall(said)))
        return Outcome(failures or [f"(pytest ended with {code})"], seconds)

    def _variables(self) -> dict[str, str]:
        rest = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
        scratch = self._folder / "scratch"
        scratch.mkdir(exist_ok=True)
        return rest | {
            "PYTHONPATH": str(self.root / "src"),
            "PYTEST_DEBUG_TEMPROOT": str(scratch),
            "COLUMNS": "1000",  # so that no id is cut short
        }


def _run(
    words: Sequence[str], folder: Path, variables: dict[str, str], patience: float
) -> tuple[int | None, str]:
    """Return how a program ended, None if it did not in time, and what it said."""
    with subprocess.Popen(
        words,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            if process.poll() is None:  # with its children, which may be what hangs
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said


def _copy_tracked(source: Path, target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=source, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (source / name).is_file():  # a file that was deleted, and not yet from git, is none
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)


def _replace_suite(root: Path, suite: Path) -> None:
    shutil.rmtree(root / "tests")
    shutil.copytree(suite, root / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conftest.py", "pyproject.toml"):
        if (suite.parent / name).is_file():
            shutil.copy2(suite.parent / name, root / name)


def _environment(folder: Path, source: Path) -> str:
    """Make an environment with the packages of this one, and newfound from `source`; return it."""
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    # What this file lists is put on the path as it is: an editable install's own file is not read.
    lines = [str(source), *site.getsitepackages()]
    (packages / "tree.pth").write_text("".join(f"{line}\n" for line in lines))
    programs = folder / "bin"
    for program in Path(sys.executable).parent.iterdir():
        if not (programs / program.name).exists():
            (programs / program.name).symlink_to(program.resolve())
    (programs / "newfound").unlink(missing_ok=True)
    (programs / "newfound").write_text(
        f"#!{programs / 'python'}\nfrom newfound.cli import main\nmain()\n"
    )
    (programs / "newfound").chmod(0o755)
    return str(programs / "python")
