"""The command line: one command a file. stdout is data, stderr is console."""

import io
import os
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from newfound import __version__
from newfound.cli.console import FAILED, INTERNAL_ERROR, Console, printable
from newfound.cli.errors import words

app = typer.Typer(
    name="newfound",
    help="Teach a classifier new things on the fly: exactly, and in fixed time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# One command a file, which has the name of its function; in the order of the help.
COMMANDS = (
    *("teach", "predict", "evaluate", "inspect"),
    *("forget", "forget_class", "rename", "merge", "undo", "redo", "inbox"),
    *("studio", "serve", "listen", "features", "reproduce", "demo", "bench"),
)
for name in COMMANDS:
    command = getattr(import_module(f"newfound.cli.commands.{name}"), name)
    app.command(name.replace("_", "-"))(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option(
            "--debug", envvar="NEWFOUND_DEBUG", help="Show where in the program an error came from."
        ),
    ] = False,
) -> None:
    if context.obj is not None:
        context.obj.debug = debug


def main() -> None:
    """Run the command line; what goes wrong is said in a line, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files and classes may hold anything
            stream.reconfigure(errors="backslashreplace")
    state = SimpleNamespace(debug=False)
    with warnings.catch_warnings():
        # What matters of an image is said by name; Pillow's own warnings add nothing.
        warnings.filterwarnings("ignore", module="PIL")
        warnings.showwarning = lambda message, category, *_: Console().error(
            f"{category.__name__}: {message}"
        )
        try:
            code = app(standalone_mode=False, obj=state)
        except typer.Abort:
            Console().error("Aborted.")
            code = FAILED
        except Exception as error:
            code = _tell(error, state.debug)
    _drop_unwritten()
    sys.exit(code)


def _drop_unwritten() -> None:
    """Drop data that cannot be written: Python would try again at its end, and exit with 120."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _tell(error: Exception, debug: bool) -> int:
    """Say what went wrong, and return the exit code."""
    if hasattr(error, "show"):  # wrong usage: click's own, or what a command says with BadParameter
        usage = io.StringIO()
        error.show(file=usage)
        for line in usage.getvalue().splitlines():
            typer.echo(printable(line), err=True)
        return int(getattr(error, "exit_code", FAILED))
    console, expected = Console(), words(error)
    if debug:
        for line in "".join(traceback.format_exception(error)).splitlines():
            console.error(line)
    if expected is not None:
        first, *more = expected.split("\n")
        console.error(f"newfound: {first}")
        for line in more:  # set in, so that no name with a line break passes for a message
            console.error(f"  {line}")
        return FAILED
    advice = "please report it" if debug else "run again with newfound --debug and report it"
    console.error(f"newfound: internal error: {type(error).__name__}: {error}; {advice}")
    return INTERNAL_ERROR
