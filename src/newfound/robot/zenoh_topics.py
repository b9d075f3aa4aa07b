"""Topics on Zenoh: images and commands come, answers, replies and questions go."""

import json
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from newfound.common.errors import InputError
from newfound.common.extras import imported_from
from newfound.robot.listening import Listener
from newfound.robot.messages import (
    CLASSIFICATION,
    COMPRESSED,
    STRING,
    ImageMessage,
    classification_ros2,
    read_image,
    text_message,
)
from newfound.robot.topics import FREQUENT, TEXTS, Topics
from newfound.robot.zenoh_names import Names, attachment

with imported_from("robot"):
    import zenoh
    from zenoh.handlers import Callback

# Topics below the prefix, and the types of their messages.
WRITTEN = TEXTS | {"classification": CLASSIFICATION}
# Whoever is not there is tried again, after so many milliseconds at first and at last, for ever.
PATIENT = {
    "connect/timeout_ms": -1,
    "connect/exit_on_failure": False,
    "connect/retry": {"period_init_ms": 200, "period_max_ms": 1000, "period_increase_factor": 2},
}


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
        endpoints: dict[str, Any] = {
            "connect/endpoints": self.connect,
            "listen/endpoints": self.listen,
        }
        if self.file is not None:
            config = zenoh.Config.from_file(self.file)
            values = {name: addresses for name, addresses in endpoints.items() if addresses}
        else:
            config, values = zenoh.Config(), dict(PATIENT)
            if self.connect or self.listen:
                values |= {**endpoints, "scouting/multicast/enabled": False}
            if len(self.connect) == 1 and not self.listen:
                values["mode"] = "client"
        for name, value in values.items():
            config.insert_json5(name, json.dumps(value))
        return config


class ZenohTopics(Topics):
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
        super().__init__(prefix)
        self._names = Names(domain)
        try:
            self._session: Any = zenoh.open((network or Network()).config())
        except zenoh.ZError as error:
            raise InputError(f"Zenoh cannot be opened: {error}") from error
        self._entities, self._tokens = count(1), list[Any]()
        self._declare("NN")
        self._messages = {name: self._writer(name, type) for name, type in WRITTEN.items()}
        self._texts = {
            name: _Writer(self._session, f"{self._prefix}/{name}/json", name in FREQUENT)
            for name in TEXTS
        }

    @property
    def is_connected(self) -> bool:
        """Whether anybody is there."""
        return bool(self._session.info.transports())  # clients, too, which have no other list

    @property
    def has_ended(self) -> bool:
        """Whether the session is closed."""
        return bool(self._session.is_closed())

    def listen(self, listener: Listener, topic: str) -> None:
        """Give images of a topic, and commands, to a listener from now on."""
        session, names = self._session, self._names
        command = f"{self._prefix}/command"

        def read(sample: Any) -> ImageMessage:
            return read_image(sample.payload.to_bytes(), names.type_of(str(sample.key_expr)))

        def on_image(sample: Any) -> None:
            listener.put(lambda: read(sample))

        def on_command(sample: Any) -> None:
            listener.command(self._command_in(sample.payload.to_bytes()))

        def on_query(query: Any) -> None:
            def tell(reply: Mapping[str, Any]) -> None:
                with query:
                    query.reply(command, json.dumps(reply))

            data = b"" if query.payload is None else query.payload.to_bytes()
            listener.command(self._command_in(data), tell)

        # In the thread that receives: these return at once, and so nothing waits between.
        commands = {command, names.to_read(command)}
        for key, do in (names.to_read(topic), on_image), *((key, on_command) for key in commands):
            session.declare_subscriber(_key(key), Callback(do, indirect=False))
        session.declare_queryable(command, Callback(on_query, indirect=False))
        self._declare("MS", topic, COMPRESSED)
        self._declare("MS", command, STRING)

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _tell(self, name: str, values: Mapping[str, Any]) -> None:
        text = json.dumps(values)
        self._messages[name].put(text_message(text))
        self._texts[name].put(text)

    def _classify(self, stamp: int, frame_id: str, results: Sequence[tuple[str, float]]) -> None:
        self._messages["classification"].put(classification_ros2(stamp, frame_id, results))

    def _writer(self, name: str, type: str) -> "_Writer":
        topic = f"{self._prefix}/{name}"
        key, token = self._names.to_write(topic, type), self._declare("MP", topic, type)
        return _Writer(self._session, key, name in FREQUENT, token)

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

    # _token: that of the writer, which rmw_zenoh knows by it; empty: there is none.

    def __init__(self, session: Any, key: str, is_frequent: bool, token: str = "") -> None:
        self._token, self._numbers = token, count(1)
        self._publisher = session.declare_publisher(
            key,
            congestion_control=zenoh.CongestionControl.DROP,
            priority=zenoh.Priority.DATA if is_frequent else zenoh.Priority.INTERACTIVE_HIGH,
            express=True,  # at once, and not together with what comes next
        )

    def put(self, data: bytes | str) -> None:
        more = attachment(next(self._numbers), self._token) if self._token else None
        self._publisher.put(data, attachment=more)


def _key(text: str) -> Any:
    try:
        return zenoh.KeyExpr(text)
    except zenoh.ZError as error:
        raise InputError(f"{text!r} is no topic of Zenoh: {error}") from error
