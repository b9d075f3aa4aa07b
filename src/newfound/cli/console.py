"""What a command prints: data on stdout, talk on stderr, nothing that commands a terminal."""

import logging
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

# rich is imported where it is used: one answer in a pipe takes none of it.
if TYPE_CHECKING:
    import rich.console

    from newfound.recognition.recogniser import Recogniser

DONE, FAILED, WRONG_USAGE, SOME_UNREADABLE, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 70, 130

# The least that a column of names is narrowed to, in letters.
NARROWEST = 8

Thing = TypeVar("Thing")


def exit_code(problems: Sequence[object]) -> int:
    """Return how a command ends that did its work, but for these problems."""
    return SOME_UNREADABLE if problems else DONE


def exit_code_of(number: int) -> int:
    """Return how a service ends that a signal ended."""
    return INTERRUPTED if number == signal.SIGINT else DONE


class Console:
    """Words for people on stderr; none but complaints where `quiet`.

    Words may hold names that strangers chose: all of them pass through `printable`.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    @cached_property
    def terminal(self) -> "rich.console.Console":
        """Where words go."""
        import rich.console

        # What is asked is whether someone looks, not whether colours are wished for.
        return rich.console.Console(stderr=True, force_terminal=is_terminal(sys.stderr))

    def info(self, text: str) -> None:
        """Say what was done."""
        if not self.quiet:
            self.terminal.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def error(self, text: str) -> None:
        """Say what could not be done."""
        self.terminal.print(
            printable(text), style="red", markup=False, highlight=False, soft_wrap=True
        )

    def fail(self, text: str) -> NoReturn:
        """Say what could not be done, and exit."""
        self.error(text)
        raise typer.Exit(FAILED)

    @contextmanager
    def status(self) -> Iterator[Callable[[str], None]]:
        """Give what shows a line that is written over; where nobody looks, it is not shown."""
        if self.quiet or not is_terminal(sys.stderr):
            yield lambda text: None
            return
        from rich.text import Text

        with self.terminal.status("", refresh_per_second=4) as status:
            yield lambda text: status.update(Text(printable(text)))

    def progress(self, things: Iterable[Thing], total: int | None, what: str) -> Iterator[Thing]:
        """Pass things on, showing how many of them came, how fast, and how long it will take.

        How many there are in all may not be known.
        """
        if self.quiet or not is_terminal(sys.stderr):
            yield from things
            return
        from newfound.cli.progress import with_bar

        yield from with_bar(self.terminal, things, total, what)


def plural(number: int, thing: str) -> str:
    """Return how many things there are, in words.

    >>> plural(1, "image"), plural(2, "class")
    ('1 image', '2 classes')
    """
    several = f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number} {thing if number == 1 else several}"


def sentence(words: str) -> str:
    """Return words as a sentence.

    >>> sentence("forgot mug")
    'Forgot mug.'
    """
    return f"{words[0].upper()}{words[1:]}."


def size(number: int) -> str:
    """Return how large a file is, in words.

    >>> size(200), size(12_345), size(1_234_567)
    ('1 KB', '13 KB', '1.2 MB')
    """
    return f"{-(-number // 1000)} KB" if number < 100_000 else f"{number / 1e6:.1f} MB"


def summary(recogniser: "Recogniser") -> str:
    """Return how much a recogniser knows, in words."""
    counts = recogniser.counts
    return f"{plural(len(counts), 'class')} from {plural(sum(counts.values()), 'image')}"


def knowledge(recogniser: "Recogniser") -> str:
    """Return what a recogniser does before anyone edits it: it knows so much, or is new."""
    return f"knows {summary(recogniser)}" if recogniser.is_taught else "is new"


def doubts(recogniser: "Recogniser") -> str:
    """Return why a recogniser cannot tell what is unknown, in words; nothing if it can."""
    why = recogniser.cannot_tell_unknown
    return "" if why is None else f"It cannot tell yet what is unknown: {why}."


def printable(name: object) -> str:
    """Return a name as it can be printed on one line, whatever is in it.

    >>> printable("a\\nb 🍵.jpg")
    'a\\\\nb 🍵.jpg'
    """
    return "".join(
        letter
        if letter.isprintable()
        else letter.encode("unicode_escape", "backslashreplace").decode()
        for letter in str(name)
    )


def shortened(text: str, width: int) -> str:
    """Return a text that takes `width` columns at most, without its middle if it must be.

    >>> shortened("photos/kitchen/mug/0001.jpg", 16)
    'photo…g/0001.jpg'
    """
    from rich.cells import cell_len

    if cell_len(text) <= width:
        return text
    end = _beginning(text[::-1], (2 * width - 1) // 3)[::-1]
    return f"{_beginning(text, width - 1 - cell_len(end))}…{end}"


def _beginning(text: str, width: int) -> str:
    """Return as much of a text as takes `width` columns at most."""
    from rich.cells import cell_len

    taken = text[: max(0, width)]
    while cell_len(taken) > width:
        taken = taken[:-1]
    return taken


def quoted(label: object, reserved: tuple[str, ...]) -> str:
    """Return a label, in quotes if it could be taken for a word of the command's own.

    >>> quoted("mug", ("unknown",)), quoted("unknown (mug?)", ("unknown",))
    ('mug', "'unknown (mug?)'")
    """
    text = str(label)
    return f"'{text}'" if text.startswith(("'", *reserved)) else text


def emit(text: str) -> None:
    """Print data on stdout at once; what is no data of ours must have been `printable`."""
    try:
        typer.echo(text)
    except OSError as error:
        error.filename = "stdout"
        raise


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], numbers: int, fold: bool = False
) -> None:
    """Print rows on stdout: a table on a terminal, else a line each with tabs between, as it comes.

    The last `numbers` columns are set to the right. The others lose the middle of what is too long
    for the terminal, or with `fold` take several lines.
    """
    lines = ([printable(cell) for cell in row] for row in rows)
    if not is_terminal(sys.stdout):
        for line in lines:
            emit("\t".join(line))
        return
    import rich.console
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text

    table_rows, out = list(lines), rich.console.Console(force_terminal=True)
    names = len(columns) - numbers
    widths = [max(map(cell_len, cells)) for cells in zip(columns, *table_rows, strict=True)]
    frame = 3 * len(columns) + 1
    kept = widths if fold else _fitted(widths[:names], out.width - frame - sum(widths[names:]))
    table = Table(show_header=any(columns))
    for index, column in enumerate(columns):
        if index >= names:
            table.add_column(column, justify="right", overflow="fold")
        else:
            table.add_column(column, overflow="fold", no_wrap=not fold)
    for line in table_rows:
        cells = [shortened(cell, width) for cell, width in zip(line, kept, strict=False)]
        table.add_row(*map(Text, cells + line[len(cells) :]))
    out.print(table)


def _fitted(widths: list[int], total: int) -> list[int]:
    """Return widths of columns that fit into `total` together, the widest narrowed first."""
    fitted = [min(width, max(total, NARROWEST)) for width in widths]
    while sum(fitted) > total and max(fitted) > NARROWEST:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def log_to_stderr(*names: str) -> logging.Handler:
    """Write what loggers are told to stderr, with its time, and nowhere else; return what does."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    for name in names:
        log = logging.getLogger(name)
        log.addHandler(handler)
        log.propagate = False
    return handler


def can_ask() -> bool:
    """Tell whether someone is there to answer a question."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def is_terminal(stream: Any) -> bool:
    """Tell whether someone looks at a stream."""
    return stream is not None and stream.isatty()
