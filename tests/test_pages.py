"""A reader's walk: README and all pages are followed in one folder, in the order of the site."""

import contextlib
import doctest
import hashlib
import os
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

import newfound
from newfound import load
from tests.needs import is_here
from tests.shell import ROOT, SERVES, run, serving, write_belongings

# How code is written in README and docs:
#
#     ```bash      commands without prompts, so that they can be pasted. They are run one by one.
#     ```text      right below: all that the commands above print. It is compared. Lines after "…"
#                  are not shown.
#     ```python    with prompts: a doctest, compared to the letter. Without: only compiled.
#
# Indented code is a doctest, or a formula, which is nothing to run or to copy.
BLOCK = re.compile(
    r"^```(?P<kind>\w+)\n(?P<code>.*?)^```$|^(?P<indented>    >>> .*\n(?:(?:    .*)?\n)*)",
    re.DOTALL | re.MULTILINE,
)
# A decimal number may differ by a twentieth, or by 0.05 if that is more, sizes by 0.1 MB: another
# processor has other kernels for the network, and versions round otherwise; a choice among few
# penalties carries that on. What seconds were taken is not compared. Whole numbers are equal.
DECIMAL = re.compile(r"\d+\.\d+(?P<size> MB)?")
SECONDS = re.compile(r"\bin \d+\.\d+ s\b")
# What the pages tell readers to do to their machines, and not to a model.
NOT_RUN = re.compile(r"(pip install|python3 -m venv|make|export|docker|dask|kubectl) ")
CLIENT = "python examples/studio_client.py "
# What makes a model, in code of a page.
MAKES = re.compile(
    r'(?:save\("|newfound (?:teach|serve) | -o |Recogniser\((?=".*extractor=)")([\w-]+\.newfound)'
)
# Pages with figures of benchmarks say of which version these are, with this right behind it.
VERSION = "<!-- figure: version -->"
MEASURED = [
    "benchmarks/RESULTS.md",
    *(
        f"docs/{name}.md"
        for name in (
            "benchmarks", "comparison", "features", "gpu", "rare", "reproduction", "robots",
            "scale", "selection", "solver", "speed", "studio", "unknown",
        )
    ),
]  # fmt: skip


class Block(NamedTuple):
    """A piece of code of a page."""

    kind: str
    code: str

    @property
    def lines(self) -> list[str]:
        """What is to be run or was printed, line by line."""
        whole = re.sub(r"\\\n\s*", "", self.code)
        return [line.partition("  #")[0].strip() for line in whole.splitlines() if line.strip()]


def blocks(text: str) -> list[Block]:
    """Return the pieces of code of a page, in its order."""
    found = [(m["kind"] or "python", m["code"] or m["indented"]) for m in BLOCK.finditer(text)]
    return [Block(kind, code) for kind, code in found]


def site(page: str = "index") -> Iterator[str]:
    """Yield the names of a page and of those below it, as the tables of contents have them."""
    path = ROOT / "docs" / f"{page}.md"
    if path.exists():
        yield f"docs/{page}.md"
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.DOTALL):
            for name in re.findall(r"^[\w/-]+$", tree, re.MULTILINE):
                yield from site(name)


PAGES = ["README.md", *site()]


def alike(told: str, shown: str) -> bool:
    """Return whether a line is as it was told, to the tolerance stated above."""
    told, shown = (SECONDS.sub("in # s", " ".join(line.split())) for line in (told, shown))
    if DECIMAL.sub("#", told) != DECIMAL.sub("#", shown):
        return False
    for one, other in zip(DECIMAL.finditer(told), DECIMAL.finditer(shown), strict=True):
        number, found = (float(each[0].split()[0]) for each in (one, other))
        allowed = 0.1 if one["size"] else max(0.05, number / 20)
        if abs(number - found) > allowed + 1e-9 or one["size"] != other["size"]:
            return False
    return True


def compare(told: list[str], shown: list[str]) -> None:
    """Compare what a page says that was printed with what was. stderr may come before or after."""
    left = list(shown)
    for line in told:
        if line == "…":
            return
        found = next((one for one in left if alike(line, one)), None)
        assert found is not None, f"{line!r} was not printed, but {left}"
        left.remove(found)
    assert not left, f"the page does not tell of {left}"


