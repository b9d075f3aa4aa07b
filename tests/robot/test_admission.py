"""Who may command: nobody, whoever is there, or who signs; nothing that was signed counts twice."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.common.errors import InputError
from newfound.recognition.editor import Editor
from newfound.recognition.journal import JournalError
from newfound.robot.admission import REFUSED, WINDOW, Admission
from newfound.robot.commands import LONGEST, CommandError
from newfound.robot.listening import Listener
from newfound.robot.messages import text_message
from newfound.robot.signing import SignedCommand, read_secret, sign, verify
from newfound.robot.topics import Topics
from tests.background import PATIENCE
from tests.robot.recorder import Recorder

SECRET, OTHER = bytes(range(32)), bytes(range(1, 33))
NOW, SECOND = 1_700_000_000_000_000_000, 10**9


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    opened = Editor(tmp_path / "kitchen.newfound", "pixels:size=8")
    yield opened
    opened.close()


@pytest.fixture
def start(editor: Editor) -> Iterator[Callable[..., tuple[Listener, Recorder]]]:
    """Start listeners to one model, one after the other, and close the last."""
    started: list[Listener] = []

    def begin(**options: Any) -> tuple[Listener, Recorder]:
        said = Recorder()
        for before in started:
            before.close()
        started[:] = [Listener(editor, said, **options)]
        return started[0], said

    yield begin
    for last in started:
        last.close()


def told(listener: Listener, text: str) -> Any:
    """Send a command as a bus does, and return what its sender is told."""
    replies: list[Any] = []
    came = threading.Event()

    def tell(reply: Any) -> None:
        replies.append(reply)
        came.set()

    listener.command(text, tell)
    assert came.wait(PATIENCE)
    return replies[0]


def admission(editor: Editor, **options: Any) -> Admission:
    return Admission(editor, **{"secret": SECRET, "clock": lambda: NOW, **options})


def test_commands_of_a_bus_are_refused_unless_someone_allows_them(
    start: Callable[..., tuple[Listener, Recorder]], editor: Editor
) -> None:
    editor.recogniser.teach_vectors([[0.0] * 64, [1.0] * 64], ["mug", "cup"])
    listener, said = start()
    for text in ("forget mug", "teach cup", "undo", "save", "state", "dance", ""):
        reply = told(listener, text)
        assert (reply["ok"], reply["error"], reply["command"]) == (False, REFUSED, text)
        assert said.replies[-1] == reply
    assert "--commands" in REFUSED
    assert "--secret-file" in REFUSED
    assert editor.recogniser.counts == {"mug": 1, "cup": 1}
    assert listener.do("forget mug")["ok"]  # the program itself may
    listener, _ = start(commands=True)
    assert told(listener, "forget cup")["ok"]


def test_with_a_secret_only_signed_commands_are_done_also_if_all_are_allowed(
    start: Callable[..., tuple[Listener, Recorder]],
) -> None:
    for options in ({}, {"commands": True}):
        listener, said = start(secret=SECRET, **options)
        for text in ("state", sign("state", OTHER), sign("state", SECRET).replace("st", "sT")):
            assert not told(listener, text)["ok"]
        reply = told(listener, sign("state", SECRET))
        assert (reply["ok"], reply["command"]) == (True, "state")
        assert said.replies[-1]["ok"]


def test_a_signed_command_is_done_once_also_after_a_restart(
    start: Callable[..., tuple[Listener, Recorder]],
) -> None:
    signed = sign("stop", SECRET)
    assert [told(start(secret=SECRET)[0], signed)["ok"] for _ in range(3)] == [True, False, False]
    listener, _ = start(secret=SECRET)
    assert "came before" in told(listener, signed)["error"]
    assert told(listener, sign("stop", SECRET))["ok"]


def test_a_command_that_cannot_be_written_down_is_not_done(
    start: Callable[..., tuple[Listener, Recorder]],
    editor: Editor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listener, _ = start(secret=SECRET)

    def fail(*values: Any) -> None:
        raise JournalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(editor.journal, "set", fail)
        assert told(listener, sign("teach mug", SECRET))["error"] == "database or disk is full"
    assert told(listener, sign("state", SECRET))["teaching"] is None


def test_counters_must_grow_whoever_sends_them(editor: Editor) -> None:
    door = admission(editor)
    assert door.admit(sign("stop", SECRET, NOW)) == "stop"
    for counter in (NOW, NOW - 1):
        with pytest.raises(CommandError, match="sign it again"):
            door.admit(sign("undo", SECRET, counter))
    assert door.admit(sign("undo", SECRET, NOW + 1)) == "undo"


def test_what_is_let_in_second_does_not_lower_what_the_journal_holds(editor: Editor) -> None:
    door = admission(editor)
    door.admit(sign("stop", SECRET, NOW))
    door.admit(sign("stop", SECRET, NOW + 1))
    door.note()  # before the first of them is done
    with pytest.raises(CommandError, match="came before"):
        admission(editor).admit(sign("stop", SECRET, NOW + 1))


def test_a_counter_far_from_the_clock_is_refused_and_locks_nobody_out(editor: Editor) -> None:
    door = admission(editor)
    for seconds, words in (WINDOW + 1, "ahead of"), (-WINDOW - 1, "behind"), (10**9, "ahead of"):
        with pytest.raises(CommandError, match=words):
            door.admit(sign("stop", SECRET, NOW + seconds * SECOND))
    assert door.admit(sign("stop", SECRET, NOW - WINDOW * SECOND)) == "stop"
    assert door.admit(sign("stop", SECRET, NOW + WINDOW * SECOND)) == "stop"


def test_a_clock_that_is_set_back_opens_nothing_and_a_new_secret_helps(editor: Editor) -> None:
    door = admission(editor)
    door.admit(sign("stop", SECRET, NOW))
    door.note()
    early = {"clock": lambda: NOW - SECOND}
    with pytest.raises(CommandError, match="came before"):
        admission(editor, **early).admit(sign("stop", SECRET, NOW - SECOND))
    assert admission(editor, **early, secret=OTHER).admit(sign("stop", OTHER, NOW - SECOND))


@given(st.text(), st.integers(1, 2**63 - 1))
def test_what_was_signed_is_what_is_verified(command: str, counter: int) -> None:
    assert verify(sign(command, SECRET, counter), SECRET) == SignedCommand(command, counter)


def test_a_change_of_any_part_is_noticed() -> None:
    signed = json.loads(sign("forget mug", SECRET, NOW))
    for name, value in (
        ("command", "forget mug "),
        ("command", "1\nforget mug"),
        ("counter", NOW + 1),
        ("mac", signed["mac"][:-1]),
        ("mac", ""),
        ("mac", "é"),
        ("mac", "\ud800"),
    ):
        with pytest.raises(CommandError, match="another secret"):
            verify(json.dumps({**signed, name: value}), SECRET)
    with pytest.raises(CommandError, match="another secret"):
        verify(json.dumps({**signed, "command": "\ud800"}), SECRET)
    for name, value in (
        ("counter", True),
        ("counter", float(NOW)),
        ("counter", str(NOW)),
        ("counter", 0),
        ("counter", 2**63),
        ("command", None),
        ("mac", None),
        ("more", 1),
    ):
        with pytest.raises(CommandError, match="must be signed"):
            verify(json.dumps({**signed, name: value}), SECRET)


@given(st.text() | st.builds(json.dumps, st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda some: st.lists(some) | st.dictionaries(
        st.sampled_from(["command", "counter", "mac"]), some),
)))  # fmt: skip
def test_whatever_is_sent_unsigned_is_refused_in_words(text: str) -> None:
    with pytest.raises(CommandError):
        verify(text, SECRET)


def test_the_mac_is_the_one_that_the_page_defines() -> None:
    # python3 -c 'print(end="newfound command 1\n7\nteach mug")' | openssl dgst -sha256 -mac hmac
    #     -macopt hexkey:$(printf '%02x' {0..31})
    assert json.loads(sign("teach mug", SECRET, 7))["mac"] == (
        "ff5b4e885838507341f5d322a0d9b284da68e32f11bc62def1a4a635ad1caaf6"
    )


@pytest.mark.parametrize("letter", ["m", '"', "\x01", "é", "🍵"])
def test_the_longest_command_fits_also_signed(letter: str) -> None:
    command = "teach " + letter * (LONGEST - 6)
    signed = sign(command, SECRET, 2**63 - 1)
    for data in (signed.encode(), text_message(signed)):
        read = Topics._command_in  # noqa: SLF001 - what both transports read with
        text = read(type("Bus", (), {"ros": 2})(), data)
        assert verify(text, SECRET).command == command


def test_a_secret_is_at_least_32_bytes_and_a_counter_a_whole_number() -> None:
    with pytest.raises(InputError, match="a secret of 31 bytes; it needs 32"):
        sign("stop", SECRET[1:])
    for counter in (0, -1, 2**63, 1.5, True):
        with pytest.raises(InputError, match="a counter is a whole number"):
            sign("stop", SECRET, counter)  # type: ignore[arg-type]


def test_a_secret_file_is_the_users_alone(tmp_path: Path) -> None:
    file = tmp_path / "robot secret"
    file.write_bytes(SECRET + b"\n")
    for mode in (0o640, 0o604, 0o620, 0o602):
        file.chmod(mode)
        with pytest.raises(InputError, match=r"chmod 600 '.*robot secret'"):
            read_secret(file)
    file.chmod(0o600)
    assert read_secret(file) == SECRET + b"\n"
    for data, words in (b"", "of 0 bytes"), (bytes(31), "of 31 bytes"), (bytes(5000), "larger"):
        file.write_bytes(data)
        with pytest.raises(InputError, match=words):
            read_secret(file)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path, words in (pipe, "named pipe"), (tmp_path, "folder"), (tmp_path / "no", "No such"):
        with pytest.raises(InputError, match=words):
            read_secret(path)
