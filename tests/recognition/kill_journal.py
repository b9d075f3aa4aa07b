"""Edit a recogniser in a child process, kill that at a random moment, look, and again.

    python -m tests.recognition.kill_journal FOLDER KILLS

Prints how often it killed, and how many edits had been acknowledged by then.
"""

import os
import random
import signal
import sys
from pathlib import Path

from newfound.recognition import replay
from newfound.recognition.editor import Editor
from tests.effort import seed
from tests.recognition.edits import Oracle, assert_is, assert_replays, assert_same, edit, open_at

# Killed after so many acknowledged edits at most, and so many steps of the child's own counting.
MOST_EDITS, MOST_STEPS = 4, 40
# To read the journal from its beginning takes the longer, the longer it is.
REPLAY_EVERY = 100


def stream(path: Path, oracle: Oracle, number: int, acknowledge: int) -> None:
    """Edit for ever; say so after each edit."""
    editor = open_at(path)
    while True:
        edit(editor, oracle, number, f"key {number}")
        os.write(acknowledge, b".")
        if number % 7 == 6:
            editor.snapshot()
        number += 1


def run(path: Path, oracle: Oracle, number: int, rng: random.Random) -> int:
    """Let a child edit, kill it, and return how many edits it had acknowledged."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            stream(path, oracle, number, writing)
        finally:
            os._exit(1)  # only if it failed: it goes on until it is killed
    os.close(writing)
    acknowledged = 0
    for _ in range(rng.randrange(MOST_EDITS)):
        acknowledged += len(os.read(reading, 1))
    for _ in range(rng.randrange(MOST_STEPS)):  # into the midst of whatever comes next
        os.sched_yield()
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child failed by itself"
    while more := os.read(reading, 1000):
        acknowledged += len(more)
    os.close(reading)
    return acknowledged


def check(path: Path, oracle: Oracle, number: int, acknowledged: int) -> int:
    """Assert that all acknowledged edits are there, once; return how many edits are."""
    editor = open_at(path)
    present = acknowledged
    if editor.journal.entry_of(f"key {number + acknowledged}") is not None:
        present += 1  # it was made, and killed before it could say so
    apart = Editor(path.with_name("oracle.newfound"), None)
    for each in range(number, number + present):
        assert editor.journal.entry_of(f"key {each}") is not None
        edit(apart, oracle, each, f"key {each}")
    assert editor.journal.entry_of(f"key {number + present}") is None
    assert_is(editor, oracle, unsure=1)
    assert_same(editor.knowledge, apart.knowledge)
    if number % REPLAY_EVERY < present:
        assert_replays(editor)
    editor.journal.close()
    apart.close()
    return present


def main() -> None:
    folder, kills = Path(sys.argv[1]), int(sys.argv[2])
    path, oracle, number, rng = folder / "kitchen.newfound", Oracle(), 0, random.Random(seed(0))
    for _ in range(kills):
        number += check(path, oracle, number, run(path, oracle, number, rng))
    last = open_at(path)
    assert_replays(last)
    last.close()
    print(kills, number)


if __name__ == "__main__":
    _ = replay  # imported before it forks
    main()
