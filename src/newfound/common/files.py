"""Files that are written whole or not at all, and where the user's cache is."""

import errno
import hashlib
import itertools
import os
import re
import secrets
import shlex
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from newfound.common.locks import new_lock

fcntl: Any
try:
    import fcntl
except ModuleNotFoundError:  # Windows, where a file that is open cannot be removed
    fcntl = None

# Of the SHA-256 of a file, as much as it is known by.
DIGEST_BYTES = 16
# Moments, in turn, and of which the file is that this process put in each place.
_moments = itertools.count(1)
_placed: dict[Path, int] = {}
_placing = new_lock()


def digest_of(data: bytes) -> bytes:
    """Return what the contents of a file are known by.

    >>> digest_of(b"").hex()
    'e3b0c44298fc1c149afbf4c8996fb924'
    """
    return hashlib.sha256(data).digest()[:DIGEST_BYTES]


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; raise OSError at once if it is a pipe, a device or the like.

    >>> open_regular(os.devnull)
    Traceback (most recent call last):
    OSError: [Errno 22] a device, not a file: '/dev/null'
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        _must_be_regular(path, os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _must_be_regular(path: str | os.PathLike[str], mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket", stat.S_ISDIR: "a folder"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device")
    number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    raise OSError(number, f"{kind}, not a file", os.fspath(path))


def moment() -> int:
    """Return a number that is larger than any before it, to tell states of a thing apart.

    >>> moment() < moment()
    True
    """
    return next(_moments)


def write_whole(
    path: str | os.PathLike[str], data: bytes | bytearray, of: int | None = None
) -> None:
    """Write a file whole or not at all: to a temporary file, synced, then renamed.

    Whoever reads the path, at whatever moment the writer dies, finds the old file or the new one.
    A symbolic link stays one; what it points to is replaced.

    Parameters
    ----------
    path : str or path-like
    data : bytes
    of : int, optional
        The `moment` whose state this is. If another thread has meanwhile written that of a later
        one, its file stays. By default that of now.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a", b"whole")
    ...     os.listdir(folder)
    ['a']
    """
    path = Path(os.path.realpath(path))
    if path.exists():
        _must_be_regular(path, path.stat().st_mode)
    if of is not None and of < _placed.get(path, 0):
        return
    temporary = temporary_beside(path)
    try:
        with _open_held(temporary) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows renames no file that is open
            _place(temporary, path, moment() if of is None else of)
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


def remove(path: str | os.PathLike[str], of: int) -> None:
    """Remove a file, unless it is of a later moment, and let no thread write one of before there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     before = moment()
    ...     remove(Path(folder) / "a", moment())
    ...     write_whole(Path(folder) / "a", b"what there was", before)
    ...     os.listdir(folder)
    []
    """
    path = Path(os.path.realpath(path))
    with _placing:
        if of >= _placed.get(path, 0):
            path.unlink(missing_ok=True)
            _placed[path] = of


def temporary_beside(path: Path) -> Path:
    """Return a name for a file that is to take the place of another, which nobody else has."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")


def _open_held(path: Path) -> BinaryIO:
    """Open a new file for writing, locked until it is closed: by that others know it is in use."""
    while True:
        file = path.open("xb")
        with suppress(OSError):  # some file systems have no locks
            _lock(file, wait=True)
        if path.exists():
            return file
        file.close()  # somebody took it for left behind, before it was locked


def clear_leftovers(path: str | os.PathLike[str], *, grace: float = 1.0) -> None:
    """Remove temporary files beside a path whose writers were killed.

    Parameters
    ----------
    path : str or path-like
    grace : float, default=1.0
        Seconds for which a file is left alone that nobody holds: it may have been made just now.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     left = Path(folder) / ".a.0123456789abcdef.tmp"
    ...     left.touch()
    ...     clear_leftovers(Path(folder) / "a", grace=0.0)
    ...     left.exists()
    False
    """
    path = Path(os.path.realpath(path))
    left = re.compile(re.escape(f".{path.name}.") + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if left.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_unless_held(Path(entry.path), grace)


def _remove_unless_held(path: Path, grace: float) -> None:
    if path.is_symlink() or time.time() - path.stat().st_ctime < grace:
        return
    with path.open("rb") as file:
        _lock(file, wait=False)
        path.unlink()


def _lock(file: BinaryIO, *, wait: bool) -> None:
    """Lock a file for as long as it is open, or raise OSError if another process has done so."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _place(temporary: Path, path: Path, of: int) -> None:
    """Let a file that is written be the one at `path`, unless one of a later moment is there."""
    with _placing:
        if of < _placed.get(path, 0):
            return
        if path.exists():
            shutil.copymode(path, temporary)
        temporary.replace(path)
        _placed[path] = of


def cache_folder() -> Path:
    """Return the folder of what can be made or fetched again; it need not exist.

    The environment variable NEWFOUND_CACHE names it, or else the system's customs do; for users
    without a home, it is among the temporary files. Before anything is put there,
    `make_private` sees to it that it is nobody else's.
    """
    if chosen := os.environ.get("NEWFOUND_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        custom, default = os.environ.get("LOCALAPPDATA"), "~/AppData/Local"
    elif sys.platform == "darwin":
        custom, default = None, "~/Library/Caches"
    else:
        custom, default = os.environ.get("XDG_CACHE_HOME"), "~/.cache"
    try:
        return Path(custom or Path(default).expanduser()) / "newfound"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"newfound-{_user()}"


def make_private(folder: Path) -> None:
    """Make a folder that only the present user can enter, unless it is there; or raise OSError.

    One that is there must be the user's own, and not everybody may write to it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if os.name == "posix" and (status.st_uid != _user() or status.st_mode & 0o002):
        raise OSError(errno.EPERM, "this folder belongs to others, too", os.fspath(folder))


def read_own(path: Path, most: int, *, private: bool = False) -> bytes:
    """Return the bytes of a file that the present user wrote, or raise OSError.

    Links to devices, pipes, files of others and those of more than `most` bytes are not read;
    where `private`, those that others may read or write are not, either.
    """
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        if os.name == "posix" and status.st_uid != _user():
            raise OSError(errno.EPERM, "a file of someone else", os.fspath(path))
        if private and os.name == "posix" and status.st_mode & 0o077:
            advice = f"others may read or write it; chmod 600 {shlex.quote(os.fspath(path))}"
            raise OSError(errno.EPERM, advice, os.fspath(path))
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most} bytes", os.fspath(path))
        return file.read(most)


def _user() -> int:
    return os.geteuid() if os.name == "posix" else 0
