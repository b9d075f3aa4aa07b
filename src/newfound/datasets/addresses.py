"""Images at addresses that fsspec reads: object stores, web servers, archives."""

import errno
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.extras import imported_from
from newfound.common.limits import LARGEST_FILE
from newfound.datasets.folder import SUFFIXES

# Two letters at least: one is a drive. Caches and the like may come before: "simplecache::s3://…".
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+::)*[A-Za-z][A-Za-z0-9+.-]+://")


class RemoteImage(NamedTuple):
    """An image at an address, and the folders it lies in below the one that was asked for."""

    address: str
    parents: tuple[str, ...]


def is_address(text: str) -> bool:
    """Tell whether a text is an address, and no path.

    >>> is_address("s3://bucket/photos"), is_address("photos/mug"), is_address("C:/photos")
    (True, False, False)
    """
    return _ADDRESS.match(text) is not None


def local_path(address: str) -> Path | None:
    """Return the path on this machine that an address stands for, if it does.

    >>> local_path("file:///photos/mug").as_posix(), local_path("s3://bucket/photos")
    ('/photos/mug', None)
    """
    scheme, _, path = address.partition("://")
    if scheme not in ("file", "local") or "::" in address:
        return None
    return Path(re.sub(r"^/(?=[A-Za-z]:)", "", path) if os.name == "nt" else path)


def file_behind(address: str) -> Path | str:
    """Return the file on this machine that is read at an address, if it is one; else the address.

    Caches, folders and archives may stand before where that is.

    >>> file_behind("simplecache::file:///p/1.png").as_posix()
    '/p/1.png'
    >>> file_behind("dir://mug/1.png::file:///p").as_posix()
    '/p/mug/1.png'
    >>> file_behind("zip://mug/1.png::file:///p.zip").as_posix(), file_behind("s3://p/1.png")
    ('/p.zip', 's3://p/1.png')
    """
    *before, last = address.split("::")
    path = local_path(last)
    if path is None:
        return address
    for part in reversed(before):
        scheme, _, inside = part.partition("://")
        if scheme == "dir":
            path = path / inside.lstrip("/")
    return path


def name_at(address: str) -> str:
    """Return what the file or folder at an address is called.

    >>> name_at("s3://bucket/photos/mug/"), name_at("zip://mug/1.png::file:///photos.zip")
    ('mug', '1.png')
    """
    head, _, _ = _parts(address)
    return PurePosixPath(head.partition("://")[2]).name


def images_at(address: str, ignored: Counter[str]) -> Iterator[RemoteImage]:
    """Yield what is named like an image below an address, sorted; count all else.

    Parameters
    ----------
    address : str
    ignored : Counter of reasons
        Is added to.

    Yields
    ------
    RemoteImage

    Raises
    ------
    InputError, ModuleNotFoundError
        If fsspec does not know such addresses, or a package is missing.
    OSError
        If what is there cannot be listed.

    Examples
    --------
    >>> import fsspec
    >>> for name in ("mug/1.jpg", "cup/2.jpg", "cup/notes.txt"):
    ...     fsspec.filesystem("memory").pipe(f"/example/{name}", b"")
    >>> [found.address for found in images_at("memory://example", Counter())]
    ['memory://example/cup/2.jpg', 'memory://example/mug/1.jpg']
    """
    files, root = _listed(address)
    head, folder, chain = _parts(address)
    images = []
    for path, info in files.items():
        inside = path[len(root) :].lstrip("/")
        parts = tuple(inside.split("/"))
        # A server may list what lies elsewhere: it was not asked for.
        if not path.startswith(root) or ".." in parts or any(p.startswith(".") for p in parts):
            ignored["hidden"] += 1
        elif info["type"] != "file" or PurePosixPath(inside).suffix.lower() not in SUFFIXES:
            ignored["not images"] += 1
        elif "::" in inside:  # what is written so cannot be read: "::" parts addresses
            ignored["named with ::"] += 1
        else:
            images.append((parts, f"{folder}{inside}{chain}"))
    is_web = head.startswith("http")
    for parts, at in sorted(images):
        yield RemoteImage(at, tuple(map(unquote, parts[:-1])) if is_web else parts[:-1])


def is_folder_at(address: str) -> bool:
    """Tell whether there is a folder at an address; what is named like an image is not one.

    Examples
    --------
    >>> is_folder_at("memory://no such folder"), is_folder_at("s3://bucket/a.jpg")
    (False, False)
    """
    if PurePosixPath(name_at(address)).suffix.lower() in SUFFIXES:
        return False
    system, path = _filesystem(address)
    with _as_os_error(address):
        return bool(system.isdir(path))


def read_address(address: str) -> bytes:
    """Return the bytes of an image file at an address, or raise UnreadableImageError.

    Raises
    ------
    ModuleNotFoundError
        If a package is missing, which is nothing that the image is to blame for.

    Examples
    --------
    >>> read_address("memory://no such file.jpg")
    Traceback (most recent call last):
    newfound.UnreadableImageError: there is no such file
    """
    try:
        system, path = _filesystem(address)
        with system.open(path, "rb") as file:
            data: bytes = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise UnreadableImageError("there is no such file") from None
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # each file system has errors of its own
        raise UnreadableImageError(_words(error)) from error
    if len(data) > LARGEST_FILE:
        raise UnreadableImageError(
            f"a file of more than the {LARGEST_FILE / 2**20:.0f} MB that are read"
        )
    return data


def _listed(address: str) -> tuple[dict[str, Any], str]:
    """Return all files below an address, and how their names begin."""
    system, root = _filesystem(address)
    with _as_os_error(address):
        files: dict[str, Any] = system.find(root, detail=True)
    return files, f"{root.rstrip('/')}/" if root.strip("/") else ""


def _filesystem(address: str) -> tuple[Any, str]:
    with imported_from("dask"):
        import fsspec.core
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise ModuleNotFoundError(f"{address}: {error}", name=error.name) from error
    except ValueError as error:
        raise InputError(f"{address}: {error}") from error
    return system, path


def _parts(address: str) -> tuple[str, str, str]:
    """Return the part of an address that names what is in it, as a folder too, and the rest."""
    first, mark, rest = address.partition("::")
    if "://" not in first:  # a cache, say, before an address
        head, folder, chain = _parts(rest)
        return head, f"{first}{mark}{folder}", chain
    folder = first if first.endswith("/") else f"{first}/"
    return first, folder, f"{mark}{rest}"


class _as_os_error:
    """Let what goes wrong at an address be an OSError that names it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Exception) and not isinstance(error, ImportError | MemoryError):
            raise OSError(errno.EIO, _words(error), self.address) from error


def _words(error: Exception) -> str:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"could not be read ({reason})"
