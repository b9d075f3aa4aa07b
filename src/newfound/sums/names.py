"""What a text may be to become a label: the one rule, for every label that is new to a model.

Two labels that look the same are the same, and what is written is seen. So a label has

- no control characters, no line or paragraph separators, and no halves of surrogate pairs;
- no characters without a width, or that only say how others are shown: joiners and non-joiners,
  marks of the direction of writing, soft hyphens, variation selectors. That leaves out emoji made
  of several, and the non-joiner that Persian writes within words;
- nothing that could not be read;
- no white space, of whatever kind, at its beginning or end;
- accents that are composed with their letters (NFC);
- at least one character.

Labels that a model has already, from a file, are not asked: they can be renamed and forgotten.
"""

import unicodedata
from collections.abc import Iterable
from typing import Any

from newfound.common.errors import InputError

# Unicode's categories: controls, formats, surrogates, separators of lines and of paragraphs.
_REFUSED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# What Unicode lets programs not show (Default_Ignorable_Code_Point), of other categories; and the
# Braille pattern without dots.
_IGNORABLE = frozenset(
    {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2800, 0x3164, 0xFFA0}
    | {0x2065, *range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9)}
    | {*range(0xE0000, 0xE1000)}
)
# What stands where something could not be read.
_UNREAD = "\ufffd"
# What is said of those that have no names.
_NAMES = {"Cc": "a control character", "Cs": "half a character"}
# Characters of a label that an error shows.
_SHOWN = 60


def composed(text: str) -> str:
    """Return a text with its accents composed, as labels have them: what is typed may not be.

    Examples
    --------
    >>> len("cafe" + chr(0x301)), len(composed("cafe" + chr(0x301)))
    (5, 4)
    """
    return unicodedata.normalize("NFC", text)


def check_names(labels: Iterable[Any]) -> None:
    r"""Raise InputError if a text among labels cannot become one; numbers and booleans can.

    Examples
    --------
    >>> check_names(["blue mug", "Übertopf", 7, True])
    >>> check_names(["mug" + chr(0x200B)])
    Traceback (most recent call last):
    newfound.InputError: label 'mug\u200b' holds U+200B (ZERO WIDTH SPACE), which nobody sees: ...
    """
    for label in labels:
        if isinstance(label, str):
            _check_name(label)


def _check_name(text: str) -> None:
    if not text:
        raise InputError("a class needs a name")
    # Escaped, because what is wrong with it would not be seen; whole, unless it is long.
    shown = f"label {text[:_SHOWN]!a}{'...' if len(text) > _SHOWN else ''}"
    for letter in text:
        if unicodedata.category(letter) in _REFUSED or ord(letter) in _IGNORABLE:
            name = unicodedata.name(letter, _NAMES.get(unicodedata.category(letter), "no name"))
            raise InputError(
                f"{shown} holds U+{ord(letter):04X} ({name}), which nobody sees: leave it out"
            )
    if _UNREAD in text:
        raise InputError(f"{shown} holds U+FFFD, in place of what could not be read as UTF-8")
    if text != text.strip():
        raise InputError(f"{shown} begins or ends with white space: leave it out")
    if text != composed(text):
        raise InputError(
            f"{shown} has accents apart from their letters: write {composed(text)[:_SHOWN]!a}, "
            "which is unicodedata.normalize('NFC', label)"
        )
