"""Messages that nobody should send to the WebSocket: broken, huge, of the wrong type, or lies."""

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.studio.pictures import picture

Sent = str | bytes
IMAGE = picture(0, 0)
# How files of several kinds begin.
STARTS = (
    b"",
    b"\xff\xd8\xff\xe0",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF\0\0\0\0WEBP",
    b"II*\0",
    b"BM",
    b"%PDF-1.7",
    b"PK\x03\x04",
    b"%!PS-Adobe-3.0 EPSF",
    b"<svg xmlns='x'>",
)
TEXTS = (
    "",
    " ",
    "\x00",
    "null",
    "\ud800",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "'; DROP TABLE lessons; --",
    "{{7*7}}",
    "a\nb",
    "\u202egum",
    "m" * 100_000,
    "\U0001f3fa" * 300,
    "NaN",
    "%s%n",
)
THINGS: tuple[Any, ...] = (
    *TEXTS,
    None,
    True,
    0,
    -1,
    2**63,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    ["mug"],
    {"type": "teach"},
    [0] * 5000,
)


def bomb(side: int = 60_000) -> bytes:
    """Return a PNG of a few kilobytes that says it is 3.6 thousand million pixels."""
    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1_000_000), 9)
    chunks = ((b"IHDR", header), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def not_an_image(rng: np.random.Generator) -> bytes:
    """Return bytes of other kinds, some behind the first bytes of an image."""
    return STARTS[int(rng.integers(len(STARTS)))] + rng.bytes(int(rng.integers(0, 3000)))


def cut(rng: np.random.Generator) -> Sent:
    """Return the start of an image, or an image with bits that fell over."""
    if rng.random() < 0.5:
        return IMAGE[: int(rng.integers(1, len(IMAGE)))]
    damaged = bytearray(IMAGE)
    for place in rng.integers(0, len(IMAGE), 20).tolist():
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def huge(rng: np.random.Generator) -> Sent:
    """Return an image of too many pixels, or more bytes than anyone needs."""
    kind = int(rng.integers(3))
    if kind == 0:
        return bomb(int(rng.integers(20_000, 60_000)))
    many = int(rng.integers(9, 40)) * 2**20
    return IMAGE + bytes(many) if kind == 1 else '"' + "x" * many + '"'


def not_a_message(rng: np.random.Generator) -> Sent:
    """Return text that is no JSON, or JSON that is no object."""
    deep = 10 ** int(rng.integers(2, 6))
    noise = rng.bytes(200).decode("latin-1")
    texts = ["", "{", "hello", noise, "[" * deep, '{"type":' * deep, "[" * deep + "]" * deep]
    texts += ['{"type": "ping"', "\ufeff{}", '{"type": NaN}', "1e999999", "9" * 5000]
    texts += [json.dumps(thing) for thing in THINGS]
    return str(texts[int(rng.integers(len(texts)))])


def wrong_type(rng: np.random.Generator) -> Sent:
    """Return a lesson of which some fields are missing or of the wrong type."""
    lesson: dict[str, Any] = {
        "type": "teach",
        "id": "c1",
        "label": "mug",
        "key": None,
        "image": base64.b64encode(picture(0, int(rng.integers(1000)))).decode(),
    }
    # Whatever else is wrong, the image is no image, so that nothing is taught.
    lesson["image"] = _not_base64(rng) if rng.random() < 0.7 else _any(rng)
    for name in rng.choice(["type", "id", "label", "key", "action"], int(rng.integers(0, 4))):
        lesson[str(name)] = _any(rng)
    if rng.random() < 0.2:
        del lesson[str(rng.choice(["type", "id", "label", "image"]))]
    return json.dumps(lesson)


def _any(rng: np.random.Generator) -> Any:
    return THINGS[int(rng.integers(len(THINGS)))]


def _not_base64(rng: np.random.Generator) -> str:
    encoded = base64.b64encode(not_an_image(rng)).decode()
    choices = [encoded, encoded[:-1], encoded + "=", "data:image/jpeg;base64," + encoded, "é" * 9]
    return choices[int(rng.integers(len(choices)))]


KINDS: tuple[tuple[Callable[[np.random.Generator], Sent], float], ...] = (
    (not_an_image, 0.3),
    (cut, 0.2),
    (not_a_message, 0.2),
    (wrong_type, 0.29),
    (huge, 0.01),
)


def hostile_messages(how_many: int, seed: int = 0) -> Iterator[Sent]:
    """Yield so many messages, none of which teaches anything."""
    rng = np.random.default_rng(seed)
    shares = [share for _, share in KINDS]
    for kind in rng.choice(len(KINDS), how_many, p=shares).tolist():
        yield KINDS[kind][0](rng)
