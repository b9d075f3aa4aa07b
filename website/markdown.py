"""What pages written for a reader of the repository need on the site.

The pages in `docs/` are read there, in a forge and on the site. So links in them are those of the
repository, and code is indented without saying its language; both are made good here.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

# Files of the repository, as `docs/` sees them, that are pages of the site under another name.
PAGES = {
    "../benchmarks/RESULTS.md": "results.md",
    "../CHANGELOG.md": "changelog.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../src/newfound/__init__.py": "reference/index.rst",
    "../examples/gallery)": "gallery/index.rst)",
}
EXAMPLE = re.compile(r"\]\(\.\./examples/(gallery/plot_\w+)\.py\)")
COMMAND = re.compile(r"(newfound|python|pip|make|pytest|bash|docker|dask|kubectl|export|curl) ")


def language_of(code: str) -> str:
    """Return the language of a piece of code that does not say it.

    Parameters
    ----------
    code : str

    Returns
    -------
    language : {"pycon", "python", "bash", "text"}

    Examples
    --------
    >>> language_of(">>> 1 + 1"), language_of("newfound demo")
    ('pycon', 'bash')
    >>> language_of("G = X'X"), language_of("import numpy as np")
    ('text', 'python')
    """
    if code.startswith(">>> "):
        return "pycon"
    if code.startswith(("from ", "import ", "model.")):
        return "python"
    return "bash" if COMMAND.match(code) else "text"


class Languages(SphinxTransform):
    """Give code without a language the one that it is written in."""

    default_priority = 200

    def apply(self, **kwargs: Any) -> None:
        """Change the document."""
        for block in self.document.findall(nodes.literal_block):
            if block.get("language", "none") in ("none", "default"):
                block["language"] = language_of(block.astext())


def linked_pages(text: list[str]) -> None:
    """Lead links to files of the repository to their pages of the site. Overwrites `text`.

    Parameters
    ----------
    text : list of str
        The source of a page, as its only entry, which is how Sphinx hands it out.

    Examples
    --------
    >>> text = ["all of it is in [RESULTS](../benchmarks/RESULTS.md)"]
    >>> linked_pages(text)
    >>> text
    ['all of it is in [RESULTS](results.md)']
    """
    for file, page in PAGES.items():
        text[0] = text[0].replace(f"]({file}", f"]({page}")
    text[0] = EXAMPLE.sub(r"](\1.rst)", text[0])


def mended_docstring(lines: list[str]) -> None:
    """Make a docstring reStructuredText. Overwrites `lines`.

    Names of pages become links, and bars around a word stay bars.

    Parameters
    ----------
    lines : list of str

    Examples
    --------
    >>> lines = ["Rows stay where they are (docs/scale.md).", ">>> |x|"]
    >>> mended_docstring(lines)
    >>> lines
    ['Rows stay where they are (:doc:`/scale`).', '>>> |x|']
    """
    for number, line in enumerate(lines):
        linked = re.sub(r"docs/([\w-]+)\.md", r":doc:`/\1`", line)
        if not line.lstrip().startswith((">>>", "...")):
            linked = re.sub(r"\|(\w+)\|", r"\\|\1\\|", linked)
        lines[number] = linked
