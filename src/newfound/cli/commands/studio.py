"""`newfound studio`: teach with a camera, in the browser."""

from typing import Annotated

from newfound.cli.models import EditedModel
from newfound.cli.option_kinds import flag
from newfound.cli.options import ExtractorName, NewOrDefaultModel, Wait
from newfound.cli.service import or_default, run
from newfound.cli.service_options import Certificate, Host, KeepThumbnails, KeepVectors, Key, Port

NoBrowser = Annotated[bool, flag("--no-browser", "Print the address only; open no browser.")]


def studio(
    model: NewOrDefaultModel = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    no_browser: NoBrowser = False,
    certificate: Certificate = None,
    key: Key = None,
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

    The page opens in your browser, and its address is printed. Only this machine can reach it,
    unless --host says otherwise. Every lesson is written to a journal beside the model at once:
    nothing is lost, whatever happens. Without a model, my.newfound in this folder is used. If the
    port is taken, another one is used. Ctrl-C ends it.
    """
    edited = EditedModel(or_default(model), extractor, keep_vectors, keep_thumbnails, wait)
    run(edited, host, port, certificate, key, page=True, browser=not no_browser)
