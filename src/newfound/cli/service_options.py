"""Options of commands that keep a model open for others: studio, serve and listen."""

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[
    str,
    typer.Option(
        help="Address to listen on. Any but 127.0.0.1 can be reached from other machines and needs "
        "a token, which is printed once, at the end of the address. The environment variable "
        "NEWFOUND_TOKEN sets your own."
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 picks a free one.")]
Certificate = Annotated[
    Path | None,
    typer.Option(
        help="Certificate file (PEM), to serve over https. Without it, browsers give no camera to "
        "pages from other machines.",
        exists=True,
        dir_okay=False,
    ),
]
Key = Annotated[Path | None, typer.Option(help="Its key file.", exists=True, dir_okay=False)]
KeepVectors = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Keep vectors of the N newest examples (default 20,000); older ones cannot be edited. "
        "The journal remembers N.",
    ),
]
KeepThumbnails = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Keep pictures of the N newest examples (default 10,000). The journal remembers N.",
    ),
]
