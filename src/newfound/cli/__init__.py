"""The command line: one command a file. stdout is data, stderr is talk."""

from typing import Annotated

import typer

from newfound import __version__
from newfound.cli.bench import bench
from newfound.cli.demo import demo

app = typer.Typer(
    name="newfound",
    help="Teach a classifier new things on the fly: exactly, and in fixed time.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
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


def main() -> None:
    """Run the command line."""
    app()
