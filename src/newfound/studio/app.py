"""The service as an ASGI application: `create_app` puts its parts together."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from newfound import __version__
from newfound.common.errors import NewfoundError
from newfound.common.extras import imported_from

with imported_from("studio"):
    from fastapi import FastAPI, Query, Request, WebSocket
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, Response
    from starlette.exceptions import HTTPException

from newfound.studio.complaints import words_of
from newfound.studio.errors import Refusal, reply_to
from newfound.studio.guard import Access, Guard
from newfound.studio.limits import ServiceLimits
from newfound.studio.live import Live
from newfound.studio.page_files import PageFile, page_files
from newfound.studio.routes import edits, exchange, images, inbox, questions
from newfound.studio.service import Service
from newfound.studio.workers import StoppingError

if TYPE_CHECKING:
    from newfound.recognition.editor import Editor

ABOUT = """Teach an image classifier while it runs, and ask it what images show.

A WebSocket at `/api/live` takes frames as binary messages and answers with JSON. A message has at
most 4 MB there; larger images go to `/api/look` and `/api/lessons`. With each answer, `frame` says
which of the connection's frames it is of, counted from 1, and `dropped` how many frames were never
looked at since the connection began, because a newer one came: not since the last answer.
With `/api/live?smooth=0.5`, frames are those of one camera: an answer is the mean over all of them,
in which the weight of a frame halves after 0.5 seconds (0 to 10). Every edit begins a new mean.
"""
# Seconds after which a frame may count half.
LONGEST_HALF_LIFE = 10.0
# What is said instead of words that are not ours.
WORDS = {
    400: "the body cannot be read",
    404: "there is nothing at this address",
    405: "this address takes another method",
}


def create_app(
    editor: "Editor",
    *,
    page: bool = True,
    token: str | None = None,
    local: bool = True,
    limits: ServiceLimits | None = None,
    snapshot_idle: float = 5.0,
    snapshot_every: float = 60.0,
) -> FastAPI:
    """Return the service of an editor as an application, which any ASGI server runs.

    Parameters
    ----------
    editor : Editor
        The caller closes it, once the application has ended; that writes the model's file.
    page : bool, default=True
        Whether to serve the page, too.
    token : str, optional
        What requests must bring. By default none is needed.
    local : bool, default=True
        Whether to answer to names of this machine only.
    limits : ServiceLimits, optional
    snapshot_idle, snapshot_every : float
        Seconds without a change after which the model's file is written, and between two times if
        changes never end.

    Returns
    -------
    FastAPI
        Its `state.service` is the `Service`.
    """
    limits, access = limits or ServiceLimits(), Access(token)
    service = Service(editor, limits, snapshot_idle, snapshot_every)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="newfound",
        description=ABOUT,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    app.state.service, app.state.access = service, access
    for routes in (questions, images, edits, inbox, exchange):
        app.include_router(routes.router)
    app.add_api_websocket_route("/api/live", _live)
    files = page_files() if page else {}
    for path, file in files.items():
        app.add_route(path, _sender(file), methods=["GET", "HEAD"], include_in_schema=False)
    bodies = {
        "/api/look": limits.image,
        "/api/lessons": limits.image,
        "/api/import/examples": limits.archive,
        "/api/import/model": limits.model,
    }
    app.add_middleware(
        Guard, limits=limits, access=access, local=local, bodies=bodies, public=files.keys()
    )
    return app


async def _live(
    socket: WebSocket,
    smooth: Annotated[float, Query(ge=0, le=LONGEST_HALF_LIFE, allow_inf_nan=False)] = 0.0,
) -> None:
    await Live(socket, socket.app.state.service, smooth).run()


def _sender(file: PageFile) -> Callable[[Request], Any]:
    """Return what sends a file of the page, unless the browser has it."""
    headers = {"etag": file.etag, "cache-control": "no-cache"}

    async def send(request: Request) -> Response:
        if file.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.data, media_type=file.type, headers=headers)

    return send


async def _tell_http(_: Request, error: Any) -> Response:
    sentence = WORDS.get(error.status_code, str(error.detail))
    return JSONResponse({"error": sentence}, error.status_code, error.headers)


async def _tell_validation(_: Request, error: Any) -> Response:
    return JSONResponse({"error": words_of(error.errors())}, 422)


async def _tell(_: Request, error: Exception) -> Response:
    return reply_to(error).response


# Every error is told as a sentence.
HANDLERS: dict[Any, Callable[..., Any]] = {
    HTTPException: _tell_http,
    RequestValidationError: _tell_validation,
    **dict.fromkeys((NewfoundError, Refusal, StoppingError, OSError, MemoryError), _tell),
}
