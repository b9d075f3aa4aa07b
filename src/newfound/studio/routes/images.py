"""Images over HTTP: to look at, and to teach."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from newfound.studio.bodies import read_whole
from newfound.studio.messages import Action, Answer, Done, Key, Label
from newfound.studio.routes.common import TheService, binary, check_type, errors, sent
from newfound.studio.service import Lesson

router = APIRouter(prefix="/api", tags=["images"])
IMAGE = binary("image/*")


@router.post("/look", response_model=Answer, responses=errors(415), openapi_extra=IMAGE)
async def look(request: Request, service: TheService) -> JSONResponse:
    """Say what an image shows."""
    check_type(request, "an image", "image/")
    return sent(await service.look(await read_whole(request.stream())))


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
    image = await read_whole(request.stream())
    return sent(await service.teach(Lesson(image, label, "http", key, action)))
