"""Topics of ROS 1, through rospy: images and commands come, answers, replies and questions go.

Messages travel as bytes, by the definitions of `newfound.robot.messages`: of ROS, nothing but rospy
needs to be installed.
"""

import builtins
import importlib.util
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import sleep
from typing import Any
from xmlrpc.client import ServerProxy

from newfound.common.errors import NewfoundError
from newfound.robot.listening import Listener
from newfound.robot.messages import (
    CLASSIFICATION_2D,
    VISION_INFO,
    classification_ros1,
    read_image,
    text_message,
    typestore,
    vision_info_ros1,
)
from newfound.robot.topics import FREQUENT, TEXTS, Topics

log = logging.getLogger("newfound.robot")
# Topics below the prefix, and the types of their messages.
WRITTEN = TEXTS | {"classification": CLASSIFICATION_2D, "vision_info": VISION_INFO}
# Where Debian has rospy, for the Python that this one may be.
DEBIAN, DEBIANS_PYTHON = Path("/usr/lib/python3/dist-packages"), Path("/usr/bin/python3")
# Bytes that are read at a time: an image must fit, or old ones wait in the line of the system.
ROOM = 1 << 26
# Seconds between two looks whether the master is there, and knows us.
PAUSE = 1.0
# What XML cannot hold, in which the master is told of labels.
_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class NoRosError(NewfoundError, ModuleNotFoundError):
    """rospy is not installed, or not for this Python."""


def import_rospy() -> Any:
    """Return the module rospy, also that of Debian from inside a virtual environment.

    Raises
    ------
    NoRosError
        If there is none; the message says what to do.
    """
    if importlib.util.find_spec("rospy") is None:
        if not (DEBIAN / "rospy").is_dir():
            raise NoRosError(
                "there is no rospy here: on Debian, apt install python3-rospy; elsewhere, source "
                "the setup.bash of ROS before newfound is run"
            )
        theirs, ours = DEBIANS_PYTHON.resolve().name, "python{}.{}".format(*sys.version_info)
        if theirs != ours:
            raise NoRosError(f"rospy is here for {theirs}, but newfound runs in {ours}: use theirs")
        sys.path.append(str(DEBIAN))  # the last: what the environment has counts before it
    import rospy

    return rospy


