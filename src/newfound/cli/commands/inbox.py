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
from newfound.cli.option_kinds import flag, output_to
from newfound.cli.options import Force, Json, Model, Quiet, Wait
from newfound.cli.outputs import check_replaced
from newfound.common.files import write_whole
from newfound.recognition.beside import journal_file
from newfound.recognition.locking import name_in_errors

if TYPE_CHECKING:
    from newfound.recognition.inbox import Question
    from newfound.recognition.journal import Journal

Numbers = Annotated[
    list[int] | None,
    typer.Argument(metavar="QUESTION", help="Numbers of questions; all, if none is given."),
]
As = Annotated[str | None, typer.Option("--as", help="Teach their frames under this label.")]
Dismiss = Annotated[bool, flag("--dismiss", "Delete these questions for good, without an answer.")]
Output = Annotated[Path | None, output_to("Write their pictures to this folder.")]
BUSY = (
    "Name it on the page of the studio that runs, or send the words name, the question's number "
    "and the label to the command topic of newfound listen, if it does commands. Or stop them, and "
    "try again."
)


def inbox(
    model: Model,
    questions: Numbers = None,
    label: As = None,
    dismiss: Dismiss = False,
    output: Output = None,
    force: Force = False,
    as_json: Json = False,
    wait: Wait = 0.0,
    quiet: Quiet = False,
) -> None:
    """List and label what the model asked about.

    \b
    newfound inbox kitchen.newfound
    newfound inbox kitchen.newfound --output asked/
    newfound inbox kitchen.newfound 1 --as mug
    newfound inbox kitchen.newfound 2 --dismiss

    If something stays unknown for a second, listen --ask writes a question to the journal of the
    model: a few frames, when and where they were seen, and the nearest known class. With --as,
    these frames are taught; the undo command puts the question back. Listing works while the
    studio or listen runs. With --json, each question has a line with question, time (in seconds
    since 1970), guess, source and frames.
    """
    if (label is not None or dismiss) and not questions:
        raise typer.BadParameter("say which questions are meant, by their numbers")
    if label is not None and dismiss:
        raise typer.BadParameter("a question is either named or dismissed")
    console, numbers = Console(quiet), list(dict.fromkeys(questions or ()))
    must_exist(model)
    if numbers and not journal_file(model).exists():
        from newfound.recognition.inbox import NoSuchQuestionError

        raise NoSuchQuestionError(f"there is no open question {numbers[0]}")
    if label is not None or dismiss:
        _answer(model, numbers, label, wait, console)
        return
    open_questions = _listed(model, numbers, output, force, console)
    if as_json:
        for question in open_questions:
            emit(_json(question))
        return
    print_table(["question", "asked", "nearest", "source", "frames"], map(_line, open_questions), 1)
    if not open_questions:
        console.info("Nothing was asked that is not answered.")


def _listed(
    model: Path, numbers: Sequence[int], output: Path | None, force: bool, console: Console
) -> "list[Question]":
    """Return open questions, all or those of these numbers; write their pictures, if wanted."""
    from newfound.recognition.inbox import MOST_QUESTIONS
    from newfound.recognition.journal import Journal

    if not journal_file(model).exists():
        return []
    with name_in_errors(model), closing(Journal(journal_file(model), read_only=True)) as journal:
        questions = [journal.inbox.find(number) for number in numbers]
        questions = questions or journal.inbox.open(limit=MOST_QUESTIONS)[::-1]
        pictures = {} if output is None else _pictures(journal, questions)
    if output is not None:
        for name in pictures:
            check_replaced(output / name, (model, journal_file(model)), force)
        with name_in_errors(output):
            output.mkdir(parents=True, exist_ok=True)
            for name, picture in pictures.items():
                write_whole(output / name, picture)
        console.info(f"Wrote {plural(len(pictures), 'picture')} to {output}.")
    return questions


def _pictures(journal: "Journal", questions: "Sequence[Question]") -> dict[str, bytes]:
    """Return the pictures of questions that are kept, by what to call their files."""
    return {
        f"{question.id}-{nth}.jpg": picture
        for question in questions
        for nth, example in enumerate(question.frames, start=1)
        if (picture := journal.examples.thumbnail(example)) is not None
    }


def _answer(
    model: Path, numbers: Sequence[int], label: str | None, wait: float, console: Console
) -> None:
    """Name questions, or without a label dismiss them; all, or none if one is not there."""
    with locked(model, wait, console, advice=BUSY) as change:
        editor = change.editor()
        for number in numbers:
            editor.journal.inbox.find(number)
        if label is None:
            for number in numbers:
                editor.dismiss(number)
            outcome = f"Dismissed {plural(len(numbers), 'question')}."
        else:
            taught = [example for n in numbers for example in editor.name(n, label).examples]
            save(change, editor.recogniser, console)
            learned = f"Learned {plural(len(taught), 'image')} of {label}."
            outcome = f"{learned} {model} knows {summary(editor.recogniser)}."
    console.info(outcome)


def _line(question: "Question") -> list[object]:
    when = datetime.fromtimestamp(question.time).strftime("%Y-%m-%d %H:%M:%S")
    guess, frames = question.guess or "", len(question.frames)
    return [question.id, when, guess, question.source, frames]


def _json(question: "Question") -> str:
    number, time, source, guess, frames = question
    values = {"question": number, "time": time, "guess": guess, "source": source}
    return json.dumps({**values, "frames": len(frames)})
