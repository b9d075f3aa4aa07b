"""A person before the studio's page: holds things up, presses keys, reads what it says."""

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.studio.browser.film import Camera

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

# Milliseconds in which the page does anything, also on a machine that is busy with other work.
PATIENCE = 60_000
# Notes what stands on the page after each answer that came.
WATCH = """
window.said = [];
const Plain = WebSocket;
window.WebSocket = class extends Plain {
  constructor(...where) {
    super(...where);
    this.addEventListener("message", ({ data }) => {
      if (JSON.parse(data).type !== "answer") return;
      setTimeout(() => {
        const { textContent, dataset } = document.querySelector("#answer");
        window.said.push([textContent, dataset.kind]);
      });
    });
  }
};
"""
# Resolves when the camera has given so many new frames.
FRAMES = """
(count) => new Promise((resolve) => {
  const video = document.querySelector("#video");
  const next = () => (count-- > 0 ? video.requestVideoFrameCallback(next) : resolve());
  next();
})
"""


class Said(NamedTuple):
    """What the page said of one frame."""

    text: str
    kind: str  # known, unknown or waiting


class Person:
    """One page, and what stands before its camera."""

    # troubles: what the browser's console complains of, and requests to other addresses.
    # too_wide: where the page did not fit into its window.

    def __init__(self, page: "Page", camera: Camera, address: str) -> None:
        self.page = page
        self.camera = camera
        self.address = address
        self.troubles: list[str] = []
        self.too_wide: list[str] = []
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda note: self._hear(note.type, note.text))
        page.on("request", lambda request: self._request(request.url))

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error":
            self.troubles.append(text)

    def _request(self, url: str) -> None:
        if not url.startswith((self.address, "data:", f"blob:{self.address}")):
            self.troubles.append(f"asks {url}")

    def open(self) -> None:
        """Open the page, and wait until it is connected and has a picture."""
        self.page.goto(self.address)
        self.connected()
        self.page.locator("#stage[data-state=on]").wait_for()

    def connected(self) -> None:
        """Wait until the page has a server."""
        self.page.locator("#connection[data-state=open]").wait_for()

    def hold_up(self, name: str, part: int = 0) -> None:
        """Hold an object before the camera, and wait until the page has it before its eyes."""
        self.camera.show(name, part)
        self.page.evaluate(FRAMES, 8)

    def teach(self, label: str, lessons: int) -> None:
        """Type a name, and hold the space bar until so many lessons are counted."""
        self.page.locator("#name").fill(label)
        self.page.locator("#name").press("Enter")
        self.hold("Space", label, lessons)

    def hold(self, key: str, label: str, lessons: int) -> None:
        """Hold a key until a class has so many examples."""
        self.page.keyboard.down(key)
        self.until(
            """([label, lessons]) => {
                const card = document.querySelector(`#classes > [data-label="${label}"] .number`);
                return card && parseInt(card.textContent) >= lessons;
            }""",
            [label, lessons],
        )
        self.page.keyboard.up(key)
        self.page.locator("#teach .words", has_text="Taught").wait_for()

    def says(self, frames: int) -> list[Said]:
        """Return what the page says of so many frames from now on."""
        before = self.page.evaluate("window.said.length")
        before += 2  # one may be under way, and one may be in the camera
        self.until("(count) => window.said.length >= count", before + frames)
        said = self.page.evaluate("([from, to]) => said.slice(from, to)", [before, before + frames])
        return [Said(*one) for one in said]

    def until_it_says(self, text: str) -> None:
        """Wait for an answer."""
        self.page.locator("#answer", has_text=text).wait_for()

    def counts(self) -> dict[str, int]:
        """Return the classes, and the examples each has, as they stand on the page."""
        cards = self.page.locator("#classes > section")
        read = (
            "all => all.map(one => [one.dataset.label, one.querySelector('.number').textContent])"
        )
        return {label: int(number.split()[0]) for label, number in cards.evaluate_all(read)}

    def until_counts(self, expected: dict[str, int]) -> None:
        """Wait until exactly these classes and counts stand on the page."""
        self.until(
            """(expected) => {
                const cards = [...document.querySelectorAll("#classes > section")];
                const counts = cards.map((one) => [one.dataset.label,
                    parseInt(one.querySelector(".number").textContent)]);
                return JSON.stringify(counts.sort()) === JSON.stringify(expected);
            }""",
            sorted(map(list, expected.items())),
        )

    def card(self, label: str) -> "Locator":
        """Return the card of a class."""
        return self.page.locator(f'#classes > [data-label="{label}"]')

    def until(self, script: str, argument: Any = None) -> None:
        """Wait until a function of the page is true."""
        self.page.wait_for_function(script, arg=argument, timeout=PATIENCE)


def person(browser: "Browser", camera: Camera, address: str, **options: Any) -> Person:
    """Return a person at a new window."""
    options = {"viewport": {"width": 1280, "height": 900}, **options}
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(WATCH)
    return Person(context.new_page(), camera, address)
