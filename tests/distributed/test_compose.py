"""The compose file: valid, and its commands make a cluster that learns."""

import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import pytest

from newfound import IncrementalRidgeClassifier
from tests.background import PATIENCE
from tests.distributed import remote
from tests.distributed.sameness import assert_same
from tests.tree import PYTHONPATH, ROOT

FILE = ROOT / "examples" / "cluster" / "compose.yaml"


def services() -> dict[str, Any]:
    import yaml  # comes with Dask

    found: dict[str, Any] = yaml.safe_load(FILE.read_text())["services"]
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(command: str, folder: Path) -> Iterator[None]:
    """Run a command of the file with the Python of the tests; it ends with the context."""
    program, *words = shlex.split(command)
    assert program == "dask"
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *words], cwd=folder, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield
        finally:
            process.terminate()


def test_what_the_file_names_is_there() -> None:
    build = services()["scheduler"]["build"]
    context = (FILE.parent / build["context"]).resolve()
    assert context == ROOT
    lines = (context / build["dockerfile"]).read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert {service["image"] for service in services().values()} == {"newfound-dask"}
    assert (ROOT / "docs" / "scale.md").read_text().count("examples/cluster/compose.yaml") >= 1


@pytest.mark.exhaustive
def test_the_commands_of_the_file_make_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)  # for the blocks that tests make
    port = free_port()
    scheduler = services()["scheduler"]["command"].replace("8786", str(port))
    scheduler = scheduler.replace(":8787", "127.0.0.1:0") + " --host 127.0.0.1"
    worker = services()["worker"]["command"].replace("scheduler:8786", f"127.0.0.1:{port}")
    worker += " --host 127.0.0.1 --dashboard-address 127.0.0.1:0"
    with (
        running(scheduler, tmp_path),
        running(worker, tmp_path),
        running(worker, tmp_path),
        Client(f"tcp://127.0.0.1:{port}", timeout=PATIENCE) as client,
        dask.config.set(scheduler="distributed"),
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        model = IncrementalRidgeClassifier().fit(*remote.collections(8))
    assert_same(model, IncrementalRidgeClassifier().fit(*remote.in_memory(8)))
