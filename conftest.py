"""Settings for all tests and doctests: tiers, seeds, and what a machine may lack."""

import gc
import importlib.util
import os
import random
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import chdir
from pathlib import Path
from typing import TypeVar

import pytest

# How the site is built, and what that leaves in docs/: copies of examples, which a build runs.
collect_ignore = ["docs/conf.py", "docs/_build", "docs/gallery", "docs/reference"]
if importlib.util.find_spec("sphinx") is None:
    collect_ignore.append("website/markdown.py")  # a part of it

# Before numpy is imported, and for child processes, too: on a machine that is busy with other work,
# threads of BLAS wait for each other far longer than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
# Children buffer what they print, as they do for users.
os.environ.pop("PYTHONUNBUFFERED", None)

# Which markers a tier leaves out.
LEFT_OUT = {"quick": {"slow", "exhaustive"}, "test": {"exhaustive"}, "all": set[str]()}
# What is expected to be here: a test that is skipped for want of it fails. `all`: no skip at all.
EXPECTED = set(os.environ.get("NEWFOUND_EXPECT", "").replace(",", " ").split())

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the tier and the seed."""
    group = parser.getgroup("newfound")
    group.addoption("--tier", choices=[*LEFT_OUT], default="test", help="which tests to run")
    group.addoption("--seed", default="fixed", help="of what is drawn: fixed, random, or a number")


@pytest.hookimpl(tryfirst=True)  # before that of tests/conftest.py, which reads it
def pytest_configure(config: pytest.Config) -> None:
    """Tell tests, and processes they start, how hard to try and which seed to draw with."""
    if hasattr(config, "workerinput"):  # a worker of xdist: the first process has told already
        return
    seed = config.getoption("--seed")
    if not (seed in ("fixed", "random") or seed.isdecimal()):
        raise pytest.UsageError(f"--seed takes fixed, random or a number, not {seed!r}")
    os.environ["NEWFOUND_TIER"] = config.getoption("--tier")
    os.environ["NEWFOUND_SEED"] = str(random.getrandbits(31)) if seed == "random" else seed


def pytest_report_header() -> str:
    """Say what is tested, and how to draw the same once more."""
    found = importlib.util.find_spec("newfound")
    place = found.origin if found is not None else "not installed"
    tier, seed = os.environ["NEWFOUND_TIER"], os.environ["NEWFOUND_SEED"]
    return f"newfound: {place}; tier: {tier}; seed: {seed}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Pass over files that have neither tests nor examples: doctest would import each of them."""
    if collection_path.suffix != ".py" or collection_path.name.startswith(("test_", "conftest")):
        return None
    return True if ">>> " not in collection_path.read_text() else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not of this tier, unless tests are named one by one, and sort the rest.

    Among several workers the slow ones come first, so that none is left alone with a long test at
    the end. A single process begins with the quick ones, which find most of what is wrong.
    """
    marks = {item: {mark.name for mark in item.iter_markers()} for item in items}
    unwanted = LEFT_OUT[config.getoption("--tier")]
    if unwanted and not any("::" in argument for argument in config.args):
        config.hook.pytest_deselected(items=[item for item in items if marks[item] & unwanted])
        items[:] = [item for item in items if not marks[item] & unwanted]
    items.sort(
        key=lambda item: ("exhaustive" in marks[item], "slow" in marks[item]),
        reverse=hasattr(config, "workerinput"),
    )


def pytest_collection_finish() -> None:
    """Spare the garbage collector what stays until the end: modules, tests, parameters."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what this machine lacks."""
    names = {name for mark in item.iter_markers("needs") for name in mark.args}
    if isinstance(item, pytest.DoctestItem) and item.dtest is not None:
        code = "".join(each.source + each.want for each in item.dtest.examples)
        names |= {"torch"} if "torch" in code else set()
    if names:
        from tests.needs import require

        require(*sorted(names))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail that was skipped, where what it needs is expected."""
    return _expect((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let a file fail that was skipped, likewise."""
    return _expect((yield))


def _expect(report: Report) -> Report:
    if report.skipped and EXPECTED and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        needed = set(reason.removeprefix("needs ").partition(":")[0].split(", "))
        if EXPECTED & {"all", *needed}:
            report.outcome = "failed"
            report.longrepr = f"skipped, though NEWFOUND_EXPECT={' '.join(EXPECTED)}: {reason}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what was not run here, and what would let it run."""
    if os.environ["NEWFOUND_SEED"] != "fixed":
        terminalreporter.write_line(f"The same once more: --seed {os.environ['NEWFOUND_SEED']}")
    skipped = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        told = "; ".join(f"{count} {reason}" for reason, count in skipped.most_common())
        terminalreporter.write_line(f"Not run here: {told}.")


def _reason(report: Report) -> str:
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")


@pytest.fixture(autouse=True)
def _doctests_in_a_fresh_folder(request: pytest.FixtureRequest) -> Iterator[None]:
    if isinstance(request.node, pytest.DoctestItem):
        with chdir(request.getfixturevalue("tmp_path")):
            yield
    else:
        yield


@pytest.fixture(autouse=True)
def _figures_closed() -> Iterator[None]:
    """Close what a test drew: pyplot warns of twenty open figures, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
