"""Kinds of options: what those of several commands have in common, but for their help."""

from typing import Any

import typer


def output_to(text: str) -> Any:
    """Return the option that says where a command writes to."""
    return typer.Option("--output", "-o", help=text)


def flag(name: str, text: str) -> Any:
    """Return an option that is given or not; there is no --no-NAME beside it."""
    return typer.Option(name, help=text)


def existing_file(text: str) -> Any:
    """Return an option that takes a file, which must be there."""
    return typer.Option(help=text, exists=True, dir_okay=False)


def count(text: str, least: int = 1) -> Any:
    """Return an option that takes N of something."""
    return typer.Option(min=least, metavar="N", help=text)


def duration(text: str, least: float = 0, most: float | None = None) -> Any:
    """Return an option that takes a time."""
    return typer.Option(min=least, max=most, metavar="SECONDS", help=text)
