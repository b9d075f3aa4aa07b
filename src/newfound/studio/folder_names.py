"""Labels as names of folders, on whatever file system, and back.

A label is its folder's name where that can be. What cannot stand in a name is written as its UTF-8
bytes, each as % and two hexadecimal digits, as in addresses: `cup/blue` becomes `cup%2Fblue`. So is

- a dot at the beginning, and a dot or a space at the end;
- the first letter of a name that Windows keeps for itself, such as `NUL`;
- % where two hexadecimal digits follow, so that nothing is taken for an escape that is none;
- every letter outside of ASCII if its accents are not composed (NFC), which some file systems undo;
- every letter of a label that differs from an earlier one in capitals only.

A label too long for a name is cut, and ends in ~ and its digest: that alone cannot be read back.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

# Bytes that a name may have: file systems take 255.
LONGEST_NAME = 200
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]|%(?=[0-9A-Fa-f]{2})')
_EDGES = re.compile(r"^\.|[. ]$")
_RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9]|lpt[0-9]|__macosx)(\.|$)", re.IGNORECASE)
_ESCAPES = re.compile(r"(?:%[0-9A-F]{2})+")


class FolderNames:
    """Gives labels names of folders as they come; each keeps the one it was given.

    Examples
    --------
    >>> names = FolderNames()
    >>> names.of("mug"), names.of("Mug"), names.of("mug")
    ('mug', '%4D%75%67', 'mug')
    """

    # given: the name of each label. _used: names that no other may have.

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self._used: set[str] = set()

    def of(self, label: str) -> str:
        """Return the name of a label's folder."""
        if label not in self.given:
            self.given[label] = name = self._new(label)
            self._used.add(_folded(name))
        return self.given[label]

    def _new(self, label: str) -> str:
        name = _escaped(label)
        if _folded(name) in self._used:
            name = _escaped(label, letters=True)
        is_long = len(name.encode()) > LONGEST_NAME
        return _cut(name, label) if is_long or _folded(name) in self._used else name


def folder_names(labels: Iterable[str]) -> dict[str, str]:
    """Return a folder's name for each label; no two are the same, whatever their capitals.

    Examples
    --------
    >>> folder_names(["mug", "cup/blue", "Mug"])
    {'mug': 'mug', 'cup/blue': 'cup%2Fblue', 'Mug': '%4D%75%67'}
    """
    names = FolderNames()
    return {label: names.of(label) for label in labels}


def label_of(name: str) -> str:
    """Return the label that a folder's name stands for.

    Examples
    --------
    >>> label_of("cup%2Fblue"), label_of("100% wool"), label_of("%FF")
    ('cup/blue', '100% wool', '%FF')
    """

    def unescaped(found: re.Match[str]) -> str:
        data = bytes.fromhex(found.group().replace("%", ""))
        try:
            return data.decode()
        except UnicodeDecodeError:
            return found.group()

    return _ESCAPES.sub(unescaped, name)


def _escaped(label: str, letters: bool = False) -> str:
    """Return a label as a folder's name, perhaps with all letters escaped."""
    is_composed = unicodedata.normalize("NFC", label) == label

    def written(index: int, each: str) -> str:
        foreign = not is_composed and not each.isascii()
        escape = foreign or (letters and each.isalpha()) or _UNSAFE.match(label, index)
        return _hex(each) if escape else each

    name = "".join(written(index, each) for index, each in enumerate(label))
    name = _EDGES.sub(lambda found: _hex(found.group()), name)
    return _hex(name[0]) + name[1:] if _RESERVED.match(name) else name


def _hex(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "replace"))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _cut(name: str, label: str) -> str:
    digest = hashlib.sha256(label.encode("utf-8", "replace")).hexdigest()[:16]
    kept = name.encode()[: LONGEST_NAME - 17].decode(errors="ignore")
    return f"{kept}~{digest}"
