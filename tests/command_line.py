"""The command line, run inside the tests, and a small world of photos for it."""

import contextlib
import io
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from newfound.cli import main


class Done(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


def newfound(*arguments: object, stdin: bytes = b"") -> Done:
    """Run a command in this process, as if in a pipe."""
    out, err = io.StringIO(), io.StringIO()
    text = io.TextIOWrapper(io.BytesIO(stdin))
    words = ["newfound", *map(str, arguments)]
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(sys, "stdin", text),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
            code = 0
        except SystemExit as exit:
            code = int(exit.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def picture(seed: int, thing: int) -> Image.Image:
    """A small picture: each thing has a pattern of its own, each picture noise of its own."""
    pattern = np.random.default_rng(thing).uniform(0, 255, (8, 8))
    noise = np.random.default_rng((thing, seed)).normal(0, 40, (8, 8))
    return Image.fromarray(np.clip(pattern + noise, 0, 255).astype(np.uint8))


def write_pictures(folder: Path, thing: int, seeds: range) -> list[Path]:
    """Write pictures of a thing into a folder, and return where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{seed:03}.png" for seed in seeds]
    for path, seed in zip(paths, seeds, strict=True):
        picture(seed, thing).save(path)
    return paths


def write_rows(path: Path, labels: Sequence[Any], width: int = 6, seed: int = 0) -> NDArray[Any]:
    """Write a file of vectors, one for each label and near others of it, and return them."""
    names = sorted(set(labels))
    centres = np.random.default_rng(99).normal(size=(len(names), width)) * 3
    rows = np.array([centres[names.index(label)] for label in labels])
    rows += np.random.default_rng(seed).normal(size=rows.shape)
    np.savez(path, vectors=rows, labels=np.array(labels))
    return rows


def on_terminal(*arguments: object, typed: bytes = b"", **environment: str) -> tuple[int, str]:
    """Run a command on a terminal of 80 columns; return its exit code and what is seen there."""
    keeper, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "newfound", *map(str, arguments)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
    )
    os.close(terminal)
    os.write(keeper, typed)
    seen = b""
    # The other end is closed when reading fails (Linux) or gives nothing.
    with contextlib.suppress(OSError):
        while chunk := os.read(keeper, 65536):
            seen += chunk
    os.close(keeper)
    return process.wait(), seen.decode().replace("\r\n", "\n")
