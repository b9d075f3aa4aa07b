"""Which versions newfound works with, from the lowest to the newest: `nox -s bare lowest`.

A session whose Python is not on the machine is skipped; `nox --list` shows all of them.
"""

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
PROJECT = nox.project.load_toml("pyproject.toml")
# The rooms that need no extra, less what they do on devices and with Dask. pandas and
# array_api_strict, which tests import, are no extra of newfound.
CORE = [
    *("-k", "not (device or torch or elsewhere or dask)"),
    *(f"tests/{room}" for room in ("sums", "solvers", "heads", "selection", "engine")),
    *("tests/estimators", "tests/storage", "tests/test_checks.py"),
]
TOOLS = ["pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100", "array-api-strict>=2.2"]
PANDAS = "pandas>=2.2"
QUICK = ["--tier", "quick"]

nox.options.sessions = ["bare", "lowest"]


@nox.session(python=PYTHONS)
def bare(session: nox.Session) -> None:
    """Run the tests of the core with its newest dependencies, and without any extra."""
    session.install(".", *TOOLS, PANDAS)
    test(session, *CORE, "--ignore=tests/estimators/test_pipelines.py")  # which has pictures


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """Run the tests of the core with the lowest versions that pyproject.toml allows."""
    lowest = [each.replace(">=", "==") for each in PROJECT["project"]["dependencies"]]
    session.install(".", *lowest, *TOOLS, PANDAS.replace(">=", "~=") + ".0", "Pillow>=10.3")
    test(session, *CORE)


@nox.session(python=PYTHONS)
def everything(session: nox.Session) -> None:
    """Run all quick tests and doctests, with every extra: gigabytes, where torch is."""
    groups = nox.project.dependency_groups(PROJECT, "test", "test-all")
    session.install(".[all]", *groups)
    test(session)


def test(session: nox.Session, *paths: str) -> None:
    """Run quick tests, or what stands behind `--`; say first which versions they run with."""
    session.run("python", "-m", "pip", "list")
    session.run("newfound", "bench", "-d", "5", "-t", "2", "-n", "9", "--steps", "10")
    session.run("python", "-m", "pytest", "-n", "2", *(session.posargs or [*QUICK, *paths]))
