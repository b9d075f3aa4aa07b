"""The model's file is written while nobody teaches, and a failure is no end."""

import logging
import threading

from newfound.recognition.snapshot_thread import SnapshotThread
from tests.background import PATIENCE

LOG = logging.getLogger(__name__)


def test_a_change_is_written_also_after_a_write_that_failed() -> None:
    written = threading.Semaphore(0)
    fails = [True]

    def write() -> None:
        written.release()
        if fails.pop() if fails else False:
            raise OSError("the disk is full")

    thread = SnapshotThread(write, LOG, idle=0.0)
    for _ in range(2):
        thread.tell()
        assert written.acquire(timeout=PATIENCE)
    thread.close()


def test_changes_that_never_end_are_written_now_and_then() -> None:
    written = threading.Event()
    thread = SnapshotThread(written.set, LOG, idle=PATIENCE, every=0.01)
    while not written.is_set():
        thread.tell()
    thread.close()


def test_nothing_is_written_without_a_change() -> None:
    written: list[int] = []
    thread = SnapshotThread(lambda: written.append(1), LOG, idle=0.0)
    thread.close()
    thread.tell()
    assert not written
