"""Zips of examples: folders named after their classes, with images in them."""

import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import IO, NamedTuple

from newfound.common.errors import InputError
from newfound.datasets.folder import SUFFIXES
from newfound.recognition.sources import Problem
from newfound.studio.folder_names import FolderNames, label_of
from newfound.studio.limits import MB
from newfound.studio.zip_directory import count_entries

# Entries that a zip may have, and bytes that they may have unpacked: each, and all together.
MOST_ENTRIES, LARGEST_ENTRY, LARGEST_ARCHIVE = 20_000, 16 * MB, 2048 * MB
# Bytes of a zip that are held in memory while it is made.
IN_MEMORY = 16 * MB
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What a damaged or hostile zip makes the standard library raise.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class ArchiveImage(NamedTuple):
    """An image in a zip: where it is, and what its folder says it shows."""

    entry: zipfile.ZipInfo
    name: str
    label: str


def pack(examples: Iterable[tuple[int, str, bytes]]) -> IO[bytes]:
    """Return a zip of images as a temporary file, at its beginning; the caller closes it.

    Parameters
    ----------
    examples : iterable of (id, label, bytes of a JPEG)

    Examples
    --------
    >>> with pack([(7, "mug", b"...")]) as file:
    ...     zipfile.ZipFile(file).namelist()
    ['mug/7.jpg']
    """
    file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - it is returned
    names = FolderNames()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for number, label, image in examples:
            archive.writestr(zipfile.ZipInfo(f"{names.of(label)}/{number}.jpg"), image)
    file.seek(0)
    return file


def unpack(file: IO[bytes]) -> tuple[zipfile.ZipFile, list[ArchiveImage], list[Problem]]:
    """Return a zip, the images in it, and what looks like one and cannot be used.

    Nothing is unpacked yet, and nothing is ever written. Names only say what images show: as
    `newfound teach` has it, the first folder does, and a folder that holds all others is passed
    over. Hidden files, and those that are not named like images, are passed over, too.

    Raises
    ------
    InputError
        If it is no zip, holds too much, or has no images in folders.
    """
    count = count_entries(file)
    if count > MOST_ENTRIES:
        raise InputError(f"a zip of {count} files; at most {MOST_ENTRIES} are taken")
    try:
        archive = zipfile.ZipFile(file)
    except (*DAMAGED, ValueError) as error:
        raise InputError("this is not a zip, or a damaged one") from error
    entries = archive.infolist()
    if sum(entry.file_size for entry in entries) > LARGEST_ARCHIVE:
        raise InputError(f"unpacked, this zip has more than {LARGEST_ARCHIVE // MB} MB")
    images, problems = _images(entries)
    if not images and not problems:
        raise InputError("there are no images in this zip; they belong in folders, one a class")
    return archive, images, problems


def _images(entries: list[zipfile.ZipInfo]) -> tuple[list[ArchiveImage], list[Problem]]:
    images, problems = list[ArchiveImage](), list[Problem]()
    paths = [(entry, _parts(entry.filename)) for entry in entries if not entry.is_dir()]
    files = [(entry, parts) for entry, parts in paths if parts and _is_image(parts)]
    tops = {parts[0] for _, parts in files}
    around = len(tops) == 1 and all(len(parts) > 2 for _, parts in files)
    for entry, parts in files:
        inside = parts[1:] if around else parts
        name = "/".join(parts)
        if len(inside) < 2:
            problems.append(Problem(name, "in no folder, so nothing says what it shows"))
        elif entry.file_size > LARGEST_ENTRY:
            problems.append(Problem(name, f"more than {LARGEST_ENTRY // MB} MB"))
        elif entry.compress_type not in METHODS or entry.flag_bits & 1:
            problems.append(Problem(name, "packed in a way that is not read, or with a password"))
        else:
            label = unicodedata.normalize("NFC", inside[0])
            images.append(ArchiveImage(entry, name, label_of(label)))
    return images, problems


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(name).parts if part not in ("/", "..", "."))


def _is_image(parts: tuple[str, ...]) -> bool:
    is_hidden = parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)
    return not is_hidden and PurePosixPath(parts[-1]).suffix.lower() in SUFFIXES


def read(archive: zipfile.ZipFile, image: ArchiveImage) -> bytes:
    """Return the bytes of an image, or raise InputError if it cannot be unpacked."""
    try:
        with archive.open(image.entry) as file:
            data = file.read(LARGEST_ENTRY + 1)
        if len(data) > LARGEST_ENTRY:
            raise ValueError("larger than the zip says")
    except (*DAMAGED, ValueError) as error:
        raise InputError("damaged in the zip") from error
    return data
