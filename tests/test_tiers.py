"""The tests themselves: tier, seed, and what is expected to be here do what they say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
# Collects one file in this process, and prints how hard its tests would try.
COLLECT = """
import sys, pytest

class Told:
    def pytest_collection_finish(self):
        from hypothesis import settings
        from tests import effort
        print("told", effort.TIER, effort.SEED, settings().max_examples, settings().derandomize)

pytest.main(["--co", "-q", "-p", "no:cacheprovider", *sys.argv[1:], "tests/heads"], [Told()])
"""


def pytest_here(*words: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "told test fixed 20 True"),
        (("--tier", "quick"), "told quick fixed 10 True"),
        (("--tier", "all", "--seed", "5"), "told all 5 100 False"),
    ],
)
def test_tier_and_seed_reach_a_single_process(options: tuple[str, ...], told: str) -> None:
    assert told in pytest_here("-c", COLLECT, *options)


def test_a_seed_that_is_none_is_refused() -> None:
    assert "not 'banana'" in pytest_here("-m", "pytest", "--co", "-q", "--seed", "banana")


@pytest.mark.parametrize(
    ("expected", "end"),
    [("", "3 skipped"), ("ros", "3 skipped"), ("ros axe", "3 errors"), ("all", "3 errors")],
)
def test_what_is_skipped_is_counted_and_fails_where_it_is_expected(expected: str, end: str) -> None:
    words = "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/studio/test_accessibility.py"
    said = pytest_here(*words, NEWFOUND_AXE="nowhere", NEWFOUND_EXPECT=expected)
    assert end in said
    assert ("Not run here: 3 needs " in said) == ("skipped" in end)
    assert "make axe" in said
