"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from newfound.cli.option_kinds import duration, flag

Model = Annotated[Path, typer.Argument(help="Model file.")]
NewModel = Annotated[Path, typer.Argument(help="Model file; created if it does not exist.")]
NewOrDefaultModel = Annotated[
    Path | None,
    typer.Argument(
        help="Model file; created if it does not exist. Default: my.newfound in this folder."
    ),
]
Images = Annotated[
    list[str],
    typer.Argument(
        help="Images, folders, files of vectors (.npz) or addresses that fsspec reads (s3://…); - "
        "reads a list of them from stdin."
    ),
]
As = Annotated[str | None, typer.Option("--as", help="Label for all of these images.")]
LabelsFrom = Annotated[
    Literal["first", "path"],
    typer.Option(
        help="Label an image in photos/a/b by its first folder (first: a) or by its path (path: "
        "a/b).",
    ),
]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        envvar="NEWFOUND_EXTRACTOR",
        help="Turn images into vectors with efficientnet-lite0, pixels, caffenet or an ONNX file. "
        "Options follow a colon, as in pixels:size=8; root=yes takes signed square roots, scaled "
        "to unit length. Default: the extractor the model was taught with; for a new model "
        "efficientnet-lite0 with root=yes.",
    ),
]
UnknownAbove = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Call an image unknown above this probability of being unknown; 1 calls nothing "
        "unknown. Default: the bound of the model, 0.5 unless it was set.",
    ),
]
ForGood = Annotated[
    bool,
    flag(
        "--for-good",
        "Delete it, and what was deleted before, from the journal and from what undo would "
        "restore, too. Nothing done so far can be undone afterwards.",
    ),
]
Force = Annotated[
    bool,
    flag(
        "--force",
        "Overwrite a model, or a file that is not what its name says, without a question. What the "
        "command reads is never overwritten.",
    ),
]
Wait = Annotated[float, duration("Wait this long while another process changes the model.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Json = Annotated[bool, flag("--json", "Print JSON.")]
