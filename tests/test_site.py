"""The site: what its pages name is there, its reference is complete, and its checks can fail."""

import re
from pathlib import Path

import pytest
from website.links import missing_names, problems
from website.names import public_names
from website.reference import reference_pages, write_pages

import newfound

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


def test_every_test_that_a_page_names_is_there() -> None:
    text = "".join(page.read_text() for page in PAGES)
    for name in set(re.findall(r"tests/[\w/]+\.py(?:::\w+)?", text)):
        file, _, function = name.partition("::")
        assert (ROOT / file).is_file(), name
        assert not function or f"\ndef {function}(" in (ROOT / file).read_text(), name


def test_the_algebra_names_a_test_for_every_formula() -> None:
    text = (ROOT / "docs" / "mathematics.md").read_text().partition("## Which test holds it")[2]
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    assert all("::test_" in row for row in rows)
    explained = " ".join(rows)
    titles = re.findall(r"^## (.*)$", (ROOT / "docs" / "mathematics.md").read_text(), re.MULTILINE)
    for title in titles[:-1]:
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        assert f"(#{anchor})" in explained, f"no test holds what stands under {title}"


def test_every_link_of_a_page_leads_to_a_file_of_the_repository() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} leads to {target}"


def test_every_page_is_in_the_table_of_contents() -> None:
    pages = {page.stem: page.read_text() for page in (ROOT / "docs").glob("*.md")}
    listed = set()
    for text in pages.values():
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            listed |= {line for line in tree.splitlines() if line and line[0] != ":"}
    assert pages.keys() - {"index"} == listed - {"gallery/index", "reference/index"}


def test_every_public_name_has_a_place_in_the_reference() -> None:
    text = "".join(reference_pages(newfound).values())
    lacking = [name for name in public_names(newfound) if f" {name}\n" not in text]
    assert not lacking


def test_a_name_that_is_added_has_a_page_and_one_that_went_has_none(tmp_path: Path) -> None:
    write_pages(tmp_path, {"load": "load", "gone": "gone"})
    write_pages(tmp_path, {"load": "load", "new": "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["load.rst", "new.rst"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small site in which all is well."""
    (tmp_path / "reference").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="reference/#newfound.load">load</a> <a href="#top"></a> <p id="top"></p>'
        '<img src="cat.png"> <a href="https://example.org/">elsewhere</a>'
    )
    (tmp_path / "cat.png").touch()
    page = '<p id="newfound.load"></p> <p id="module-newfound.sums"></p> <a href="../index.html">'
    (tmp_path / "reference" / "index.html").write_text(page)
    return tmp_path


def test_a_whole_site_has_no_problems(site: Path) -> None:
    assert problems(site) == []
    assert missing_names(site, ["newfound.load", "newfound.sums"]) == []


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ('<a href="nowhere.html">', "index.html: nowhere.html is not there"),
        ('<a href="#bottom">', "index.html: #bottom has no such anchor"),
        (
            '<a href="reference/index.html#newfound.save">',
            "index.html: reference/index.html#newfound.save has no such anchor",
        ),
        ('<img src="dog.png">', "index.html: dog.png is not there"),
        ('<script src="https://example.org/a.js">', "index.html: loads https://example.org/a.js"),
        (
            '<link rel="stylesheet" href="//example.org/a.css">',
            "index.html: loads //example.org/a.css",
        ),
    ],
)
def test_what_is_broken_is_named(site: Path, broken: str, said: str) -> None:
    page = site / "index.html"
    page.write_text(page.read_text() + broken)
    assert problems(site) == [said]


def test_a_name_that_the_reference_lacks_is_named(site: Path) -> None:
    assert missing_names(site, ["newfound.load", "newfound.save"]) == ["newfound.save"]
