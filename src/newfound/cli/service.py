"""What `newfound studio` and `newfound serve` share: their options, and the service they run."""

import logging
import os
import re
import secrets
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from newfound.cli.console import DONE, INTERRUPTED, Console, emit, summary
from newfound.cli.models import locked
from newfound.common.errors import InputError
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.journalled import JournalledRecogniser

# The model of who names none, in the folder where they are.
USUAL_MODEL = Path("my.newfound")
# Letters that a token of one's own must have.
SHORTEST_TOKEN = 16

Host = Annotated[
    str,
    typer.Option(
        help="Address to listen on. Any but 127.0.0.1 can be reached by others: then a token is "
        "needed, which is printed once at the end of the address. The environment variable "
        "NEWFOUND_TOKEN sets one of your own."
    ),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        help="File of a certificate (PEM), to serve by https. Browsers give pages of other "
        "machines no camera without it.",
        exists=True,
        dir_okay=False,
        show_default=False,
    ),
]
CertificateKey = Annotated[
    Path | None,
    typer.Option("--key", help="File of its key.", exists=True, dir_okay=False, show_default=False),
]
KeepVectors = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="From now on, keep the vectors of so many examples, the newest; others cannot be "
        "edited. At first 20,000 are.",
        show_default=False,
    ),
]
KeepThumbnails = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="From now on, keep the pictures of so many examples, the newest. At first 10,000 are.",
        show_default=False,
    ),
]


class Wishes(NamedTuple):
    """What a user wants of a service."""

    model: Path
    host: str
    port: int
    certificate: Path | None
    key: Path | None
    extractor: str | None
    keep_vectors: int | None
    keep_thumbnails: int | None
    wait: float
    page: bool
    browser: bool


def or_usual(model: Path | None) -> Path:
    """Return the model that was named, or say that it is the usual one."""
    if model is None:
        Console().info(f"No model named: using {USUAL_MODEL} in this folder.")
    return model or USUAL_MODEL


def run(wishes: Wishes) -> None:
    """Run a service until a signal comes, and exit."""
    from newfound.studio import server

    if wishes.extractor is not None:
        _check_extractor(wishes.extractor)
    console, local = Console(), server.is_local(wishes.host)
    token = None if local else _token()
    if wishes.key is not None and wishes.certificate is None:
        raise typer.BadParameter("a key needs the certificate that it belongs to")
    bound = server.bind(wishes.host, wishes.port, or_free=wishes.page)
    with bound, locked(wishes.model, wishes.wait, console):
        _log_to_stderr()
        with name_in_errors(wishes.model):
            recogniser = _opened(wishes)
        try:
            from newfound.studio.app import create_app

            app = create_app(recogniser, page=wishes.page, token=token, local=local)
            files = wishes.certificate, wishes.key
            tls = None if files[0] is None else server.Tls(files[0], files[1])
            address = server.address_of(bound, tls is not None, token)

            def ready() -> None:
                emit(address)
                _tell(recogniser, wishes, local, console)
                if wishes.browser and local:
                    _open_browser(address)

            number = server.run(app, bound, tls, ready)
        finally:
            recogniser.close()
    raise typer.Exit(INTERRUPTED if number == signal.SIGINT else DONE)


def _opened(wishes: Wishes) -> "JournalledRecogniser":
    from newfound.recognition.extractors import DEFAULT
    from newfound.recognition.journalled import JournalledRecogniser

    return JournalledRecogniser(
        wishes.model,
        DEFAULT if wishes.extractor is None else wishes.extractor,
        keep_vectors=wishes.keep_vectors,
        keep_thumbnails=wishes.keep_thumbnails,
    )


def _check_extractor(text: str) -> None:
    """Raise what is wrong with an extractor's name, as far as no network has to be loaded."""
    from newfound.features.catalog import extractor_from_name
    from newfound.recognition.extractors import DEFAULT

    name, _, options = text.partition(":")
    file = re.search(r"(?:^|,)path=([^,]*)", options) if name == "caffenet" else None
    file = file or re.fullmatch(r"(.*\.onnx)(?::.*)?", text, re.DOTALL)
    files = [text] if file is None else [text, file[1]]
    if name != DEFAULT and not any(map(os.path.isfile, files)):
        extractor_from_name(text)


def _token() -> str:
    """Return the token of the user's own, or a new one."""
    token = os.environ.get("NEWFOUND_TOKEN")
    if token is None:
        return secrets.token_urlsafe(24)
    if len(token) < SHORTEST_TOKEN or not re.fullmatch(r"[A-Za-z0-9._~-]+", token):
        raise InputError(
            f"NEWFOUND_TOKEN must have {SHORTEST_TOKEN} letters, digits or . _ ~ - at least"
        )
    return token


def _tell(
    recogniser: "JournalledRecogniser", wishes: Wishes, local: bool, console: Console
) -> None:
    knows = f"knows {summary(recogniser)}" if recogniser.is_taught else "is new"
    console.info(f"{wishes.model.name} {knows}. Ctrl-C ends the service, and nothing is lost.")
    if wishes.page and not local and wishes.certificate is None:
        console.info("Browsers give a page no camera over http from another machine.")


def _log_to_stderr() -> None:
    """Let what goes wrong be seen where the service runs, and nowhere else."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log = logging.getLogger("newfound.studio")
    log.addHandler(handler)
    log.propagate = False


def _open_browser(address: str) -> None:
    """Open the page, without waiting for a browser that takes its time."""
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
