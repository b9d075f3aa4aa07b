"""Recordings of ROS 1 and ROS 2 as topics and their messages, also where a part is lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from newfound.common.errors import InputError, UnreadableImageError
from newfound.common.extras import imported_from
from newfound.common.files import open_regular
from newfound.robot import salvage
from newfound.robot.messages import type_name
from newfound.robot.salvage import Message

# How files of recordings are called, and what mends them.
REPAIRS = {
    ".bag": "rosbag reindex mends its index",
    ".mcap": "mcap recover writes anew what is left of it",
    ".db3": "sqlite3 with .recover writes anew what is left of it",
}


class Topic(NamedTuple):
    """What a recording has of a topic."""

    type: str  # as newfound.robot.messages writes it
    total: int  # how many messages


@dataclass(frozen=True)
class Bag:
    """An open recording."""

    path: Path
    topics: dict[str, Topic]
    start: int  # when it begins: nanoseconds of Unix time
    walk: Callable[[str], Iterator[Message]]  # through a topic; raises whatever a damaged one does

    @property
    def ros(self) -> int:
        """Which ROS it is of, 1 or 2."""
        return 1 if self.path.suffix.lower() == ".bag" else 2

    def messages(self, topic: str) -> Iterator[Message]:
        """Yield the messages of a topic by the time at which they were recorded.

        Yields
        ------
        Message

        Raises
        ------
        InputError
            After the last that can be read, if some are lost.
        """
        count, total = 0, self.topics[topic].total
        try:
            for message in self.walk(topic):
                count += 1
                yield message
        except Exception as error:
            why = f"a part of it cannot be read ({_words(error)})"
            raise InputError(f"{why}; {_advice(self.path)}") from error
        if count < total:
            raise InputError(
                f"it says that {topic} has {total:,} messages, but {count:,} are there"
            )
        if log := _log_of(self.path):
            raise InputError(
                f"what was recorded last lies in {log.name} and is not read; "
                f"sqlite3 with PRAGMA wal_checkpoint(TRUNCATE) brings it in"
            )


def is_recording(name: str | Path) -> bool:
    """Say whether something is called as recordings are, or is a folder that ROS 2 recorded.

    Examples
    --------
    >>> is_recording("run.mcap"), is_recording("clip.mp4")
    (True, False)
    """
    path = Path(name)
    if path.suffix.lower() in REPAIRS:
        return True
    try:
        with open_regular(path / "metadata.yaml") as file:
            return file.read(1000).lstrip().startswith(b"rosbag2_bagfile_information")
    except (OSError, ValueError):
        return False


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a recording; of a damaged one, what can be read is read.

    Parameters
    ----------
    path : path
        Of a .bag, .mcap or .db3 file, or of a folder with a metadata.yaml.

    Yields
    ------
    Bag

    Raises
    ------
    UnreadableImageError
        If nothing of it can be read.
    """
    _check(path)
    with imported_from("robot"):
        from rosbags import rosbag1, rosbag2
    reader: Any = None
    try:
        reader = (rosbag1 if path.suffix.lower() == ".bag" else rosbag2).Reader(path)
        reader.open()
        bag = _indexed(path, reader)
    except Exception as error:  # whatever a damaged file makes it do
        bag = _salvaged(path, error)
    try:
        yield bag
    finally:
        with suppress(Exception):  # it was not opened
            reader.close()


def _check(path: Path) -> None:
    """Raise UnreadableImageError if there is no file, or one that would be waited for."""
    if not path.exists():
        raise UnreadableImageError("there is no such file")
    inside = list(path.iterdir()) if path.is_dir() else [path]
    if strange := [file for file in inside if not (file.is_file() or file.is_dir())]:
        raise UnreadableImageError(f"{strange[0].name} is neither a file nor a folder")
    # rosbags puts the path into an address as it is.
    if any(file.suffix == ".db3" for file in inside) and set("?#%") & set(str(path)):
        raise UnreadableImageError("SQLite takes no ?, # or % in a path: move it elsewhere")


def _indexed(path: Path, reader: Any) -> Bag:
    topics = dict[str, Topic]()
    for connection in reader.connections:
        name, kind = str(connection.topic), type_name(connection.msgtype)
        before = topics.get(name, Topic(kind, 0))
        topics[name] = before._replace(total=before.total + int(connection.msgcount))

    def walk(topic: str) -> Iterator[Message]:
        wanted = [one for one in reader.connections if str(one.topic) == topic]
        for connection, time, data in reader.messages(wanted):
            # Of a database anything may come.
            data = data if isinstance(data, bytes) else b""
            yield Message(topic, type_name(connection.msgtype), int(time), data)

    return Bag(path, topics, int(reader.start_time), walk)


def _salvaged(path: Path, error: Exception) -> Bag:
    topics, start = dict[str, Topic](), 2**63
    with suppress(Exception):
        for message in salvage.messages(path):
            before = topics.get(message.topic, Topic(message.type, 0))
            topics[message.topic] = before._replace(total=before.total + 1)
            start = min(start, message.time)
    if not topics:
        raise UnreadableImageError(f"nothing of it can be read ({_words(error)})") from error

    def walk(topic: str) -> Iterator[Message]:
        with suppress(Exception):  # what ended the first walk
            yield from (one for one in salvage.messages(path) if one.topic == topic)
        raise error

    return Bag(path, topics, start, walk)


def _log_of(path: Path) -> Path | None:
    """Return the write-ahead log that a recorder left beside a database when it was killed."""
    logs = path.glob("*.db3-wal") if path.is_dir() else [path.with_name(f"{path.name}-wal")]
    return next((log for log in logs if log.is_file() and log.stat().st_size), None)


def _advice(path: Path) -> str:
    kinds = {file.suffix for file in path.iterdir()} if path.is_dir() else {path.suffix.lower()}
    return next((REPAIRS[kind] for kind in REPAIRS if kind in kinds), "record it anew")


def _words(error: Exception) -> str:
    """Return what an error says, on one line; its kind, if it says nothing."""
    return " ".join(str(error).split()).removesuffix(".") or type(error).__name__
