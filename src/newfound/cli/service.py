"""What `newfound studio` and `newfound serve` run: a service, until a signal comes."""

import os
import re
import secrets
import threading
from pathlib import Path

import typer

from newfound.cli.console import Console, emit, exit_code_of, knowledge, log_to_stderr
from newfound.cli.models import EditedModel, locked, open_to_edit
from newfound.common.errors import InputError

# The model if none is named, in the current folder.
DEFAULT_MODEL = Path("my.newfound")
# Letters that a token of one's own must have.
SHORTEST_TOKEN = 16


def or_default(model: Path | None) -> Path:
    """Return the model that was named, or say that it is the default one."""
    if model is None:
        Console().info(f"No model named: using {DEFAULT_MODEL} in this folder.")
    return model or DEFAULT_MODEL


def run(
    model: EditedModel,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    *,
    page: bool,
    browser: bool = False,
) -> None:
    """Run a service until a signal comes, and exit."""
    import webbrowser

    from newfound.studio import server
    from newfound.studio.log_limit import LogLimit

    if model.extractor is not None:
        _check_extractor(model.extractor)
    console, local = Console(), server.is_local(host)
    token = None if local else _token()
    if key is not None and certificate is None:
        raise typer.BadParameter("a key needs the certificate that it belongs to")
    bound = server.bind(host, port, or_free=page)
    with bound, locked(model.path, model.wait, console):
        # What asyncio says of connections is the business of whoever opens them.
        log_to_stderr("newfound.studio", "asyncio").addFilter(LogLimit())
        with open_to_edit(model) as editor:
            from newfound.studio.app import create_app

            app = create_app(editor, page=page, token=token, local=local)
            address = server.address_of(bound, certificate is not None, token)

            def ready() -> None:
                emit(address)
                state = f"{model.path.name} {knowledge(editor.recogniser)}."
                console.info(f"{state} Ctrl-C ends the service, and nothing is lost.")
                if page and not local and certificate is None:
                    console.info("Browsers give a page no camera over http from another machine.")
                if browser and local:  # nobody waits for a browser that takes its time
                    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

            running = server.Server(app, certificate, key, ready)
            running.run([bound])
    raise typer.Exit(exit_code_of(running.signal))


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
