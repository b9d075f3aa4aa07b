"""What can still be read of a recording that was cut short, or whose index is damaged.

Records are read one after the other from the beginning, for as long as they make sense. Whoever
walks through them gets whatever error ends that.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from struct import unpack
from typing import Any, BinaryIO, NamedTuple

from newfound.robot.messages import type_name

# How files begin, a ROS 1 bag and an MCAP file.
_BEGINS = {".bag": b"#ROSBAG V2.0\n", ".mcap": b"\x89MCAP0\r\n"}
# What records of a ROS 1 bag and of an MCAP file are for.
_MESSAGE_1, _CHUNK_1, _CONNECTION_1 = 2, 5, 7
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 3, 4, 5, 6
# How what zstd packed begins.
_ZSTD = b"\x28\xb5\x2f\xfd"


class Message(NamedTuple):
    """A message as it was recorded."""

    topic: str
    type: str  # as newfound.robot.messages writes it
    time: int  # when it was recorded: nanoseconds of Unix time
    data: bytes


def messages(path: Path) -> Iterator[Message]:
    """Yield the messages of a recording in the order of its file, as long as that can be read.

    Parameters
    ----------
    path : path
        Of a .bag, .mcap or .db3 file, or of a folder of the latter two.

    Yields
    ------
    Message

    Raises
    ------
    Exception
        Whatever comes of records that make no sense.
    """
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        kind = file.suffix.lower()
        if kind == ".db3":
            yield from _of_db3(file)
        elif kind in _BEGINS:
            with file.open("rb") as records:
                if records.read(len(_BEGINS[kind])) != _BEGINS[kind]:
                    raise ValueError(f"it does not begin as a {kind} file does")
                yield from _of_bag(records, {}) if kind == ".bag" else _of_mcap(records, {}, {})


def _of_bag(file: BinaryIO, topics: dict[int, tuple[str, str]]) -> Iterator[Message]:
    from rosbags.rosbag1.reader import Header, decompressors, read_bytes, read_uint32

    while file.read(1):
        file.seek(-1, 1)
        header: Any = Header.read(file)
        kind = header.get_uint8("op")
        if kind == _CONNECTION_1:
            type = type_name(Header.read(file).get_string("type"))
            topics[header.get_uint32("conn")] = header.get_string("topic"), type
        elif kind == _MESSAGE_1:
            data = read_bytes(file, read_uint32(file))
            yield Message(*topics[header.get_uint32("conn")], header.get_time("time"), data)
        elif kind == _CHUNK_1 and (compression := header.get_string("compression")) != "none":
            chunk = decompressors[compression](read_bytes(file, read_uint32(file)))
            yield from _of_bag(BytesIO(chunk), topics)
        else:  # the records of a chunk that is not compressed come next, also if its end is lost
            size = read_uint32(file)
            file.seek(0 if kind == _CHUNK_1 else size, 1)


def _of_mcap(
    file: BinaryIO, schemas: dict[int, str], topics: dict[int, tuple[str, str]]
) -> Iterator[Message]:
    from rosbags.rosbag2.storage_mcap import DECOMPRESSORS, read_exact, read_string

    while kind := file.read(1):
        (size,) = unpack("<Q", read_exact(file, 8))
        if kind[0] == _CHUNK:
            (unpacked,) = unpack("<16xQ4x", read_exact(file, 28))
            compression, (packed,) = read_string(file), unpack("<Q", read_exact(file, 8))
            if compression:
                chunk = DECOMPRESSORS[compression](read_exact(file, packed), unpacked)
                yield from _of_mcap(BytesIO(chunk), schemas, topics)
        elif kind[0] in (_SCHEMA, _CHANNEL, _MESSAGE):
            record = BytesIO(read_exact(file, size))
            (number,) = unpack("<H", record.read(2))
            if kind[0] == _SCHEMA:
                schemas[number] = read_string(record)
            elif kind[0] == _CHANNEL:
                (schema,) = unpack("<H", record.read(2))
                topics[number] = read_string(record), type_name(schemas.get(schema, ""))
            else:
                (time,) = unpack("<4xQ8x", record.read(20))
                yield Message(*topics[number], time, record.read())
        else:
            file.seek(size, 1)


def _of_db3(path: Path) -> Iterator[Message]:
    from rosbags.rosbag2.storage_mcap import DECOMPRESSORS

    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as database:
        # Otherwise a file that is shorter than it says is not read at all.
        database.execute("PRAGMA writable_schema = ON")
        database.execute("PRAGMA trusted_schema = OFF")
        for table in ("messages", "topics"):  # a view could make us count for ever
            types = database.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,))
            if types.fetchall() != [("table",)]:
                raise ValueError(f"it has no table of {table}")
        topic_rows = database.execute("SELECT id, name, type FROM topics")
        topics = {number: (str(name), type_name(str(type))) for number, name, type in topic_rows}
        rows = database.execute("SELECT topic_id, timestamp, data FROM messages NOT INDEXED")
        for number, time, cell in rows:
            data = cell if isinstance(cell, bytes) else b""  # anything may stand in a database
            if data.startswith(_ZSTD):  # they may be packed each; no other message begins so
                data = DECOMPRESSORS["zstd"](data, 0)
            yield Message(*topics[number], int(time), data)
