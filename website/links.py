"""Check a site that was built: every link, anchor, image and public name is there.

    python -m website.links docs/_build/html

Nothing is fetched; links to other sites are counted, and not followed. It also fails where a page
would load anything from elsewhere: the site must work offline.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from website.names import public_names

# What a browser fetches by itself when it shows a page, in contrast to what a reader may follow.
LOADED = {("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"), ("video", "src")}
# Links that are about a page, and load nothing.
ABOUT = {"canonical", "search", "index", "next", "prev", "author", "copyright"}


class Page(HTMLParser):
    """One page: its anchors, where it leads, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag is called and where it points."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        for name, value in given.items():
            if (tag, name) in LOADED and given.get("rel") not in ABOUT:
                self.loaded.append(value)
            elif name in ("href", "src"):
                self.links.append(value)


def problems(root: Path) -> list[str]:
    """Return what is wrong with the pages below a folder, one sentence each.

    Parameters
    ----------
    root : Path

    Returns
    -------
    problems : list of str
    """
    paths = [path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        where = path.relative_to(root.resolve())
        found += [f"{where}: loads {url}" for url in page.loaded if _is_elsewhere(url)]
        for url in page.links + page.loaded:
            if not _is_elsewhere(url) and (wrong := _wrong(url, path, pages)):
                found.append(f"{where}: {url} {wrong}")
    return found


def missing_names(root: Path, names: list[str]) -> list[str]:
    """Return the names that no page of the reference describes.

    Parameters
    ----------
    root : Path
        Of the site.
    names : list of str
        In full, as `newfound.load`.

    Returns
    -------
    missing : list of str
    """
    text = "".join(
        path.read_text(encoding="utf-8") for path in sorted((root / "reference").rglob("*.html"))
    )
    described = set(re.findall(r'id="([\w.-]+)"', text)) | {
        name.replace("module-", "") for name in re.findall(r'id="(module-[\w.]+)"', text)
    }
    return [name for name in names if name not in described]


def _is_elsewhere(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.scheme or parts.netloc)


def _wrong(url: str, path: Path, pages: dict[Path, Page]) -> str:
    """Return what is wrong with a link of a page, or nothing."""
    parts = urlsplit(url)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "is not there"
    if target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "has no such anchor"
    return ""


def main() -> None:
    """Check the site that the command line names, and say what is wrong with it."""
    import newfound

    root = Path(sys.argv[1])
    wrong = problems(root)
    wrong += [
        f"the reference lacks {name}" for name in missing_names(root, list(public_names(newfound)))
    ]
    print(
        "\n".join(wrong) or f"{len(list(root.rglob('*.html')))} pages: all links are there",
        file=sys.stderr,
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
