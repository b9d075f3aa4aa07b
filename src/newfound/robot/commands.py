"""What a robot is told to do: commands as words or as JSON."""

import json
from typing import Any, NamedTuple

from newfound.common.errors import InputError

# Letters that a command may have: two labels, and what stands around them.
LONGEST = 20_000
USAGE = (
    "teach LABEL, stop, forget LABEL, rename OLD -> NEW, undo, redo, save, name NUMBER LABEL, "
    "dismiss NUMBER, state"
)
ARROW = " -> "
# Seconds that no lesson goes beyond, unless it goes on until it is stopped.
DAY = 86_400


# What each verb takes, in the order in which that is checked, and what stands for what is not said.
_FIELDS: dict[str, tuple[str, ...]] = {
    "teach": ("seconds", "label"),
    "forget": ("label",),
    "rename": ("join", "old", "new"),
    "name": ("number", "label"),
    "dismiss": ("number",),
    **dict.fromkeys(("stop", "undo", "redo", "save", "state"), ()),
}
_UNSAID = {"seconds": None, "join": False}


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
        If it is not a command; the message says which there are.

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
    verb, fields = _from_json(words) if words.startswith("{") else _from_words(words)
    if not isinstance(verb, str) or verb not in _FIELDS:
        raise CommandError(f"no command {str(verb)[:60]!r}; there are: {USAGE}")
    values = {
        name: _checked(verb, name, fields.pop(name, _UNSAID.get(name))) for name in _FIELDS[verb]
    }
    if "label" in fields and not values:
        raise CommandError(f"{verb} stands alone; there are: {USAGE}")
    if "label" in fields and verb == "dismiss":
        raise CommandError(f"{verb} takes a number and no more")
    if fields:
        raise CommandError(f"{verb} takes no {', '.join(map(repr, fields))}")
    label = values.pop("old", "") or values.pop("label", "")
    return Command(verb, label, **values)


def _from_json(text: str) -> tuple[Any, dict[str, Any]]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise CommandError("this begins as JSON does, but is none") from None
    fields.pop("id", None)
    return fields.pop("do", None), fields


def _from_words(text: str) -> tuple[str, dict[str, Any]]:
    """Return the verb, and what the words after it mean, as JSON would say it."""
    verb, _, rest = text.partition(" ")
    rest = rest.strip()
    if verb == "rename":
        old, arrow, new = rest.partition(ARROW)
        if not arrow or ARROW in new:
            raise CommandError(f"write rename OLD{ARROW}NEW, or as JSON with old and new")
        return verb, {"old": old.strip(), "new": new.strip()}
    fields: dict[str, Any] = {}
    if verb in ("name", "dismiss"):
        number, _, rest = rest.partition(" ")
        is_number = number.isdecimal() and len(number) < 20
        fields["number"] = int(number) if is_number else number
    return verb, fields | ({"label": rest.strip()} if rest else {})


def _checked(verb: str, name: str, value: Any) -> Any:
    """Return what a field says, or raise CommandError."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if name == "seconds":
        if value is not None and not (is_number and 0 <= value <= DAY):
            raise CommandError(f"seconds must be a number from 0, until it is stopped, to {DAY:,}")
        return None if value is None else float(value)
    if name == "join" and not isinstance(value, bool):
        raise CommandError("join must be true or false")
    if name == "number" and (type(value) is not int or not 0 < value < 2**63):
        raise CommandError(f"{verb} needs the number of a question")
    if name in ("label", "old", "new") and not (isinstance(value, str) and value):
        raise CommandError(f"{verb} needs a text for {name!r}")
    return value
