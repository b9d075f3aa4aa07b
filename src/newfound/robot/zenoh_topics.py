"""Topics on Zenoh: images and commands come, answers, replies and questions go."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.common.files import digest_of
from newfound.robot.answers import results_of
from newfound.robot.commands import LONGEST
from newfound.robot.messages import (
    CLASSIFICATION,
    COMPRESSED,
    STRING,
    MessageError,
    classification_cdr,
    image_message_cdr,
    string_cdr,
    string_message_cdr,
)
from newfound.robot.zenoh_names import Attachments, Names

if TYPE_CHECKING:
    from newfound.robot.listening import Listener
    from newfound.robot.messages import ImageMessage

# Topics below the prefix, and the types of their messages.
WRITTEN = {
    "answer": STRING,
    "classification": CLASSIFICATION,
    "reply": STRING,
    "question": STRING,
}
# Those that are written to for every frame.
FREQUENT = ("answer", "classification")
# No command has more bytes; of one that has, the rest is not read.
MOST_BYTES = 4 * LONGEST + 16
# Who is not there is tried again after so many milliseconds, at first and at last.
RETRY = {"period_init_ms": 200, "period_max_ms": 1000, "period_increase_factor": 2}


class Network(NamedTuple):
    """Whom to speak to. By default whoever multicast finds, as Zenoh itself does.

    With one address to connect to, the session is a client of whoever is there: routers pass on to
    clients what they do not pass from peer to peer.
    """

    connect: Sequence[str] = ()  # addresses such as tcp/192.168.1.7:7447
    listen: Sequence[str] = ()  # addresses that others may connect to
    file: Path | None = None  # a configuration of Zenoh's own

    def config(self) -> Any:
        """Return it as Zenoh wants it. Who names addresses looks for nobody else."""
        import zenoh

        is_plain = self.file is None
        config = zenoh.Config() if self.file is None else zenoh.Config.from_file(self.file)
        values: dict[str, Any] = {}
        if is_plain:
            values |= {"connect/timeout_ms": -1, "connect/exit_on_failure": False}
            values["connect/retry"] = RETRY
        if is_plain and len(self.connect) == 1 and not self.listen:
            values["mode"] = "client"
        if self.connect:
            values["connect/endpoints"] = list(self.connect)
        if self.listen or (self.connect and is_plain):
            values["listen/endpoints"] = list(self.listen)
        if (self.listen or self.connect) and is_plain:
            values["scouting/multicast/enabled"] = False
        for name, value in values.items():
            config.insert_json5(name, json.dumps(value))
        return config


class ZenohTopics:
    """A session of Zenoh, as a `Publisher` and as where a `Listener` gets its frames.

    It finds whoever comes, or comes back, by itself. One that connects to a single address waits
    for it to open; others open whether or not anyone is there.

    Parameters
    ----------
    network : Network, optional
    prefix : str, default="newfound"
        What the names of its topics begin with.
    domain : int, optional
        The ROS domain, for rmw_zenoh. By default names are those of zenoh-bridge-ros2dds.

    Raises
    ------
    InputError
        If an address or a configuration is wrong, or taken.
    """

    # _messages: writers of CDR. _texts: of plain JSON, for whoever speaks no ROS.
    # _tokens: what ROS 2 knows of the topics, as long as they are held.

    def __init__(
        self, network: Network | None = None, prefix: str = "newfound", domain: int | None = None
    ) -> None:
        with imported_from("robot"):
            import zenoh
        self._names, self._prefix = Names(domain), prefix.strip("/")
        try:
            self._session: Any = zenoh.open((network or Network()).config())
        except zenoh.ZError as error:
            raise InputError(f"Zenoh cannot be opened: {error}") from error
        self._entities, self._tokens = count(1), list[Any]()
        self._declare("NN")
        self._messages = {name: self._writer(name, type) for name, type in WRITTEN.items()}
        self._texts = {
            name: _Writer(self._session, f"{self._prefix}/{name}/json", name in FREQUENT)
            for name, type in WRITTEN.items()
            if type == STRING
        }

    @property
    def is_connected(self) -> bool:
        """Whether anybody is there."""
        return bool(self._session.info.transports())  # clients, too, which have no other list

    @property
    def has_ended(self) -> bool:
        """Whether the session is closed."""
        return bool(self._session.is_closed())

    def listen(self, listener: "Listener", topic: str) -> None:
        """Give images of a topic, and commands, to a listener from now on."""
        from zenoh.handlers import Callback

        session, names = self._session, self._names
        command = f"{self._prefix}/command"

        def on_image(sample: Any) -> None:
            listener.put(lambda: read(sample))

        def read(sample: Any) -> "ImageMessage":
            type = names.type_of(str(sample.key_expr))
            return image_message_cdr(sample.payload.to_bytes(), type)

        def on_command(sample: Any) -> None:
            listener.command(_text(sample.payload))

        def on_query(query: Any) -> None:
            def tell(reply: Mapping[str, Any]) -> None:
                with query:
                    query.reply(command, json.dumps(reply))

            listener.command("" if query.payload is None else _text(query.payload), tell)

        with suppress(MessageError):
            image_message_cdr(b"")  # the first takes long, and shall not be a frame
        # In the thread that receives: these return at once, and so nothing waits between.
        commands = {command, names.to_read(command)}
        for key, do in (names.to_read(topic), on_image), *((key, on_command) for key in commands):
            session.declare_subscriber(_key(key), Callback(do, indirect=False))
        session.declare_queryable(command, Callback(on_query, indirect=False))
        self._declare("MS", topic, COMPRESSED)
        self._declare("MS", command, STRING)

    def answer(self, answer: Mapping[str, Any], message: "ImageMessage") -> None:
        """Say what an image shows, in JSON and as a Classification with the image's header."""
        self._tell("answer", answer)
        stamp, results = message.stamp or 0, results_of(answer)
        data = classification_cdr(stamp, message.frame_id, results)
        self._messages["classification"].put(data)

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Say what became of a command."""
        self._tell("reply", reply)

    def question(self, question: Mapping[str, Any]) -> None:
        """Ask what something is."""
        self._tell("question", question)

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _tell(self, name: str, values: Mapping[str, Any]) -> None:
        text = json.dumps(values)
        self._messages[name].put(string_message_cdr(text))
        self._texts[name].put(text)

    def _writer(self, name: str, type: str) -> "_Writer":
        topic = f"{self._prefix}/{name}"
        token = self._declare("MP", topic, type)
        attachments = Attachments(digest_of(token.encode())) if token else None
        key = self._names.to_write(topic, type)
        return _Writer(self._session, key, name in FREQUENT, attachments)

    def _declare(self, kind: str, topic: str = "", type: str = "") -> str:
        """Let rmw_zenoh know of the node or of a topic; return the token that says so."""
        if self._names.domain is None:
            return ""
        number = 0 if kind == "NN" else next(self._entities)
        token = self._names.token(str(self._session.zid()), number, kind, topic, type)
        self._tokens.append(self._session.liveliness().declare_token(token))
        return token


class _Writer:
    """Writes to one topic. It never waits for who reads slowly: what does not fit is dropped.

    Answers stand in a line of their own, so that they do not take the room of what comes seldom.
    """

    def __init__(
        self, session: Any, key: str, is_frequent: bool, attachments: Attachments | None = None
    ) -> None:
        import zenoh

        self._attachments = attachments
        self._publisher = session.declare_publisher(
            key,
            congestion_control=zenoh.CongestionControl.DROP,
            priority=zenoh.Priority.DATA if is_frequent else zenoh.Priority.INTERACTIVE_HIGH,
            express=True,  # at once, and not together with what comes next
        )

    def put(self, data: bytes | str) -> None:
        more = None if self._attachments is None else self._attachments.next()
        self._publisher.put(data, attachment=more)


def _key(text: str) -> Any:
    import zenoh

    try:
        return zenoh.KeyExpr(text)
    except zenoh.ZError as error:
        raise InputError(f"{text!r} is no topic of Zenoh: {error}") from error


def _text(payload: Any) -> str:
    """Return the command in a message: text, or a String in CDR, which begins with a zero."""
    data: bytes = payload.to_bytes()
    try:
        if data[:1] == b"\0":
            return string_cdr(data)[:MOST_BYTES]
    except MessageError:
        pass  # whatever it is, it is no command, and that is said
    return data[:MOST_BYTES].decode("utf-8", "replace")