class Walk:
    """One folder in which pages are followed, one after the other."""

    # makers: which page made each model. answers: digest of its file, and what it answers.
    # lines: all that was run. services: the one that runs beside the next line. address: its.

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.makers: dict[str, str] = {}
        self.answers: dict[str, tuple[bytes, Any]] = {}
        self.lines: list[str] = []
        self.services = contextlib.ExitStack()
        self.address = ""

    def follow(self, page: str) -> None:
        """Do all that a page says, and see that models of other pages are as they were."""
        names: dict[str, Any] = {"__name__": "__main__"}
        printed: list[str] = []
        with warnings.catch_warnings(), mock.patch.dict(os.environ), self.services:
            for block in blocks((ROOT / page).read_text()):
                if block.kind == "bash":
                    printed = [line for each in block.lines for line in self.do(each)]
                elif block.kind == "text":
                    compare(block.lines, printed)
                else:
                    self.run_python(block.code, names, page)
        self.see_models(page)

    def do(self, line: str) -> list[str]:
        """Run a line, and return what it prints."""
        if NOT_RUN.match(line) or (SERVES.match(line) and line in self.lines):
            return []
        self.lines.append(line)
        if not line.startswith(CLIENT):
            self.services.close()  # by Ctrl-C: one model, one writer
        if SERVES.match(line):
            line = re.sub(r" --port \d+", "", line)
            _, self.address = self.services.enter_context(serving(line, self.folder))
            assert self.address.startswith("http://127.0.0.1:"), line
            return [self.address]
        if line.startswith(CLIENT):
            line = re.sub(r"http://\S+", self.address.strip(), line)
        done = run(line, self.folder)
        assert done.code == 0, (line, done.out, done.err)
        return [each for each in (done.out + done.err).splitlines() if each.strip()]

    def run_python(self, code: str, names: dict[str, Any], page: str) -> None:
        """Run a doctest, unless it needs torch and there is none: a test of its own says so."""
        if ">>> " not in code:
            compile(code, page, "exec")
            return
        if re.search(r"import .*\btorch\b", code) and not is_here("torch"):
            return
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        runner = doctest.DocTestRunner(optionflags=flags)
        said: list[str] = []
        with contextlib.chdir(self.folder):
            test = doctest.DocTestParser().get_doctest(code, names, page, page, 0)
            runner.run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
        assert not runner.failures, f"{page}:\n{''.join(said)}"

    def see_models(self, page: str) -> None:
        """See that every model opens, and that only the page that made it has changed it."""
        for path in sorted(self.folder.glob("*.newfound")):
            digest = hashlib.sha256(path.read_bytes()).digest()
            before = self.answers.get(path.name)
            if before and before[0] == digest:
                continue
            answers = ask(path)
            maker = self.makers.setdefault(path.name, page)
            if before and maker != page:
                same = all(map(np.array_equal, before[1], answers))
                assert same, f"{page} changes {path.name}, which is of {maker}"
            self.answers[path.name] = digest, answers
        gone = [name for name in self.makers if not (self.folder / name).exists()]
        assert not gone, f"{page} removes {gone}"


def ask(path: Path) -> tuple[Any, ...]:
    """Return what a model knows, and its scores of a few rows."""
    model = load(path)
    if not hasattr(model, "classes_"):
        return ()
    rows = np.random.default_rng(0).normal(size=(3, model.n_features_in_))
    return model.classes_, model.class_count_, model.scores(rows).round(9)


@pytest.mark.slow
def test_pages_can_be_followed_in_one_folder_and_none_breaks_another(tmp_path: Path) -> None:
    write_belongings(tmp_path)
    walk = Walk(tmp_path)
    for page in PAGES:
        walk.follow(page)
    assert len(walk.lines) >= 60
    assert len(walk.makers) >= 12
    assert {line.split()[1] for line in walk.lines if line.startswith("newfound ")} >= {
        "teach", "predict", "evaluate", "inspect", "forget", "undo", "merge", "studio", "serve",
    }  # fmt: skip


@pytest.mark.needs("torch")
def test_the_page_about_gpus_can_be_followed(tmp_path: Path) -> None:
    Walk(tmp_path).follow("docs/gpu.md")


@pytest.mark.parametrize(
    ("told", "shown", "is_alike"),
    [
        ("a.jpg\tmug\t0.74", "a.jpg\tmug\t0.70", True),
        ("a.jpg\tmug\t0.74", "a.jpg\tmug\t0.62", False),
        ("a.jpg\tmug\t0.74", "a.jpg\tcat\t0.74", False),
        ("sharpness\t15.08", "sharpness\t14.58", True),
        ("sharpness\t15.08", "sharpness\t12.42", False),
        ("file 0.4 MB", "file 0.5 MB", True),
        ("file 0.4 MB", "file 0.6 MB", False),
        ("file 0.4 MB", "file 0.4 GB", False),
        ("Learned 36 images in 0.9 s.", "Learned 36 images in 7.2 s.", True),
        ("Learned 36 images in 0.9 s.", "Learned 35 images in 0.9 s.", False),
    ],
)
def test_figures_are_held_to_the_stated_tolerance(told: str, shown: str, is_alike: bool) -> None:
    assert alike(told, shown) == is_alike


