"""Numbers in the docs that are constants of the code: change one, and the other has to follow.

A page marks such a number with a comment right behind it, which readers do not see:

    every 256<!-- figure: check_every --> rows learned or forgotten

So sentences may be worded anew, but the number must be that of the code.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from newfound.common.files import DIGEST_BYTES
from newfound.distributed.tree import MOST, ROOM, fan_in, levels
from newfound.features import Extractor, Pixels
from newfound.features.images import LARGEST_FILE, LARGEST_PIXELS
from newfound.recognition.evidence import HALF_LIFE, SAME_ABOVE
from newfound.recognition.inbox import MOST_QUESTIONS
from newfound.recognition.journal import KEEP_THUMBNAILS, KEEP_VECTORS
from newfound.robot.admission import WINDOW
from newfound.robot.command_runner import TEACH_FOR
from newfound.robot.thinning import ALIKE_FROM, BLUR, NEIGHBOURS, REMEMBERED
from newfound.solvers.inverse import GOING_MARGIN, LIMITS
from newfound.solvers.monitor import CHECK_EVERY
from newfound.studio.archives import MOST_ENTRIES
from newfound.studio.door import USUAL
from newfound.studio.limits import MB, ServiceLimits
from newfound.sums.strips import block_rows

DOCS = Path(__file__).parent.parent / "docs"
SERVICE = ServiceLimits()
DOUBLE, SINGLE = LIMITS[np.dtype(np.float64)], LIMITS[np.dtype(np.float32)]
# The fewest features of which a block has more rows.
WIDE = next(width for width in range(1280, 10_000) if block_rows(width) > block_rows(1280))
TREE = levels(10_000, fan_in(1280, False))
# Of a page: the figures it marks, and what they are in the code.
FIGURES: dict[str, dict[str, float]] = {
    "mathematics": {
        "block_rows": block_rows(1280),
        "block_rows.wide": block_rows(WIDE),
        "block_rows.wide_from": WIDE,
    },
    "solver": {
        "check_every": CHECK_EVERY,
        "drift.double": DOUBLE.drift,
        "drift.single": SINGLE.drift,
        "drift_growth": DOUBLE.drift_growth,
        "stiff_pivot.double": DOUBLE.stiff_pivot,
        "stiff_pivot.single": SINGLE.stiff_pivot,
        "largest_pivot.double": DOUBLE.largest_pivot,
        "largest_pivot.single": SINGLE.largest_pivot,
        "smallest_pivot.double": DOUBLE.smallest_pivot,
        "smallest_pivot.single": SINGLE.smallest_pivot,
        "going_margin": GOING_MARGIN,
    },
    "scale": {
        "most_parts": MOST,
        "room_mb": ROOM // 2**20,
        "levels": len(TREE),
        "tasks": 10_000 + sum(map(len, TREE)),
    },
    "model-file": {"digest_bytes": DIGEST_BYTES},
    "studio": {
        "keep_vectors": KEEP_VECTORS,
        "keep_thumbnails": KEEP_THUMBNAILS,
        "limits.image": SERVICE.image / MB,
        "limits.message": SERVICE.message / MB,
        "limits.archive": SERVICE.archive / MB,
        "limits.model_gb": SERVICE.model / (1024 * MB),
        "limits.sockets": SERVICE.sockets,
        "limits.connections": SERVICE.connections,
        "usual_connections": USUAL,
        "limits.requests": SERVICE.requests,
        "limits.head_seconds": SERVICE.head_seconds,
        "limits.body_seconds": SERVICE.body_seconds,
        "limits.body_rate_kb": SERVICE.body_rate / 1024,
        "limits.farewell_seconds": SERVICE.farewell_seconds,
        "import_megapixels": SERVICE.import_pixels / 1_000_000,
        "import_files": MOST_ENTRIES,
        "import_minutes": SERVICE.import_seconds / 60,
        "half_life": HALF_LIFE,
        "same_above": SAME_ABOVE,
        "most_questions": MOST_QUESTIONS,
    },
    "robots": {
        "alike_from": ALIKE_FROM,
        "remembered": REMEMBERED,
        "blur": BLUR,
        "neighbours": NEIGHBOURS,
        "teach_for": TEACH_FOR,
        "signed_window": WINDOW,
        "half_life": HALF_LIFE,
    },
    "features": {
        "largest_megapixels": LARGEST_PIXELS // 1_000_000,
        "largest_file_mb": LARGEST_FILE // 2**20,
        "smallest_side": Extractor.smallest,
        "smallest_side.pixels": Pixels.smallest,
    },
}
NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)$")
MARKER = re.compile(r"<!-- figure: ([\w.-]+) -->")


def marked(text: str) -> list[tuple[str, float]]:
    """Return the figures that a page marks, with their names, in its order."""
    figures = []
    for marker in MARKER.finditer(text):
        if marker[1] == "version":  # of whole tables, see tests/test_pages.py
            continue
        number = NUMBER.search(text[: marker.start()])
        assert number is not None, f"no number stands right before {marker[0]}"
        figures.append((marker[1], float(number[1].replace(",", ""))))
    return figures


@pytest.mark.parametrize("page", sorted(path.stem for path in DOCS.glob("*.md")))
def test_a_number_in_the_docs_is_that_of_the_code(page: str) -> None:
    figures, expected = marked((DOCS / f"{page}.md").read_text()), FIGURES.get(page, {})
    assert {name for name, _ in figures} == expected.keys()
    for name, number in figures:
        assert number == pytest.approx(expected[name], rel=1e-12), name


def test_a_figure_is_the_number_right_before_its_marker() -> None:
    text = "16, 1.5, 20,000<!-- figure: a --> and 1e-10<!-- figure: b.c -->: 3<!-- figure: a -->."
    assert marked(text) == [("a", 20_000), ("b.c", 1e-10), ("a", 3)]
    for text in ("ten<!-- figure: a -->", "10 <!-- figure: a -->", "1.2.3<!-- figure: a -->"):
        with pytest.raises(AssertionError, match="no number"):
            marked(text)
