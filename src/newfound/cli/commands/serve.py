"""`newfound serve`: a model as a service, for robots and programs."""

from newfound.cli.models import EditedModel
from newfound.cli.options import ExtractorName, NewOrDefaultModel, Wait
from newfound.cli.service import or_default, run
from newfound.cli.service_options import Certificate, Host, KeepThumbnails, KeepVectors, Key, Port


def serve(
    model: NewOrDefaultModel = None,
    port: Port = 8000,
    host: Host = "127.0.0.1",
    certificate: Certificate = None,
    key: Key = None,
    extractor: ExtractorName = None,
    keep_vectors: KeepVectors = None,
    keep_thumbnails: KeepThumbnails = None,
    wait: Wait = 0.0,
) -> None:
    """Serve a model to programs, over HTTP and WebSockets.

    \b
    newfound serve
    newfound serve kitchen.newfound --port 8000

    The address is printed; /openapi.json there describes requests and answers. Only this machine
    can reach it, unless --host says otherwise. Every lesson is written to a journal beside the
    model at once: nothing is lost, whatever happens. Without a model, my.newfound in this folder is
    used. SIGTERM or Ctrl-C ends it, after waiting lessons are learned.
    """
    edited = EditedModel(or_default(model), extractor, keep_vectors, keep_thumbnails, wait)
    run(edited, host, port, certificate, key, page=False)
