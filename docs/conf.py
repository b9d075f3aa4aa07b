"""How Sphinx makes the site. `make docs` runs it; `website/` has what it does not bring."""

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]
# Examples are run while the site is built: like the tests, they draw into files and keep to
# one thread. scikit-learn takes tensors only if SCIPY_ARRAY_API is set before it is imported.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["SCIPY_ARRAY_API"] = "1"

from website.commands import commands_page  # noqa: E402
from website.markdown import Languages, linked_pages, mended_docstring  # noqa: E402
from website.reference import reference_pages, write_pages  # noqa: E402

import newfound  # noqa: E402

project = "newfound"
author = "the newfound developers"
copyright = "the newfound developers, BSD-3-Clause"
version = release = newfound.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4

default_role = "literal"  # names in docstrings stand between single backticks
autodoc_typehints = "none"  # types are told in the docstrings
autosummary_generate = False
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# What is copied can be pasted: of Python, the lines with prompts, without these. What a command
# prints, and formulas, have no button.
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "newfound"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "newfound"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
}
# One page has no neighbours worth a column.
html_sidebars = {"index": [], "start": [], "mathematics": [], "about": []}

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "ignore_pattern": r"^(?!.*plot_)",  # what the examples share
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/uses",
    "doc_module": ("newfound",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}


def setup(app: Any) -> None:
    """Write the pages of the reference, and take part in how pages are read."""
    pages = reference_pages(newfound) | {"commands": commands_page()}
    write_pages(Path(app.srcdir) / "reference", pages)
    app.add_transform(Languages)
    app.connect("source-read", lambda _app, _name, text: linked_pages(text))
    app.connect("autodoc-process-docstring", lambda *event: mended_docstring(event[-1]))
