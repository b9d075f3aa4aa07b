"""The command line: one command a file. stdout is data, stderr is talk."""

import io
import sys
import warnings
from typing import Annotated

import typer

from newfound import __version__
from newfound.cli.bench import bench
from newfound.cli.demo import demo
from newfound.cli.evaluate import evaluate
from newfound.cli.features import features
from newfound.cli.forget import forget
from newfound.cli.forget_class import forget_class
from newfound.cli.inspect import inspect
from newfound.cli.merge import merge
from newfound.cli.predict import predict
from newfound.cli.rename import rename
from newfound.cli.reproduce import reproduce
from newfound.cli.talk import FAILED, Talk
from newfound.cli.teach import teach

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
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def _say(message: Warning | str, *_: object, **__: object) -> None:
    Talk().complain(f"newfound: {message}")


def main() -> None:
    """Run the command line; what goes wrong is said in a line, without a traceback."""
    # What matters of an image is said by name; Pillow's own warnings add nothing.
    warnings.filterwarnings("ignore", module="PIL")
    warnings.showwarning = _say
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files and classes may hold anything
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except (ValueError, OSError, ModuleNotFoundError) as error:
        Talk().complain(f"newfound: {error}")
        sys.exit(FAILED)
    except MemoryError:
        Talk().complain("newfound: not enough memory; fewer features, or teach --lean, take less")
        sys.exit(FAILED)
