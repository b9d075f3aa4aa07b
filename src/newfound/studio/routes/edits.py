"""Edits of what was taught: each is in the journal before it is answered."""

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse

from newfound.common.errors import InputError
from newfound.recognition.labels import rename_labels
from newfound.studio.errors import Refusal
from newfound.studio.messages import Done, EmptyBin, Forget, Join, Keyed, Move, Rename
from newfound.studio.routes.common import TheService, errors

if TYPE_CHECKING:
    from newfound.recognition.history import Edit

router = APIRouter(prefix="/api", tags=["edits"])
Bare = Annotated[Keyed | None, Body()]


@router.post("/forget", response_model=Done, responses=errors(404))
async def forget(asked: Forget, service: TheService) -> JSONResponse:
    """Delete examples or a class; undo brings them back, unless it is for good."""
    if (asked.examples is None) == (asked.label is None):
        raise Refusal(422, "say either which examples or which class")
    editor = service.editor
    if asked.examples is not None:
        done = await service.edit(editor.delete, asked.examples, key=asked.key)
    else:
        done = await service.edit(editor.forget_class, asked.label, key=asked.key)
    if asked.for_good:
        emptied = await service.edit(editor.forget_for_good)
        what = f"{done['what']}; {emptied['what']}"
        done.update(what=what, position=emptied["position"], state=emptied["state"])
    return JSONResponse(done)


@router.post("/move", response_model=Done, responses=errors(404))
async def move(asked: Move, service: TheService) -> JSONResponse:
    """Say that examples show something else."""
    done = await service.edit(service.editor.move, asked.examples, asked.label, key=asked.key)
    return JSONResponse(done)


@router.post("/rename", response_model=Done, responses=errors(404, 409))
async def rename(asked: Rename, service: TheService) -> JSONResponse:
    """Give a class another label that no class has."""
    editor = service.editor

    def renamed() -> "Edit":
        old, new = rename_labels(editor.recogniser.label, asked.old, asked.new)
        return editor.rename(old, new, join=False, key=asked.key)

    return JSONResponse(await service.edit(renamed))


@router.post("/join", response_model=Done, responses=errors(404, 409))
async def join(asked: Join, service: TheService) -> JSONResponse:
    """Let one class take in another, which must be there."""
    editor, recogniser = service.editor, service.recogniser

    def joined() -> "Edit":
        with editor.lock:
            into = recogniser.label(asked.into)
            was_done = asked.key is not None and editor.journal.entry_of(asked.key) is not None
            if into not in recogniser.counts and not was_done:
                raise InputError(f"there is no class {into}")
            return editor.rename(asked.old, into, key=asked.key)

    return JSONResponse(await service.edit(joined))


@router.post("/undo", response_model=Done, responses=errors(409))
async def undo(service: TheService, asked: Bare = None) -> JSONResponse:
    """Take back the last edit."""
    return JSONResponse(await service.edit(service.editor.history.undo, key=asked and asked.key))


@router.post("/redo", response_model=Done, responses=errors(409))
async def redo(service: TheService, asked: Bare = None) -> JSONResponse:
    """Do again what was undone last."""
    return JSONResponse(await service.edit(service.editor.history.redo, key=asked and asked.key))


@router.post("/empty-bin", response_model=Done, responses=errors())
async def empty_bin(
    service: TheService, _: Annotated[EmptyBin | None, Body()] = None
) -> JSONResponse:
    """Remove what was deleted from the file; what came before cannot be undone any more."""
    return JSONResponse(await service.edit(service.editor.forget_for_good))
