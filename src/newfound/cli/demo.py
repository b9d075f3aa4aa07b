"""`newfound demo`: nine digits are known, the tenth arrives one example at a time."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from newfound.cli.console import Console as Messages
from newfound.cli.console import emit
from newfound.cli.figures import check_figure

if TYPE_CHECKING:
    from newfound.paper.new_class import Snapshot

COUNTS = (1, 2, 5, 10, 20, 50, 100)
KNOWN_EXAMPLES, TEST_EXAMPLES = 100, 50


def demo(
    trials: Annotated[int, typer.Option(min=1, help="Random splits for each new digit.")] = 5,
    figure: Annotated[
        Path, typer.Option(help="Where to save the figure: .png, .pdf or .svg.")
    ] = Path("demo.png"),
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same accuracies.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers as JSON instead of a table.")
    ] = False,
) -> None:
    """Watch a tenth digit being learned when nine are known.

    \b
    newfound demo
    newfound demo --json > demo.json

    Each of the ten digits in turn is new to a model that knows the nine others from 100 examples
    each, and arrives one example at a time. Compares naive learning, rebalancing and recoding, on
    the handwritten digits that come with scikit-learn.
    """
    check_figure(figure, "--figure")
    talk = Console(stderr=True)
    start = perf_counter()
    with talk.status("loading"):
        from newfound.datasets import digits
        from newfound.paper.arrival_report import summarise
        from newfound.paper.new_class import METHODS, arrivals

        X, y = digits()
    snapshots = arrivals(
        X,
        y,
        counts=COUNTS,
        trials=trials,
        n_known=KNOWN_EXAMPLES,
        n_test=TEST_EXAMPLES,
        random_state=seed,
    )
    total = trials * len(set(y.tolist())) * len(METHODS)
    summary = summarise(_shown(snapshots, total, talk))
    summary["seconds"] = round(perf_counter() - start, 1)
    if not as_json:
        _print_table(summary)
    summary["figure"] = _saved_figure(summary, figure, talk)
    if as_json:
        emit(json.dumps(summary))


def _shown(snapshots: Iterable["Snapshot"], total: int, talk: Console) -> Iterator["Snapshot"]:
    """Pass snapshots on, showing progress and the latest accuracies on a terminal."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=talk,
        transient=True,
        disable=not talk.is_terminal,
    )
    with progress:
        task = progress.add_task("", total=total)
        for snapshot in snapshots:
            progress.update(
                task,
                advance=snapshot.examples == COUNTS[-1],
                description=f"digit {snapshot.new_class} is new, {snapshot.method:>10}: "
                f"{snapshot.new:4.0%} after {snapshot.examples:3}",
            )
            yield snapshot


def _saved_figure(summary: dict[str, Any], path: Path, talk: Console) -> str | None:
    try:
        from newfound.paper.arrival_report import draw

        draw(summary, path)
    except ModuleNotFoundError as error:
        talk.print(f"No figure: {error}", markup=False, highlight=False, soft_wrap=True)
        return None
    except OSError as error:
        Messages().error(f"The figure could not be saved: {error}")
        raise typer.Exit(1) from None
    Messages().info(f"Figure in {path}")
    return str(path)


def _print_table(summary: dict[str, Any]) -> None:
    # A narrow terminal may fold the lines; cutting the numbers out would leave nothing.
    out = Console(width=max(80, Console().width))
    title = f"A new digit beside nine known ones: accuracy in %, mean of {summary['runs']} runs"
    accuracy = Table("accuracy on", "learning", title=title, title_justify="left")
    for count in COUNTS:
        accuracy.add_column(str(count), justify="right")
    for measure, shown in (("new", "new digit"), ("known", "known digits"), ("all", "all digits")):
        for method, points in summary["methods"].items():
            accuracy.add_row(shown, method, *(f"{100 * point[measure]:.1f}" for point in points))
            shown = ""
        accuracy.add_section()
    out.print(accuracy)
    steps = Table("learn one, predict one (ms)", title_justify="left")
    steps.add_column("first steps", justify="right")
    steps.add_column("last steps", justify="right")
    for method, times in summary["milliseconds"].items():
        steps.add_row(method, f"{times['first']:.2f}", f"{times['last']:.2f}")
    out.print(steps)
    out.print(f"{summary['seconds']} seconds in all", highlight=False)
