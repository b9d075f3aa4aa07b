"""The command line: one command a file. stdout is data, stderr is console."""

import io
import os
import sys
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from newfound import __version__
from newfound.cli.commands.bench import bench
from newfound.cli.commands.demo import demo
from newfound.cli.commands.evaluate import evaluate
from newfound.cli.commands.features import features
from newfound.cli.commands.forget import forget
from newfound.cli.commands.forget_class import forget_class
from newfound.cli.commands.inbox import inbox
from newfound.cli.commands.inspect import inspect
from newfound.cli.commands.listen import listen
from newfound.cli.commands.merge import merge
from newfound.cli.commands.predict import predict
from newfound.cli.commands.redo import redo
from newfound.cli.commands.rename import rename
from newfound.cli.commands.reproduce import reproduce
from newfound.cli.commands.serve import serve
from newfound.cli.commands.studio import studio
from newfound.cli.commands.teach import teach
from newfound.cli.commands.undo import undo
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
app.command()(teach)
app.command()(predict)
app.command()(evaluate)
app.command()(inspect)
app.command()(forget)
app.command("forget-class")(forget_class)
app.command()(rename)
app.command()(merge)
app.command()(undo)
app.command()(redo)
app.command()(inbox)
app.command()(studio)
app.command()(serve)
app.command()(listen)
app.command()(features)
app.command()(reproduce)
app.command()(demo)
app.command()(bench)


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
            "--debug",
            envvar="NEWFOUND_DEBUG",
            help="Show where in the program an error came from.",
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
        said = io.StringIO()
        error.show(file=said)
        for line in said.getvalue().splitlines():
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
