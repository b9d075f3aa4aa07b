"""Labels over HTTP: no new one that cannot be seen, and no old one that cannot be reached."""

from pathlib import Path
from typing import Any

import pytest

from newfound.recognition.editor import Editor
from tests.old_labels import STORED
from tests.studio.conftest import EXTRACTOR, Serve, Served, png

BAD = "x\u001b[31m\u0007y"


@pytest.mark.parametrize("label", [" ", "mug ", "mug\u200b", "\u202egum", BAD], ids=ascii)
def test_no_address_takes_it_for_a_new_class(served: Served, label: str) -> None:
    first = served.teach("mug")["examples"][0]
    params = {"label": label}
    answers = [
        served.http.post("/api/lessons", params=params, content=png(1)),
        served.post("/api/move", {"examples": [first], "label": label}),
        served.post("/api/rename", {"old": "mug", "new": label}),
    ]
    for answer in answers:
        assert answer.status_code == 422
        assert answer.json()["error"].startswith(f"label {label!a}")
    with served.live() as talk:
        talk.send(type="teach", id="1", label=label, image="")
        assert talk.next("error", id="1")
    assert served.counts() == {"mug": 1}


def test_what_is_typed_with_accents_apart_is_composed(served: Served) -> None:
    served.teach("cafe\u0301")
    assert served.counts() == {"caf\u00e9": 1}


def old(folder: Path, label: str) -> None:
    """Let a model have a class that could not be taught today, and another."""
    editor = Editor(folder / "kitchen.newfound", EXTRACTOR)
    editor.recogniser.teach_vectors([[0.0] * 64] * 2 + [[1.0] * 64] * 2, ["a", "a", "old", "old"])
    editor.knowledge.rename("old", label, any_label=True)
    editor.history.write_model("began with a model")
    editor.close()


@pytest.mark.parametrize("label", STORED, ids=ascii)
def test_what_a_model_has_is_listed_renamed_joined_and_deleted(
    serve: Serve, tmp_path: Path, label: str
) -> None:
    old(tmp_path, label)
    served = serve()
    assert served.counts() == {"a": 2, label: 2}
    assert served.http.get("/api/examples", params={"label": label}).status_code == 200
    steps: list[tuple[str, dict[str, Any], dict[str, int]]] = [
        ("/api/forget", {"label": label}, {"a": 2}),
        ("/api/rename", {"old": label, "new": "good"}, {"a": 2, "good": 2}),
        ("/api/join", {"old": label, "into": "a"}, {"a": 4}),
        ("/api/join", {"old": "a", "into": label}, {label: 4}),
    ]
    for path, values, counts in steps:
        answer = served.post(path, values)
        assert answer.status_code == 200, answer.text
        assert served.counts() == counts
        assert served.post("/api/undo").status_code == 200
        assert served.counts() == {"a": 2, label: 2}


def test_accents_are_composed_by_a_rename(serve: Serve, tmp_path: Path) -> None:
    old(tmp_path, "cafe\u0301")
    served = serve()
    assert served.post("/api/rename", {"old": "caf\u00e9", "new": "caf\u00e9"}).status_code == 200
    assert served.counts() == {"a": 2, "caf\u00e9": 2}
