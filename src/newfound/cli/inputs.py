"""What stands on the command line, found and checked: images, lists of them, labels."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from newfound.cli.console import Console
from newfound.cli.errors import usage_errors, wrong_usage

if TYPE_CHECKING:
    from newfound.recognition.recogniser import Recogniser
    from newfound.recognition.sources import Example, Problem, Sources


def find(
    inputs: list[str],
    label: str | None,
    labels: Literal["first", "path"],
    console: Console,
    need_labels: bool = True,
) -> "Sources":
    """Find what inputs name, with "-" for a list on stdin, and say what was passed over."""
    from newfound.datasets.vectors_file import most_unpacked
    from newfound.recognition import sources

    most_unpacked()  # if it is set wrongly, that is no wrong usage
    with usage_errors():
        try:
            matches = sources.find(_with_list(inputs), label, labels, need_labels)
        except sources.NoLabelError as error:
            raise wrong_usage(f"{error}: say what it shows with --as") from error
    if matches.passed_over:
        counted = sources.describe(matches.passed_over, {sources.BESIDE: "see --as"})
        console.info(f"Passed over: {counted}")
    return matches


def looked_at(
    recogniser: "Recogniser", sources: "Sources", console: Console
) -> "Iterator[Example]":
    """Return an iterator over all that was found, turned into vectors, with a progress bar."""
    from newfound.recognition.reading import examples

    return console.progress(examples(recogniser, sources), len(sources), "looking")


def files_of(names: list[str], *sources: "Sources") -> Iterator[Any]:
    """Yield all that is read of what was named: files, those in folders, and the list on stdin."""
    yield from names
    if "-" in names and sys.stdin is not None:
        with suppress(OSError):  # it is no file
            yield sys.stdin.fileno()
    for part in sources:
        yield from (_file_behind(image) for image in part.images)
        yield from (name for name, *_ in (*part.vectors, *part.problems))


def _file_behind(image: Any) -> Any:
    """Return the path of an image's file, or what stands for none."""
    from newfound.datasets.addresses import file_behind, is_address

    path = getattr(image, "path", "")
    return file_behind(path) if isinstance(path, str) and is_address(path) else path


def check_label(text: str) -> None:
    """Exit with wrong usage if a text cannot name a new class."""
    from newfound.recognition.labels import check_label as check

    with usage_errors():
        check(text)


def use_extractor(recogniser: "Recogniser", extractor: str | None, *sources: "Sources") -> None:
    """Let a recogniser look with the extractor that was named; at sources, if they have images."""
    if extractor is not None and (not sources or any(source.images for source in sources)):
        recogniser.use(extractor)


def tell_problems(problems: "Sequence[Problem]", console: Console, most: int | None = None) -> None:
    """List what could not be used, and why; of frames, which may be many, `most` of them."""
    if problems:
        console.error(f"{len(problems)} could not be used:")
    for name, reason in problems[:most]:
        console.error(f"  {name}: {reason}")
    if most is not None and len(problems) > most:
        console.error(f"  and {len(problems) - most} more")


def folder_labels(text: str) -> Literal["first", "path"]:
    """Return which part of a path is the label of an image, or exit with wrong usage."""
    for choice in ("first", "path"):
        if text == choice:
            return choice
    raise wrong_usage(f"{text!r} is not one of 'first', 'path'.", "--labels")


def _with_list(inputs: list[str]) -> Iterator[str]:
    """Yield inputs, with "-" replaced by the names on stdin: one a line, or ended by NULs."""
    for name in inputs:
        if name != "-":
            yield name
            continue
        if sys.stdin is None:
            raise wrong_usage("there is no stdin to read a list from")
        data = sys.stdin.buffer.read()
        lines = data.split(b"\0") if b"\0" in data else data.replace(b"\r\n", b"\n").split(b"\n")
        yield from (os.fsdecode(line) for line in lines if line)
