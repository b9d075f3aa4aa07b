"""Zenoh for real, on the loopback: a camera in another process, lessons by command, reconnects."""

import json
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zenoh

from newfound.recognition.editor import Editor
from newfound.robot.listening import Listener
from newfound.robot.messages import (
    CLASSIFICATION,
    COMPRESSED,
    decode,
    read_text,
    text_message,
    typestore,
)
from newfound.robot.signing import read_secret, sign
from newfound.robot.zenoh_topics import Network, ZenohTopics
from tests.background import PATIENCE
from tests.command_line import newfound
from tests.robot.camera import CAMERA, message
from tests.robot.process import Process
from tests.robot.recorder import says
from tests.robot.zenoh_client import IMAGES, Client, free_port, session

MUG, CUP = 1, 2
STAMP = 1_700_000_000_123_456_789


@contextmanager
def listening(
    folder: Path, domain: int | None = None, **options: Any
) -> Iterator[tuple[Listener, Client]]:
    """A listener in this process that does commands, and a client of it."""
    port = free_port()
    editor = Editor(folder / "kitchen.newfound", "pixels:size=8")
    topics = ZenohTopics(Network(listen=[f"tcp/127.0.0.1:{port}"]), domain=domain)
    listener = Listener(editor, topics, half_life=0.0, **{"commands": True, **options})
    try:
        topics.listen(listener, IMAGES)
        with session(connect=[f"tcp/127.0.0.1:{port}"]) as opened:
            client = Client(opened)
            client.ask("state")  # from here on, both know of each other
            yield listener, client
    finally:
        listener.close()
        topics.close()
        editor.close()


@pytest.mark.slow
def test_a_robot_teaches_by_command_and_survives_a_camera_that_is_killed(tmp_path: Path) -> None:
    model = tmp_path / "kitchen.newfound"
    camera_port, port = free_port(), free_port()
    words = "-m", "newfound", "listen", model, "--zenoh", IMAGES, "--extractor", "pixels:size=8"
    network = "--connect", f"tcp/127.0.0.1:{camera_port}", "--listen", f"tcp/127.0.0.1:{port}"
    camera = "-m", "tests.robot.zenoh_client", camera_port
    with Process(*words, *network, "--json", "--ask", "--commands") as robot:
        robot.wait_for("Nobody is there")  # the camera comes later
        with session(connect=[f"tcp/127.0.0.1:{port}"]) as opened:
            client = Client(opened)
            robot.wait_for("Connected")
            with Process(*camera, MUG) as publisher:
                number = client.wait(client.questions)["id"]  # a new model knows nothing
                robot.wait_for("what is it? Question 1")
                assert client.ask(f"name {number} mug")["ok"]
                publisher.tell(CUP)
                assert client.ask('{"do": "teach", "label": "cup", "seconds": 0}')["ok"]
                client.wait(client.answers, says(teaching="cup", label="cup"))
                assert client.ask("stop")["taught"] >= 1
                client.wait(client.answers, says(teaching=None, label="cup"))
                assert publisher.end(signal.SIGKILL) == -signal.SIGKILL
            so_far = len(client.answers)
            with Process(*camera, MUG) as publisher:  # at the same address
                client.wait(
                    client.answers,
                    lambda said: said["label"] == "mug" and client.answers.index(said) >= so_far,
                )
                counts = client.ask("state")["classes"]
        robot.wait_for('"label": "mug"')
        assert robot.end(signal.SIGTERM) == 0
    found = Editor(model, "pixels:size=8", read_only=True)
    assert found.recogniser.counts == counts
    found.close()


@pytest.mark.slow
def test_a_camera_behind_a_router_is_heard_before_and_after_the_router_is_restarted(
    tmp_path: Path,
) -> None:
    address = f"tcp/127.0.0.1:{free_port()}"
    words = "-m", "newfound", "listen", tmp_path / "kitchen.newfound", "--zenoh", IMAGES
    router = Network(listen=[address]).config()
    router.insert_json5("mode", '"router"')
    peer = Network(connect=[address]).config()  # that nobody can connect to
    peer.insert_json5("mode", '"peer"')
    pixels = "--extractor", "pixels:size=8"
    with Process(*words, *pixels, "--connect", address, "--json") as robot:
        robot.wait_for("Nobody is there")
        with zenoh.open(peer) as camera:
            for _ in range(2):
                so_far = len(robot.said)
                with zenoh.open(router):
                    robot.wait_while(lambda: camera.put(IMAGES, message(MUG, 0)), '"label"', so_far)
        assert robot.end(signal.SIGTERM) == 0


