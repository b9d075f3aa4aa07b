"""Things that a model was asked about, for the tests of the page and the service."""

from pathlib import Path

from newfound.common.files import digest_of
from newfound.recognition.editor import Editor
from newfound.recognition.sources import NewExample
from tests.studio.pictures import picture


def ask(editor: Editor, thing: int, guess: str | None = None) -> int:
    """Ask what a thing is, with three pictures of it."""
    pictures = [picture(thing, number) for number in range(3)]
    extractor = editor.recogniser.extractor
    frames = [
        NewExample(extractor.one(each), digest_of(each), extractor.identity, "", each)
        for each in pictures
    ]
    return editor.ask(frames, "/camera", guess)


def with_questions(model: Path, *guesses: str | None) -> None:
    """Make a model that was asked about things, and taught nothing."""
    editor = Editor(model, "pixels:size=8")
    for thing, guess in enumerate(guesses):
        ask(editor, thing, guess)
    editor.close()
