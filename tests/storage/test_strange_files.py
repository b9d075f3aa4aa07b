"""Files that are no models: nothing is allocated or waited for because a file says so."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest

import newfound
from newfound import IncrementalRidgeClassifier
from newfound.common.files import open_regular, write_whole
from tests.crafted import craft
from tests.peak_memory import said_and_peak

RNG = np.random.default_rng(0)
posix_only = pytest.mark.skipif(os.name != "posix", reason="needs modes, owners and pipes")


@pytest.mark.slow
@posix_only
def test_a_model_file_cannot_ask_for_memory_by_the_width_of_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "bomb.newfound"
    model = IncrementalRidgeClassifier().fit(RNG.normal(size=(60, 4)), list("abc") * 20)
    craft(model, path, header={"label_type": "<U300000000"})
    said, peak = said_and_peak("newfound.load", path)
    assert "a label may have 1000" in said
    assert peak < 300


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("start", [b"", bytes(4) + b"ftypmp42", b"\xff\xff\xff\x01\0\0\0\0{"])
def test_a_large_file_that_is_no_model_is_not_read(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(4 * 2**30)  # of zeros, which take no room on the disk
    said, peak = said_and_peak("newfound.load", path)
    assert "not a model file" in said
    assert peak < 300


@posix_only
def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, kind in ((tmp_path / "pipe", "a named pipe"), (tmp_path, "a folder")):
        with pytest.raises(OSError, match=f"{kind}, not a file: '{name}'"):
            open_regular(name)
        with pytest.raises(OSError, match=f"{kind}, not a file: '{name}'"):
            newfound.load(name)
    with pytest.raises(OSError, match="a device, not a file: '/dev/null'"):
        write_whole("/dev/null", b"nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
