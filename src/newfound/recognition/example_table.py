"""The examples of a journal: vectors, digests and small pictures, and the label that each has."""

import json
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.common.errors import InputError
from newfound.features.identity import Identity
from newfound.recognition.inbox import OPEN, Ask, storable
from newfound.recognition.sources import NewExample

TABLES = """
CREATE TABLE extractors (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE examples (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    label TEXT,
    time REAL NOT NULL,
    source TEXT NOT NULL,
    digest BLOB NOT NULL,
    extractor INTEGER,
    dtype TEXT,
    vector BLOB,
    thumbnail BLOB
) STRICT;
CREATE INDEX of_label ON examples (label, id);
CREATE INDEX of_digest ON examples (digest);
CREATE INDEX with_vector ON examples (id) WHERE vector IS NOT NULL;
CREATE INDEX with_thumbnail ON examples (id) WHERE thumbnail IS NOT NULL;
"""
# Beyond all ids and numbers of rows.
MOST = 2**62
_KEPT = "SELECT id, label, time, source, vector IS NOT NULL, thumbnail IS NOT NULL FROM examples"

# An example on its way from one label to another: its id, and both; None: no label.
Change = tuple[int, Any, Any]


class NoSuchExampleError(InputError):
    """There is no such example, or none any more."""


class Kept(NamedTuple):
    """What is known of an example."""

    id: int
    label: Any  # None: it was deleted, or nobody has named it yet
    time: float  # seconds since 1970
    source: str  # where it came from, in words
    has_vector: bool
    has_thumbnail: bool


