"""What was not known and asked about: listed, named, dismissed."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse

from newfound.studio import views
from newfound.studio.messages import LARGEST_ID, Done, Name, Questions
from newfound.studio.routes.common import TheService, errors, sent
from newfound.studio.routes.edits import Bare

router = APIRouter(prefix="/api/questions", tags=["inbox"])
Number = Annotated[int, Path(ge=1, le=LARGEST_ID)]


@router.get("", response_model=Questions, responses=errors())
async def questions(
    service: TheService,
    before: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JSONResponse:
    """Return what nobody has named yet, newest first."""

    def page() -> dict[str, Any]:
        found = service.recogniser.questions(before, limit + 1)
        more = found[limit - 1].id if len(found) > limit else None
        return {"questions": views.questions_of(found[:limit]), "next": more}

    return sent(await service.ask(page))


@router.post("/{id}/name", response_model=Done, responses=errors(404))
async def name(asked: Name, service: TheService, id: Number) -> JSONResponse:
    """Say what a question shows: its frames are learned; undo opens it again."""
    recogniser = service.recogniser
    return sent(await service.edit(lambda: recogniser.name(id, asked.label, key=asked.key)))


@router.post("/{id}/dismiss", response_model=Done, responses=errors(404))
async def dismiss(service: TheService, id: Number, _: Bare = None) -> JSONResponse:
    """Delete a question and its frames, for good."""
    return sent(await service.edit(lambda: service.recogniser.dismiss(id)))
