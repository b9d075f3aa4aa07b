"""What a robot is told to do: commands as words or as JSON."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from newfound.common.errors import InputError

# A command is no longer than so many letters: two labels, and what stands around them.
LONGEST = 20_000
USAGE = (
    "teach LABEL, stop, forget LABEL, rename OLD -> NEW, undo, redo, save, name NUMBER LABEL, "
    "dismiss NUMBER, state"
)
ARROW = " -> "
# Seconds that no lesson goes beyond, unless it goes on until it is stopped.
DAY = 86_400


class CommandError(InputError):
    """What was said is no command."""


class Command(NamedTuple):
    """What is to be done, and to what."""

    do: str
    label: str = ""  # to teach, to forget, to be renamed, or to give a question's answer
    new: str = ""  # what it is called from now on
    number: int = 0  # of a question
    seconds: float | None = None  # how long to teach: 0 until it is stopped, None as agreed
    join: bool = False  # whether a class that has the new name takes this one in


def parse(text: str) -> Command:
    """Return the command that a text holds: words, or an object of JSON.

    In JSON, ``do`` is the verb, and the rest is called as in `Command`; ``rename`` takes ``old``
    and ``new``. An ``id`` of one's own may stand beside them.

    Parameters
    ----------
    text : str

    Returns
    -------
    Command

    Raises
    ------
    CommandError
        If it is none; the message says which there are.

    Examples
    --------
    >>> parse("teach blue mug").label
    'blue mug'
    >>> parse('{"do": "teach", "label": "mug", "seconds": 0}').seconds
    0.0
    >>> parse("rename cup -> mug")[:3]
    ('rename', 'cup', 'mug')
    >>> parse("dance")
    Traceback (most recent call last):
    newfound.robot.commands.CommandError: no command 'dance'; there are: teach LABEL, stop, ...
    """
    if len(text) > LONGEST:
        raise CommandError(f"a command of {len(text):,} letters; it may have {LONGEST:,}")
    words = text.strip()
    if not words.startswith("{"):
        verb, _, rest = words.partition(" ")
        return _reader(verb)(verb, _fields(verb, rest.strip()))
    try:
        fields = json.loads(words)
    except (ValueError, RecursionError):
        raise CommandError("this begins as JSON does, but is none") from None
    verb = fields.pop("do", None)
    fields.pop("id", None)
    command = _reader(verb)(verb, fields)
    if fields:
        raise CommandError(f"{verb} takes no {', '.join(map(repr, fields))}")
    return command


def _reader(verb: Any) -> "Callable[[str, dict[str, Any]], Command]":
    reader = _READERS.get(verb) if isinstance(verb, str) else None
    if reader is None:
        raise CommandError(f"no command {str(verb)[:60]!r}; there are: {USAGE}")
    return reader


def _fields(verb: str, rest: str) -> dict[str, Any]:
    """Return what words after a verb mean, as JSON would say it."""
    if verb == "rename":
        old, arrow, new = rest.partition(ARROW)
        if not arrow or ARROW in new:
            raise CommandError(f"write rename OLD{ARROW}NEW, or as JSON with old and new")
        return {"old": old.strip(), "new": new.strip()}
    if verb in ("name", "dismiss"):
        number, _, label = rest.partition(" ")
        is_number = number.isdecimal() and len(number) < 20
        fields: dict[str, Any] = {"number": int(number) if is_number else number}
        return {**fields, "label": label.strip()} if label else fields
    return {"label": rest} if rest else {}


def _alone(verb: str, fields: dict[str, Any]) -> Command:
    if "label" in fields:
        raise CommandError(f"{verb} stands alone; there are: {USAGE}")
    return Command(verb)


def _of_label(verb: str, fields: dict[str, Any]) -> Command:
    return Command(verb, _text(verb, fields, "label"))


def _teach(verb: str, fields: dict[str, Any]) -> Command:
    seconds = fields.pop("seconds", None)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 <= seconds <= DAY):
        raise CommandError(f"seconds must be a number from 0, until it is stopped, to {DAY:,}")
    label = _text(verb, fields, "label")
    return Command(verb, label, seconds=None if seconds is None else float(seconds))


def _rename(verb: str, fields: dict[str, Any]) -> Command:
    join = fields.pop("join", False)
    if not isinstance(join, bool):
        raise CommandError("join must be true or false")
    return Command(verb, _text(verb, fields, "old"), _text(verb, fields, "new"), join=join)


def _of_question(verb: str, fields: dict[str, Any]) -> Command:
    number = fields.pop("number", None)
    if type(number) is not int or not 0 < number < 2**63:
        raise CommandError(f"{verb} needs the number of a question")
    label = _text(verb, fields, "label") if verb == "name" else ""
    if "label" in fields:
        raise CommandError(f"{verb} takes a number and no more")
    return Command(verb, label, number=number)


def _text(verb: str, fields: dict[str, Any], name: str) -> str:
    text = fields.pop(name, "")
    if not isinstance(text, str) or not text:
        raise CommandError(f"{verb} needs a text for {name!r}")
    return text


_READERS: Mapping[str, Callable[[str, dict[str, Any]], Command]] = {
    "teach": _teach,
    "forget": _of_label,
    "rename": _rename,
    "name": _of_question,
    "dismiss": _of_question,
    **dict.fromkeys(("stop", "undo", "redo", "save", "state"), _alone),
}
