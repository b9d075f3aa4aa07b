"""What all addresses share: the service behind them, and the errors that they may answer with."""

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request

from newfound.studio.messages import LARGEST_ID, Error
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
_BYTES = {"schema": {"type": "string", "format": "binary"}}
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
        status: {"content": content, "description": error["description"]}
        for status, error in errors(*more).items()
    }


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


# What was made before this one, and the number of something, in addresses.
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID)]
Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]
# Answers of the service are right by construction: routes return them as JSONResponse, which is
# not checked again.
TheService = Annotated[Service, Depends(_service)]


def check_type(request: Request, what: str, *kinds: str) -> None:
    """Raise HTTPException if a body says that it is something else than what is taken."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type and not content_type.startswith((*kinds, "application/octet-stream")):
        raise HTTPException(
            415, f"send {what} as the body, with Content-Type: {kinds[0]} or octet-stream"
        )


def binary(*kinds: str) -> dict[str, Any]:
    """Return how OpenAPI says that a body is bytes of these kinds."""
    content = dict.fromkeys((*kinds, "application/octet-stream"), _BYTES)
    return {"requestBody": {"required": True, "content": content}}


def file_of(kind: str, words: str, *more: int) -> dict[int | str, dict[str, Any]]:
    """Return how OpenAPI says that an answer is a file, or one of the errors."""
    return {200: {"description": words, "content": {kind: _BYTES}}, **file_errors(*more)}
