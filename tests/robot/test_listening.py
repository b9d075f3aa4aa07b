"""The listener, without a network: the newest frame, lessons by command, and nothing lost."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from newfound.common.errors import InputError
from newfound.recognition.editor import Editor
from newfound.recognition.journal import JournalError
from newfound.robot.asking import Asking
from newfound.robot.crops import Crop
from newfound.robot.listening import MOST_WAITING, Listener
from newfound.robot.messages import ImageMessage
from tests.background import PATIENCE
from tests.robot.camera import CAMERA, seen
from tests.robot.recorder import Recorder, says

MUG, CUP, BOX = 1, 2, 3
ONE, OTHER = 0, 4


class World:
    """A listener, what it says, and a camera that shows it things."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.file = folder / "kitchen.newfound"
        self.editor = Editor(self.file, "pixels:size=8")
        self.said = Recorder()
        self.listener = Listener(self.editor, self.said, **options)
        self._stamps = count(1)

    def show(self, thing: int, number: int) -> Any:
        """Show a frame, and return what is said of it."""
        stamp = next(self._stamps)
        self.listener.put(partial(seen, thing, number, stamp))
        return self.said.wait(self.said.answers, says(stamp={"sec": 0, "nanosec": stamp}))

    def settle(self) -> None:
        """Wait until what was shown is dealt with: the next frame is taken only then."""
        done = threading.Event()

        def read() -> ImageMessage:
            done.set()
            raise InputError("no frame")

        self.listener.put(read)
        assert done.wait(PATIENCE)

    def teach(self, label: str, thing: int, numbers: range) -> Any:
        """Teach frames of a thing, and return what is told at the end."""
        command = f'{{"do": "teach", "label": "{label}", "seconds": 0}}'
        assert self.listener.do(command)["ok"]
        for number in numbers:
            self.show(thing, number)
        self.settle()
        return self.listener.do("stop")

    def close(self) -> None:
        self.listener.close()
        self.editor.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Start listeners, and close what was started."""
    worlds: list[World] = []

    def begin(**options: Any) -> World:
        worlds.append(World(tmp_path, **options))
        return worlds[-1]

    yield begin
    for world in worlds:
        world.close()


def taught(world: World) -> World:
    world.teach("mug", MUG, range(8))
    world.teach("cup", CUP, range(8))
    return world


def test_a_new_model_knows_nothing_and_says_so(start: Callable[..., World]) -> None:
    answer = start().show(MUG, 0)
    assert (answer["label"], answer["known"], answer["top"]) == (None, False, [])


def test_what_was_taught_by_command_is_answered_with_the_images_own_stamp(
    start: Callable[..., World],
) -> None:
    world = taught(start())
    exact = 1_700_000_000_123_456_789
    world.listener.put(partial(seen, CUP, 99, exact))
    answer = world.said.wait(world.said.answers, lambda said: said["stamp"]["sec"])
    assert answer["stamp"] == {"sec": 1_700_000_000, "nanosec": 123_456_789}
    assert (answer["label"], answer["frame_id"]) == ("cup", CAMERA)
    assert {guess["label"] for guess in answer["top"]} == {"mug", "cup"}
    assert answer["position"] == world.editor.history.position


def test_the_end_of_a_lesson_says_what_was_taught_and_what_was_skipped(
    start: Callable[..., World],
) -> None:
    world = start()
    world.listener.do('{"do": "teach", "label": "mug", "seconds": 0}')
    for number in (0, 0, 0, 1):
        world.show(MUG, number)
    world.settle()
    assert world.listener.do("stop")["what"] == "taught 2 of mug; skipped 2 hardly different"
    told = world.said.wait(world.said.replies, lambda said: "taught" in said)
    assert (told["command"][:7], told["taught"]) == ('{"do": ', 2)
    assert world.editor.recogniser.counts == {"mug": 2}


def test_one_undo_takes_back_all_of_a_lesson_and_redo_brings_it_back(
    start: Callable[..., World],
) -> None:
    world = taught(start())
    assert world.listener.do("undo")["what"] == "undid: taught cup (8)"
    assert world.editor.recogniser.counts == {"mug": 8}
    assert world.listener.do("redo")["ok"]
    assert world.editor.recogniser.counts == {"mug": 8, "cup": 8}


def test_an_edit_ends_the_lesson_that_goes_on(start: Callable[..., World]) -> None:
    world = start()
    world.listener.do('{"do": "teach", "label": "mug", "seconds": 0}')
    world.show(MUG, 0)
    world.settle()
    assert world.listener.do("undo")["ok"]
    world.show(MUG, 1)
    world.settle()
    assert world.editor.recogniser.counts == {}
    assert world.listener.do("stop")["what"] == "nothing was being taught"


def test_undo_of_a_lesson_that_has_seen_nothing_leaves_the_one_before_it(
    start: Callable[..., World],
) -> None:
    world = taught(start())
    world.listener.do('{"do": "teach", "label": "box", "seconds": 0}')
    assert world.listener.do("undo")["what"].startswith("undid: teaching box")
    assert world.listener.do("state")["teaching"] is None
    assert world.editor.recogniser.counts == {"mug": 8, "cup": 8}


def test_a_lesson_ends_by_itself_also_if_no_frame_comes(start: Callable[..., World]) -> None:
    world = start(teach_for=0.01)
    assert world.listener.do("teach mug")["what"] == "teaching mug for 0.01 s"
    told = world.said.wait(world.said.replies, lambda said: "taught" in said)
    assert (told["command"], told["what"]) == ("teach mug", "taught 0 of mug")


def test_a_frame_from_before_the_command_is_not_of_the_lesson(start: Callable[..., World]) -> None:
    world, release = start(), threading.Event()

    def read() -> ImageMessage:
        assert release.wait(PATIENCE)
        return seen(CUP, 0)

    world.listener.put(read)
    world.listener.do('{"do": "teach", "label": "mug", "seconds": 0}')
    release.set()
    world.settle()
    assert world.listener.do("stop")["taught"] == 0


def test_the_newest_frame_counts_and_nothing_piles_up(start: Callable[..., World]) -> None:
    world, release = start(), threading.Event()
    is_read = threading.Event()

    def read() -> ImageMessage:
        is_read.set()
        assert release.wait(PATIENCE)
        return seen(MUG, 0)

    world.listener.put(read)
    assert is_read.wait(PATIENCE)
    for stamp in range(1, 101):
        world.listener.put(partial(seen, MUG, 0, stamp))
    release.set()
    world.said.wait(world.said.answers, lambda said: said["stamp"]["nanosec"] == 100)
    assert [said["stamp"]["nanosec"] for said in world.said.answers] == [0, 100]
    assert world.said.answers[-1]["dropped"] == 99


def test_a_lesson_is_seen_at_once_however_long_frames_count(start: Callable[..., World]) -> None:
    world = taught(start(half_life=60.0))
    for number in range(10):
        assert world.show(BOX, number)["label"] != "box"
    world.teach("box", BOX, range(4))
    assert world.show(BOX, 50)["label"] == "box"


@pytest.mark.parametrize("half_life", [1e9, 0.0])
def test_frames_that_follow_each_other_are_answered_together(
    start: Callable[..., World], half_life: float
) -> None:
    world = taught(start(half_life=half_life))
    looks = world.editor.recogniser.look([seen(MUG, number).picture() for number in range(8)])
    alone = [look.novelty for look in looks]
    # Two views that are of one track, but not answered alike.
    world.show(MUG, ONE)
    answer = world.show(MUG, OTHER)
    expected = (alone[ONE] + alone[OTHER]) / 2 if half_life else alone[OTHER]
    assert answer["novelty"] == pytest.approx(expected, abs=1e-5)
    assert abs(alone[ONE] - alone[OTHER]) > 1e-3


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(start: Callable[..., World]) -> None:
    world, is_read = taught(start()), threading.Event()

    def read() -> ImageMessage:
        is_read.set()
        return ImageMessage(None, "", "jpeg", b"no image")

    before = world.listener.do("state")["unreadable"]
    world.listener.put(read)
    assert is_read.wait(PATIENCE)
    assert world.show(MUG, 9)["label"] == "mug"
    state = world.listener.do("state")
    assert state["unreadable"] == before + 1
    assert "neither JPEG nor PNG" in state["problem"]


def test_digests_are_made_of_what_is_taught_alone(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, made = start(), list[int | None]()

    def noted(message: ImageMessage) -> bytes:
        made.append(message.stamp)
        return bytes(16)

    monkeypatch.setattr(ImageMessage, "digest", property(noted))
    world.show(MUG, 0)
    world.teach("mug", MUG, range(1))
    assert made == [2]


def test_the_part_that_is_cropped_is_what_is_taught(start: Callable[..., World]) -> None:
    world = start(crop=Crop.parse("0,0,32,64"))
    world.teach("mug", MUG, range(1))
    (example,) = world.editor.journal.examples.kept("mug")
    picture = world.editor.journal.examples.thumbnail(example.id)
    assert picture is not None
    assert Image.open(BytesIO(picture)).size == (32, 64)


def test_commands_that_make_no_sense_change_nothing(start: Callable[..., World]) -> None:
    world = taught(start())
    before = world.editor.history.position
    for text in ("forget plate", "rename plate -> mug", "rename mug -> cup", "name 7 mug", "redo"):
        reply = world.listener.do(text)
        assert (reply["ok"], reply["command"]) == (False, text)
        assert reply["error"]
    assert "there are: teach LABEL" in world.listener.do("dance")["error"]
    assert world.editor.history.position == before


def test_classes_are_renamed_joined_and_forgotten(start: Callable[..., World]) -> None:
    world = taught(start())
    assert world.listener.do("rename cup -> glass")["what"] == "renamed cup to glass"
    join = '{"do": "rename", "old": "glass", "new": "mug", "join": true}'
    assert world.listener.do(join)["what"] == "joined glass with mug"
    assert world.listener.do("forget mug")["what"] == "deleted the class mug (16)"
    assert world.editor.recogniser.counts == {}


def test_a_label_unlike_the_others_is_refused_before_anything_is_taught(
    start: Callable[..., World],
) -> None:
    world = taught(start())
    world.editor.replace(_of_numbers())
    assert "numbers" in world.listener.do("teach mug")["error"]
    assert world.listener.do("teach 3")["what"] == "teaching 3 for 3 s"


def _of_numbers() -> Any:
    from newfound import Recogniser

    numbers = Recogniser(extractor="pixels:size=8")
    numbers.teach_vectors([[0.0] * 64, [1.0] * 64], [1, 2])
    return numbers


def test_what_stays_unknown_is_asked_about_once_and_learned_when_it_is_named(
    start: Callable[..., World],
) -> None:
    world = start(asking=Asking(after=0.0, source=CAMERA))
    for _ in range(3):
        world.show(BOX, 0)
    world.settle()
    (question,) = world.said.questions
    assert base64.b64decode(question["thumbnail"]).startswith(b"\xff\xd8")
    assert (question["guess"], question["frame_id"]) == (None, CAMERA)
    assert world.listener.do(f"name {question['id']} box")["what"] == "taught box"
    assert world.show(BOX, 0)["label"] == "box"
    assert world.listener.do("undo")["ok"]
    assert world.listener.do("state")["questions"] == 1
    assert world.listener.do(f"dismiss {question['id']}")["ok"]
    assert world.listener.do("state")["questions"] == 0


def test_what_cannot_be_written_down_is_told_in_words_and_asked_about_later(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = start(asking=Asking(after=0.0, source=CAMERA))

    def fail(*values: Any) -> None:
        raise JournalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(world.editor.journal.examples, "add", fail)
        world.show(BOX, 0)
        world.settle()
        world.listener.do('{"do": "teach", "label": "mug", "seconds": 0}')
        world.show(MUG, 0)
        told = world.said.wait(world.said.replies, lambda said: "taught" in said)
        assert told["error"] == "database or disk is full"
        assert not world.said.questions
    world.show(BOX, 0)
    world.settle()
    assert len(world.said.questions) == 1


def test_who_forgets_everything_goes_on_with_the_same_extractor(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.teach("mug", MUG, range(2))
    world.close()
    editor = Editor(world.file)  # without saying which
    listener = Listener(editor, world.said)
    try:
        assert listener.do("forget mug")["ok"]
        assert str(editor.recogniser.extractor.identity).startswith("pixels")
    finally:
        listener.close()
        editor.close()


def test_too_many_commands_are_refused_and_none_is_lost(start: Callable[..., World]) -> None:
    world, release, waits = start(commands=True), threading.Event(), threading.Event()

    def hold(reply: Any) -> None:
        waits.set()
        assert release.wait(PATIENCE)

    world.listener.command("state", hold)
    assert waits.wait(PATIENCE)
    told: list[Any] = []
    for _ in range(MOST_WAITING + 5):
        world.listener.command("stop", told.append)
    assert [reply["ok"] for reply in told] == [False] * 5
    release.set()
    world.listener.close()
    assert sum(reply["ok"] for reply in told) == MOST_WAITING


def test_all_that_was_taught_is_in_the_journal_before_it_is_told(
    start: Callable[..., World], tmp_path: Path
) -> None:
    world = taught(start())
    reader = Editor(world.file, "pixels:size=8", read_only=True)
    try:
        assert reader.recogniser.counts == {"mug": 8, "cup": 8}
        assert reader.journal.examples.kept("mug", limit=1)[0].has_thumbnail
    finally:
        reader.close()


def test_a_publisher_that_is_gone_does_not_stop_the_lesson(
    start: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, keep = start(), Recorder.answer

    def fail(self: Recorder, *values: Any) -> None:
        keep(self, *values)
        raise OSError("gone")

    monkeypatch.setattr(Recorder, "answer", fail)
    assert world.teach("mug", MUG, range(3))["taught"] == 3


def test_a_label_that_cannot_be_seen_is_not_taught_and_one_that_is_there_is_forgotten(
    start: Callable[..., World],
) -> None:
    world = taught(start())
    bad = "x\u001b[31m\u0007y"
    for command in (
        {"do": "teach", "label": bad},
        {"do": "rename", "old": "mug", "new": bad},
        {"do": "teach", "label": "mug "},
    ):
        answer = world.listener.do(json.dumps(command))
        assert not answer["ok"]
        assert answer["error"].startswith("label ")
    assert world.listener.do("state")["classes"] == {"mug": 8, "cup": 8}
    world.editor.knowledge.rename("cup", bad, any_label=True)
    assert world.listener.do(json.dumps({"do": "rename", "old": bad, "new": "cafe\u0301"}))["ok"]
    assert world.listener.do("state")["classes"] == {"mug": 8, "caf\u00e9": 8}
    world.editor.knowledge.rename("caf\u00e9", bad, any_label=True)
    assert world.listener.do(json.dumps({"do": "forget", "label": bad}))["ok"]
    assert world.listener.do("state")["classes"] == {"mug": 8}
