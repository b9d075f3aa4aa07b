"""The whole story, in a real browser with a camera: teach, ask, correct, undo, and lose nothing."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from zipfile import ZipFile

import httpx
import pytest
from PIL import Image

from newfound.recognition.editor import Editor
from tests.studio.browser.chromium import chromium
from tests.studio.browser.film import Camera, objects
from tests.studio.browser.person import Person, Said, person
from tests.studio.browser.screenshots import look_over
from tests.studio.pictures import picture
from tests.studio.process import Studio, studio
from tests.studio.questions import ask, with_questions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright", "chromium")]

# Lessons of one hold: every side of an object several times, each time a little otherwise.
LESSONS = 15
# Frames of which nine of ten must be right: again two seconds or so.
FRAMES = 20


@pytest.fixture(scope="module")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Camera:
    return Camera(tmp_path_factory.mktemp("camera") / "camera.y4m")


@pytest.fixture(scope="module")
def browser(camera: Camera) -> Iterator["Browser"]:
    with chromium(camera.path) as browser:
        yield browser


def right(said: list[Said], label: str) -> float:
    """Return the share of frames of which the page said that."""
    return sum(one == (label, "known") for one in said) / len(said)


def test_three_things_are_taught_and_known_tomorrow(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    first, second, third, another, stranger = objects()
    served = Studio(tmp_path / "kitchen.newfound")
    camera.show(first)
    began = monotonic()
    try:
        started = served.start()
        me = person(browser, camera, served.url)
        me.open()
        look_over(me, "empty")
        me.teach(first, 1)
        me.until_it_says(first)
        print(f"started after {started:.1f} s, first lesson after {monotonic() - began:.1f} s")
        teach(me, first, second, third)
        recognise(me, first, second, third, stranger)
        correct_and_undo(me, first, another)
        renamed = delete_and_rename(me, first, third)
        reload(me)
        outlive(me, served, first)
        me.hold_up(third, part=1)
        assert right(me.says(FRAMES), renamed) >= 0.9
        look_over(me, "restarted")
        assert me.too_wide == []
        assert "Traceback" not in served.said()
    finally:
        if served.process is not None:
            served.kill()


def teach(me: Person, first: str, second: str, third: str) -> None:
    """Hold keys: the space bar for a name that is typed, a digit for a class that is there."""
    me.hold("Digit1", first, LESSONS)
    for name in (second, third):
        me.hold_up(name)
        me.teach(name, LESSONS)
    counts = me.counts()
    assert set(counts) == {first, second, third}
    # The page counts what it sends; a picture that the film shows twice is taught once.
    assert min(counts.values()) >= 0.8 * LESSONS
    look_over(me, "taught")


def recognise(me: Person, first: str, second: str, third: str, stranger: str) -> None:
    """See each from sides that were not taught, and then what was never taught."""
    for name in (second, third, first):
        me.hold_up(name, part=1)
        assert right(me.says(FRAMES), name) >= 0.9, name
    look_over(me, "recognised")
    me.hold_up(stranger)
    said = me.says(FRAMES)
    assert sum(one == ("Unknown", "unknown") for one in said) >= 0.9 * FRAMES
    look_over(me, "unknown")


def correct_and_undo(me: Person, first: str, another: str) -> None:
    """Press the right name where the page is wrong, and take it back with Ctrl-Z."""
    before = me.counts()
    me.hold_up(another)
    assert right(me.says(5), first) == 0
    me.page.locator(f'#bars [data-label="{first}"] button').click()
    me.until_counts({**before, first: before[first] + 1})
    corrected = newest(me.address, first)  # one frame of many: the others still say otherwise
    assert label_of(me.address, corrected) == first
    look_over(me, "corrected")
    me.page.keyboard.press("Control+z")
    me.until_counts(before)
    assert label_of(me.address, corrected) != first
    assert right(me.says(5), first) == 0
    look_over(me, "undone")


def newest(address: str, label: str) -> bytes:
    """Return the picture that was last taught under a label, which is the camera's to the byte."""
    wanted: dict[str, str | int] = {"label": label, "limit": 1}
    (example,) = httpx.get(f"{address}/api/examples", params=wanted).json()["examples"]
    return httpx.get(f"{address}/api/examples/{example['id']}/thumbnail").content


def label_of(address: str, image: bytes) -> str:
    """Return what the service takes a picture for; a guess about what is unknown does not count."""
    said = httpx.post(f"{address}/api/look", content=image).json()
    return str(said["label"]) if said["known"] else "unknown"


