"""Images over HTTP: to look at, and to teach."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from newfound.studio.messages import Action, AnswerMessage, Done, Key, Label
from newfound.studio.routes.common import TheService, binary, check_type, errors
from newfound.studio.service import LessonRequest

router = APIRouter(prefix="/api", tags=["images"])
IMAGE = binary("image/*")


@router.post("/look", response_model=AnswerMessage, responses=errors(415), openapi_extra=IMAGE)
async def look(request: Request, service: TheService) -> JSONResponse:
    """Say what an image shows."""
    check_type(request, "an image", "image/")
    return JSONResponse(await service.look(await request.body()))


@router.post("/lessons", response_model=Done, responses=errors(409, 415), openapi_extra=IMAGE)
async def teach(
    request: Request,
    service: TheService,
    label: Annotated[Label, Query()],
    key: Annotated[Key | None, Query()] = None,
    action: Annotated[Action | None, Query()] = None,
) -> JSONResponse:
    """Learn what an image shows; one that was taught under that label is not taught again."""
    check_type(request, "an image", "image/")
    lesson = LessonRequest(await request.body(), label, "http", key, action)
    return JSONResponse(await service.teach(lesson))
