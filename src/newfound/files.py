"""Files that are written whole or not at all, and where the user's cache is."""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO

# Of the SHA-256 of a file, as much as it is known by.
DIGEST_BYTES = 16


def digest_of(data: bytes) -> bytes:
    """Return what the contents of a file are known by.

    >>> digest_of(b"").hex()
    'e3b0c44298fc1c149afbf4c8996fb924'
    """
    return hashlib.sha256(data).digest()[:DIGEST_BYTES]


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; raise OSError if it is none, without waiting for a pipe's other end.

    >>> open_regular(os.devnull)
    Traceback (most recent call last):
    OSError: [Errno 22] a device, not a file: '/dev/null'
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    kinds = {stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket", stat.S_ISDIR: "a folder"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, f"{kind}, not a file", os.fspath(path))


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
    except OSError as error:
        if error.errno is None:
            raise
        # "No space left on device" names no file, other errors one that nobody asked for.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
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

    The environment variable NEWFOUND_CACHE names it, or else the system's customs do; for users
    without a home, it is among the temporary files.
    """
    if chosen := os.environ.get("NEWFOUND_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        custom, usual = os.environ.get("LOCALAPPDATA"), "~/AppData/Local"
    elif sys.platform == "darwin":
        custom, usual = None, "~/Library/Caches"
    else:
        custom, usual = os.environ.get("XDG_CACHE_HOME"), "~/.cache"
    try:
        return Path(custom or Path(usual).expanduser()) / "newfound"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / "newfound"
