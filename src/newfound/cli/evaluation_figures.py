"""The figures of an evaluation: checked before any work is done, and saved after it."""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from newfound.cli.console import FAILED, Console
from newfound.cli.options import check_output
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.evaluation import Evaluation
    from newfound.robot.timeline import FootageEvaluation

FIGURES = (".png", ".pdf", ".svg")
# What draws the figure of an option.
DRAWN_BY = {"--output": "confusion_plot", "--roc": "roc_plot", "--timeline": "timeline_plot"}


def check_figures(figures: Mapping[str, Path | None]) -> None:
    """End if a figure cannot be saved, or drawn: nobody waits for that."""
    taken: dict[str, str] = {}
    for option, path in figures.items():
        if path is None:
            continue
        before = taken.setdefault(os.path.realpath(path), option)
        if before != option:
            raise typer.BadParameter(f"that is where {before} goes", param_hint=option)
        check_output(path, *FIGURES, option=option)
        import_module(f"newfound.cli.{DRAWN_BY[option]}")


def save_figures(
    result: "Evaluation",
    footage: "FootageEvaluation | None",
    output: Path | None,
    roc: Path | None,
    timeline: Path | None,
    console: Console,
) -> None:
    """Save the figures that were asked for, and say where they are."""
    if output is not None:
        from newfound.cli.confusion_plot import draw

        with name_in_errors(output):
            draw(result.pairs, output)
        console.info(f"Figure in {output}")
    if timeline is not None and footage is not None:
        from newfound.cli.timeline_plot import draw_timeline

        with name_in_errors(timeline):
            draw_timeline(footage, timeline)
        console.info(f"Timeline in {timeline}")
    if roc is not None and result.auc is None:
        console.error("No ROC curve: that takes images of known things and of unknown ones.")
        raise typer.Exit(FAILED)
    if roc is not None:
        from newfound.cli.roc_plot import draw_roc

        with name_in_errors(roc):
            draw_roc(result, roc)
        console.info(f"ROC curve in {roc}")
