"""A bar for things that pass: how many came, how fast, and how long it will take."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

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
from rich.text import Text

Thing = TypeVar("Thing")


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


def with_bar(
    terminal: Console, things: Iterable[Thing], total: int | None, what: str
) -> Iterator[Thing]:
    """Pass things on, showing a bar on a terminal meanwhile."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        # Data goes where stdout goes, also while a bar is shown on stderr.
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with progress:
        task = progress.add_task(what, total=total)
        for thing in things:
            yield thing
            progress.advance(task)
