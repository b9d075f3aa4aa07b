"""What topics of ROS 2 are called on Zenoh: by zenoh-bridge-ros2dds, and by rmw_zenoh.

The bridge calls a topic what ROS calls it, without the slash in front. rmw_zenoh (from 0.2.4) adds
the domain, the type and the hash of its definition, sends an attachment with each message, and
finds nodes and topics by liveliness tokens. Both put messages in CDR.
"""

import re
import struct
from functools import cache
from time import time_ns
from typing import NamedTuple

from newfound.common.files import digest_of
from newfound.robot.messages import MessageError, type_name, typestore

NODE = "newfound"
# Quality of service in a token: all as rmw_zenoh has it by default, and a history of ten.
_QUALITY = "::,10:,:,:,,"
_TYPE = re.compile(r"\w+::msg::dds_::\w+_")


class Names(NamedTuple):
    """How topics are called.

    Examples
    --------
    >>> Names().to_write("/newfound/answer", "std_msgs/msg/String")
    'newfound/answer'
    >>> Names().to_read("/camera/image")
    'camera/image'
    >>> Names(domain=0).to_read("/camera/image")
    '0/camera/image/*/*'
    >>> Names(domain=0).to_write("/newfound/answer", "std_msgs/msg/String")
    '0/newfound/answer/std_msgs::msg::dds_::String_/RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db...'
    """

    domain: int | None = None  # that of rmw_zenoh; None: names are those of the bridge

    def to_read(self, topic: str) -> str:
        """Return the key of a topic, whatever its type."""
        name = topic.strip("/")
        return name if self.domain is None else f"{self.domain}/{name}/*/*"

    def to_write(self, topic: str, type: str) -> str:
        """Return the key of a topic for messages of a type."""
        name = topic.strip("/")
        return name if self.domain is None else f"{self.domain}/{name}/{_typed(type)}"

    def type_of(self, key: str) -> str | None:
        """Return the type that a key of a message tells; None: here, keys tell none.

        >>> Names(7).type_of("7/camera/image/sensor_msgs::msg::dds_::Image_/RIHS01_0")
        'sensor_msgs/msg/Image'
        """
        if self.domain is None:
            return None
        written = key.split("/")[-2]
        if not _TYPE.fullmatch(written):
            raise MessageError(f"{written!r} is not how rmw_zenoh writes a type")
        return type_name(written)

    def token(self, session: str, number: int, kind: str, topic: str = "", type: str = "") -> str:
        """Return the token of the node ("NN"), or of one who writes ("MP") or reads ("MS").

        >>> Names(0).token("ab12", 0, "NN")
        '@ros2_lv/0/ab12/0/0/NN/%/%/newfound'
        >>> Names(0).token("ab12", 3, "MP", "newfound/answer", "std_msgs/msg/String")
        '@ros2_lv/0/ab12/0/3/MP/%/%/newfound/%newfound%answer/std_msgs::msg::dds_::String_/RIHS0...'
        """
        token = f"@ros2_lv/{self.domain}/{session}/0/{number}/{kind}/%/%/{NODE}"
        if not topic:
            return token
        name = "/" + topic.strip("/")
        return f"{token}/{name.replace('/', '%')}/{_typed(type)}/{_QUALITY}"


@cache
def _typed(type: str) -> str:
    """Return a type and the hash of its definition, as DDS writes the one and ROS the other."""
    package, _, name = type_name(type).split("/")
    return f"{package}::msg::dds_::{name}_/{typestore(2).hash_rihs01(type_name(type))}"


def attachment(number: int, token: str) -> bytes:
    r"""Return what rmw_zenoh wants with a message; without it, whoever reads may crash.

    33 bytes: the number of the message, Unix time in nanoseconds, and the id of the writer, made
    of its token, after its length.

    Examples
    --------
    >>> first = attachment(1, Names(0).token("ab12", 3, "MP"))
    >>> len(first), first[:8], first[16]
    (33, b'\x01\x00\x00\x00\x00\x00\x00\x00', 16)
    """
    return struct.pack("<qqB16s", number, time_ns(), 16, digest_of(token.encode()))