def delete_and_rename(me: Person, first: str, third: str) -> str:
    """Delete an example by its button, and give a class another name, which a second page sees."""
    before = me.counts()
    picture = me.card(first).locator(".examples li").first
    name = picture.get_attribute("data-id")
    picture.hover()
    picture.get_by_role("button", name="Delete").click()
    me.card(first).locator(f'.examples li[data-id="{name}"]').wait_for(state="detached")
    counts = {**before, first: before[first] - 1}
    me.until_counts(counts)
    look_over(me, "deleted")
    other = Person(me.page.context.new_page(), me.camera, me.address)
    other.open()
    other.until_counts(counts)
    me.page.bring_to_front()
    renamed = f"my {third}"
    me.card(third).get_by_role("button", name="Rename").click()
    me.page.locator("#dialog input").fill(renamed)
    look_over(me, "renaming")
    me.page.locator("#dialog").get_by_role("button", name="Rename").click()
    counts[renamed] = counts.pop(third)
    for page in (me, other):
        page.until_counts(counts)
    assert other.troubles == []
    other.page.close()
    return renamed


def reload(me: Person) -> None:
    """Load the page anew: all is there."""
    before = me.counts()
    me.page.reload()
    me.connected()
    me.until_counts(before)
    me.page.locator("#stage[data-state=on]").wait_for()
    assert me.troubles == []


def outlive(me: Person, served: Studio, first: str) -> None:
    """Kill the server: the page says so, keeps a lesson until it is back, and nothing is lost."""
    before = me.counts()
    me.hold_up(first, part=1)
    served.kill()
    me.page.locator("#connection[data-state=lost]").wait_for()
    me.page.locator("#banner").wait_for()
    look_over(me, "server-gone")
    me.page.locator("#name").fill(first)
    me.page.locator("#name").press("Enter")
    me.page.keyboard.press("Space")
    me.page.locator("#connection", has_text="1 waiting").wait_for()
    served.start()
    me.connected()
    me.until_counts({**before, first: before[first] + 1})


# What browsers say of a camera that does not start; None: pages that are not secure have none.
REFUSALS = ("NotAllowedError", "NotFoundError", "NotReadableError", None)
REFUSE = """
const refusal = %s;
const refuse = async () => { throw new DOMException("", refusal); };
if (refusal) navigator.mediaDevices.getUserMedia = refuse;
else Object.defineProperty(navigator, "mediaDevices", { value: undefined });
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    model = tmp_path_factory.mktemp("troubles") / "kitchen.newfound"
    with studio(model, "studio", "--extractor", "pixels:size=8") as served:
        yield served


def test_each_trouble_with_the_camera_has_a_sentence_of_its_own(
    browser: "Browser", camera: Camera, served: Studio
) -> None:
    sentences = set()
    for refusal in REFUSALS:
        me = person(browser, camera, served.url)
        me.page.add_init_script(REFUSE % json.dumps(refusal))
        me.page.goto(served.url)
        me.page.locator("#stage[data-state=off]").wait_for()
        sentences.add(me.page.locator("#camera-trouble p").inner_text())
        assert me.troubles == []
        me.page.context.close()
    assert len(sentences) == len(REFUSALS)


# Hands a store of the page states as a slow network might, and tells what it then shows.
LATE = """async () => {
  const { Store } = await import("/static/store.js");
  const store = new Store();
  const state = (position, count) => ({ position, classes: [{ label: "mug", count }] });
  store.accept(state(5, 3), true);
  store.accept(state(4, 2));
  const late = store.view.classes[0].count;
  store.accept(state(1, 1), true);
  return [late, store.view.classes[0].count];
}"""


def test_a_state_that_comes_late_does_not_let_counts_step_back(
    browser: "Browser", camera: Camera, served: Studio
) -> None:
    me = person(browser, camera, served.url)
    me.page.goto(served.url)
    assert me.page.evaluate(LATE) == [3, 1]  # but for the first of a new connection
    me.page.context.close()


# Notes for each key and click how many milliseconds later the page first changed.
REACT = """
window.reactions = [];
let since = null;
for (const type of ["keydown", "click"]) {
  addEventListener(type, () => { since ??= performance.now(); }, true);
}
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  if (since !== null) window.reactions.push(performance.now() - since);
  since = null;
}).observe(document.body, { subtree: true, childList: true, attributes: true,
                            characterData: true }));
