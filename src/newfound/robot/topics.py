"""Topics of a robot, whatever carries them: answers go, images and commands come."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from newfound.robot.answers import results_of
from newfound.robot.commands import LONGEST
from newfound.robot.listening import Listener
from newfound.robot.messages import (
    COMPRESSED,
    STRING,
    ImageMessage,
    MessageError,
    read_image,
    read_text,
)

# Topics of JSON below the prefix, and those that are written to for every frame.
TEXTS = dict.fromkeys(("answer", "reply", "question"), STRING)
FREQUENT = ("answer", "classification")
# No command has more bytes, signed or not; of one that has, the rest is not read. JSON writes a
# letter in six bytes at most.
MOST_BYTES = 6 * LONGEST + 256


class Topics(ABC):
    """A transport, as a `Publisher` and as where a `Listener` gets its frames.

    Parameters
    ----------
    prefix : str
        What the names of the topics begin with that are its own.
    """

    # ros: by whose definitions messages are written, 1 or 2.

    ros = 2

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix.strip("/")
        with suppress(MessageError):
            read_image(b"", COMPRESSED, self.ros)  # the first takes long, and shall not be a frame

    @property
    @abstractmethod
    def is_connected(self) -> bool:
        """Whether anybody is there."""

    @property
    @abstractmethod
    def has_ended(self) -> bool:
        """Whether somebody else ended it, so that nothing will come any more."""

    @abstractmethod
    def listen(self, listener: Listener, topic: str) -> None:
        """Give images of a topic, and commands, to a listener from now on."""

    @abstractmethod
    def close(self) -> None:
        """End."""

    @abstractmethod
    def _tell(self, name: str, values: Mapping[str, Any]) -> None:
        """Publish values in JSON."""

    @abstractmethod
    def _classify(self, stamp: int, frame_id: str, results: Sequence[tuple[str, float]]) -> None:
        """Publish labels with their scores, and the header of the image that they are of."""

    def answer(self, answer: Mapping[str, Any], message: ImageMessage) -> None:
        """Say what an image shows, in JSON and as a message of vision_msgs."""
        self._tell("answer", answer)
        self._classify(message.stamp or 0, message.frame_id, results_of(answer))

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""
        self._tell("reply", reply)

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""
        self._tell("question", question)

    def _command_in(self, data: bytes) -> str:
        """Return the command in a String, or in the bytes of a text."""
        try:
            return read_text(data, self.ros)[:MOST_BYTES]
        except MessageError:  # whatever it is: what is no command is said to be none
            return data[:MOST_BYTES].decode("utf-8", "replace")
