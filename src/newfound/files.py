"""Files that are written whole or not at all, and where the user's cache is."""

import hashlib
import os
import secrets
import shutil
import sys
from pathlib import Path

# Of the SHA-256 of a file, as much as it is known by.
DIGEST_BYTES = 16


def digest_of(data: bytes) -> bytes:
    """Return what the contents of a file are known by.

    >>> digest_of(b"").hex()
    'e3b0c44298fc1c149afbf4c8996fb924'
    """
    return hashlib.sha256(data).digest()[:DIGEST_BYTES]


def write_whole(path: str | os.PathLike[str], data: bytes | bytearray) -> None:
    """Write a file whole or not at all: to a temporary file, synced, then renamed.

    Whoever reads the path, at whatever moment the writer dies, finds the old file or the new one.
    A symbolic link stays one; what it points to is replaced.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a", b"whole")
    ...     os.listdir(folder)
    ['a']
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def cache_folder() -> Path:
    """Return the folder of what can be made or fetched again; it need not exist.

    The environment variable NEWFOUND_CACHE names it, or else the system's customs do.
    """
    if chosen := os.environ.get("NEWFOUND_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "newfound"
