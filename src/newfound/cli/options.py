"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Model = Annotated[Path, typer.Argument(help="The model's file.", show_default=False)]
Images = Annotated[
    list[str],
    typer.Argument(
        help="Images, folders, files of vectors (.npz), or - for a list on stdin.",
        show_default=False,
    ),
]
As = Annotated[
    str | None, typer.Option("--as", help="Label for all of these images.", show_default=False)
]
By = Annotated[
    Literal["first", "path"],
    typer.Option(
        "--labels", help="Whether an image in photos/a/b is labelled a (first) or a/b (path)."
    ),
]
ExtractorName = Annotated[
    str | None,
    typer.Option(
        "--extractor",
        envvar="NEWFOUND_EXTRACTOR",
        help="What turns images into vectors: efficientnet-lite0, pixels, caffenet or an ONNX "
        "file, with options as in pixels:size=8. By default what the model was taught with; "
        "for a new one efficientnet-lite0.",
        show_default=False,
    ),
]
Wait = Annotated[
    float,
    typer.Option(min=0, help="Seconds to wait for another process that changes the model."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
