"""The tests themselves: what they need is loaded when they run, not when they are collected."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Collects all tests; prints what was opened or listed under NEWFOUND_DATA, and strange modules.
COLLECT = """
import os, sys
data = os.environ["NEWFOUND_DATA"]
looked = set()

def note(event, args):
    if event in ("open", "os.listdir", "os.scandir") and str(args[0]).startswith(data):
        looked.add(str(args[0]))

sys.addaudithook(note)
import pytest
code = pytest.main(["--co", "-q", "-p", "no:cacheprovider", sys.argv[1]])
print(int(code), sorted(looked), "benchmarks" in sys.modules)
"""


@pytest.mark.exhaustive
def test_collecting_the_tests_loads_no_data_set(tmp_path: Path) -> None:
    for name in ("mnist", "washington-rgbd"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(Path(__file__).parent)],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "NEWFOUND_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "0 [] False", done.stdout + done.stderr