@pytest.mark.slow
def test_a_listener_that_waits_for_a_router_can_be_ended(tmp_path: Path) -> None:
    address = f"tcp/127.0.0.1:{free_port()}"
    words = "-m", "newfound", "listen", tmp_path / "kitchen.newfound", "--zenoh", IMAGES
    with Process(*words, "--extractor", "pixels:size=8", "--connect", address) as robot:
        robot.wait_for("Nobody is there")
        assert robot.end(signal.SIGINT) == 130


@pytest.mark.slow
def test_a_stranger_is_answered_but_may_not_command_nor_fill_the_log(tmp_path: Path) -> None:
    port, strangers = free_port(), 1500
    words = "-m", "newfound", "listen", tmp_path / "kitchen.newfound", "--zenoh", IMAGES
    network = "--listen", f"tcp/127.0.0.1:{port}"
    with Process(*words, "--extractor", "pixels:size=8", *network) as robot:
        assert "commands are refused" in robot.wait_for("Listening")
        with session(connect=[f"tcp/127.0.0.1:{port}"]) as opened:
            client = Client(opened)
            assert "start newfound listen with --commands" in client.ask("teach mug")["error"]
            opened.put(IMAGES, message(MUG, 0))
            client.wait(client.answers, says(label=None, teaching=None))
            for number in range(strangers):
                opened.put("newfound/command", f"forget {number}")
            for _ in range(strangers):
                assert not client.ask("state")["ok"]
            robot.wait_for("1,000 of these so far; next at 10,000")
            assert robot.end(signal.SIGTERM) == 0
    assert len([line for line in robot.said if "commands are refused" in line]) == 102


@pytest.mark.slow
def test_who_holds_the_secret_commands_a_listener_and_nobody_else_does(tmp_path: Path) -> None:
    port, secret = free_port(), tmp_path / "robot.secret"
    secret.touch(mode=0o600)
    secret.write_bytes(bytes(32))
    words = "-m", "newfound", "listen", tmp_path / "kitchen.newfound", "--zenoh", IMAGES
    network = "--listen", f"tcp/127.0.0.1:{port}", "--secret-file", secret
    signed = sign("teach mug", read_secret(secret))
    for is_done in (True, False):  # what a stranger heard is worth nothing, also after a restart
        with Process(*words, "--extractor", "pixels:size=8", *network) as robot:
            assert "signed commands" in robot.wait_for("Listening")
            with session(connect=[f"tcp/127.0.0.1:{port}"]) as opened:
                client = Client(opened)
                assert "must be signed" in client.ask("teach mug")["error"]
                assert client.ask(signed)["ok"] is is_done
                assert "came before" in client.ask(signed)["error"]
                opened.put("newfound/command", text_message(sign("stop", bytes(32))))
                assert client.wait(client.replies, says(command="stop"))["ok"]
            assert robot.end(signal.SIGTERM) == 0


def test_answers_go_as_text_as_a_string_and_as_a_classification(tmp_path: Path) -> None:
    with listening(tmp_path) as (_, client):
        strings, classes = client.hear("newfound/answer"), client.hear("newfound/classification")
        client.ask('{"do": "teach", "label": "mug", "seconds": 0}')
        for number in (1, 2):
            client.session.put(IMAGES, message(MUG, number, STAMP))
            for heard in (client.answers, strings, classes):
                client.wait_for_number(heard, number)
    assert [json.loads(read_text(each["data"])) for each in strings] == client.answers
    assert client.answers[1]["label"] == "mug"
    unknown, known = (decode(each["data"], CLASSIFICATION) for each in classes)
    assert unknown.results == []
    assert known.results[0].class_id == "mug"
    assert (known.header.stamp.sec, known.header.stamp.nanosec) == divmod(STAMP, 10**9)
    assert known.header.frame_id == CAMERA


