"""The example of a node: its code runs with what rclpy would give it, made up here."""

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from newfound.recognition.editor import Editor
from newfound.recognition.locking import ModelBusyError, locked
from newfound.robot.signing import sign
from tests.robot.camera import CAMERA, picture
from tests.robot.recorder import Recorder

NODE = Path(__file__).parents[2] / "examples" / "ros2_node.py"


class Message(SimpleNamespace):
    """Any message: fields as they are given, and a header."""

    def __init__(self, **fields: Any) -> None:
        stamp = SimpleNamespace(sec=0, nanosec=0)
        super().__init__(header=SimpleNamespace(stamp=stamp, frame_id=""), results=[])
        self.__dict__.update(fields)


@pytest.fixture
def parameters(tmp_path: Path) -> dict[str, Any]:
    """What the node is started with."""
    return {"model": str(tmp_path / "kitchen.newfound")}


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch, parameters: dict[str, Any]) -> Recorder:
    """Put made-up modules of ROS 2 in place; return what is published."""
    heard = Recorder()

    class Node:
        def __init__(self, name: str) -> None:
            self.topics: dict[str, Callable[[Any], None]] = {}

        def declare_parameter(self, name: str, value: Any) -> Any:
            return SimpleNamespace(value=parameters.get(name, value))

        def create_publisher(self, kind: type, topic: str, depth: int) -> Any:
            is_reply = topic == "newfound/reply"
            where = heard.replies if is_reply else heard.answers
            return SimpleNamespace(
                publish=lambda sent: heard.keep(where, {"topic": topic, "sent": sent})
            )

        def create_subscription(self, kind: type, topic: str, do: Any, quality: Any) -> None:
            self.topics[topic] = do

    modules: dict[str, dict[str, Any]] = {
        "rclpy": {},
        "rclpy.node": {"Node": Node},
        "rclpy.qos": {"qos_profile_sensor_data": 10},
        "sensor_msgs": {},
        "sensor_msgs.msg": {"CompressedImage": Message},
        "std_msgs": {},
        "std_msgs.msg": {"String": Message},
        "vision_msgs": {},
        "vision_msgs.msg": {"Classification": Message, "ObjectHypothesis": Message},
    }
    for name, values in modules.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    kitchen = Editor(parameters["model"], "pixels:size=8")
    kitchen.recogniser.teach([picture(1, number) for number in range(3)], "mug")
    kitchen.close()
    return heard


def test_the_node_answers_with_the_images_header_and_does_commands(
    heard: Recorder, parameters: dict[str, Any], tmp_path: Path
) -> None:
    parameters["commands"] = True
    node: Any = runpy.run_path(str(NODE))["NewfoundNode"]()
    with node.held:
        image = Message(format="jpeg", data=picture(1, 9))
        image.header.stamp.sec, image.header.stamp.nanosec = 1_700_000_000, 123_456_789
        image.header.frame_id = CAMERA
        node.topics["image"](image)
        of = "newfound/classification"
        sent = heard.wait(heard.answers, lambda said: said["topic"] == of)["sent"]
        assert sent.header == image.header
        assert [result.class_id for result in sent.results] == ["mug"]
        assert json.loads(heard.answers[0]["sent"].data)["label"] == "mug"
        node.topics["newfound/command"](Message(data="forget mug"))
        assert json.loads(heard.wait(heard.replies)["sent"].data)["ok"]
        with pytest.raises(ModelBusyError), locked(tmp_path / "kitchen.newfound"):
            pass


def test_the_node_refuses_commands_unless_they_are_signed_or_allowed(
    heard: Recorder, parameters: dict[str, Any], tmp_path: Path
) -> None:
    secret, said = tmp_path / "robot.secret", list[Any]()
    secret.touch(mode=0o600)
    secret.write_bytes(bytes(32))
    for parameters["secret_file"] in ("", str(secret)):
        node: Any = runpy.run_path(str(NODE))["NewfoundNode"]()
        with node.held:
            for text in ("state", sign("state", bytes(32))):
                node.topics["newfound/command"](Message(data=text))
                heard.wait_for_number(heard.replies, len(said) + 1)
                said.append(json.loads(heard.replies[-1]["sent"].data)["ok"])
    assert said == [False, False, False, True]
