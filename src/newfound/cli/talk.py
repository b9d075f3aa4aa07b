"""What a command says to people: on stderr, with progress on a terminal only."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from newfound.classifier import IncrementalRidgeClassifier

DONE, FAILED, WRONG_USAGE, SOME_UNREADABLE, INTERRUPTED = 0, 1, 2, 3, 130

Thing = TypeVar("Thing")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


class Talk:
    """Words for people on stderr; none but complaints where `quiet`."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        # What is asked is whether someone looks, not whether colours are wished for.
        self.console = Console(stderr=True, force_terminal=_is_terminal(sys.stderr))

    def say(self, text: str) -> None:
        """Say what was done."""
        if not self.quiet:
            self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def complain(self, text: str) -> None:
        """Say what could not be done."""
        self.console.print(text, style="red", markup=False, highlight=False, soft_wrap=True)

    def progress(self, things: Iterable[Thing], total: int, what: str) -> Iterator[Thing]:
        """Pass things on, showing how many of them came, how fast, and how long it will take."""
        progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=self.quiet or not self.console.is_terminal,
        )
        with progress:
            task = progress.add_task(what, total=total)
            for thing in things:
                yield thing
                progress.advance(task)


def many(number: int, thing: str) -> str:
    """Return how many things there are, in words.

    >>> many(1, "image"), many(2, "class")
    ('1 image', '2 classes')
    """
    plural = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number} {thing if number == 1 else plural}"


def known(model: "IncrementalRidgeClassifier") -> str:
    """Return how much a model knows, in words."""
    classes, images = len(model.classes_), model.n_samples_seen_
    return f"{many(classes, 'class')} from {many(images, 'image')}"


def shown(name: object) -> str:
    """Return a name as it can be printed on one line, whatever is in it.

    >>> shown("a\\nb 🍵.jpg")
    'a\\\\nb 🍵.jpg'
    """
    return "".join(
        letter
        if letter.isprintable()
        else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in str(name)
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: int) -> None:
    """Print rows on stdout: a table on a terminal, else a line each with tabs between.

    The last `numbers` columns are set to the right.
    """
    out = Console(force_terminal=_is_terminal(sys.stdout))
    lines = [[shown(cell) for cell in row] for row in rows]
    if not out.is_terminal:
        for line in lines:
            typer.echo("\t".join(line))
        return
    table = Table(show_header=any(columns))
    for place, column in enumerate(columns):
        right = place >= len(columns) - numbers
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    out.print(table)


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()
