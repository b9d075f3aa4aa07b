"""Numbers in the docs that are constants of the code: change one, and the other has to follow."""

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
from newfound.robot.command_runner import TEACH_FOR
from newfound.robot.thinning import ALIKE_FROM, BLUR, NEIGHBOURS, REMEMBERED
from newfound.solvers.inverse import GOING_MARGIN, LIMITS
from newfound.solvers.watch import CHECK_EVERY
from newfound.studio.limits import MB
from newfound.studio.limits import Limits as ServiceLimits
from newfound.sums.gradual import block_rows

DOCS = Path(__file__).parent.parent / "docs"
LIMITED = ServiceLimits()
DOUBLE, SINGLE = LIMITS[np.dtype(np.float64)], LIMITS[np.dtype(np.float32)]
PARTS = {0.25: "a quarter"}
IN_WORDS = {10.0: "ten", 1e6: "a million", 1e7: "ten million", 1e8: "a hundred million"}


def power(number: float) -> str:
    """Return a power of ten as the docs write it: 1e5, not 1e+05."""
    return f"{number:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("mathematics.md", f"Rows wait until {block_rows(1280)} of them can be added by one pass"),
        ("mathematics.md", f"That leaves N = n / {block_rows(1280)} additions"),
        ("solver.md", f"every {CHECK_EVERY} rows learned or forgotten"),
        (
            "solver.md",
            f"{power(DOUBLE.drift)}, or {IN_WORDS[DOUBLE.drift_growth]} times what the same",
        ),
        ("solver.md", f"If the drift passes {power(SINGLE.drift)} there"),
        (
            "solver.md",
            f"| {power(DOUBLE.stiff_pivot)}: stiff | {power(SINGLE.stiff_pivot)}: stiff |",
        ),
        (
            "solver.md",
            f"| {power(DOUBLE.largest_pivot)}: refused | {power(SINGLE.largest_pivot)}: refused |",
        ),
        (
            "solver.md",
            f"{power(DOUBLE.smallest_pivot)}, or {IN_WORDS[GOING_MARGIN]} times its own rounding "
            f"error: refused | {power(SINGLE.smallest_pivot)}, or the same: refused",
        ),
        ("scale.md", f"Up to {MOST} parts are added by one task"),
        ("scale.md", f"so that they take about {ROOM // 2**20} MB"),
        ("scale.md", f"it has {len(levels(10_000, fan_in(1280, False)))} levels"),
        (
            "scale.md",
            f"{10_000 + sum(map(len, levels(10_000, fan_in(1280, False)))):,} tasks",
        ),
        ("model-file.md", f"the first {DIGEST_BYTES} bytes of the SHA-256 of each image"),
        ("studio.md", f"the vectors of the newest {KEEP_VECTORS:,} examples"),
        ("studio.md", f"thumbnails of the newest {KEEP_THUMBNAILS:,} "),
        (
            "studio.md",
            f"Images are limited to {LIMITED.image // MB} MB, messages of a WebSocket to "
            f"{LIMITED.message // MB} MB, zips to {LIMITED.archive // MB} MB",
        ),
        ("studio.md", f"there may be {LIMITED.sockets} WebSockets"),
        ("studio.md", f"each of which counts half after {HALF_LIFE:g} s"),
        ("studio.md", f"has a cosine below {SAME_ABOVE:g} to the last one's"),
        ("studio.md", f"At most {MOST_QUESTIONS} questions are open"),
        (
            "robots.md",
            f"correlates by {ALIKE_FROM:g} or more with one of the {REMEMBERED} that were taught",
        ),
        ("robots.md", f"less than {PARTS[BLUR]} of the sharpness usual among the {NEIGHBOURS} "),
        ("robots.md", f"seen in the next {TEACH_FOR:g} seconds"),
        ("robots.md", f"a frame counts half after {HALF_LIFE:g} s"),
        ("features.md", f"more than {LARGEST_PIXELS // 1_000_000} million pixels"),
        ("features.md", f"files beyond {LARGEST_FILE // 2**20} MB"),
        ("features.md", f"below {Extractor.smallest} pixels ({Pixels.smallest}, for `Pixels`)"),
    ],
)
def test_a_number_in_the_docs_is_that_of_the_code(page: str, sentence: str) -> None:
    text = " ".join((DOCS / page).read_text().split())
    assert sentence in text
