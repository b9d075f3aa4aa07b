"""A bar for things that pass: how many came, how fast, and how long it will take."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich import progress
from rich.console import Console
from rich.text import Text

Thing = TypeVar("Thing")


class _Rate(progress.ProgressColumn):
    def render(self, task: progress.Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "")


def with_bar(
    terminal: Console, things: Iterable[Thing], total: int | None, what: str
) -> Iterator[Thing]:
    """Pass things on, showing a bar on a terminal meanwhile."""
    bar = progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        _Rate(),
        progress.TimeRemainingColumn(),
        console=terminal,
        transient=True,
        # Data goes where stdout goes, also while a bar is shown on stderr.
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with bar:
        yield from bar.track(things, total=total, description=what)
