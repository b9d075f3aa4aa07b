"""Where commands write to: checked before any work is done, so that nothing is lost by it.

One rule holds for all. What a command reads is not replaced, nor is a model without --force. A file
of the kind that is to be written is replaced. About any other, whoever is there is asked.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from newfound.cli.console import can_ask, printable
from newfound.cli.errors import wrong_usage
from newfound.common.files import open_regular

# What a figure may be saved as.
FIGURES = (".png", ".pdf", ".svg")
# Bytes of a file by which its kind is known.
_START = 4096


def check_output(path: Path, *endings: str, option: str = "--output") -> None:
    """Exit with wrong usage if a file cannot be written, before any work is done."""
    problem = None
    if path.suffix.lower() not in endings:
        problem = f"{path} does not end in {', '.join(endings[:-1])}{' or ' * (len(endings) > 1)}"
        problem += endings[-1]
    elif not path.parent.is_dir():
        problem = f"there is no folder {path.parent}"
    elif path.is_dir():
        problem = f"{path} is a folder"
    if problem is not None:
        raise wrong_usage(problem, option)


def check_replaced(
    path: Path, reads: Iterable[Any] = (), force: bool = False, option: str = "--output"
) -> None:
    """Exit with wrong usage, or ask, if writing a file would destroy what is there.

    Parameters
    ----------
    path : Path
        Where the file is to be; if nothing is there, all is well.
    reads : iterable of str, path-like or int
        What the command reads, and thus never replaces: paths, whatever links lead there, or
        descriptors. Names that are of no file are passed over.
    force : bool, default=False
        Whether a model, or a file of another kind, is replaced without a question.
    option : str, default="--output"
        What the error is about.
    """
    if not path.exists():
        return
    if any(_is_same(path, each) for each in reads):
        raise wrong_usage(f"{path} is read by this command: name another file", option)
    if force:
        return
    from newfound.storage.format import digest_in

    if digest_in(path) is not None:
        raise wrong_usage(f"{path} is a model: to overwrite it, give --force", option)
    if not _is_of_kind(path):
        _ask(f"{path} exists, and is not a {path.suffix.lower()} file", "overwrite it", option)


def check_folder(path: Path, mark: str, force: bool = False, option: str = "--output") -> None:
    """Exit with wrong usage, or ask, if a folder holds files but none that marks it as ours.

    Parameters
    ----------
    path : Path
        The folder, which need not be there.
    mark : str
        Name of a file that is in each folder of ours.
    force, option
        As for `check_replaced`.
    """
    is_strange = path.is_dir() and any(path.iterdir())
    if is_strange and not force and not (path / mark).exists():
        _ask(f"{path} holds files of something else", "write there", option)


def _ask(there: str, deed: str, option: str) -> None:
    """Exit unless someone says that what is there may be replaced."""
    if not can_ask():
        raise wrong_usage(f"{there}: to {deed}, give --force", option)
    typer.confirm(printable(f"{there}. {deed.capitalize()}?"), abort=True, err=True)


def _is_same(path: Path, read: Any) -> bool:
    with suppress(OSError, ValueError):  # an address, a camera, or gone by now
        return os.path.samefile(path, read)  # noqa: PTH121 - it may be a descriptor
    return False


def _is_of_kind(path: Path) -> bool:
    """Tell whether a file is what its ending says, as far as its beginning tells."""
    with open_regular(path) as file:
        start = file.read(_START)
    is_kind = _KINDS.get(path.suffix.lower())
    return is_kind is not None and (not start or is_kind(start))


def _begins(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda start: start.startswith(marks)


def _is_text(start: bytes) -> bool:
    return b"\0" not in start


_KINDS: dict[str, Callable[[bytes], bool]] = {
    ".png": _begins(b"\x89PNG\r\n\x1a\n"),
    ".pdf": _begins(b"%PDF-"),
    ".svg": lambda start: b"<svg" in start,
    ".jpg": _begins(b"\xff\xd8\xff"),
    ".npz": _begins(b"PK\x03\x04", b"PK\x05\x06"),
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".json", ".md"), _is_text),
}
