"""The page serves people who do not see it or cannot point: axe-core finds nothing serious."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.needs import AXE
from tests.studio.axe import violations
from tests.studio.browser.chromium import chromium
from tests.studio.browser.film import Camera, objects
from tests.studio.browser.person import Person, person
from tests.studio.process import studio
from tests.studio.questions import with_questions

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright", "chromium", "axe")]


@pytest.fixture(scope="module")
def me(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    folder = tmp_path_factory.mktemp("accessible")
    camera = Camera(folder / "camera.y4m")
    with_questions(folder / "kitchen.newfound", "cup", None)
    with (
        chromium(camera.path) as browser,
        studio(folder / "kitchen.newfound", "studio", "--extractor", "pixels:size=8") as served,
    ):
        me = person(browser, camera, served.url)
        me.open()
        yield me


def serious(me: Person) -> list[str]:
    found = [
        f"{scheme} {width}: {one}"
        for scheme in ("light", "dark")
        for width, height in ((1280, 900), (390, 844))
        for one in _found(me, scheme, width, height)
    ]
    return [one for one in found if "minor:" not in one and "moderate:" not in one]


def _found(me: Person, scheme: Any, width: int, height: int) -> list[str]:
    me.page.set_viewport_size({"width": width, "height": height})
    me.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    return violations(me.page, AXE.read_text(encoding="utf-8"))


def test_axe_finds_nothing_serious_on_any_face_of_the_page(me: Person) -> None:
    me.page.locator("#questions img").first.wait_for()
    assert serious(me) == [], "empty"
    for name in objects()[:2]:
        me.hold_up(name)
        me.teach(name, 3)
    me.page.locator(".examples li").first.wait_for()
    assert serious(me) == [], "taught"
    me.page.locator("#menu").click()
    assert serious(me) == [], "menu"
    me.page.keyboard.press("Escape")
    me.card(objects()[0]).get_by_role("button", name="Rename").click()
    assert serious(me) == [], "dialog"
    me.page.keyboard.press("Escape")


def test_axe_would_find_what_is_wrong(me: Person) -> None:
    spoil = "document.querySelector('#teach').setAttribute('aria-labelledby', 'nothing')"
    me.page.evaluate("document.querySelector('#video').before(document.createElement('img'))")
    me.page.evaluate(f"{spoil}; document.querySelector('#teach').replaceChildren()")
    found = serious(me)
    me.page.reload()
    assert any("image-alt" in one for one in found)
    assert any("button-name" in one for one in found)


def test_the_keyboard_alone_reaches_everything(me: Person) -> None:
    me.page.set_viewport_size({"width": 1280, "height": 900})
    me.open()
    me.hold_up(objects()[2])
    me.teach(objects()[2], 1)  # so that there is something to undo
    wanted = {
        "undo", "theme", "menu", "camera", "name", "teach", "add-images",
    }  # fmt: skip
    me.page.locator("body").press("Home")
    me.page.evaluate("document.activeElement.blur()")
    reached = set[str]()
    for _ in range(80):
        me.page.keyboard.press("Tab")
        focus = "[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]"
        name, outline = me.page.evaluate(focus)
        if name in wanted:
            reached.add(name)
            assert outline != "none", f"nobody sees that {name} has the focus"
    assert reached == wanted
