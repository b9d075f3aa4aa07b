"""Every mutant still applies: whoever changes a line that one is of changes the mutant, too."""

import ast
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.catalog import MUTANTS, PACKAGE, Mutant

ROOT = Path(__file__).resolve().parents[2]
FEWEST = 60


@pytest.mark.slow
def test_each_applies_and_compiles() -> None:
    for mutant in MUTANTS:
        text = (ROOT / mutant.file).read_text()
        changed = mutant.applied(text)
        assert changed != text, mutant.name
        if mutant.file.suffix == ".py":
            ast.parse(changed)


def test_a_mutant_is_of_one_line() -> None:
    for mutant in MUTANTS:
        assert "\n" not in mutant.old.rstrip("\n"), mutant.name
        assert "\n" not in mutant.new.rstrip("\n"), mutant.name


def test_names_are_unique() -> None:
    names = Counter(mutant.name for mutant in MUTANTS)
    assert [name for name, count in names.items() if count > 1] == []


def test_each_says_what_users_would_notice() -> None:
    assert [mutant.name for mutant in MUTANTS if not mutant.why.strip()] == []


def test_all_rooms_have_some() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    layers = [room for layer in contracts[0]["layers"] for room in layer.split(" | ")]
    assert {mutant.room for mutant in MUTANTS} == set(layers) - {"__main__"}
    assert len(MUTANTS) >= FEWEST


def test_a_line_that_is_not_there_is_refused() -> None:
    mutant = Mutant("gone", "heads/recoding.py", "no such line", "", "nothing")
    with pytest.raises(ValueError, match="0 times"):
        mutant.applied((ROOT / PACKAGE / mutant.path).read_text())
