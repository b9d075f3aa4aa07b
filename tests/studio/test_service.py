"""What a client of the service sees: lessons, looks, edits, and the truth of OpenAPI."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from newfound import Recogniser
from newfound.recognition.editor import Editor
from newfound.studio.app import create_app
from newfound.studio.complaints import words_of
from newfound.studio.limits import ServiceLimits
from tests.studio.conftest import EXTRACTOR, Serve, Served, png


@pytest.mark.slow
def test_what_is_taught_is_recognised(served: Served) -> None:
    nothing = served.http.post("/api/look", content=png()).json()
    assert (nothing["label"], nothing["known"], nothing["top"]) == (None, False, [])
    for seed in range(3):
        served.teach("mug", seed, 1)
        done = served.teach("cup", seed, 2)
    assert done["position"] >= 6
    assert done["what"] == "taught cup"
    assert len(done["examples"]) == 1
    assert served.counts() == {"cup": 3, "mug": 3}
    answer = served.http.post("/api/look", content=png(9, 1)).json()
    assert answer["label"] == "mug"
    assert [guess["label"] for guess in answer["top"]] == ["mug", "cup"]
    assert answer["position"] == done["position"]


@pytest.mark.slow
def test_answers_are_those_of_the_recogniser(served: Served) -> None:
    for seed in range(3):
        served.teach("mug", seed, 1)
        served.teach("cup", seed, 2)
    said = served.http.post("/api/look", content=png(7, 2)).json()
    expected = served.editor.recogniser.look(png(7, 2), top=20)
    assert said["label"] == expected.label
    assert said["unknown"] == pytest.approx(expected.unknown, abs=1e-6)
    assert said["score"] == pytest.approx(expected.score, abs=1e-6)


def test_a_lesson_with_a_key_that_was_seen_is_not_taught_again(served: Served) -> None:
    first = served.teach("mug", key="key-00000001")
    again = served.teach("mug", key="key-00000001")
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert again["position"] == first["position"]
    assert served.counts() == {"mug": 1}


def test_an_image_is_taught_once_under_a_label(served: Served) -> None:
    served.teach("mug")
    assert served.teach("mug")["examples"] == []
    assert served.counts() == {"mug": 1}


@pytest.mark.slow
def test_edits_do_what_they_say_and_undo_takes_them_back(served: Served) -> None:
    ids = [served.teach("mug", seed, 1)["examples"][0] for seed in range(3)]
    served.teach("cup", 0, 2)
    assert served.post("/api/move", {"examples": ids[:1], "label": "cup"}).status_code == 200
    assert served.counts() == {"cup": 2, "mug": 2}
    assert served.post("/api/rename", {"old": "mug", "new": "beaker"}).status_code == 200
    assert served.counts() == {"beaker": 2, "cup": 2}
    assert served.post("/api/join", {"old": "beaker", "into": "cup"}).json()["state"][
        "classes"
    ] == [{"label": "cup", "count": 4, "kept": 4}]
    assert served.post("/api/forget", {"examples": ids[1:2]}).status_code == 200
    assert served.counts() == {"cup": 3}
    assert served.http.get("/api/state").json()["bin"] == 1
    for _ in range(4):
        assert served.post("/api/undo").status_code == 200
    assert served.counts() == {"cup": 1, "mug": 3}
    assert served.http.post("/api/redo").status_code == 200  # a body is not needed
    assert served.counts() == {"cup": 2, "mug": 2}
    assert served.post("/api/forget", {"label": "cup"}).status_code == 200
    assert served.counts() == {"mug": 2}


@pytest.mark.slow
def test_a_class_is_joined_with_one_that_is_there(served: Served) -> None:
    served.teach("mug", 0, 1)
    served.teach("cup", 0, 2)
    refused = served.post("/api/join", {"old": "mug", "into": "mig"})
    assert refused.status_code == 422
    assert refused.json() == {"error": "there is no class mig"}
    assert served.counts() == {"cup": 1, "mug": 1}
    wish = {"old": "mug", "into": "cup", "key": "join-00001"}
    assert served.post("/api/join", wish).status_code == 200
    served.post("/api/forget", {"label": "cup"})
    assert served.post("/api/join", wish).json()["repeated"]


@pytest.mark.slow
def test_lessons_of_one_action_are_undone_as_one(served: Served) -> None:
    served.teach("mug", 9)
    for seed in range(3):
        served.teach("mug", seed, action="hold-0001")
    assert served.post("/api/undo").status_code == 200
    assert served.counts() == {"mug": 1}


@pytest.mark.slow
def test_what_is_forgotten_for_good_does_not_come_back(served: Served) -> None:
    first = served.teach("mug", 0)["examples"]
    served.teach("mug", 1)
    done = served.post("/api/forget", {"examples": first, "for_good": True}).json()
    assert done["what"] == "deleted 1 example of mug; forgot 1 deleted for good"
    assert done["state"]["bin"] == 0
    assert served.post("/api/undo").status_code == 409
    assert served.http.get(f"/api/examples/{first[0]}/thumbnail").status_code == 404
    served.post("/api/forget", {"label": "mug"})
    assert served.post("/api/empty-bin").json()["state"]["bin"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "values", "status", "words"),
    [
        ("/api/undo", {}, 409, "there is nothing to undo"),
        ("/api/redo", {}, 409, "there is nothing to redo"),
        ("/api/rename", {"old": "mug", "new": "cup"}, 409, "there is a class cup already"),
        ("/api/rename", {"old": "pot", "new": "pan"}, 422, "there is no class pot"),
        ("/api/forget", {"examples": [99]}, 404, "there is no example 99"),
        ("/api/forget", {"examples": [2**63]}, 422, "an entry of examples must be at most"),
        ("/api/forget", {"examples": ["1"]}, 422, "an entry of examples must be a whole number"),
        ("/api/forget", {"examples": [1], "label": "mug"}, 422, "either"),
        ("/api/forget", {}, 422, "either"),
        ("/api/forget", {"label": ""}, 422, "there is no class"),
        ("/api/forget", {"label": "a\u0000b"}, 422, "there is no class a\u0000b"),
        ("/api/rename", {"old": "mug", "new": ""}, 422, "new is empty"),
        ("/api/rename", {"old": "mug", "new": "mug\u200b"}, 422, "ZERO WIDTH SPACE"),
        ("/api/forget", {"label": "mug", "wish": 1}, 422, "wish is not known here"),
        ("/api/forget", {"label": "mug", "key": "short"}, 422, "key must be 8 to 64 letters"),
        ("/api/move", {"examples": [], "label": "mug"}, 422, "examples is empty"),
        ("/api/move", [], 422, "the body must be a JSON object"),
        ("/api/move", None, 422, "examples is missing; label is missing"),
        ("/api/forget", {"label": 7}, 422, "label must be text"),
        ("/api/forget", {"label": "m" * 1001}, 422, "label has more than 1000 letters"),
        ("/api/forget", {"label": "mug", "for_good": 1}, 422, "for_good must be true or false"),
        ("/api/forget", {"examples": 1}, 422, "examples must be a list"),
        ("/api/forget", {"examples": [1] * 2001}, 422, "examples has more than 2000 entries"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    shared: Served, path: str, values: Any, status: int, words: str
) -> None:
    if "rename" in path:
        shared.teach("mug", 0, 1)
        shared.teach("cup", 0, 2)
    elif status == 409:
        shared.post("/api/empty-bin")
    answer = shared.post(path, values)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert words in answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "path", "content", "sentence"),
    [
        ("GET", "/api/examples/x/thumbnail", b"", "id must be a whole number"),
        ("GET", "/api/examples/0/thumbnail", b"", "id must be at least 1"),
        ("GET", "/api/examples?limit=501", b"", "limit must be at most 500"),
        ("POST", "/api/lessons", b"", "label is missing"),
        ("POST", "/api/move", b"{", "the body is not JSON"),
        ("POST", "/api/move", b"", "the body is missing"),
        ("POST", "/api/move", b'"\xff"', "the body cannot be read"),
        ("POST", "/api/move", b"[" * 50_000, "the body cannot be read"),
    ],
)
def test_complaints_are_sentences(
    shared: Served, method: str, path: str, content: bytes, sentence: str
) -> None:
    kind = {"content-type": "application/json"} if path == "/api/move" else {}
    answer = shared.http.request(method, path, content=content, headers=kind)
    assert answer.status_code in (400, 422)
    assert answer.json() == {"error": sentence}


def test_a_complaint_that_nobody_foresaw_is_a_sentence_too() -> None:
    assert words_of([{"type": "new_kind", "loc": ("body", "key")}]) == "key cannot be used"


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "image/jpeg", 422),
        (b"no image", "image/jpeg", 422),
        (png()[:60], "image/png", 422),
        (png(), "multipart/form-data; boundary=x", 415),
        (png(), "application/json", 415),
        (png(), "application/octet-stream", 200),
        (png(), "image/anything", 200),
    ],
)
def test_only_images_are_looked_at_and_taught(
    shared: Served, content: bytes, kind: str, status: int
) -> None:
    before, headers = shared.editor.history.position, {"content-type": kind}
    for path in ("/api/look", "/api/lessons?label=mug"):
        answer = shared.http.post(path, content=content, headers=headers)
        assert answer.status_code == status
        assert status == 200 or answer.json()["error"]
    assert status == 200 or shared.editor.history.position == before


def test_examples_come_in_pages_newest_first(served: Served) -> None:
    ids = [served.teach("mug", seed, 1)["examples"][0] for seed in range(5)]
    served.teach("cup", 0, 2)
    found: list[int] = []
    query: dict[str, Any] = {"label": "mug", "limit": 2}
    while True:
        page = served.http.get("/api/examples", params=query).json()
        found += [each["id"] for each in page["examples"]]
        if page["next"] is None:
            break
        query["before"] = page["next"]
    assert found == ids[::-1]
    example = served.http.get("/api/examples").json()["examples"][0]
    assert (example["label"], example["source"], example["vector"]) == ("cup", "http", True)
    picture = served.http.get(f"/api/examples/{ids[0]}/thumbnail")
    assert picture.headers["content-type"] == "image/jpeg"
    assert picture.content.startswith(b"\xff\xd8")


def test_confusions_name_pairs_of_classes(served: Served) -> None:
    for seed in range(3):
        served.teach("mug", seed, 1)
        served.teach("cup", seed, 2)
    found = served.http.get("/api/confusions").json()
    assert found["classes"] == ["cup", "mug"]
    assert sum(pair["count"] for pair in found["pairs"]) == 6


def test_health_and_metrics_tell_what_happened(served: Served) -> None:
    served.teach("mug", 0, 1)
    served.http.post("/api/look", content=png())
    health = served.http.get("/api/health").json()
    assert health["status"] == "ok"
    assert health["model"] == "kitchen.newfound"
    answer = served.http.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    for line in (
        "newfound_lessons_total 1",
        "newfound_looks_total 1",
        "newfound_looks_dropped_total 0",
        "newfound_classes 1",
        "newfound_examples 1",
        "newfound_connections 0",
        "newfound_look_seconds_count 1",
        'newfound_lesson_seconds_bucket{le="+Inf"} 1',
    ):
        assert line in lines


def test_only_lessons_that_were_learned_are_counted(served: Served) -> None:
    served.teach("mug", 0, 1, key="key-00000001")
    assert served.teach("mug", 0, 1, key="key-00000001")["repeated"]
    assert served.teach("mug", 0, 1)["examples"] == []
    served.teach("mug", 1, 1)
    lines = served.http.get("/metrics").text.splitlines()
    assert {"newfound_lessons_total 2", "newfound_lesson_seconds_count 2"} <= set(lines)


@pytest.mark.slow
def test_lessons_of_many_at_once_are_all_learned(served: Served) -> None:
    errors: list[Exception] = []

    def teach(thing: int) -> None:
        try:
            for seed in range(5):
                served.teach(f"thing {thing}", seed, thing)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=teach, args=(thing,)) for thing in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert served.counts() == {f"thing {thing}": 5 for thing in range(6)}


def test_images_beyond_those_that_may_wait_are_refused_for_a_while(serve: Serve) -> None:
    served = serve(limits=ServiceLimits(waiting=0))
    answer = served.http.post("/api/look", content=png())
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


def test_the_file_is_written_when_it_is_quiet(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = threading.Event()
    snapshot = Editor.snapshot

    def noting(editor: Editor) -> None:
        snapshot(editor)
        if editor.recogniser.is_taught:
            written.set()

    monkeypatch.setattr(Editor, "snapshot", noting)
    served = serve(snapshot_idle=0.01)
    served.teach("mug")
    assert written.wait(20)
    assert Recogniser(tmp_path / "kitchen.newfound", None).counts == {"mug": 1}


def test_a_mistake_of_ours_shows_no_traceback(
    served: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a secret of the house")

    monkeypatch.setattr("newfound.recognition.evaluation.confusions", fail)
    answer = served.http.get("/api/confusions")
    assert answer.status_code == 500
    assert answer.json() == {"error": "something went wrong here; the log says what"}
    assert "content-security-policy" in answer.headers
    assert "a secret of the house" in caplog.text
    assert served.http.get("/api/health").status_code == 200


def test_what_a_journal_cannot_write_is_told_without_its_path(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", str(tmp_path))

    monkeypatch.setattr(served.editor, "teach_new", fail)
    answer = served.http.post("/api/lessons?label=mug", content=png())
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text


def schema(tmp_path: Path) -> dict[str, Any]:
    editor = Editor(tmp_path / "m.newfound", EXTRACTOR)
    try:
        found: dict[str, Any] = create_app(editor).openapi()
    finally:
        editor.close()
    return found


def test_openapi_says_how_every_address_may_fail_and_that_images_are_bytes(tmp_path: Path) -> None:
    found = schema(tmp_path)
    error = {"$ref": "#/components/schemas/Error"}
    for path, methods in found["paths"].items():
        for operation in methods.values():
            for status in ("400", "401", "403", "413", "422", "429", "500", "503"):
                told = operation["responses"][status]["content"]["application/json"]["schema"]
                assert told == error, (path, status)
    assert "HTTPValidationError" not in json.dumps(found)
    for path in ("/api/look", "/api/lessons"):
        body = found["paths"][path]["post"]["requestBody"]
        assert body["content"]["image/*"]["schema"] == {"type": "string", "format": "binary"}
    thumbnail = found["paths"]["/api/examples/{id}/thumbnail"]["get"]["responses"]["200"]
    assert list(thumbnail["content"]) == ["image/jpeg"]


def test_messages_are_as_openapi_shows_them(served: Served, tmp_path: Path) -> None:
    from newfound.studio import messages

    served.teach("mug", 0, 1)
    done = served.teach("cup", 1, 2)
    messages.Done.model_validate(done, strict=True)
    look = served.http.post("/api/look", content=png()).json()
    messages.AnswerMessage.model_validate(look, strict=True)
    for path, kind in (
        ("/api/state", messages.StateMessage),
        ("/api/examples", messages.Examples),
        ("/api/confusions", messages.Confusions),
        ("/api/health", messages.Health),
    ):
        values = served.http.get(path).json()
        assert kind.model_validate(values, strict=True).model_dump() == values


def test_the_application_needs_no_socket(tmp_path: Path) -> None:
    import asyncio

    editor = Editor(tmp_path / "m.newfound", EXTRACTOR)
    app = create_app(editor)

    async def ask() -> Any:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            await client.post("/api/lessons?label=mug", content=png())
            return (await client.get("/api/state")).json()

    try:
        assert asyncio.run(ask())["classes"] == [{"label": "mug", "count": 1, "kept": 1}]
    finally:
        editor.close()
