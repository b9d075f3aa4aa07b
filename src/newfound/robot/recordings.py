"""The images of a topic of a recording, as footage."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from newfound.common.errors import InputError, NewfoundError
from newfound.recognition.sources import Problem
from newfound.robot.bags import Bag, open_bag
from newfound.robot.crops import Crop
from newfound.robot.frames import Frame, clock
from newfound.robot.labels import Spans, read_spans, texts_as_spans
from newfound.robot.messages import IMAGES, STRING, MessageError, read_image, read_text
from newfound.robot.salvage import Message

# Topics that are listed where one is to be chosen.
MOST_LISTED = 20


class Recording:
    """A topic of images in a ROS 1 bag, a ROS 2 bag in SQLite, or an MCAP file.

    It is a context manager, and open within it only. Frames have the time at which they were
    recorded, in seconds of Unix time. Messages that are not images as they should be are told as
    problems, and so is what is lost of a recording that is damaged; the others come all the same.

    Parameters
    ----------
    path : path
        Of a .bag, .mcap or .db3 file, or of a folder with a metadata.yaml.
    topic : str, optional
        That of the images. By default the only one that has images.
    labels : str, optional
        A .csv file of start, end and label, or a topic of std_msgs/String, each of whose texts
        holds until the next. Frames outside have no label.
    crop : Crop, optional
        The part of each frame that is taken.

    Raises
    ------
    UnreadableImageError
        On entering, if nothing of it can be read.
    InputError
        On entering, if it has no such topic, or labels cannot be used.

    Examples
    --------
    >>> with Recording("no such file.bag") as recording:
    ...     pass
    Traceback (most recent call last):
    newfound.UnreadableImageError: there is no such file
    """

    # bag: open between enter and exit. topic: that of the images, chosen on entering.
    # spans: what is shown when, read on entering. start: when the recording begins, whatever its
    # first message is; Unix time. total: messages of the topic.

    is_live = False
    start: float
    total: int | None
    bag: Bag
    spans: Spans

    def __init__(
        self,
        path: str | Path,
        topic: str | None = None,
        labels: str | None = None,
        crop: Crop | None = None,
    ) -> None:
        self.path, self.name = Path(path), Path(path).name
        self.topic, self.labels, self.crop = topic or "", labels, crop
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self.bag = stack.enter_context(open_bag(self.path))
            self.start = self.bag.start / 1e9
            self.topic = self._checked(self.topic, IMAGES) if self.topic else self._only_topic()
            self.total = self.bag.topics[self.topic].total
            self.spans = self._read_labels()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def frames(self) -> Iterator[Frame | Problem]:
        """Yield the images of the topic, and what could not be read as one.

        Yields
        ------
        Frame or Problem
        """
        try:
            yield from map(self._frame, self.bag.messages(self.topic))
        except InputError as error:
            yield Problem(self.name, str(error))

    def _frame(self, message: Message) -> Frame | Problem:
        time = message.time / 1e9
        name = f"{self.name} at {clock(time - self.start)}"
        try:
            shot = read_image(message.data, message.type, self.bag.ros)
            image, digest = shot.picture(self.crop), shot.digest(self.crop)
        except NewfoundError as error:
            return Problem(name, str(error))
        return Frame(image, time, name, digest, self.spans.at(time))

    def _read_labels(self) -> Spans:
        if self.labels is None:
            return Spans()
        if self.labels.lower().endswith((".csv", ".tsv")):
            return read_spans(self.labels, self.start)
        return texts_as_spans(sorted(self._texts(self._checked(self.labels, (STRING,)))))

    def _texts(self, topic: str) -> Iterator[tuple[float, str]]:
        try:
            for message in self.bag.messages(topic):
                yield message.time / 1e9, read_text(message.data, self.bag.ros)
        except MessageError as error:
            raise InputError(f"{self.path}: {topic}: {error}") from error
        except InputError:  # a part is lost, as whoever asks for frames is told
            return

    def _only_topic(self) -> str:
        topics = [name for name, topic in self.bag.topics.items() if topic.type in IMAGES]
        if not topics:
            raise InputError(f"{self.path}: no topic of images in it, but {self._listed()}")
        if len(topics) > 1:
            raise InputError(
                f"{self.path}: {len(topics)} topics of images; choose one of {self._listed(IMAGES)}"
            )
        return topics[0]

    def _checked(self, name: str, types: tuple[str, ...]) -> str:
        topic = self.bag.topics.get(name) or self.bag.topics.get(f"/{name}")
        if topic is None:
            raise InputError(f"{self.path}: no topic {name} in it, but {self._listed()}")
        if topic.type not in types:
            raise InputError(
                f"{self.path}: {name} is of {topic.type}, not of {' or '.join(types)}; "
                f"there is {self._listed(types)}"
            )
        return name if name in self.bag.topics else f"/{name}"

    def _listed(self, types: tuple[str, ...] = ()) -> str:
        """Return the topics there are, of some types or all, with how many messages they have."""
        topics = [
            f"{name} ({topic.total:,} of {topic.type})"
            for name, topic in sorted(self.bag.topics.items())
            if not types or topic.type in types
        ]
        more = len(topics) - MOST_LISTED
        return ", ".join(topics[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "") or "none"
