"""What the paper found, as statements that a run can bear out or not."""

from collections.abc import Sequence
from math import hypot, sqrt
from typing import NamedTuple

from scipy.special import stdtrit

from newfound.paper.table import Cell

# With this many trials, as in the paper, means are taken at their word. With fewer, what they deny
# stays open unless it is missed by more than chance would have it once in 200 such runs.
TRIALS = 10
CERTAINTY = 0.995


class Finding(NamedTuple):
    """A statement, whether it holds (None: too few trials to tell), and the numbers behind it."""

    statement: str
    holds: bool | None
    numbers: str

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        return {True: "Yes", False: "NO", None: "Too few trials to tell"}[self.holds]


class Gap(NamedTuple):
    """By how much a number falls short of what is claimed, and the standard error of that."""

    short: float
    error: float


def judge(holds: bool, gaps: Sequence[Gap], trials: int) -> bool | None:
    """Return whether a finding holds; None if means deny it, but trials are too few to do so.

    The paper's finding stands until there is evidence against it. Noise is the largest of the
    standard errors: that two trials agree in one number by chance does not make it certain.

    Parameters
    ----------
    holds : bool
        What the means say.
    gaps : sequence of Gap
        One for each number that the finding is about.
    trials : int

    Examples
    --------
    >>> gaps = [Gap(short=2.0, error=4.0), Gap(short=-20.0, error=3.0)]
    >>> judge(False, gaps, trials=2), judge(False, gaps, trials=10)
    (None, False)
    """
    if holds or trials >= TRIALS:
        return holds
    if trials < 2:
        return None
    noise = max(gap.error for gap in gaps)
    is_certain = max(gap.short for gap in gaps) > stdtrit(trials - 1, CERTAINTY) * noise
    return False if is_certain else None


def findings(table: Sequence[Cell], trials: int) -> list[Finding]:
    """Return the paper's findings about a rare class, each with whether it holds here.

    Parameters
    ----------
    table : cells of the table, with n_imb 1, 5 and 10 at least
    trials : int
        How many there were: standard errors are deviations over its square root.
    """
    mean, error = _means_and_errors(table, trials)
    counts = sorted({cell.n_imb for cell in table})
    few = [count for count in counts if count <= 10]

    def row(method: str, measure: str, among: Sequence[int]) -> str:
        return " ".join(f"{mean[count, method, measure]:.1f}" for count in among)

    named = [Gap(mean[count, "N", "rare"] - 5, error[count, "N", "rare"]) for count in few]
    missed = [_gap(mean, error, (count, "N", "rare"), 10) for count in few]
    lost = [
        _gap(mean, error, (count, "N", "total"), -error[count, "RC", "total"]) for count in counts
    ]
    return [
        Finding(
            "naive learning ignores the rare class while n_imb is at most 10",
            judge(max(named).short < 0, named, trials),
            f"N, rare: {row('N', 'rare', counts)}",
        ),
        Finding(
            "recoding finds it long before: it is well above naive learning at n_imb <= 10",
            judge(max(missed).short < 0, missed, trials),
            f"RC, rare: {row('RC', 'rare', counts)}",
        ),
        Finding(
            "the total accuracy of recoding is never below naive by more than a standard error",
            judge(max(lost).short <= 0, lost, trials),
            f"RC, total: {row('RC', 'total', counts)}; N: {row('N', 'total', counts)}",
        ),
    ]


def robot_findings(table: Sequence[Cell], trials: int) -> list[Finding]:
    """Return what the paper found on the robots' data sets besides."""
    mean, error = _means_and_errors(table, trials)
    few = sorted({cell.n_imb for cell in table if cell.n_imb <= 10})
    missed = [Gap(90 - mean[5, "RC", "rare"], error[5, "RC", "rare"])]
    behind = [_gap(mean, error, (count, "RB", "rare"), 0) for count in few]
    below = [
        Gap(-(cell.difference or 0.0), error[cell[:3]])
        for cell in table
        if cell.measure == "total" and cell.paper_mean is not None
    ]
    pairs = ", ".join(
        f"{mean[count, 'RC', 'rare']:.1f} and {mean[count, 'RB', 'rare']:.1f}" for count in few
    )
    return [
        Finding(
            "recoding recognises the rare class in 90 % of its images at n_imb = 5",
            judge(missed[0].short <= 0, missed, trials),
            f"{mean[5, 'RC', 'rare']:.1f}",
        ),
        Finding(
            "recoding beats rebalancing on the rare class at n_imb <= 10",
            judge(max(behind).short < 0, behind, trials),
            f"RC and RB, rare: {pairs}",
        ),
        Finding(
            "totals are above those of the paper (because of the features)",
            judge(max(below).short < 0, below, trials),
            f"{sum(gap.short < 0 for gap in below)} of {len(below)} cells",
        ),
    ]


Key = tuple[int, str, str]  # number of examples, method, measure
Numbers = dict[Key, float]


def _gap(mean: Numbers, error: Numbers, theirs: Key, lead: float) -> Gap:
    """Return by how much RC falls short of being this far ahead of another method."""
    ours = (theirs[0], "RC", theirs[2])
    return Gap(mean[theirs] + lead - mean[ours], hypot(error[theirs], error[ours]))


def _means_and_errors(table: Sequence[Cell], trials: int) -> tuple[Numbers, Numbers]:
    """Return means and standard errors, by number of examples, method and measure."""
    means = {cell[:3]: cell.mean for cell in table}
    return means, {cell[:3]: cell.deviation / sqrt(trials) for cell in table}
