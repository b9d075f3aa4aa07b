"""`newfound studio`: teach with a camera, in the browser."""

from typing import Annotated

import typer

from newfound.cli.options import ExtractorName, NewOrUsualModel, Wait
from newfound.cli.service import (
    Certificate,
    CertificateKey,
    Host,
    KeepThumbnails,
    KeepVectors,
    Port,
    Wishes,
    or_usual,
    run,
)

NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address and open no browser.")
]


def studio(
    model: NewOrUsualModel = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    no_browser: NoBrowser = False,
    certificate: Certificate = None,
    key: CertificateKey = None,
    extractor: ExtractorName = None,
    keep_vectors: KeepVectors = None,
    keep_thumbnails: KeepThumbnails = None,
    wait: Wait = 0.0,
) -> None:
    """Teach with a camera, in the browser.

    \b
    newfound studio
    newfound studio kitchen.newfound
    newfound studio kitchen.newfound --port 8123 --no-browser

    The page opens in your browser. Its address is printed, too. Only this machine reaches it,
    unless --host says otherwise. Every lesson is written down at once, in a journal beside the
    model: nothing is lost, whatever happens. If no model is named, it is my.newfound in this
    folder. If the port is taken, another one is used. Ctrl-C ends it.
    """
    run(
        Wishes(
            model=or_usual(model),
            host=host,
            port=port,
            certificate=certificate,
            key=key,
            extractor=extractor,
            keep_vectors=keep_vectors,
            keep_thumbnails=keep_thumbnails,
            wait=wait,
            page=True,
            browser=not no_browser,
        )
    )
