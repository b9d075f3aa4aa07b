"""`newfound demo`: nine digits are known, the tenth arrives one example at a time."""

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from newfound.cli.console import Console, emit
from newfound.cli.option_kinds import output_to
from newfound.cli.options import Force, Json, Quiet
from newfound.cli.outputs import FIGURES, check_output, check_replaced

COUNTS = (1, 2, 5, 10, 20, 50, 100)
KNOWN_EXAMPLES, TEST_EXAMPLES = 100, 50

Output = Annotated[Path, output_to("Save the figure to this .png, .pdf or .svg file.")]


def demo(
    trials: Annotated[int, typer.Option(min=1, help="Number of random splits per new digit.")] = 5,
    output: Output = Path("demo.png"),
    force: Force = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Watch a tenth digit being learned when nine are known.

    \b
    newfound demo
    newfound demo --json > demo.json

    Each of the ten digits in turn is new to a model that knows the nine others from 100 examples
    each, and arrives one example at a time. The demo compares naive learning, rebalancing and
    recoding on the handwritten digits that come with scikit-learn. It prints a table of their
    accuracies and saves a figure.
    """
    check_output(output, *FIGURES)
    check_replaced(output, force=force)
    console, start = Console(quiet), perf_counter()
    from newfound.datasets import digits
    from newfound.paper.methods import METHODS
    from newfound.paper.protocol import TrialSizes
    from newfound.paper.report import summarise
    from newfound.paper.run import arrivals

    X, y = digits()
    sizes = TrialSizes(KNOWN_EXAMPLES, TEST_EXAMPLES, max(COUNTS), validation_share=0.0)
    runs = arrivals(X, y, COUNTS, trials, sizes, seed)
    total = trials * len(set(y.tolist())) * len(METHODS)
    summary = summarise(console.progress(runs, total, "a new digit beside nine known ones"))
    summary["seconds"] = round(perf_counter() - start, 1)
    if not as_json:
        _print_table(summary)
    summary["figure"] = _save_figure(summary, output, console)
    if as_json:
        emit(json.dumps(summary))


def _save_figure(summary: dict[str, Any], path: Path, console: Console) -> str | None:
    """Save the figure and return where it is; None where matplotlib is missing."""
    try:
        from newfound.paper.figures import draw_arrivals

        draw_arrivals(summary, path)
    except ModuleNotFoundError as error:
        console.info(f"No figure: {error}")
        return None
    except OSError as error:
        console.fail(f"The figure could not be saved: {error}")
    console.info(f"Figure in {path}")
    return str(path)


def _print_table(summary: dict[str, Any]) -> None:
    import rich.console
    from rich.table import Table

    # A narrow terminal may fold the lines; cutting the numbers out would leave nothing.
    out = rich.console.Console(width=max(80, rich.console.Console().width))
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
