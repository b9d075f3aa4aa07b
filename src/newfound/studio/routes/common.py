"""What all addresses share: the service behind them, and the errors that they may answer with."""

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request
from fastapi.responses import JSONResponse

from newfound.studio.guard import Access
from newfound.studio.messages import Error
from newfound.studio.service import Service

_WORDS = {
    400: "The request makes no sense.",
    401: "It needs the token.",
    403: "It comes from another site's page.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    409: "It does not go with what is there.",
    413: "The body is too large.",
    415: "The body is of a kind that is not taken here.",
    422: "What was given cannot be used; nothing was changed.",
    429: "Too many requests.",
    500: "A mistake of the service's own.",
    503: "Too much at once, or it is stopping: try again after the seconds in `Retry-After`.",
}
# Any address may answer so.
_ALWAYS = (400, 401, 403, 408, 413, 422, 429, 500, 503)


def errors(*more: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors that an address may answer with, as OpenAPI wants them."""
    return {
        status: {"model": Error, "description": _WORDS[status]}
        for status in sorted({*_ALWAYS, *more})
    }


def file_errors(*more: int) -> dict[int | str, dict[str, Any]]:
    """Return the same for an address whose answer is no JSON: its errors are."""
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        status: {"content": content, "description": each["description"]}
        for status, each in errors(*more).items()
    }


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def _access(request: Request) -> Access:
    access: Access = request.app.state.access
    return access


TheService = Annotated[Service, Depends(_service)]
TheAccess = Annotated[Access, Depends(_access)]


def sent(values: dict[str, Any]) -> JSONResponse:
    """Return an answer of ours: it is right by construction, and not checked again."""
    return JSONResponse(values)


def check_type(request: Request, what: str, *kinds: str) -> None:
    """Raise HTTPException if a body says that it is something else than what is taken."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given and not given.startswith((*kinds, "application/octet-stream")):
        raise HTTPException(
            415, f"send {what} as the body, with Content-Type: {kinds[0]} or octet-stream"
        )


def binary(*kinds: str) -> dict[str, Any]:
    """Return how OpenAPI says that a body is bytes of these kinds."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    content = dict.fromkeys((*kinds, "application/octet-stream"), schema)
    return {"requestBody": {"required": True, "content": content}}


def file_of(kind: str, words: str) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI says that an answer is a file."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"description": words, "content": {kind: schema}}}
