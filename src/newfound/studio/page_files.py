"""The files of the page: read once at the start, and nothing else is ever served as a file."""

import hashlib
from importlib.resources import files
from typing import NamedTuple

# What files of the page are, by the ends of their names.
TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "webmanifest": "application/manifest+json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
}


class PageFile(NamedTuple):
    """A file of the page, ready to be sent."""

    data: bytes
    type: str
    etag: str


def page_files() -> dict[str, PageFile]:
    """Return the files of the page by their paths; empty if the page is not installed.

    Examples
    --------
    >>> all(path.startswith("/") for path in page_files())
    True
    """
    folder, pages = files("newfound.studio") / "page", dict[str, PageFile]()
    if not folder.is_dir():
        return pages
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        kind = TYPES.get(file.name.rpartition(".")[2])
        if kind is None or not file.is_file():
            continue
        data = file.read_bytes()
        path = "/" if file.name == "index.html" else f"/static/{file.name}"
        pages[path] = PageFile(data, kind, f'"{hashlib.sha256(data).hexdigest()[:32]}"')
    return pages
