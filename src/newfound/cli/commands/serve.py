"""`newfound serve`: a model as a service, for robots and programs."""

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


def serve(
    model: NewOrUsualModel = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    certificate: Certificate = None,
    key: CertificateKey = None,
    extractor: ExtractorName = None,
    keep_vectors: KeepVectors = None,
    keep_thumbnails: KeepThumbnails = None,
    wait: Wait = 0.0,
) -> None:
    """Serve a model to robots and programs, over HTTP and WebSockets.

    \b
    newfound serve
    newfound serve kitchen.newfound --port 8000

    Its address is printed; /openapi.json there says what it takes and answers. Only this machine
    reaches it, unless --host says otherwise. Every lesson is written down at once, in a journal
    beside the model: nothing is lost, whatever happens. If no model is named, it is my.newfound in
    this folder. SIGTERM or Ctrl-C ends it, once lessons that wait are learned.
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
            page=False,
            browser=False,
        )
    )
