"""The directory at the end of a zip, measured before anything is made of it."""

import struct
from typing import IO

from newfound.common.errors import InputError
from newfound.studio.limits import MB

# How a directory's entries begin, the record behind it, and what stands before that in zip64.
ENTRY, END, LOCATOR_64 = b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x07"
# The record: its mark, two numbers of disks, entries here and in all, the directory's size and
# where it begins, and how long the comment behind it is.
_RECORD = struct.Struct("<4s4H2LH")
_LONGEST_COMMENT, _LOCATOR_SIZE = 2**16, 20
# Bytes that a directory may have.
LARGEST_DIRECTORY = 16 * MB


def count_entries(file: IO[bytes]) -> int:
    """Return how many entries a zip has, whatever it says of itself.

    Parameters
    ----------
    file : file
        It is read at its end, and in its directory.

    Returns
    -------
    int
        The larger of what it says and what is there.

    Raises
    ------
    InputError
        If it is no zip, or one with a directory that is not read here.
    """
    start, size, entries = _directory(file)
    if size > LARGEST_DIRECTORY:
        raise InputError("this zip has too many files, or names that are too long")
    file.seek(start)
    return max(entries, file.read(size).count(ENTRY))


def _directory(file: IO[bytes]) -> tuple[int, int, int]:
    """Find the directory where the standard library does.

    Return where it begins, how many bytes it has, and how many entries as the record says.
    """
    size = file.seek(0, 2)
    first = max(0, size - _RECORD.size - _LONGEST_COMMENT - _LOCATOR_SIZE)
    file.seek(first)
    tail = file.read()
    at = len(tail) - _RECORD.size
    if at < 0:
        raise _no_zip()
    if not (tail.startswith(END, at) and tail.endswith(b"\0\0")):  # there is a comment
        at = tail.rfind(END, max(0, at - _LONGEST_COMMENT))
        if not 0 <= at <= len(tail) - _RECORD.size:
            raise _no_zip()
    if at >= _LOCATOR_SIZE and tail.startswith(LOCATOR_64, at - _LOCATOR_SIZE):
        raise InputError("this zip is made for very large or very many files (zip64): pack fewer")
    _, _, _, _, entries, length, _, _ = _RECORD.unpack_from(tail, at)
    if length > first + at:
        raise _no_zip()
    return first + at - length, length, entries


def _no_zip() -> InputError:
    return InputError("this is not a zip, or a damaged one")
