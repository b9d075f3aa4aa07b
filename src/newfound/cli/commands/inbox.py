"""`newfound inbox`: what a robot saw and did not know, to be named or dismissed."""

import json
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Console, emit, plural, print_table, summary
from newfound.cli.models import locked, must_exist, save
from newfound.cli.options import Json, Model, Quiet, Wait
from newfound.common.files import write_whole
from newfound.recognition.beside import journal_file
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.inbox import Question
    from newfound.recognition.journal import Journal

Numbers = Annotated[
    list[int] | None,
    typer.Argument(metavar="[QUESTION]...", help="Which of them; all, if none is said."),
]
As = Annotated[
    str | None,
    typer.Option("--as", help="Label for what these questions show.", show_default=False),
]
Dismiss = Annotated[
    bool, typer.Option("--dismiss", help="Delete these questions without an answer, for good.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write their pictures to this folder.", show_default=False),
]
BUSY = (
    "Name it on the page of the studio that runs, or send the words name, the question's number "
    "and the label to the command topic of newfound listen. Or stop them, and try again."
)


def inbox(
    model: Model,
    questions: Numbers = None,
    label: As = None,
    dismiss: Dismiss = False,
    output: Output = None,
    as_json: Json = False,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """List what was not known and asked about, and say what it is.

    \b
    newfound inbox kitchen.newfound
    newfound inbox kitchen.newfound --output asked/
    newfound inbox kitchen.newfound 1 --as mug
    newfound inbox kitchen.newfound 2 --dismiss

    What newfound listen --ask does not know for a second is kept in the model's journal: a few
    frames, when and where they were seen, and the nearest of what is known. With --as these frames
    are taught; the undo command puts the question back. Listing works while newfound listen or the
    studio runs. With --json, every question has a line with question, time (in seconds since
    1970), guess, source and frames.
    """
    if (label is not None or dismiss) and not questions:
        raise typer.BadParameter("say which questions are meant, by their numbers")
    if label is not None and dismiss:
        raise typer.BadParameter("a question is either named or dismissed")
    console, numbers = Console(quiet), list(dict.fromkeys(questions or ()))
    must_exist(model)
    if label is not None or dismiss:
        _answer(model, numbers, label, wait, console)
        return
    found = _listed(model, numbers, output, console)
    if as_json:
        for each in found:
            emit(_json(each))
        return
    print_table(["question", "asked", "nearest", "source", "frames"], map(_line, found), 1)
    if not found:
        console.info("Nothing was asked that is not answered.")


def _listed(
    model: Path, numbers: Sequence[int], output: Path | None, console: Console
) -> "list[Question]":
    """Return open questions, all or those of these numbers; write their pictures, if wanted."""
    from newfound.recognition.inbox import MOST_QUESTIONS
    from newfound.recognition.journal import Journal

    if not journal_file(model).exists():
        _refuse(numbers)
        return []
    with name_in_errors(model), closing(Journal(journal_file(model), read_only=True)) as journal:
        found = [journal.inbox.find(number) for number in numbers]
        found = found or journal.inbox.open(limit=MOST_QUESTIONS)[::-1]
        pictures = {} if output is None else _pictures(journal, found)
    if output is not None:
        with name_in_errors(output):
            output.mkdir(parents=True, exist_ok=True)
            for name, picture in pictures.items():
                write_whole(output / name, picture)
        console.info(f"Wrote {plural(len(pictures), 'picture')} to {output}.")
    return found


def _pictures(journal: "Journal", questions: "Sequence[Question]") -> dict[str, bytes]:
    """Return the pictures of questions that are kept, by what to call their files."""
    found = {
        f"{question.id}-{nth}.jpg": journal.thumbnail(example)
        for question in questions
        for nth, example in enumerate(question.frames, start=1)
    }
    return {name: picture for name, picture in found.items() if picture is not None}


def _answer(
    model: Path, numbers: Sequence[int], label: str | None, wait: float, console: Console
) -> None:
    """Name questions, or without a label dismiss them; all, or none if one is not there."""
    if not journal_file(model).exists():
        _refuse(numbers)
    with locked(model, wait, console, advice=BUSY) as change:
        from newfound.recognition.journalled import JournalledRecogniser

        recogniser = change.open()
        assert isinstance(recogniser, JournalledRecogniser)
        for number in numbers:
            recogniser.journal.inbox.find(number)
        if label is None:
            for number in numbers:
                recogniser.dismiss(number)
        else:
            taught = [each for n in numbers for each in recogniser.name(n, label).examples]
            save(change, recogniser, console)
    if label is None:
        console.info(f"Dismissed {plural(len(numbers), 'question')}.")
    else:
        console.info(
            f"Learned {plural(len(taught), 'image')} of {label}. {model} knows "
            f"{summary(recogniser)}."
        )


def _refuse(numbers: Sequence[int]) -> None:
    """Raise what is said of a question that is not there, of the first of these numbers."""
    from newfound.recognition.inbox import NoSuchQuestionError

    for number in numbers:
        raise NoSuchQuestionError(f"there is no open question {number}")


def _line(question: "Question") -> list[object]:
    when = datetime.fromtimestamp(question.time).strftime("%Y-%m-%d %H:%M:%S")
    guess, frames = question.guess or "", len(question.frames)
    return [question.id, when, guess, question.source, frames]


def _json(question: "Question") -> str:
    number, time, source, guess, frames = question
    values = {"question": number, "time": time, "guess": guess, "source": source}
    return json.dumps({**values, "frames": len(frames)})
