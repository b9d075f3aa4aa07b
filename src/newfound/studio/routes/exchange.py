"""Models and examples as files: taken along, and brought in."""

import re
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from newfound.common.errors import InputError
from newfound.common.files import open_regular
from newfound.studio.archives import pack, unpack
from newfound.studio.bodies import spool
from newfound.studio.errors import Refusal
from newfound.studio.imports import ExampleImport
from newfound.studio.incoming import usable
from newfound.studio.messages import Done, Imported, Key
from newfound.studio.routes.common import (
    TheService,
    binary,
    check_type,
    errors,
    file_errors,
    file_of,
)
from newfound.studio.service import Service

if TYPE_CHECKING:
    from newfound.recognition.history import Edit

router = APIRouter(prefix="/api", tags=["files"])
MODEL, ZIP = binary("application/octet-stream"), binary("application/zip")
# Bytes that are sent at a time, and examples that are asked for.
PART, SOME = 2**18, 200


async def made_alone(service: Service, make: Callable[[], IO[bytes]]) -> IO[bytes]:
    """Return a file that is made for someone; refuse it while another is made or read."""
    if service.exchange.locked():
        raise Refusal(503, "another import or export is under way; try again in a while", 5)
    async with service.exchange:
        return await service.ask(make)


@asynccontextmanager
async def upload(request: Request, service: Service) -> AsyncIterator[IO[bytes]]:
    """Yield a body once it is here, and nobody else's file is made or read: slow ones stop none."""
    if service.uploads >= service.limits.uploads:
        raise Refusal(503, "too many files are being sent here; try again in a while", 5)
    service.uploads += 1
    try:
        with await spool(request.stream()) as body:
            async with service.exchange:
                yield body
    finally:
        service.uploads -= 1


@router.get(
    "/export/model",
    response_class=Response,
    responses=file_of("application/octet-stream", "The model's file.", 409),
)
async def export_model(service: TheService) -> Response:
    """Return the model as a file, as it is now."""
    editor = service.editor

    def opened() -> IO[bytes]:
        editor.snapshot()
        if not editor.recogniser.is_taught:
            raise Refusal(409, "nothing was taught yet")
        return open_regular(editor.path)

    file = await made_alone(service, opened)
    return _download(file, editor.path.name, "application/octet-stream")


@router.get(
    "/export/examples",
    response_class=Response,
    responses=file_of("application/zip", "A folder for each class."),
)
async def export_examples(service: TheService) -> Response:
    """Return the pictures that are kept as a zip, which `newfound teach` reads unpacked."""
    table = service.editor.journal.examples

    def pictures() -> Iterator[tuple[int, str, bytes]]:
        before = None
        while kept := table.kept(None, before, SOME):
            for example in kept:
                picture = table.thumbnail(example.id) if example.has_thumbnail else None
                if picture is not None:
                    yield example.id, str(example.label), picture
            before = kept[-1].id

    file = await made_alone(service, lambda: pack(pictures()))
    name = f"{service.editor.path.stem}.zip"
    return _download(file, name, "application/zip")


@router.post("/import/model", response_model=Done, responses=errors(415), openapi_extra=MODEL)
async def import_model(
    request: Request, service: TheService, key: Annotated[Key | None, Query()] = None
) -> JSONResponse:
    """Put the model of a file in place of this one; undo brings this one back."""
    check_type(request, "a model file")

    def replace(body: IO[bytes]) -> "Edit":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.newfound"
            with path.open("wb") as copy:
                copyfileobj(body, copy)
            try:
                return service.editor.replace(usable(path, service.recogniser), key=key)
            except InputError as error:  # which names a file that nobody knows
                raise InputError(str(error).replace(str(path), "this file")) from error

    async with upload(request, service) as body:
        return JSONResponse(await service.edit(lambda: replace(body)))


@router.post("/import/examples", response_model=Imported, responses=errors(415), openapi_extra=ZIP)
async def import_examples(request: Request, service: TheService) -> JSONResponse:
    """Teach the images of a zip: folders say what they show. It is undone as one.

    The state says how far it is, and `/api/import/stop` stops it.
    """
    check_type(request, "a zip", "application/zip", "application/x-zip")
    async with upload(request, service) as body:
        archive, images, problems = await service.ask(lambda: unpack(body))
        with archive:
            result = await ExampleImport(service, archive, images, problems).run()
    return JSONResponse({**result, "state": await service.ask(service.state_now)})


@router.post("/import/stop", status_code=204, response_class=Response, responses=file_errors())
async def stop_import(service: TheService) -> Response:
    """Stop the import of a zip, if one is under way; what it has taught stays."""
    if service.importing is not None:
        service.importing.stop()
    return Response(status_code=204)


def _download(file: IO[bytes], name: str, kind: str) -> Response:
    """Return a file for the browser to save; it is closed when it is sent."""
    size = file.seek(0, 2)
    file.seek(0)
    ascii_name = re.sub(r"[^A-Za-z0-9._ -]", "_", name)  # for clients that read no other
    headers = {
        "content-length": str(size),
        "content-disposition": f'attachment; filename="{ascii_name}"; '
        f"filename*=UTF-8''{quote(name, safe='')}",
    }
    parts = iter(partial(file.read, PART), b"")
    return StreamingResponse(
        parts, media_type=kind, headers=headers, background=BackgroundTask(file.close)
    )
