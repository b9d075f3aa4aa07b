"""Edits of what was taught: each is in the journal before it is answered."""

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Body
from fastapi.responses import JSONResponse

from newfound.common.errors import InputError
from newfound.studio.errors import Refusal
from newfound.studio.messages import Done, EmptyBin, Forget, Join, Keyed, Move, Rename
from newfound.studio.routes.common import TheService, errors, sent

if TYPE_CHECKING:
    from newfound.recognition.journalled import Edit

Bare = Annotated[Keyed | None, Body()]


def edits() -> APIRouter:
    """Return the addresses."""
    router = APIRouter(prefix="/api", tags=["edits"])
    for path, function, more in (
        ("/forget", forget, (404,)),
        ("/move", move, (404,)),
        ("/rename", rename, (404, 409)),
        ("/join", join, (404, 409)),
        ("/undo", undo, (409,)),
        ("/redo", redo, (409,)),
        ("/empty-bin", empty_bin, ()),
    ):
        router.add_api_route(
            path, function, methods=["POST"], response_model=Done, responses=errors(*more)
        )
    return router


async def forget(asked: Forget, service: TheService) -> JSONResponse:
    """Delete examples or a class; undo brings them back, unless it is for good."""
    if (asked.examples is None) == (asked.label is None):
        raise Refusal(422, "say either which examples or which class")
    recogniser = service.recogniser
    if asked.examples is not None:
        examples = asked.examples
        done = await service.edit(lambda: recogniser.delete(examples, key=asked.key))
    else:
        label = recogniser.label(asked.label)
        done = await service.edit(lambda: recogniser.delete_class(label, key=asked.key))
    if asked.for_good:
        emptied = await service.edit(recogniser.forget_for_good)
        done.update(position=emptied["position"], state=emptied["state"])
    return sent(done)


async def move(asked: Move, service: TheService) -> JSONResponse:
    """Say that examples show something else."""
    recogniser = service.recogniser
    return sent(
        await service.edit(
            lambda: recogniser.move(asked.examples, recogniser.label(asked.label), key=asked.key)
        )
    )


async def rename(asked: Rename, service: TheService) -> JSONResponse:
    """Give a class another label that no class has."""
    recogniser = service.recogniser
    return sent(
        await service.edit(
            lambda: recogniser.rename_class(
                recogniser.label(asked.old), recogniser.label(asked.new), key=asked.key
            )
        )
    )


async def join(asked: Join, service: TheService) -> JSONResponse:
    """Let one class take in another, which must be there."""
    recogniser = service.recogniser

    def joined() -> "Edit":
        with recogniser.editing:
            old, into = recogniser.label(asked.old), recogniser.label(asked.into)
            was_done = asked.key is not None and recogniser.journal.entry_of(asked.key) is not None
            if into not in recogniser.counts and not was_done:
                raise InputError(f"there is no class {into}")
            return recogniser.rename_class(old, into, join=True, key=asked.key)

    return sent(await service.edit(joined))


async def undo(service: TheService, asked: Bare = None) -> JSONResponse:
    """Take back the last edit."""
    key = asked.key if asked else None
    return sent(await service.edit(lambda: service.recogniser.undo(key=key)))


async def redo(service: TheService, asked: Bare = None) -> JSONResponse:
    """Do again what was undone last."""
    key = asked.key if asked else None
    return sent(await service.edit(lambda: service.recogniser.redo(key=key)))


async def empty_bin(
    service: TheService, _: Annotated[EmptyBin | None, Body()] = None
) -> JSONResponse:
    """Remove what was deleted from the file; what came before cannot be undone any more."""
    return sent(await service.edit(service.recogniser.forget_for_good))
