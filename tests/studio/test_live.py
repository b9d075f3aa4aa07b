"""The WebSocket: frames, lessons, the state, and what happens when too much comes."""

import base64
import json
import threading
from importlib.resources import files
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from newfound.recognition.evidence import HALF_LIFE
from newfound.studio.limits import ServiceLimits
from tests.studio.conftest import Serve, Served, Talk, png


def lesson(name: str, label: str, seed: int = 0, thing: int = 0, **more: Any) -> dict[str, Any]:
    """A lesson as a client sends it."""
    image = base64.b64encode(png(seed, thing)).decode()
    return {"type": "teach", "id": name, "label": label, "image": image, **more}


class Gate:
    """Lets nothing through a recogniser's network until it is opened."""

    def __init__(self, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Semaphore(0), threading.Event()
        extractor = served.editor.recogniser.extractor
        one = extractor.one

        def wait(image: Any) -> Any:
            self.entered.release()
            assert self.opened.wait(20)
            return one(image)

        monkeypatch.setattr(extractor, "one", wait)


@pytest.mark.slow
def test_frames_are_answered_and_lessons_done(served: Served) -> None:
    with served.live() as talk:
        assert talk.next("state")["classes"] == []
        talk.raw.send(png())
        first = talk.next("answer")
        assert (first["frame"], first["dropped"], first["label"]) == (1, 0, None)
        for seed in range(2):
            for thing, label in (1, "mug"), (2, "cup"):
                talk.send(**lesson(f"c{seed}{thing}", label, seed, thing))
                done = talk.next("done", id=f"c{seed}{thing}")
                assert done["what"] == f"taught {label}"
                assert "state" not in done
        assert done["answer"]["label"] in ("mug", "cup")
        talk.raw.send(png(5, 1))
        answer = talk.next("answer", frame=2)
        assert answer["label"] == "mug"
        assert answer["position"] >= done["position"]
        assert talk.next("state")["position"] >= 1
        talk.send(type="ping")
        talk.next("pong")


@pytest.mark.slow
def test_the_state_is_told_to_everybody_after_every_change(served: Served) -> None:
    with served.live() as one, served.live() as other:
        one.next("state")
        other.next("state")
        one.send(**lesson("c1", "mug"))
        position = one.next("done")["position"]
        for talk in (one, other):
            state = talk.next("state", position=position)
            assert state["classes"] == [{"label": "mug", "count": 1, "kept": 1}]
        served.post("/api/undo")
        other.next("state", classes=[])


@pytest.mark.slow
def test_the_newest_frame_counts_and_the_others_are_dropped(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(served, monkeypatch)
    with served.live() as talk:
        talk.raw.send(png(0))
        assert gate.entered.acquire(timeout=20)  # the first is under way
        for seed in range(1, 6):
            talk.raw.send(png(seed))
        talk.send(type="ping")
        talk.next("pong")  # all of them have come
        gate.opened.set()
        assert talk.next("answer", frame=6)["dropped"] == 4
        talk.raw.send(png(6))
        assert talk.next("answer", frame=7)["dropped"] == 4  # of the whole connection
    about = served.http.get("/openapi.json").json()["info"]["description"]
    assert "`dropped` how many frames were never\nlooked at since the connection began" in about
    assert "newfound_looks_dropped_total 4" in served.http.get("/metrics").text.splitlines()


@pytest.mark.slow
def test_at_most_eight_lessons_wait_and_none_of_them_is_lost(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(served, monkeypatch)
    with served.live() as talk:
        for number in range(10):
            talk.send(**lesson(f"c{number}", "mug", number))
        refused = [talk.next("error") for _ in range(2)]
        assert [each["id"] for each in refused] == ["c8", "c9"]
        assert all(each["retry"] for each in refused)
        gate.opened.set()
        assert [talk.next("done")["id"] for _ in range(8)] == [f"c{n}" for n in range(8)]
    assert served.counts() == {"mug": 8}


@pytest.mark.slow
def test_a_hold_of_the_button_does_not_stop_the_answers(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks waits for no disk: while one lesson is written, others are looked at."""
    writing, go_on = threading.Event(), threading.Event()
    teach_new = served.editor.teach_new

    def slow(*values: Any, **options: Any) -> Any:
        writing.set()
        assert go_on.wait(20)
        return teach_new(*values, **options)

    monkeypatch.setattr(served.editor, "teach_new", slow)
    with served.live() as teacher, served.live() as other:
        for number in range(8):
            teacher.send(**lesson(f"c{number}", "mug", number))
        assert writing.wait(20)
        for talk in (other, teacher):
            talk.raw.send(png())
            assert talk.next("answer")["frame"] == 1
        go_on.set()
        for number in range(8):
            teacher.next("done", id=f"c{number}")


@pytest.mark.slow
def test_lessons_go_on_when_the_connection_is_gone(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(served, monkeypatch)
    with served.live() as talk:
        for number in range(3):
            talk.send(**lesson(f"c{number}", "mug", number))
        talk.send(type="ping")
        talk.next("pong")
    with served.live() as other:
        gate.opened.set()
        while not (classes := other.next("state")["classes"]) or classes[0]["count"] < 3:
            pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "of the type teach or ping"),
        ("null", "of the type teach or ping"),
        ('{"type": 7}', "of the type teach or ping"),
        (json.dumps({"type": "teach"}), "label is missing"),
        (json.dumps(lesson("x", "")), "label"),
        (json.dumps(lesson("x", "\ud800")), "label"),
        (json.dumps(lesson("x", "m" * 1001)), "label"),
        (json.dumps({**lesson("x", "mug"), "image": "no base64!"}), "not base64"),
        (json.dumps({**lesson("x", "mug"), "image": "é"}), "not base64"),
        (json.dumps({**lesson("x", "mug"), "image": 5}), "image"),
        (json.dumps({**lesson("x", "mug"), "image": ""}), "empty file"),
        (json.dumps({**lesson("x", "mug"), "key": "../../etc"}), "key"),
        (json.dumps({**lesson("x", "mug"), "image": "aGVsbG8="}), "not an image"),
        (b"", "empty file"),
        (b"hello", "not an image"),
        (png()[:50], "cut short"),
    ],
)
def test_nonsense_is_answered_with_a_sentence(
    shared: Served, message: str | bytes, words: str
) -> None:
    with shared.live() as talk:
        talk.raw.send(message)
        error = talk.next("error")
        assert words in error["error"]
        assert error["retry"] is False
        assert error["frame"] == (1 if isinstance(message, bytes) else None)
        talk.send(**lesson("c1", "mug"))
        talk.next("done", id="c1")


def closed_with(talk: Talk, messages: list[bytes]) -> int | None:
    """Send messages, and return with which code the service closes the connection."""
    try:
        for message in messages:
            talk.raw.send(message)
        while True:
            talk.raw.recv(timeout=20)
    except ConnectionClosed as closed:
        return None if closed.rcvd is None else closed.rcvd.code


def test_a_flood_is_closed_and_others_go_on(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(message_rate=1, message_burst=20))
    with served.live() as other, served.live() as flood:
        assert closed_with(flood, [b"x"] * 100_000) == 1008
        other.raw.send(png())
        assert other.next("answer")["frame"] == 1


def test_a_frame_that_is_too_large_is_refused(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(message=1000))
    with served.live() as talk:
        talk.raw.send(b"x" * 1001)
        error = talk.next("error", frame=1)["error"]
        assert error == "a message has at most 1000 bytes; send larger images to /api/look"
        talk.send(**{**lesson("c1", "mug"), "image": "x" * 1001})
        assert "send larger images to /api/lessons" in talk.next("error", id="c1")["error"]
    assert served.http.post("/api/look", content=png() + bytes(1001)).status_code == 200


def test_messages_are_smaller_than_images_may_be(served: Served) -> None:
    large = 4 * 2**20 + 1
    with served.live() as talk:
        talk.raw.send(b"x" * large)
        assert "at most 4 MB" in talk.next("error", frame=1)["error"]
    assert served.http.post("/api/look", content=png() + bytes(large)).status_code == 200


def test_a_message_beyond_all_limits_ends_the_connection(served: Served) -> None:
    with served.live() as talk:
        # None: the end came before the code was read.
        assert closed_with(talk, [b"x" * (6 * 2**20)]) in (1009, None)
    assert served.http.get("/api/health").status_code == 200


def test_a_key_that_was_seen_is_not_taught_again(served: Served) -> None:
    with served.live() as talk:
        for name, repeated in ("c1", False), ("c2", True):
            talk.send(**lesson(name, "mug", key="key-00000001"))
            assert talk.next("done", id=name)["repeated"] is repeated
    assert served.counts() == {"mug": 1}


@pytest.mark.slow
def test_smoothed_answers_are_of_all_frames_until_something_is_taught(served: Served) -> None:
    for seed in range(3):
        served.teach("mug", seed, 1)
        served.teach("cup", seed, 2)
    mug, cup = png(8, 1), png(9, 2)
    with served.live() as plain, served.live("?smooth=10") as smooth:
        said = []
        for frame, image in enumerate([mug, mug, cup], start=1):
            for talk in (plain, smooth):
                talk.raw.send(image)
                said.append(talk.next("answer", frame=frame))
        first, last = said[1], said[5]
        assert (said[0]["label"], said[4]["label"]) == ("mug", "cup")
        assert last["label"] == "mug"
        top = {guess["label"]: guess["score"] for guess in last["top"]}
        alone = {guess["label"]: guess["score"] for guess in said[4]["top"]}
        # Two mugs and a cup within a moment, a half-life of ten seconds: nearly their mean.
        assert top["mug"] == pytest.approx((2 * first["score"] + alone["mug"]) / 3, abs=0.05)
        served.teach("cup", 9, 2)
        smooth.raw.send(cup)
        assert smooth.next("answer", frame=4)["label"] == "cup"


@pytest.mark.parametrize("seconds", ["-1", "11", "nan", "inf", "much"])
def test_smoothing_by_no_number_of_seconds_is_refused(shared: Served, seconds: str) -> None:
    with pytest.raises(InvalidStatus), shared.live(f"?smooth={seconds}"):
        pass


def test_the_page_smooths_as_videos_are() -> None:
    script = (files("newfound.studio") / "page" / "live.js").read_text("utf-8")
    assert f"const SMOOTH = {HALF_LIFE};" in script
