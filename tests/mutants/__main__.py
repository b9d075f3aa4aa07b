"""Break newfound one line at a time, and see which tests notice.

    python -m tests.mutants                                    all mutants, the quick tests
    python -m tests.mutants --tier test --json results.json    all but the exhaustive ones
    python -m tests.mutants --only ctrl-c-swallowed nan-taken
    python -m tests.mutants --only nan-taken --tests tests/estimators/test_inputs.py

Each mutant is tried on the tests of its room first, and on all others only if these pass. Before
the first of them the tests run on what is not broken: one that fails there is left out.
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutants.catalog import MUTANTS, Mutant
from tests.mutants.suite import TIERS, CannotRunError, Tree

ROOT = Path(__file__).resolve().parents[2]
JOBS = 2
PATIENCE = 1800.0


class Result(NamedTuple):
    """What became of a mutant."""

    name: str
    room: str
    path: str
    why: str
    caught_by: str | None  # the test that failed first; None: it survived
    where: str | None  # "room", "everything", or "tests" that were asked for
    seconds: float

    @property
    def line(self) -> str:
        """It in words."""
        verdict = "SURVIVED" if self.caught_by is None else self.caught_by
        return f"{self.name:32} {self.seconds:7.1f} s  {verdict}"


class Hunt:
    """A tree, and which of its tests are to catch mutants.

    Parameters
    ----------
    tree : Tree
    tier : str
    tests : sequence of str
        If any, these alone are run.
    patience : float
        Seconds that a run of tests may take.
    near : bool, default=False
        Run those of a mutant's room and of its neighbours alone.
    """

    # without: ids of tests that fail on what is not broken.

    def __init__(
        self, tree: Tree, tier: str, tests: Sequence[str], patience: float, near: bool = False
    ) -> None:
        self.tree, self.tier, self.tests, self.patience = tree, tier, list(tests), patience
        self.near = near
        self.without: list[str] = []

    def find_broken(self) -> float:
        """Leave out tests that fail on what is not broken; return the seconds that it took."""
        outcome = self.tree.run(
            self.tests, self.tier, jobs=JOBS, patience=self.patience, to_the_end=True
        )
        self.without = outcome.failures
        if any(each.startswith("(") for each in self.without):
            raise CannotRunError(f"the tests do not run on what is not broken: {self.without}")
        return outcome.seconds

    def try_out(self, mutant: Mutant) -> Result:
        """Break one line, and run tests until one fails."""
        stages: list[tuple[str, list[str], int]] = [("tests", self.tests, 0)]
        if not self.tests:
            near = self.tree.tests_of(mutant.room)
            stages = [("room", near, 0)] if near else []
            stages += [] if self.near else [("everything", [], JOBS)]
        start, caught_by, where = time.monotonic(), None, None
        with self.tree.broken_by(mutant):
            for name, paths, jobs in stages:
                outcome = self.tree.run(
                    paths, self.tier, jobs=jobs, patience=self.patience, without=self.without
                )
                if outcome.failures:
                    caught_by, where = outcome.failures[0], name
                    break
        seconds = round(time.monotonic() - start, 1)
        about = (mutant.name, mutant.room, mutant.path, mutant.why)
        return Result(*about, caught_by, where, seconds)


def options() -> argparse.Namespace:
    """Return what the command line asks for."""
    about = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants",
        description=about[0],
        epilog=about[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names, rooms = [each.name for each in MUTANTS], sorted({each.room for each in MUTANTS})
    add = parser.add_argument
    add("--tier", choices=TIERS, default="quick", help="which tests (default: quick)")
    add("--only", nargs="+", choices=names, default=[], metavar="NAME", help="these mutants")
    add("--room", nargs="+", choices=rooms, default=[], metavar="ROOM", help="those of these rooms")
    add("--tests", nargs="+", default=[], metavar="DIR", help="run these tests and no others")
    add("--near", action="store_true", help="run tests of a mutant's room and neighbours alone")
    add("--suite", type=Path, metavar="DIR", help="take another folder of tests for tests/")
    add("--json", type=Path, metavar="FILE", help="write what became of each to this file")
    add(
        "--trust",
        action="store_true",
        help="do not run the tests first on what is not broken; only if they are known to pass",
    )
    add(
        "--patience",
        type=float,
        default=PATIENCE,
        metavar="SECONDS",
        help=f"tests that take longer count as failed (default: {PATIENCE:.0f})",
    )
    add("--list", action="store_true", help="list the mutants, and run nothing")
    return parser.parse_args()


def wanted(given: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that are asked for, in the order of the catalogue."""
    return [
        mutant
        for mutant in MUTANTS
        if (not given.only or mutant.name in given.only)
        and (not given.room or mutant.room in given.room)
    ]


def write_json(path: Path, tier: str, without: Sequence[str], results: Sequence[Result]) -> None:
    """Write what became of each mutant so far."""
    values = {
        "tier": tier,
        "left_out": list(without),
        "caught": sum(each.caught_by is not None for each in results),
        "tried": len(results),
        "mutants": [each._asdict() for each in results],
    }
    path.write_text(json.dumps(values, indent=1) + "\n")


def print_table(results: Sequence[Result]) -> None:
    """Print how many of each room were caught, and which were not."""
    print(f"\n{'room':14}{'caught':>8}{'tried':>8}")
    for room in dict.fromkeys(each.room for each in results):
        own = [each for each in results if each.room == room]
        print(f"{room:14}{sum(each.caught_by is not None for each in own):8}{len(own):8}")
    survivors = [each for each in results if each.caught_by is None]
    print(f"{'all':14}{len(results) - len(survivors):8}{len(results):8}")
    for each in survivors:
        print(f"SURVIVED {each.name} ({each.path}): {each.why}")


def hunt(given: argparse.Namespace, mutants: Sequence[Mutant], folder: Path) -> list[Result]:
    """Try mutants one after the other, and print what becomes of each; Ctrl-C ends it early."""
    results: list[Result] = []
    tree = Tree(ROOT, folder, given.suite)
    print(f"newfound is {tree.shadowed()}", flush=True)
    missing = [each for each in given.tests if not (tree.root / each.partition("::")[0]).exists()]
    if missing:
        raise CannotRunError(f"there is no {missing[0]} in the tree")
    found = Hunt(tree, given.tier, given.tests, given.patience, given.near)
    try:
        if not given.trust:
            seconds = found.find_broken()
            print(
                f"Not broken: {seconds:.1f} s, {len(found.without)} fail and are left out",
                flush=True,
            )
            for each in found.without:
                print(f"  {each}")
        for mutant in mutants:
            results.append(found.try_out(mutant))
            print(results[-1].line, flush=True)
            if given.json is not None:
                write_json(given.json, given.tier, found.without, results)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
    return results


def main() -> int:
    """Do what the command line asks for; return 0 if every mutant was caught."""
    # Whoever ends it ends its tests, too, and leaves no copy behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    given = options()
    mutants = wanted(given)
    if given.list:
        for mutant in mutants:
            print(f"{mutant.name:32} {mutant.path}: {mutant.why}")
        return 0
    with tempfile.TemporaryDirectory(prefix="newfound-mutants-") as folder:
        try:
            results = hunt(given, mutants, Path(folder).resolve())
        except CannotRunError as error:
            print(error, file=sys.stderr)
            return 2
    print_table(results)
    return int(len(results) < len(mutants) or any(each.caught_by is None for each in results))


if __name__ == "__main__":
    sys.exit(main())
