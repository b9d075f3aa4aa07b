"""What the paper found, as statements that a run can bear out or not."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from newfound.experiments.table import Cell


class Finding(NamedTuple):
    """A statement, whether it holds, and the numbers that say so."""

    statement: str
    holds: bool
    numbers: str


def findings(table: Sequence[Cell], trials: int) -> list[Finding]:
    """Return the paper's findings about a rare class, each with whether it holds here.

    Parameters
    ----------
    table : cells of the table, with n_imb 1, 5 and 10 at least
    trials : int
        How many there were: standard errors are deviations over its square root.
    """
    mean = {(cell.n_imb, cell.method, cell.measure): cell.mean for cell in table}
    error = {
        (cell.n_imb, cell.method, cell.measure): cell.deviation / sqrt(trials) for cell in table
    }
    counts = sorted({cell.n_imb for cell in table})
    few = [count for count in counts if count <= 10]

    def row(method: str, measure: str, among: Sequence[int]) -> str:
        return " ".join(f"{mean[count, method, measure]:.1f}" for count in among)

    losses = [
        mean[count, "N", "total"] - mean[count, "RC", "total"] - error[count, "RC", "total"]
        for count in counts
    ]
    return [
        Finding(
            "naive learning ignores the rare class while n_imb is at most 10",
            all(mean[count, "N", "rare"] < 5 for count in few),
            f"N, rare: {row('N', 'rare', counts)}",
        ),
        Finding(
            "recoding finds it long before: it is well above naive learning at n_imb <= 10",
            all(mean[count, "RC", "rare"] > mean[count, "N", "rare"] + 10 for count in few),
            f"RC, rare: {row('RC', 'rare', counts)}",
        ),
        Finding(
            "the total accuracy of recoding is never below naive by more than a standard error",
            max(losses) <= 0,
            f"RC, total: {row('RC', 'total', counts)}; N: {row('N', 'total', counts)}",
        ),
    ]


def robot_findings(table: Sequence[Cell]) -> list[Finding]:
    """Return what the paper found on the robots' data sets besides."""
    mean = {(cell.n_imb, cell.method, cell.measure): cell.mean for cell in table}
    paper = {(cell.n_imb, cell.method, cell.measure): cell.paper_mean for cell in table}
    counts = sorted({cell.n_imb for cell in table})
    few = [count for count in counts if count <= 10]
    totals = [
        mean[count, method, "total"] > (paper[count, method, "total"] or 0.0)
        for count in counts
        for method in ("N", "RB", "RC")
    ]
    pairs = ", ".join(
        f"{mean[count, 'RC', 'rare']:.1f} and {mean[count, 'RB', 'rare']:.1f}" for count in few
    )
    return [
        Finding(
            "recoding recognises the rare class in 90 % of its images at n_imb = 5",
            mean[5, "RC", "rare"] >= 90,
            f"{mean[5, 'RC', 'rare']:.1f}",
        ),
        Finding(
            "recoding beats rebalancing on the rare class at n_imb <= 10",
            all(mean[count, "RC", "rare"] > mean[count, "RB", "rare"] for count in few),
            f"RC and RB, rare: {pairs}",
        ),
        Finding(
            "totals are above those of the paper (because of the features)",
            all(totals),
            f"{sum(totals)} of {len(totals)} cells",
        ),
    ]
