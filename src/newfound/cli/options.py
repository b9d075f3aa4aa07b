"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from newfound.cli.console import printable

Model = Annotated[Path, typer.Argument(help="Model file.", show_default=False)]
NewModel = Annotated[
    Path, typer.Argument(help="Model file; made if it does not exist.", show_default=False)
]
NewOrUsualModel = Annotated[
    Path | None,
    typer.Argument(
        help="Model file; made if it does not exist. By default my.newfound in this folder.",
        show_default=False,
    ),
]
Images = Annotated[
    list[str],
    typer.Argument(
        help="Images, folders, files of vectors (.npz), addresses that fsspec reads (s3://…), or - "
        "to read a list of them from stdin.",
        show_default=False,
    ),
]
As = Annotated[
    str | None, typer.Option("--as", help="Label for all of these images.", show_default=False)
]
LabelsFrom = Annotated[
    Literal["first", "path"],
    typer.Option(
        "--labels",
        help="Label an image in photos/a/b by its first folder, a, or by its path, a/b.",
    ),
]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        envvar="NEWFOUND_EXTRACTOR",
        help="Turn images into vectors with efficientnet-lite0, pixels, caffenet or an ONNX file; "
        "options follow a colon, as in pixels:size=8. root=yes takes signed square roots at unit "
        "length, root=no does not. By default the extractor the model was taught with; for a new "
        "model efficientnet-lite0, which takes roots.",
        show_default=False,
    ),
]
UnknownAbove = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Call an image unknown above this probability of being unknown; 1 calls none "
        "unknown. By default the model's own bound: 0.5, unless it was set.",
        show_default=False,
    ),
]
ForGood = Annotated[
    bool,
    typer.Option(
        "--for-good",
        help="Leave nothing of it in the journal, nor in what undo would go back to: what was done "
        "up to now cannot be undone any more.",
    ),
]
Wait = Annotated[
    float,
    typer.Option(min=0, help="Seconds to wait while another process changes the model."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check_output(path: Path, *endings: str, option: str = "--output") -> None:
    """Exit with wrong usage if a file cannot be written, before any work is done."""
    problem = None
    if path.suffix.lower() not in endings:
        problem = f"{path} does not end in {', '.join(endings[:-1])}{' or ' * (len(endings) > 1)}"
        problem += endings[-1]
    elif not path.parent.is_dir():
        problem = f"there is no folder {path.parent}"
    elif path.is_dir():
        problem = f"{path} is a folder"
    if problem is not None:
        raise typer.BadParameter(printable(problem), param_hint=option)
