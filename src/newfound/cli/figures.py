"""Where figures may be saved."""

from pathlib import Path

import typer

from newfound.cli.console import printable


def check_figure(path: Path, option: str) -> None:
    """End with wrong usage if no figure can be saved at a path, before any work is done."""
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise typer.BadParameter(
            f"{printable(path)} does not end in .png, .pdf or .svg", param_hint=option
        )
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {printable(path.parent)}", param_hint=option)
