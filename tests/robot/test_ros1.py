"""ROS 1 for real, where it is installed: roscore, a camera, lessons by command, a new master."""

import importlib.util
import json
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from newfound.recognition.editor import Editor
from newfound.recognition.recogniser import Recogniser
from newfound.robot import ros1_topics
from newfound.robot.messages import (
    CLASSIFICATION_2D,
    COMPRESSED,
    IMAGE,
    STRING,
    VISION_INFO,
    typestore,
)
from newfound.robot.ros1_topics import NoRosError, import_rospy
from newfound.robot.signing import sign
from tests.command_line import picture
from tests.old_labels import relabel
from tests.robot.process import Process
from tests.robot.zenoh_client import free_port

MUG, CUP = 1, 2


def test_definitions_are_those_of_ros_to_the_digest() -> None:
    # As rosmsg md5 gives them; a node of ROS takes no message of another.
    assert {name: typestore(1).generate_msgdef(name)[1] for name in MD5} == MD5


MD5 = {
    STRING: "992ce8a1687cec8c8bd883ec73ca41d1",
    IMAGE: "060021388200f6f0f447d0fcd9c64743",
    COMPRESSED: "8f7a12909da2c9d3332d540a0977563f",
    CLASSIFICATION_2D: "b23d0855d0f41568e09106615351255f",
    VISION_INFO: "eee36f8dc558754ceb4ef619179d8b34",
}


def test_without_rospy_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(ros1_topics, "DEBIAN", tmp_path)
    with pytest.raises(NoRosError, match="apt install python3-rospy"):
        import_rospy()
    (tmp_path / "rospy").mkdir()
    monkeypatch.setattr(ros1_topics, "DEBIANS_PYTHON", tmp_path / "python2.7")
    with pytest.raises(NoRosError, match=r"for python2\.7, but newfound runs in"):
        import_rospy()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start processes of ROS on a port of the loopback, and end them, the last one first."""
    port, started = free_port(), list[Process]()
    environment = {
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_HOSTNAME": "127.0.0.1",
        "ROS_HOME": str(tmp_path / "ros"),
        "ROS_LOG_DIR": str(tmp_path / "ros"),
        "ROS_PYTHON_LOG_CONFIG_FILE": "",
    }

    def start(*words: object) -> Process:
        if words == ("roscore",):
            roscore = shutil.which("roscore")
            assert roscore is not None
            started.append(Process("-p", port, program=roscore, **environment))
        else:
            started.append(Process(*words, **environment))
        return started[-1]

    yield start
    for process in reversed(started):
        if process.is_alive:
            process.end(signal.SIGINT)  # roscore ends its own children
        process.__exit__(None, None, None)


def heard(line: str) -> Any:
    return json.loads(line.partition(" ")[2])


@pytest.mark.needs("ros")
@pytest.mark.slow
def test_a_robot_of_ros_1_teaches_by_command_and_a_new_master_is_told(
    run: Callable[..., Process], tmp_path: Path
) -> None:
    model, topic = tmp_path / "kitchen.newfound", "/camera/image/compressed"
    words = "-m", "newfound", "listen", model, "--ros1", topic, "--extractor", "pixels:size=8"
    robot = run(*words, "--commands")
    robot.wait_for("no master of ROS yet")
    master = run("roscore")
    robot.wait_for("Listening")
    camera = run("-m", "tests.robot.ros1_camera")
    camera.wait_for("answer ")
    for thing, label in (MUG, "mug"), (CUP, "cup"):
        camera.tell(thing)
        camera.tell(json.dumps({"do": "teach", "label": label, "seconds": 0}))
        camera.wait_for(f'"teaching": "{label}"')
        camera.wait_for(f'"label": "{label}", "known"')
        camera.tell("stop")
        assert heard(camera.wait_for(f" of {label}"))["ok"]
    labels = heard(camera.wait_for('vision_info {"method": "newfound", "labels": ["mug", "cup"]'))
    assert labels["version"] == 2
    answer = heard(camera.wait_for('"label": "cup", "known": true'))
    result = heard(camera.wait_for(f'classification {{"stamp": {json.dumps(answer["stamp"])}'))
    assert result["ids"][0] == labels["labels"].index("cup")

    master.end(signal.SIGINT)
    robot.wait_for("Nobody is there")
    run("roscore")
    robot.wait_for("Connected")
    camera.end(signal.SIGKILL)
    camera = run("-m", "tests.robot.ros1_camera")  # knows the new master only
    camera.wait_for("answer ")
    camera.tell("state")
    counts = heard(camera.wait_for('reply {"command": "state"'))["classes"]
    assert set(counts) == {"mug", "cup"}
    assert robot.end(signal.SIGTERM) == 0
    found = Editor(model, "pixels:size=8", read_only=True)
    assert found.recogniser.counts == counts
    found.close()


@pytest.mark.needs("ros")
@pytest.mark.slow
def test_labels_that_xml_cannot_hold_are_told_and_who_loses_the_nodes_name_ends(
    run: Callable[..., Process], tmp_path: Path
) -> None:
    run("roscore").wait_for("started core service")
    words = "--ros1", "/camera/image/compressed", "--extractor", "pixels:size=8"
    model, image = tmp_path / "one.newfound", tmp_path / "mug.png"
    picture(0, 0).save(image)
    recogniser = Recogniser(model, "pixels:size=8")
    recogniser.teach([image], "mug")
    recogniser.save()
    relabel(model, {"mug": "a\1b"})
    robot = run("-m", "newfound", "listen", model, *words)
    robot.wait_for("Listening")
    camera = run("-m", "tests.robot.ros1_camera")
    labels = heard(camera.wait_for("vision_info "))["labels"]
    assert labels == ["a\ufffdb"]
    other = run("-m", "newfound", "listen", tmp_path / "other.newfound", *words)
    other.wait_for("Listening")
    robot.wait_for("the node was ended from outside")


@pytest.mark.needs("ros")
@pytest.mark.slow
def test_commands_over_ros_1_are_refused_unless_they_are_signed(
    run: Callable[..., Process], tmp_path: Path
) -> None:
    secret, model = tmp_path / "robot.secret", tmp_path / "kitchen.newfound"
    secret.touch(mode=0o600)
    secret.write_bytes(bytes(32))
    run("roscore").wait_for("started core service")
    words = "-m", "newfound", "listen", model, "--ros1", "/camera/image/compressed"
    for options, refusal in ((), "commands are refused"), (("--secret-file", secret), "signed"):
        robot = run(*words, "--extractor", "pixels:size=8", *options)
        robot.wait_for("Listening")
        camera = run("-m", "tests.robot.ros1_camera")
        camera.wait_for("answer ")
        camera.tell("state")
        assert refusal in heard(camera.wait_for("reply "))["error"]
        if options:
            camera.tell(sign("stop", bytes(32)))
            assert heard(camera.wait_for('reply {"command": "stop"'))["ok"]
        camera.end(signal.SIGKILL)
        assert robot.end(signal.SIGTERM) == 0
