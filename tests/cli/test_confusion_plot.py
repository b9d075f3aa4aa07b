"""The confusion matrix as a figure: bounded, and telling what it leaves out."""

import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from newfound.cli.confusion_plot import MOST_CLASSES, draw, most_confused
from tests.covering import first_of
from tests.peak_memory import PEAK

PROGRAM = (
    PEAK
    + """
from collections import Counter
from pathlib import Path
import matplotlib.figure, numpy
from newfound.cli.confusion_plot import draw
names = [f"class {number:05}" for number in range(int(sys.argv[1]))]
pairs = Counter({(name, name): 5 for name in names})
pairs.update({(name, names[place * 7 % len(names)]): place % 5 for place, name in enumerate(names)})
draw(pairs, Path("p.png"))
print(peak_mb())
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("classes", first_of([61, 10, 2000]))
def test_a_figure_takes_little_memory_whatever_the_number_of_classes(
    classes: int, tmp_path: Path
) -> None:
    def bound() -> None:  # so that a figure that would take all memory is refused it
        if sys.platform == "linux":  # elsewhere, addresses are no memory
            resource.setrlimit(resource.RLIMIT_AS, (5 * 2**30, 5 * 2**30))

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(classes)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        preexec_fn=bound,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert int(done.stdout) < 600


def drawn(pairs: Counter[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Draw a figure and return its axes."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    draw(pairs, tmp_path / "p.png")
    return figures[0].axes[0]


@pytest.mark.parametrize(
    ("classes", "title"), [(60, ""), (61, "the 60 most confused of 61 classes")]
)
def test_a_figure_says_that_it_leaves_classes_out(
    classes: int, title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = Counter({(f"{number:03}", f"{number:03}"): 2 for number in range(classes)})
    pairs["059", "058"] = 3
    axes = drawn(pairs, tmp_path, monkeypatch)
    assert axes.get_title() == title
    assert len(axes.get_yticklabels()) == len(axes.get_xticklabels()) == MOST_CLASSES
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert {"058", "059"} <= set(names)
    shares = axes.get_images()[0].get_array()
    assert shares[names.index("059"), names.index("058")] == pytest.approx(100 * 3 / 5)


def test_many_classes_are_counted_in_the_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = Counter({(str(number), str(number)): 2 for number in range(2000)})
    title = drawn(pairs, tmp_path, monkeypatch).get_title()
    assert title == "the 60 most confused of 2,000 classes"


def test_classes_without_images_do_not_push_out_all_that_have_some() -> None:
    pairs = Counter({(f"shown {n}", f"never shown {n % 70}"): 1 for n in range(1000)})
    chosen = most_confused(pairs, MOST_CLASSES)
    assert len(chosen) == MOST_CLASSES
    assert sum(label.startswith("shown") for label in chosen) >= MOST_CLASSES / 2


def test_long_names_are_cut_in_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = Counter({("a" * 100_000, "b"): 2, ("b", "b"): 1})
    axes = drawn(pairs, tmp_path, monkeypatch)
    assert max(len(tick.get_text()) for tick in axes.get_xticklabels()) == 30
