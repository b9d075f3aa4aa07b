"""A topic that floods, with whatever: the queue never grows, commands are done, nothing is lost."""

from itertools import cycle
from pathlib import Path

import pytest

from newfound.recognition.editor import Editor
from newfound.robot.messages import text_message
from tests.background import in_the_background
from tests.robot.camera import message
from tests.robot.recorder import says
from tests.robot.test_zenoh import MUG, listening
from tests.robot.zenoh_client import IMAGES

MESSAGES = 10_000
LARGE = 20_000_000


@pytest.mark.slow
def test_a_flood_of_anything_leaves_commands_answered_and_lessons_kept(tmp_path: Path) -> None:
    image = message(MUG, 0)
    lies = bytearray(image)
    lies[-len(lies) // 2] ^= 0xFF
    kinds = cycle(
        [
            image,
            b"",
            b"\0",
            image[: len(image) // 2],
            bytes(lies),
            text_message("no image"),
            b"\0\1\0\0" + b"\xff" * 60,  # a length of four thousand million
            b"\xff\xd8" + bytes(100),
        ]
    )
    with listening(tmp_path) as (listener, client):
        frames = listener.frames

        def flood() -> None:
            for number in range(MESSAGES):
                large = number % 2000 == 1000
                client.session.put(IMAGES, bytes(LARGE) if large else next(kinds))

        with in_the_background(flood):
            for number in range(20):
                assert client.ask("state")["ok"]
                assert client.ask(f"teach thing {number}")["ok"]
        for number in range(2):  # and afterwards all is as before
            client.session.put(IMAGES, message(MUG, number, stamp=number + 1))
            client.wait(client.answers, says(stamp={"sec": 0, "nanosec": number + 1}))
        state = client.ask("stop")
        assert state["ok"]
        counts = listener.recogniser.counts
        # Each message was looked at, named as unreadable, or replaced by a newer one.
        assert frames.came == frames.dropped + listener.looked + listener.unreadable
        assert listener.unreadable
    found = Editor(tmp_path / "kitchen.newfound", "pixels:size=8", read_only=True)
    assert found.recogniser.counts == counts
    assert sum(counts.values()) >= 1
    found.close()