class Ros1Topics(Topics):
    """A node of ROS 1, as a `Publisher` and as where a `Listener` gets its frames.

    It waits for a master where ROS_MASTER_URI says. One that is restarted is told of the topics
    again, which rospy does not do. A process can have one of these.

    Parameters
    ----------
    prefix : str, default="newfound"
        What the names of its topics begin with.

    Attributes
    ----------
    is_connected : bool
        Whether the master was there when it was last looked for.

    Raises
    ------
    NoRosError
        If there is no rospy for this Python.
    """

    # _numbers: of labels, in the order met, because a Classification2D has no names. _news: is set
    # when there is a new one, or the end has come.

    ros, is_connected = 1, True

    def __init__(self, prefix: str = "newfound") -> None:
        super().__init__(prefix)
        self._rospy, name = import_rospy(), self._prefix.replace("/", "_")
        import rosgraph

        while not rosgraph.is_master_online():
            sleep(PAUSE)
        self._rospy.init_node(name, disable_signals=True, disable_rosout=True)
        self._master = rosgraph.Master(f"/{name}")
        self._numbers: dict[str, int] = {}
        self._subscribers: list[Any] = []
        self._publishers = {name: self._publisher(name, type) for name, type in WRITTEN.items()}
        self._news, self._is_closed = threading.Event(), False
        self._watch = threading.Thread(target=self._keep_master_told, daemon=True)
        self._watch.start()

    @property
    def has_ended(self) -> bool:
        """Whether it was ended from outside: by `rosnode kill`, or a new node of its name."""
        return bool(self._rospy.is_shutdown())

    def listen(self, listener: Listener, topic: str) -> None:
        """Give images of a topic, and commands, to a listener from now on."""

        def on_image(message: Any) -> None:
            data = message._buff  # noqa: SLF001 - AnyMsg has it there
            type = str(message._connection_header["type"])  # noqa: SLF001 - as above
            listener.put(lambda: read_image(data, type, self.ros))

        def on_command(message: Any) -> None:
            listener.command(self._command_in(message._buff))  # noqa: SLF001 - as above

        self._subscribe(topic.strip("/"), on_image, 1)
        self._subscribe(f"{self._prefix}/command", on_command, 100)

    def close(self) -> None:
        """End the node."""
        self._is_closed = True
        self._news.set()
        self._watch.join()
        self._rospy.signal_shutdown("newfound ends")

    def _tell(self, name: str, values: Mapping[str, Any]) -> None:
        self._put(name, text_message(json.dumps(values), self.ros))

    def _classify(self, stamp: int, frame_id: str, results: Sequence[tuple[str, float]]) -> None:
        numbered = [(self._number(label), score) for label, score in results]
        self._put("classification", classification_ros1(stamp, frame_id, numbered))

    def _put(self, name: str, data: bytes) -> None:
        publisher = self._publishers[name]
        message = publisher.data_class()
        message._buff = data  # noqa: SLF001 - AnyMsg has it there
        publisher.publish(message)

    def _publisher(self, name: str, type: str) -> Any:
        """Return what writes messages that are bytes already to a topic."""
        text, digest = typestore(1).generate_msgdef(type)
        values = {"_type": type.replace("/msg/", "/"), "_md5sum": digest, "_full_text": text}
        kind = builtins.type("Message", (self._rospy.AnyMsg,), {**values, "__slots__": []})
        topic, waiting = f"/{self._prefix}/{name}", 1 if name in FREQUENT else 100
        latch = name == "vision_info"  # who comes later is told, too
        return self._rospy.Publisher(topic, kind, queue_size=waiting, latch=latch, tcp_nodelay=True)

    def _subscribe(self, topic: str, do: Callable[[Any], None], waiting: int) -> None:
        options = {"queue_size": waiting, "buff_size": ROOM, "tcp_nodelay": True}
        subscriber = self._rospy.Subscriber(f"/{topic}", self._rospy.AnyMsg, do, **options)
        self._subscribers.append(subscriber)  # or it would end

    def _number(self, label: str) -> int:
        if label not in self._numbers:
            self._numbers[label] = len(self._numbers)
            self._news.set()
        return self._numbers[label]

    def _keep_master_told(self) -> None:
        """Tell the master of labels, and a new master of everything, until the end."""
        import rosgraph

        labels_told = 0
        while not (self._is_closed or self.has_ended):
            self._news.wait(PAUSE)
            self._news.clear()
            try:
                self._master.lookupNode(self._rospy.get_name())
                if len(self._numbers) > labels_told:
                    labels_told = self._tell_labels()
                self.is_connected = True
            except rosgraph.MasterError:  # there is one, but it has never heard of us
                self._register()
                labels_told = 0
            except Exception:  # it is not there, or goes just now and says half a sentence
                self.is_connected = False

    def _tell_labels(self) -> int:
        """Tell what the numbers of a Classification2D mean; return how many there are."""
        labels = [_NOT_IN_XML.sub("\ufffd", label) for label in list(self._numbers)]
        place = f"/{self._prefix}/labels"
        self._master.setParam(place, labels)
        self._put("vision_info", vision_info_ros1(0, "newfound", place, len(labels)))
        return len(labels)

    def _register(self) -> None:
        """Tell a new master of all topics, and ourselves who writes them."""
        uri = self._rospy.get_node_uri()
        try:
            for publisher in self._publishers.values():
                self._master.registerPublisher(publisher.resolved_name, publisher.type, uri)
            for subscriber in self._subscribers:
                topic = subscriber.resolved_name
                writers = self._master.registerSubscriber(topic, "*", uri)
                ServerProxy(uri).publisherUpdate("/master", topic, writers)
        except Exception as error:
            log.warning("the master of ROS could not be told of our topics: %s", error)