def test_commands_come_as_text_as_json_as_a_string_and_as_a_query(tmp_path: Path) -> None:
    with listening(tmp_path) as (_, client):
        for sent, text in (
            ("save", "save"),
            ('{"do": "undo"}', '{"do": "undo"}'),
            (text_message("forget mug"), "forget mug"),
        ):
            client.session.put("newfound/command", sent)
            client.wait(client.replies, says(command=text))
        assert "there are: teach LABEL" in client.ask("")["error"]
        everything = client.session.get("newfound/**", timeout=PATIENCE)
        assert [str(reply.ok.key_expr) for reply in everything] == ["newfound/command"]
        client.session.put("newfound/command", b"\0\1\0\0\xff\xff\xff\xffmug")
        assert client.wait(client.replies, lambda said: "\0" in said["command"])["ok"] is False


def test_under_a_domain_names_types_and_attachments_are_those_of_rmw_zenoh(tmp_path: Path) -> None:
    # As ros2/rmw_zenoh documents them (docs/design.md, attachment_helpers.cpp of 0.2.4 and later);
    # there is no ROS 2 here to try it with.
    image = f"7/{IMAGES}/sensor_msgs::msg::dds_::CompressedImage_/"
    command = "7/newfound/command/std_msgs::msg::dds_::String_/"
    with listening(tmp_path, domain=7) as (_, client):
        heard = client.hear("7/newfound/**")
        client.session.put(image + typestore(2).hash_rihs01(COMPRESSED), message(MUG, 0, 5))
        client.session.put(command + "RIHS01_any", text_message("save"))
        answer = client.wait(heard, says(topic="answer"))
        client.session.put(f"7/{IMAGES}/msg/none", message(MUG, 0))
        classification = client.wait(heard, says(topic="classification"))
        client.wait(client.replies, says(command="save"))
        states = (client.ask("state") for _ in range(10_000))
        assert any("'msg' is not how" in state["problem"] for state in states)
        tokens = {
            str(reply.ok.key_expr) for reply in client.session.liveliness().get("@ros2_lv/7/**")
        }
    assert answer["key"].split("/")[3:] == [
        "std_msgs::msg::dds_::String_",
        "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    ]
    assert classification["key"].split("/")[3] == "vision_msgs::msg::dds_::Classification_"
    number, nanoseconds, length, _ = struct.unpack("<qqB16s", answer["attachment"])
    assert (number, length, nanoseconds > 1.6e18) == (1, 16, True)
    assert all(each["attachment"] for each in heard if each["topic"] != "command")
    kinds = sorted(token.split("/")[5] for token in tokens)
    assert kinds == ["MP"] * 4 + ["MS"] * 2 + ["NN"]
    assert len({token.split("/")[4] for token in tokens}) == len(tokens)


def test_wrong_usage_is_said_before_anything_is_opened(tmp_path: Path) -> None:
    model = tmp_path / "kitchen.newfound"
    for options, words in (
        ((), "say where images come from"),
        (("--zenoh", "a", "--ros1", "/a"), "say where images come from"),
        (("--ros1", "/a", "--domain", 1), "are of Zenoh"),
        (("--zenoh", "/"), "no topic"),
        (("--zenoh", "a", "--prefix", "a b"), "letters"),
        (("--zenoh", "a", "--crop", "0,0,9,9", "--centre"), "one part"),
    ):
        done = newfound("listen", model, *options)
        assert (done.code, words in done.err) == (2, True), done.err
    pixels = "--extractor", "pixels:size=8"
    for options, words in (
        (("--zenoh", "a//b", "--listen", "tcp/127.0.0.1:0"), "is no topic of Zenoh"),
        (("--zenoh", "a", "--listen", "nonsense"), "Zenoh cannot be opened"),
    ):
        done = newfound("listen", model, *options, *pixels)
        assert (done.code, words in done.err) == (1, True), done.err
    assert not model.exists()


def test_a_secret_file_that_is_no_secret_is_wrong_usage(tmp_path: Path) -> None:
    model, secret = tmp_path / "kitchen.newfound", tmp_path / "robot.secret"
    secret.write_bytes(bytes(32))
    for mode, size, words in (0o644, 32, "chmod 600"), (0o600, 31, "it needs 32 at least"):
        secret.write_bytes(bytes(size))
        secret.chmod(mode)
        done = newfound("listen", model, "--zenoh", "a", "--secret-file", secret)
        assert (done.code, words in done.err) == (2, True), done.err
    assert not model.exists()
