"""The command line, run inside the tests, and a small world of photos for it."""

import contextlib
import io
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
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
