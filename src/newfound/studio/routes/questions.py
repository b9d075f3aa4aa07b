"""Questions that change nothing: the state, examples, confusions, health, figures."""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from newfound.recognition import evaluation
from newfound.studio import views
from newfound.studio.guard import Access, cookie_name
from newfound.studio.messages import Confusions, Examples, Health, KnownLabel, Session, StateMessage
from newfound.studio.routes.common import Before, Number, TheService, errors, file_errors, file_of

router = APIRouter(tags=["questions"])
# Seconds that a browser keeps the cookie.
A_MONTH = 30 * 24 * 3600


@router.get("/api/state", response_model=StateMessage, responses=errors())
async def state(service: TheService) -> JSONResponse:
    """Return all that a page shows beside answers."""
    return JSONResponse(await service.ask(service.state_now))


@router.get("/api/examples", response_model=Examples, responses=errors())
async def examples(
    service: TheService,
    label: Annotated[KnownLabel | None, Query()] = None,
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> JSONResponse:
    """Return examples that are kept, newest first, of one class or of all."""
    editor = service.editor

    def page() -> dict[str, Any]:
        of = None if label is None else editor.recogniser.label(label)
        # One more than is wanted, to see whether there are more.
        kept = editor.journal.examples.kept(of, before, limit + 1)
        more = kept[limit - 1].id if len(kept) > limit else None
        return {"examples": views.examples_of(kept[:limit]), "next": more}

    return JSONResponse(await service.ask(page))


@router.get(
    "/api/examples/{id}/thumbnail",
    response_class=Response,
    responses=file_of("image/jpeg", "A JPEG of 256 pixels a side at most.", 404),
)
async def thumbnail(service: TheService, id: Number) -> Response:
    """Return a small picture of an example."""
    data = await service.ask(lambda: service.editor.journal.examples.thumbnail(id))
    if data is None:
        return JSONResponse({"error": f"no picture of example {id} is kept"}, 404)
    return Response(data, media_type="image/jpeg")


@router.get("/api/confusions", response_model=Confusions, responses=errors())
async def confusions(service: TheService) -> JSONResponse:
    """Return what kept examples would be called, had each not been taught."""
    knowledge, table = service.editor.knowledge, service.editor.journal.examples

    def count() -> dict[str, Any]:
        pairs = [
            {"label": str(label), "said": str(answer), "count": int(number)}
            for label, answer, number in evaluation.confusions(knowledge, table)
        ]
        return {"classes": [str(label) for label in knowledge.counts], "pairs": pairs}

    return JSONResponse(await service.ask(count))


@router.get("/api/health", response_model=Health, responses=errors())
async def health(service: TheService) -> JSONResponse:
    """Say that the service answers."""
    editor = service.editor
    values = {"model": editor.path.name, "position": editor.history.position}
    return JSONResponse({"status": "stopping" if service.is_stopping else "ok", **values})


@router.get("/metrics", response_class=PlainTextResponse, responses=file_errors())
async def metrics(service: TheService) -> PlainTextResponse:
    """Return figures as Prometheus reads them."""
    counts = await service.ask(lambda: service.recogniser.counts)
    gauges = {
        "newfound_classes": len(counts),
        "newfound_examples": int(sum(counts.values())),
        "newfound_connections": len(service.board.subscribers),
    }
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return PlainTextResponse(service.metrics.text(gauges), media_type=kind)


@router.post("/api/session", status_code=204, response_class=Response, responses=file_errors())
async def session(asked: Session, request: Request) -> Response:
    """Exchange the token for a cookie; where none is needed, do nothing."""
    access: Access = request.app.state.access
    response = Response(status_code=204)
    if access.token is None:
        return response
    if not access.is_token(asked.token):
        raise HTTPException(401, "this is not the token that was printed at the start")
    response.set_cookie(
        cookie_name(request.scope),
        access.cookie,
        max_age=A_MONTH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response
