"""Options of commands that keep a model open for others: studio, serve and listen."""

from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.option_kinds import count, existing_file

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
    existing_file(
        "Certificate file (PEM), to serve over https. Without it, browsers give no camera to pages "
        "from other machines."
    ),
]
Key = Annotated[Path | None, existing_file("Its key file.")]
KeepVectors = Annotated[
    int | None,
    count(
        "Keep vectors of the N newest examples (default 20,000); older ones cannot be edited. The "
        "journal remembers N.",
        least=0,
    ),
]
KeepThumbnails = Annotated[
    int | None,
    count(
        "Keep pictures of the N newest examples (default 10,000). The journal remembers N.", least=0
    ),
]
