"""Model files as commands use them: opened and locked, or an error message and an exit code."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from newfound.cli.console import Console, sentence
from newfound.cli.errors import wrong_usage
from newfound.recognition import locking
from newfound.recognition.beside import exists, journal_file
from newfound.recognition.undo import undo_state

if TYPE_CHECKING:
    from newfound.recognition.editor import Editor
    from newfound.recognition.recogniser import Recogniser

TRY_AGAIN = "Try again later, or wait for it with --wait SECONDS."


def open_recogniser(path: Path) -> "Recogniser":
    """Return the recogniser of a model, or exit with an error message if there is none."""
    from newfound.recognition.opening import open_to_look

    must_exist(path)
    with locking.name_in_errors(path):
        recogniser = open_to_look(path)
    if not recogniser.is_taught:  # there is a journal, which says so
        _end(path)
    return recogniser


class EditedModel(NamedTuple):
    """A model that a service edits as long as it runs, and what its user wants of it."""

    path: Path
    extractor: str | None
    keep_vectors: int | None
    keep_thumbnails: int | None
    wait: float


@contextmanager
def open_to_edit(model: EditedModel) -> Iterator["Editor"]:
    """Yield the editor of a model; the caller holds its lock."""
    from newfound.recognition.editor import Editor
    from newfound.recognition.extractors import DEFAULT

    with locking.name_in_errors(model.path):
        editor = Editor(
            model.path,
            DEFAULT if model.extractor is None else model.extractor,
            keep_vectors=model.keep_vectors,
            keep_thumbnails=model.keep_thumbnails,
        )
    with closing(editor):
        yield editor


def must_exist(path: Path) -> None:
    """Exit with an error message if there is no model."""
    if not exists(path):
        _end(path)


def _end(path: Path) -> NoReturn:
    if journal_file(path).exists():
        more = f", newfound undo {path} brings back what was forgotten last"
    else:
        earlier = undo_state(Path(os.path.realpath(path)))
        more = f", newfound undo {path} brings back the last" if earlier else ""
    Console().fail(f"There is no model {path}: newfound teach makes one{more}.")


@contextmanager
def locked(
    path: Path, wait: float, console: Console, check: bool = True, advice: str = TRY_AGAIN
) -> Iterator[locking.Change]:
    """Lock a model's file, or exit with an error message if another process has locked it."""
    folder, name = Path(os.path.realpath(path)).parent, Path(os.path.realpath(path)).name
    if not folder.is_dir():
        raise wrong_usage(f"there is no folder {folder}")

    def tell() -> None:
        console.info(f"Another process is changing {name}; waiting up to {wait:g} s.")

    try:
        with locking.locked(path, wait, tell, check) as change:
            yield change
    except locking.ModelBusyError:
        console.fail(f"Another process is changing {name}, so nothing was done. {advice}")


def save(
    change: locking.Change, recogniser: "Recogniser", console: Console, for_good: bool = False
) -> None:
    """Save a model, and say so if nothing is left of it."""
    change.save(recogniser, undoable=not for_good)
    if for_good:
        action = change.forget_past()
        console.info(f"{sentence(action)} Nothing before this can be undone.")
    if not recogniser.is_taught:
        back = "" if for_good else f" newfound undo {change.named} brings it back."
        console.info(f"That was all it knew: the model is gone.{back}")
