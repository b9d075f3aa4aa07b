"""Figure 1 as a folder: the figure, numbers and a page."""

import json
from pathlib import Path
from typing import Any

from newfound.common.files import write_whole
from newfound.paper.bayes import FEATURES, PRIORS, SAMPLES, agreement, boundary, learn

PAGE = """# Figure 1: what imbalance does to the optimal boundary, and recoding about it

Two Gaussian classes, means (-1, 0) and (1, 0), deviations 1 and 0.3; the prior of the first
rises. The optimal boundaries are circles, computed exactly; those learned come from
{samples:,} samples through {features} random Fourier features. The paper shows the optimal ones
alone.

{picture}How often, in percent, a method answers as the optimal rule does, on points of both
classes alike:

| prior | learned | standard rule | rebalanced rule |
|---|---|---|---|
{rows}"""


def reproduce_bayes(folder: Path, seed: int) -> tuple[list[dict[str, Any]], str | None]:
    """Learn for each prior, draw Figure 1 and write numbers and a page into a folder.

    Returns
    -------
    priors : list of dict
        What was found for each prior.
    undrawn : str or None
        Why there is no figure, if there is none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    models = {prior: learn(prior, seed) for prior in PRIORS}
    priors = [
        {
            "prior": prior,
            "standard": boundary(prior, False)._asdict(),
            "rebalanced": boundary(prior, True)._asdict(),
            "agreement": agreement(models[prior], prior, seed),
        }
        for prior in PRIORS
    ]
    write_whole(folder / "bayes.json", (json.dumps(priors, indent=1) + "\n").encode())
    picture, undrawn = "![Optimal and learned boundaries](figure1.png)\n\n", None
    try:
        from newfound.paper.figures import draw_boundaries

        draw_boundaries(models, seed, folder / "figure1.png")
    except ModuleNotFoundError as error:
        picture, undrawn = "", str(error)
    rows = "".join(f"| {' | '.join(map(str, row))} |\n" for row in agreement_rows(priors))
    page = PAGE.format(samples=SAMPLES, features=FEATURES, picture=picture, rows=rows)
    write_whole(folder / "report.md", page.encode())
    return priors, undrawn


def agreement_rows(priors: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the lines of the table: prior, method, and how often it answers as each rule does."""
    return [
        [prior["prior"], method, agrees["standard"], agrees["rebalanced"]]
        for prior in priors
        for method, agrees in prior["agreement"].items()
    ]
