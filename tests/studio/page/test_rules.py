"""What holds for every file of the page, without a browser."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import PurePosixPath

PAGE = files("newfound.studio") / "page"
TEXTS = {file.name: file.read_text("utf-8") for file in PAGE.iterdir() if file.is_file()}
SCRIPTS = sorted(name for name in TEXTS if name.endswith(".js"))
# Names of formats, and what a person is told to type. Nothing of it is ever fetched.
NO_ADDRESS = ("http://www.w3.org/2000/svg", "http://localhost")


class _Page(HTMLParser):
    """Collects ids, addresses, and whatever the Content-Security-Policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.refused: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in values):
            self.refused.append(tag)
        self.refused += [name for name in values if name == "style" or name.startswith("on")]
        self.ids += [values["id"] or ""] if "id" in values else []
        self.addresses += [values[name] or "" for name in ("src", "href") if name in values]


def _page() -> _Page:
    page = _Page()
    page.feed(TEXTS["index.html"])
    return page


def test_the_page_has_nothing_inline() -> None:
    assert _page().refused == []


def test_ids_are_unique() -> None:
    ids = _page().ids
    assert len(ids) == len(set(ids))


def test_every_file_that_the_page_names_is_there() -> None:
    named = [address for address in _page().addresses if address.startswith("/static/")]
    assert named
    assert {PurePosixPath(address).name for address in named} <= set(TEXTS)


def test_no_file_names_an_outside_address() -> None:
    for name, text in TEXTS.items():
        found = re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"')`]*", text)
        assert [address for address in found if not address.startswith(NO_ADDRESS)] == [], name
        assert "@import" not in text, name


def test_no_script_makes_markup_or_code_from_text() -> None:
    words = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|cssText"
    assert {name: found for name in SCRIPTS if (found := re.findall(words, TEXTS[name]))} == {}


def test_every_import_is_a_module_of_the_page_and_is_used() -> None:
    imports = [
        (name, word.strip(), source)
        for name in SCRIPTS
        for names, source in re.findall(r"import \{([^}]+)\} from \"([^\"]+)\"", TEXTS[name])
        for word in names.split(",")
    ]
    for name, word, source in imports:
        assert source.startswith("./"), (name, source)
        module = TEXTS[source.removeprefix("./")]
        exported = rf"export (?:async )?(?:function|class|const) {word}\b"
        assert re.search(exported, module), f"{name} imports {word}, which {source} lacks"
        assert len(re.findall(rf"\b{word}\b", TEXTS[name])) > 1, f"{name} does not use {word}"


def test_every_id_that_a_script_looks_for_is_on_the_page() -> None:
    ids = set(_page().ids)
    for name in SCRIPTS:
        assert set(re.findall(r"find\(\"#([a-z-]+)", TEXTS[name])) <= ids, name


def test_scripts_are_small_and_their_lines_short() -> None:
    for name in SCRIPTS:
        lines = TEXTS[name].splitlines()
        assert len(lines) <= 300, name
        assert max(map(len, lines)) <= 100, name
