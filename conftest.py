"""Doctests run in a folder of their own, so that examples may write files."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _doctests_in_a_fresh_folder(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path)
