"""A node of ROS 1 that sends images, gives commands, and prints what it hears, a line each."""

import json
import sys
import threading
from collections.abc import Mapping
from time import time_ns
from typing import Any

from newfound.robot.messages import (
    CLASSIFICATION_2D,
    COMPRESSED,
    VISION_INFO,
    decode,
    typestore,
)
from newfound.robot.ros1_topics import import_rospy
from tests.robot.camera import message


def main() -> None:
    """Send 15 frames a second of the thing that stdin names; other lines there are commands."""
    rospy: Any = import_rospy()
    from std_msgs.msg import String  # ROS's own, which knows nothing of newfound

    rospy.init_node("camera", disable_signals=True)
    text, digest = typestore(1).generate_msgdef(COMPRESSED)
    values = {"_type": "sensor_msgs/CompressedImage", "_md5sum": digest, "_full_text": text}
    kind = type("CompressedImage", (rospy.AnyMsg,), {**values, "__slots__": []})
    images = rospy.Publisher("/camera/image/compressed", kind, queue_size=1)
    commands = rospy.Publisher("/newfound/command", String, queue_size=10)
    for name in ("answer", "reply"):
        rospy.Subscriber(
            f"/newfound/{name}", String, lambda said, name=name: tell(name, json.loads(said.data))
        )
    for name, of in ("classification", CLASSIFICATION_2D), ("vision_info", VISION_INFO):
        rospy.Subscriber(
            f"/newfound/{name}",
            rospy.AnyMsg,
            lambda said, name=name, of=of: tell(
                name,
                fields_of(rospy, name, decode(said._buff, of, ros=1)),  # noqa: SLF001 - AnyMsg's
            ),
        )
    shown = [1]

    def read() -> None:
        for line in sys.stdin:
            if line.strip().isdecimal():
                shown[0] = int(line)
            else:
                commands.publish(String(line.strip()))

    threading.Thread(target=read, daemon=True).start()
    number, pause = 0, threading.Event()
    while not pause.wait(1 / 15):
        frame = kind()
        frame._buff = message(shown[0], number % 40, time_ns(), ros=1)  # noqa: SLF001
        images.publish(frame)
        number += 1


def fields_of(rospy: Any, name: str, message: Any) -> Mapping[str, Any]:
    """Return what a message of vision_msgs says."""
    if name == "vision_info":
        labels = rospy.get_param(message.database_location)
        return {"method": message.method, "labels": labels, "version": message.database_version}
    stamp = {"sec": message.header.stamp.sec, "nanosec": message.header.stamp.nanosec}
    return {"stamp": stamp, "ids": [result.id for result in message.results]}


def tell(name: str, values: Mapping[str, Any]) -> None:
    sys.stdout.write(f"{name} {json.dumps(values)}\n")  # whole, for several threads tell
    sys.stdout.flush()


if __name__ == "__main__":
    main()
