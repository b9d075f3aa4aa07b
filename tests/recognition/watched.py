"""An extractor that waits over some pictures, and dies over others, for tests of clusters."""

import os
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from newfound.features import Pixels

# Pictures of one level of grey: workers wait over the first while there is a file `hold`, and die
# over the second.
WAIT, DIE = 51, 204


class Watched(Pixels):
    """Pixels; a worker that comes to a picture it waits over leaves its number in a folder."""

    def __init__(self, folder: Path, size: Any = 8) -> None:
        super().__init__(size)
        self.folder = folder

    def run(self, batch: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the pixels, shape (m, width)."""
        rows = super().run(batch)
        levels = {round(255 * row[0]) for row in rows if np.ptp(row) < 1e-3}
        if DIE in levels:
            os.kill(os.getpid(), signal.SIGKILL)
        if WAIT in levels:
            (self.folder / f"{os.getpid()}.waits").touch()
            while (self.folder / "hold").exists():
                time.sleep(0.01)
        (self.folder / f"{secrets.token_hex(4)}.done").touch()
        return rows


def write_plain(path: Path, level: int, note: int = 0) -> None:
    """Write a picture of one level of grey; the note makes its bytes other than those of others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (8, 8), level).save(path)
    with path.open("ab") as file:
        file.write(note.to_bytes(4, "big"))


def waiting(folder: Path) -> Iterator[int]:
    """Yield the processes that wait, each once, as they come to do so."""
    met = set[int]()
    while True:
        for each in {int(path.stem) for path in folder.glob("*.waits")} - met:
            met.add(each)
            yield each
        time.sleep(0.01)