class ExampleTable:
    """Examples, by their ids, labels and digests.

    Parameters
    ----------
    ask : callable
        Does a statement of SQL, and returns its rows: inside the journal's `write`, as it writes.
    """

    # _fresh: what was added last, by id: it is taught at once, and need not be read back.

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._fresh: dict[int, NewExample] = {}

    def add(self, examples: Iterable[NewExample], keep_thumbnails: int) -> list[int]:
        """Add examples, which have no label yet, and return their ids; inside `write`.

        Of so many examples, the newest, pictures are kept.
        """
        ids, now, self._fresh = [], time.time(), {}
        for new in examples:
            maker = None if new.extractor is None else self._extractor(new.extractor)
            row, source = np.ascontiguousarray(new.vector), storable(new.source)
            [(number,)] = self._ask(
                "INSERT INTO examples"
                " (time, source, digest, extractor, dtype, vector, thumbnail)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (now, source, new.digest, maker, row.dtype.str, row.tobytes(), new.thumbnail),
            )
            ids.append(number)
            self._fresh[number] = new._replace(vector=row)
        self.drop_thumbnails(keep_thumbnails)
        return ids

    def put_vector(self, number: int, vector: NDArray[np.floating]) -> None:
        """Write down the vector of an example that has none any more; inside `write`."""
        row = np.ascontiguousarray(vector)
        self._ask(
            "UPDATE examples SET vector = ?, dtype = ? WHERE id = ? AND vector IS NULL",
            (row.tobytes(), row.dtype.str, number),
        )

    def relabel(self, rows: Sequence[Change]) -> None:
        """Give examples other labels; inside `write`."""
        for number, _, after in rows:
            self._ask("UPDATE examples SET label = ? WHERE id = ?", (_text(after), number))

    def vectors(self, ids: Sequence[int]) -> list[NewExample]:
        """Return examples as a model is taught them, or raise NoSuchExampleError."""
        if ids and all(number in self._fresh for number in ids):
            return [self._fresh[number] for number in ids]
        examples = []
        for number in ids:
            found = self._ask(
                "SELECT dtype, vector, digest, identity FROM examples LEFT JOIN extractors"
                " ON extractors.id = extractor WHERE examples.id = ? AND vector IS NOT NULL",
                (number,),
            )
            if not found:
                raise NoSuchExampleError(f"of example {number}, no vector is kept any more")
            dtype, vector, digest, identity = found[0]
            maker = None if identity is None else Identity.from_json(json.loads(identity))
            examples.append(NewExample(np.frombuffer(vector, np.dtype(dtype)), digest, maker))
        return examples

    def ids_of(
        self, label: Any, *, with_vectors: bool = False, newest: int | None = None
    ) -> list[int]:
        """Return the examples that have a label, newest first."""
        more = " AND vector IS NOT NULL" if with_vectors else ""
        most = -1 if newest is None else newest
        return self._ids(f"label = ?{more} ORDER BY id DESC LIMIT ?", _text(label), most)

    def find(self, label: Any, digest: bytes) -> list[int]:
        """Return the examples of an image that have a label, newest first, with vectors first."""
        which = "digest = ? AND label = ? ORDER BY vector IS NULL, id DESC"
        return self._ids(which, digest, _text(label))

    def _ids(self, which: str, *values: Any) -> list[int]:
        return [row[0] for row in self._ask(f"SELECT id FROM examples WHERE {which}", values)]

    def kept(self, label: Any = None, before: int | None = None, limit: int = 50) -> list[Kept]:
        """Return examples of a label, or of all, newest first, from before an id on."""
        some, values = "label IS NOT NULL", list[Any]()
        if label is not None:
            some, values = "label = ?", [_text(label)]
        bounds = min(MOST, MOST if before is None else before), min(MOST, limit)
        rows = self._ask(
            f"{_KEPT} WHERE {some} AND id < ? ORDER BY id DESC LIMIT ?", (*values, *bounds)
        )
        return [_kept(row) for row in rows]

    def example(self, number: int) -> Kept:
        """Return what is known of an example, or raise NoSuchExampleError."""
        found = self._ask(f"{_KEPT} WHERE id = ?", (number,)) if 0 < number < MOST else []
        if not found:
            raise NoSuchExampleError(f"there is no example {number}")
        return _kept(found[0])

    def thumbnail(self, number: int) -> bytes | None:
        """Return the picture of an example; None: none is kept."""
        self.example(number)
        found = self._ask("SELECT thumbnail FROM examples WHERE id = ?", (number,))
        return found[0][0] if found else None

    def counts(self) -> dict[Any, int]:
        """Return how many examples of each label are written down."""
        rows = self._ask(
            "SELECT label, count(*) FROM examples WHERE label IS NOT NULL GROUP BY label"
        )
        return {json.loads(label): count for label, count in rows}

    def count(self, condition: str) -> int:
        """Return how many examples there are that meet a condition."""
        [(number,)] = self._ask(f"SELECT count(*) FROM examples WHERE {condition}")
        return int(number)

    def drop_thumbnails(self, keep: int) -> None:
        """Let go of the oldest pictures beyond a number; inside `write`."""
        many = self.count("thumbnail IS NOT NULL") - keep
        if many > 0:
            self._ask(
                "UPDATE examples SET thumbnail = NULL WHERE id IN (SELECT id FROM examples"
                " WHERE thumbnail IS NOT NULL ORDER BY id LIMIT ?)",
                (many,),
            )

    def forget_past(self, keep_vectors: int) -> None:
        """Let go of what was deleted, and of the oldest vectors beyond a number; in `write`.

        Open questions stay.
        """
        self._ask(f"DELETE FROM examples WHERE label IS NULL AND id NOT IN ({OPEN})")
        self._ask(
            "UPDATE examples SET vector = NULL WHERE vector IS NOT NULL AND label IS NOT NULL"
            " AND id NOT IN (SELECT id FROM examples WHERE vector IS NOT NULL"
            " AND label IS NOT NULL ORDER BY id DESC LIMIT ?)",
            (keep_vectors,),
        )

    def _extractor(self, identity: Identity) -> int:
        text = json.dumps(identity.to_json(), sort_keys=True)
        self._ask("INSERT OR IGNORE INTO extractors (identity) VALUES (?)", (text,))
        [(number,)] = self._ask("SELECT id FROM extractors WHERE identity = ?", (text,))
        return int(number)


def _text(label: Any) -> str | None:
    """Return a label as it is written down: JSON tells 1, "1" and true apart."""
    return None if label is None else json.dumps(label)


def _kept(row: tuple[Any, ...]) -> Kept:
    number, label, when, source, has_vector, has_thumbnail = row
    label = None if label is None else json.loads(label)
    return Kept(number, label, when, source, bool(has_vector), bool(has_thumbnail))