"""


def test_every_action_shows_at_once_though_the_server_stands_still(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    with studio(tmp_path / "kitchen.newfound", "studio", "--extractor", "pixels:size=8") as served:
        for number in range(4):
            lesson = {"label": f"thing {number % 2}"}
            url, image = f"{served.url}/api/lessons", picture(number % 2, number)
            httpx.post(url, params=lesson, content=image).raise_for_status()
        me = person(browser, camera, served.url)
        me.page.add_init_script(REACT)
        me.open()
        me.until_counts({"thing 0": 2, "thing 1": 2})
        card = me.card("thing 0")
        card.locator(".examples li").first.wait_for()
        served.pause()
        me.page.keyboard.down("Digit2")
        me.page.locator("#teach.held").wait_for()
        me.page.keyboard.up("Digit2")
        me.until_counts({"thing 0": 2, "thing 1": 3})
        card.locator(".examples li").first.hover()
        card.get_by_role("button", name="Delete this").first.click()
        me.until_counts({"thing 0": 1, "thing 1": 3})
        me.page.keyboard.press("Control+z")
        me.page.locator("#toast", has_text="Undoing").wait_for()
        reactions = me.page.evaluate("window.reactions")
        served.go_on()
        me.until_counts({"thing 0": 2, "thing 1": 3})
        assert me.troubles == []
        me.page.context.close()
    print(f"milliseconds until the page answers: {[round(one) for one in reactions]}")
    assert len(reactions) >= 3


def test_what_it_did_not_know_is_named_or_dismissed_on_the_page(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    model = tmp_path / "kitchen.newfound"
    with_questions(model, "cup", None)
    with studio(model, "studio", "--extractor", "pixels:size=8") as served:
        me = person(browser, camera, served.url)
        me.open()
        cards = me.page.locator("#questions > section")
        me.page.locator("#inbox", has_text="It did not know 2 things.").wait_for()
        cards.nth(1).locator("img").nth(2).wait_for()
        look_over(me, "asked")
        name = me.page.get_by_label("Name (nearest: cup)")
        name.fill("mug")
        name.press("Enter")  # with keys alone
        me.until_counts({"mug": 3})
        me.page.locator("#inbox", has_text="It did not know 1 thing.").wait_for()
        me.page.locator("#question-2:focus").wait_for()  # it goes on to the next
        me.page.keyboard.press("Tab")
        me.page.keyboard.press("Tab")
        me.page.keyboard.press("Enter")
        me.page.locator("#inbox").wait_for(state="hidden")
        me.page.evaluate("document.activeElement.blur()")
        me.page.keyboard.press("Control+z")
        me.page.locator("#inbox", has_text="It did not know 1 thing.").wait_for()
        assert me.too_wide == me.troubles == []
        me.page.context.close()


def test_questions_that_did_not_come_are_asked_for_again(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    model = tmp_path / "kitchen.newfound"
    with_questions(model, "cup")
    with studio(model, "studio", "--extractor", "pixels:size=8") as served:
        me = person(browser, camera, served.url)
        me.page.route("**/api/questions?*", lambda route: route.abort())
        with me.page.expect_event("requestfailed"):
            me.open()
        me.page.unroute("**/api/questions?*")
        url, image = f"{served.url}/api/lessons", picture(3, 0)
        httpx.post(url, params={"label": "mug"}, content=image).raise_for_status()
        me.page.locator("#questions > section").wait_for()
        me.page.context.close()


def test_a_question_that_taught_nothing_does_not_offer_to_undo_what_came_before(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    model = tmp_path / "kitchen.newfound"
    with closing(Editor(model, "pixels:size=8")) as editor:
        for _ in range(2):
            ask(editor, 0, "cup")
    with studio(model, "studio", "--extractor", "pixels:size=8") as served:
        me = person(browser, camera, served.url)
        me.open()
        for left in (1, 0):
            name = me.page.get_by_label("Name (nearest: cup)").first
            name.fill("mug")
            name.press("Enter")
            me.page.locator("#questions > section").nth(left).wait_for(state="detached")
        toast = me.page.locator("#toast", has_text="It has all of this as mug already.")
        toast.wait_for()
        assert toast.get_by_role("button").count() == 0
        me.page.context.close()


def test_an_import_shows_how_far_it_is_and_is_stopped_on_the_page(
    browser: "Browser", camera: Camera, tmp_path: Path
) -> None:
    with ZipFile(tmp_path / "large.zip", "w") as archive:
        for grey in range(100):  # each takes some tenths of a second
            with archive.open(f"mug/{grey}.png", "w") as file:
                Image.new("L", (6000, 6000), grey).save(file, "PNG")
    with studio(tmp_path / "kitchen.newfound", "studio", "--extractor", "pixels:size=8") as served:
        me = person(browser, camera, served.url)
        me.open()
        me.page.locator("#pick-zip").set_input_files(tmp_path / "large.zip")
        me.page.locator("#importing", has_text="of 100 images").wait_for()
        me.page.locator("#importing").get_by_role("button", name="Stop").click()
        me.page.locator("#upload", has_text="not looked at: it was stopped.").wait_for()
        me.page.locator("#importing").wait_for(state="hidden")
        assert me.troubles == []
        me.page.context.close()


def test_a_name_that_looks_like_html_is_a_name(
    browser: "Browser", camera: Camera, served: Studio
) -> None:
    name = "<img src=x onerror='window.hacked = 1'>"
    lesson = {"label": name, "key": "a-name-of-html"}
    httpx.post(f"{served.url}/api/lessons", params=lesson, content=picture(0, 0)).raise_for_status()
    me = person(browser, camera, served.url)
    me.open()
    me.until_counts({name: 1})
    me.until_it_says(name)
    me.page.locator(".examples li").first.wait_for()
    assert me.page.evaluate("window.hacked") is None
    assert me.troubles == []
    me.page.context.close()
