"""What was not known and asked about: rows, named, dismissed."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from newfound.studio.messages import Done, Name, Questions
from newfound.studio.routes.common import Before, Number, TheService, errors
from newfound.studio.routes.edits import Bare

router = APIRouter(prefix="/api/questions", tags=["inbox"])


@router.get("", response_model=Questions, responses=errors())
async def questions(
    service: TheService,
    before: Before = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> JSONResponse:
    """Return what nobody has named yet, newest first."""

    def page() -> dict[str, Any]:
        rows = service.editor.journal.inbox.open(before, limit + 1)
        more = rows[limit - 1].id if len(rows) > limit else None
        return {"questions": [question._asdict() for question in rows[:limit]], "next": more}

    return JSONResponse(await service.ask(page))


@router.post("/{id}/name", response_model=Done, responses=errors(404))
async def name(asked: Name, service: TheService, id: Number) -> JSONResponse:
    """Say what a question shows: its frames are learned; undo opens it again."""
    return JSONResponse(await service.edit(service.editor.name, id, asked.label, key=asked.key))


@router.post("/{id}/dismiss", response_model=Done, responses=errors(404))
async def dismiss(service: TheService, id: Number, _: Bare = None) -> JSONResponse:
    """Delete a question and its frames, for good."""
    return JSONResponse(await service.edit(service.editor.dismiss, id))
