"""Models and examples as files: taken along, and brought in."""

import asyncio
import re
import secrets
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from time import monotonic
from typing import IO, TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.background import BackgroundTask

from newfound.common.errors import InputError
from newfound.common.files import open_regular
from newfound.recognition.sources import Problem
from newfound.studio import views
from newfound.studio.archives import Found, pack, read, unpack
from newfound.studio.bodies import spool
from newfound.studio.errors import Refusal
from newfound.studio.incoming import usable
from newfound.studio.messages import Done, Imported, Key, checked_label
from newfound.studio.routes.common import (
    TheService,
    binary,
    check_type,
    errors,
    file_errors,
    file_of,
    sent,
)
from newfound.studio.service import Lesson, Service
from newfound.studio.workers import Lane

if TYPE_CHECKING:
    from newfound.recognition.journalled import Edit

router = APIRouter(prefix="/api", tags=["files"])
# Bytes that are sent at a time, and examples that are asked for.
PART, SOME = 2**18, 200
# Letters of a file's name that an example's source holds.
LONGEST_SOURCE = 200


@asynccontextmanager
async def one_at_a_time(service: Service) -> AsyncIterator[None]:
    """Refuse to make a file for someone while another is made or read."""
    if service.exchange.locked():
        raise Refusal(503, "another import or export is under way; try again in a while", 5)
    async with service.exchange:
        yield


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
    responses={**file_errors(409), **file_of("application/octet-stream", "The model's file.")},
)
async def export_model(service: TheService) -> Response:
    """Return the model as a file, as it is now."""
    recogniser = service.recogniser

    def opened() -> IO[bytes]:
        recogniser.snapshot()
        if recogniser.path is None or not recogniser.is_taught:
            raise Refusal(409, "nothing was taught yet")
        return open_regular(recogniser.path)

    async with one_at_a_time(service):
        file = await service.ask(opened)
    return _download(file, views.model_name(recogniser), "application/octet-stream")


@router.get(
    "/export/examples",
    response_class=Response,
    responses={**file_errors(), **file_of("application/zip", "A folder for each class.")},
)
async def export_examples(service: TheService) -> Response:
    """Return the pictures that are kept as a zip, which `newfound teach` reads unpacked."""
    recogniser = service.recogniser

    def pictures() -> Iterator[tuple[int, str, bytes]]:
        before = None
        while kept := recogniser.kept(None, before, SOME):
            for each in kept:
                picture = recogniser.thumbnail(each.id) if each.has_thumbnail else None
                if picture is not None:
                    yield each.id, str(each.label), picture
            before = kept[-1].id

    async with one_at_a_time(service):
        file = await service.ask(lambda: pack(pictures()))
    name = f"{Path(views.model_name(recogniser)).stem}.zip"
    return _download(file, name, "application/zip")


@router.post(
    "/import/model",
    response_model=Done,
    responses=errors(415),
    openapi_extra=binary("application/octet-stream"),
)
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
                return service.recogniser.replace(usable(path, service.recogniser), key=key)
            except InputError as error:  # which names a file that nobody knows
                raise InputError(str(error).replace(str(path), "this file")) from error

    async with upload(request, service) as body:
        return sent(await service.edit(lambda: replace(body)))


@router.post(
    "/import/examples",
    response_model=Imported,
    responses=errors(415),
    openapi_extra=binary("application/zip"),
)
async def import_examples(request: Request, service: TheService) -> JSONResponse:
    """Teach the images of a zip: folders say what they show. It is undone as one."""
    check_type(request, "a zip", "application/zip", "application/x-zip")
    async with upload(request, service) as body:
        archive, found, problems = await service.ask(lambda: unpack(body))
        with archive:
            counts = await _teach(service, read(archive, found), problems)
    listed = [each._asdict() for each in problems]
    state = await service.ask(service.state_now)
    return sent({**counts, "problems": listed, "state": state})


async def _teach(
    service: Service, images: Iterator[tuple[Found, bytes | None]], problems: list[Problem]
) -> dict[str, int]:
    """Teach images in turn with everybody else's, and return how many; add to `problems`."""
    lane, action = Lane(), f"import-{secrets.token_hex(8)}"
    taught = known = 0
    while (each := await asyncio.to_thread(next, images, None)) is not None:
        found, image = each
        if image is None:
            problems.append(Problem(found.name, "damaged in the zip"))
            continue
        try:
            label = checked_label(found.label)
            lesson = Lesson(image, label, f"zip: {found.name[-LONGEST_SOURCE:]}", None, action)
            job = partial(service.lesson_now, lesson, monotonic())
            done, _ = await service.in_lane(lane, job)
        except ValueError as error:  # also UnreadableImageError, and labels that cannot be
            problems.append(Problem(found.name, str(error)))
            continue
        taught, known = taught + bool(done["examples"]), known + (not done["examples"])
    return {"taught": taught, "known": known}


def _download(file: IO[bytes], name: str, kind: str) -> Response:
    """Return a file for the browser to save; it is closed when it is sent."""

    def parts() -> Iterator[bytes]:
        while part := file.read(PART):
            yield part

    size = file.seek(0, 2)
    file.seek(0)
    headers = {
        "content-length": str(size),
        "content-disposition": f'attachment; filename="{_plain(name)}"; '
        f"filename*=UTF-8''{quote(name, safe='')}",
    }
    return StreamingResponse(
        parts(), media_type=kind, headers=headers, background=BackgroundTask(file.close)
    )


def _plain(name: str) -> str:
    """Return a file's name for clients that read ASCII only."""
    return re.sub(r"[^A-Za-z0-9._ -]", "_", name)
