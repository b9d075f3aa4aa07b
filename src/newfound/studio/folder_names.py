"""Labels as names of folders, on whatever file system, and back.

A label is its folder's name where that can be. What cannot stand in a name is written as its UTF-8
bytes, each as % and two hexadecimal digits, as in addresses: `cup/blue` becomes `cup%2Fblue`. So is

- a dot at the beginning, and a dot or a space at the end;
- the first letter of a name that Windows keeps for itself, such as `NUL`;
- % where two hexadecimal digits follow, so that only escapes are taken for escapes;
- every letter outside of ASCII if its accents are not composed (NFC), which some file systems undo;
- every letter of a label that differs from an earlier one in capitals only.

A label too long for a name is cut, and ends in ~ and its digest: that alone cannot be read back.
"""

import hashlib
import re
import unicodedata

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
    >>> names.of("mug"), names.of("cup/blue"), names.of("Mug"), names.of("mug")
    ('mug', 'cup%2Fblue', '%4D%75%67', 'mug')
    """

    # names: the name of each label. _used: names that no other may have.

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._used: set[str] = set()

    def of(self, label: str) -> str:
        """Return the name of a label's folder."""
        if label not in self.names:
            self.names[label] = name = self._new(label)
            self._used.add(_folded(name))
        return self.names[label]

    def _new(self, label: str) -> str:
        name = _escaped(label)
        if _folded(name) in self._used:
            name = _escaped(label, letters=True)
        is_long = len(name.encode()) > LONGEST_NAME
        return _cut(name, label) if is_long or _folded(name) in self._used else name


def label_of(name: str) -> str:
    """Return the label that a folder's name stands for.

    Examples
    --------
    >>> label_of("cup%2Fblue"), label_of("100% wool"), label_of("%FF")
    ('cup/blue', '100% wool', '%FF')
    """

    def unescaped(match: re.Match[str]) -> str:
        data = bytes.fromhex(match.group().replace("%", ""))
        try:
            return data.decode()
        except UnicodeDecodeError:
            return match.group()

    return _ESCAPES.sub(unescaped, name)


def _escaped(label: str, letters: bool = False) -> str:
    """Return a label as a folder's name, perhaps with all letters escaped."""
    is_composed = unicodedata.normalize("NFC", label) == label

    def written(index: int, letter: str) -> str:
        foreign = not is_composed and not letter.isascii()
        escape = foreign or (letters and letter.isalpha()) or _UNSAFE.match(label, index)
        return _hex(letter) if escape else letter

    name = "".join(written(index, letter) for index, letter in enumerate(label))
    name = _EDGES.sub(lambda match: _hex(match.group()), name)
    return _hex(name[0]) + name[1:] if _RESERVED.match(name) else name


def _hex(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "replace"))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _cut(name: str, label: str) -> str:
    digest = hashlib.sha256(label.encode("utf-8", "replace")).hexdigest()[:16]
    kept = name.encode()[: LONGEST_NAME - 17].decode(errors="ignore")
    return f"{kept}~{digest}"
