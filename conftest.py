"""Doctests run in a folder of their own, so that examples may write files."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# How the site is built, and what that leaves in docs/: copies of examples, which a build runs.
collect_ignore = ["docs/conf.py", "docs/_build", "docs/gallery", "docs/reference"]

# Before numpy is imported, and for child processes, too: on a machine that is busy with other work,
# threads of BLAS wait for each other far longer than they save.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _doctests_in_a_fresh_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _figures_closed() -> Iterator[None]:
    """Close what a test drew: pyplot warns of twenty open figures, and warnings are errors."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