def test_what_a_page_tells_is_all_that_was_printed() -> None:
    compare(["two", "one"], ["one", "two"])
    compare(["one", "…"], ["one", "two"])
    for told in (["one"], ["one", "two", "three"], ["two", "two"]):
        with pytest.raises(AssertionError):
            compare(told, ["one", "two"])


def test_a_page_that_changes_another_ones_model_is_named(tmp_path: Path) -> None:
    from newfound import IncrementalRidgeClassifier

    walk = Walk(tmp_path)
    model = IncrementalRidgeClassifier().fit([[0.0], [1.0]], ["cup", "mug"])
    model.save(tmp_path / "kitchen.newfound")
    walk.see_models("start")
    model.partial_fit([[2.0]], ["jug"]).save(tmp_path / "kitchen.newfound")
    with pytest.raises(AssertionError, match=r"estimators changes kitchen\.newfound"):
        walk.see_models("estimators")


def test_a_model_of_one_name_is_made_by_one_page() -> None:
    makers: dict[str, set[str]] = {}
    for page in PAGES:
        for block in blocks((ROOT / page).read_text()):
            for name in MAKES.findall(block.code):
                makers.setdefault(name, set()).add(page)
    assert len(makers) >= 12
    assert {name: pages for name, pages in makers.items() if len(pages) > 1} == {}


def test_code_of_a_page_can_be_pasted() -> None:
    begins = r"(?:newfound [a-z-]+|pip install|python3? |make [a-z]|docker |export )"
    for page in PAGES:
        text = (ROOT / page).read_text()
        assert not re.findall(r"^\s*\$ .*$", text, re.MULTILINE), f"{page} has prompts"
        outside = re.findall(rf"^ {{4,}}{begins}.*$", text, re.MULTILINE)
        assert not outside, f"{page}: not in a ```bash block"
        assert {block.kind for block in blocks(text)} <= {"bash", "text", "python"}, page


def test_extras_and_targets_that_pages_name_are_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = "".join((ROOT / page).read_text() for page in PAGES)
    extras = ",".join(re.findall(r"pip install '\.\[(.*?)\]'", text)).split(",")
    assert {"studio"} <= set(extras) <= project["optional-dependencies"].keys()
    assert "newfound[" not in text, "no registry has it yet"
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"`make ([a-z-]+)[`\s]", text))
    assert {"demo", "test", "docs"} <= named <= set(targets)


def test_the_script_of_the_worked_example_tells_the_same_story() -> None:
    script = (ROOT / "examples" / "two_robots.sh").read_text()
    script = script.replace("\nviews ", "\npython examples/views.py ")
    commands = re.compile(r"(newfound|python examples)\b")
    done = [line for line in Block("bash", script).lines if commands.match(line)]
    photos = blocks((ROOT / "docs" / "photos.md").read_text())
    told = [line for block in photos if block.kind == "bash" for line in block.lines]
    again = "newfound teach kitchen.newfound kitchen/"  # the page shows what a second time does
    assert told.count(again) == 2
    told.remove(again)
    assert done == told
    assert run(f"bash -n {ROOT / 'examples' / 'two_robots.sh'}", ROOT).code == 0


def test_a_page_with_figures_says_which_version_made_them() -> None:
    present = tuple(map(int, newfound.__version__.split(".")[:3]))
    for page in MEASURED:
        is_written = page.endswith("RESULTS.md")  # by benchmarks, which name themselves
        version = r"(\d+)\.(\d+)\.(\d+)"
        marked = rf"on: .*\bnewfound {version}\b" if is_written else rf"\b{version}{VERSION}"
        versions = re.findall(marked, (ROOT / page).read_text())
        assert versions, f"no line of {page} says it"
        assert all(tuple(map(int, version)) <= present for version in versions), page


def test_figures_of_the_readme_stand_on_the_pages_it_names() -> None:
    rows = re.findall(
        r"^\| \*\*(.*?)\*\* \|.*\]\((.*?)\)\) \|$", (ROOT / "README.md").read_text(), re.M
    )
    assert len(rows) == 3
    for figure, page in rows:
        numbers = re.findall(r"\d+(?:\.\d+)?", (ROOT / page).read_text())
        assert set(re.findall(r"\d+(?:\.\d+)?", figure)) <= set(numbers), figure


def test_every_page_that_names_a_benchmark_beside_figures_is_among_those() -> None:
    for page in (page for page in PAGES if page != "README.md"):
        text = (ROOT / page).read_text()
        if re.search(r"^\|? ?`python -m benchmarks\.\w+`", text, re.MULTILINE):
            assert page in MEASURED
