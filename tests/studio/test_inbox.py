"""The inbox over HTTP: what was asked about is listed, named and dismissed."""

import pytest

from tests.studio.conftest import Served
from tests.studio.pictures import picture
from tests.studio.questions import ask


@pytest.mark.slow
def test_questions_are_listed_named_dismissed_and_opened_again_by_undo(served: Served) -> None:
    http = served.http
    assert http.get("/api/questions").json() == {"questions": [], "next": None}
    first, second, third = (ask(served.editor, thing, "cup") for thing in (1, 2, 3))
    page = http.get("/api/questions", params={"limit": 2}).json()
    assert [each["id"] for each in page["questions"]] == [third, second]
    rest = http.get("/api/questions", params={"before": page["next"]}).json()
    (question,) = rest["questions"]
    assert (question["id"], question["source"], question["guess"]) == (first, "/camera", "cup")
    shown = http.get(f"/api/examples/{question['frames'][0]}/thumbnail")
    assert shown.content == picture(1, 0)
    done = served.post(f"/api/questions/{first}/name", {"label": "mug", "key": "name-0001"}).json()
    assert (done["what"], done["state"]["questions"]) == ("taught mug (3)", 2)
    again = served.post(f"/api/questions/{first}/name", {"label": "mug", "key": "name-0001"})
    assert again.json()["repeated"]
    dismissed = served.post(f"/api/questions/{second}/dismiss").json()
    assert dismissed["what"] == f"dismissed question {second}"
    assert dismissed["state"]["questions"] == 1
    assert dismissed["state"]["bin"] == 0
    assert served.counts() == {"mug": 3}
    assert served.post("/api/undo").json()["state"]["questions"] == 2


def test_what_is_no_question_or_no_name_is_refused(served: Served) -> None:
    number = ask(served.editor, 1)
    for path in ("/api/questions/99/name", "/api/questions/99/dismiss"):
        values = {"label": "mug"} if path.endswith("name") else {}
        refused = served.post(path, values)
        assert (refused.status_code, refused.json()) == (
            404,
            {"error": "there is no open question 99"},
        )
    assert served.post(f"/api/questions/{number}/name", {"label": ""}).status_code == 422
    assert served.post(f"/api/questions/{number}/name", {}).status_code == 422
    assert served.http.get("/api/state").json()["questions"] == 1
