"""Sessions of Zenoh on the loopback, for tests: one that sends images, one that hears answers."""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import time_ns
from typing import Any

import zenoh

from newfound.robot.zenoh_topics import Network
from tests.background import PATIENCE
from tests.robot.camera import message
from tests.robot.recorder import Recorder, Said

IMAGES = "camera/image/compressed"


def free_port() -> int:
    """Return a port of the loopback address that nobody uses."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


class Client(Recorder):
    """Hears all that is published as plain JSON, and asks."""

    def __init__(self, session: Any, prefix: str = "newfound") -> None:
        super().__init__()
        self.session, self.prefix = session, prefix
        for name, where in {
            "answer": self.answers,
            "reply": self.replies,
            "question": self.questions,
        }.items():
            session.declare_subscriber(
                f"{prefix}/{name}/json",
                lambda sample, where=where: self.keep(where, json.loads(sample.payload.to_bytes())),
            )

    def hear(self, key: str) -> list[Said]:
        """Return where messages are put that come from now on, each with its topic's name."""
        where: list[Said] = []

        def keep(sample: Any) -> None:
            more = None if sample.attachment is None else sample.attachment.to_bytes()
            name = str(sample.key_expr)
            topic = name.partition(f"{self.prefix}/")[2].partition("/")[0]
            data = sample.payload.to_bytes()
            self.keep(where, {"key": name, "topic": topic, "data": data, "attachment": more})

        self.session.declare_subscriber(key, keep)
        self.ask("state")  # what is asked after it is answered after it is known
        return where

    def ask(self, text: str) -> Said:
        """Give a command as a query, and return the reply."""
        for reply in self.session.get(f"{self.prefix}/command", payload=text, timeout=PATIENCE):
            assert reply.ok is not None, reply.err
            values: Said = json.loads(reply.ok.payload.to_bytes())
            return values
        raise AssertionError("nobody answers")


@contextmanager
def session(**network: Any) -> Iterator[Any]:
    """Open a session that meets only whom it is told to meet."""
    with zenoh.open(Network(**network).config()) as opened:
        yield opened


def main() -> None:
    """Be a camera: listen on the port, and send 15 frames a second of the thing that is told."""
    port, shown = int(sys.argv[1]), [int(sys.argv[2])]

    def read() -> None:
        for line in sys.stdin:
            shown[0] = int(line)
        os._exit(0)  # who started it is gone

    threading.Thread(target=read, daemon=True).start()
    with session(listen=[f"tcp/127.0.0.1:{port}"]) as opened:
        publisher = opened.declare_publisher(IMAGES)
        number, pause = 0, threading.Event()
        while not pause.wait(1 / 15):
            publisher.put(message(shown[0], number % 40, time_ns()))
            number += 1


if __name__ == "__main__":
    main()
