"""The figures of an evaluation: checked before any work is done, and saved after it."""

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from newfound.cli.console import Console
from newfound.cli.outputs import FIGURES, check_output, check_replaced
from newfound.recognition.beside import journal_file
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.evaluation import Evaluation
    from newfound.robot.timeline import FootageEvaluation

# By option, in the order in which they are saved: what a figure is called, and what draws it.
DRAWN_BY = {
    "--output": ("Figure", "confusion_plot"),
    "--timeline": ("Timeline", "timeline_plot"),
    "--roc": ("ROC curve", "roc_plot"),
}


def check_figures(figures: Mapping[str, Path | None]) -> None:
    """End if a figure cannot be saved, or drawn: nobody waits for that."""
    option_of: dict[str, str] = {}
    for option, path in figures.items():
        if path is None:
            continue
        before = option_of.setdefault(os.path.realpath(path), option)
        if before != option:
            raise typer.BadParameter(f"that is where {before} goes", param_hint=option)
        check_output(path, *FIGURES, option=option)
        import_module(f"newfound.cli.{DRAWN_BY[option][1]}")


def check_replaced_by(
    figures: Mapping[str, Path | None], model: Path, reads: Iterable[Any], force: bool
) -> None:
    """End if a figure would take the place of what the command reads, or the like."""
    reads = [model, journal_file(model), *reads]
    for option, path in figures.items():
        if path is not None:
            check_replaced(path, reads, force, option)


def save_figures(
    result: "Evaluation",
    footage: "FootageEvaluation | None",
    figures: Mapping[str, Path | None],
    console: Console,
) -> None:
    """Save the figures that were asked for, and say where they are."""
    contents = {"--output": result.pairs, "--timeline": footage, "--roc": result}
    for option, (name, module) in DRAWN_BY.items():
        path = figures[option]
        if path is None:
            continue
        if option == "--roc" and result.auc is None:
            console.fail("No ROC curve: that takes images of known things and of unknown ones.")
        with name_in_errors(path):
            import_module(f"newfound.cli.{module}").draw(contents[option], path)
        console.info(f"{name} in {path}")
