"""A lesson that is killed: the model is whole at any moment, and the lesson can be finished."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from newfound.common.files import digest_of
from newfound.datasets import folder
from newfound.recognition.recogniser import Recogniser
from tests.command_line import newfound, write_pictures
from tests.effort import TIER, seed, share_of

pytestmark = pytest.mark.slow

# By examples of each of twelve things, and options.
KILLS = {
    (36, ()): share_of(50, 0.1),
    (36, ("--layer",)): share_of(20, 0.1),
    (100, ()): share_of(10, 0.2),
}
TEACH = ("--extractor", "pixels:size=8", "--save-every", "0", "--quiet")


def teach_in_a_process(model: Path, photos: Path, *options: str, last: int = 0) -> int:
    """Teach in a process of its own that is killed at its last call; return how many it made.

    Calls of functions are counted, not seconds: a busy machine changes nothing about them.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        calls = 0

        def count(*_: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.setprofile(count)
            code = newfound("teach", model, photos, *TEACH, *options).code
            sys.setprofile(None)
            os.write(writing, str(calls).encode())
        except BaseException:
            code = 99
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        calls = int(pipe.read() or 0)
    status = os.waitpid(child, 0)[1]
    assert status == (0 if calls else signal.SIGKILL)
    return calls


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize(("each", "options"), KILLS, ids=str)
def test_a_lesson_killed_at_any_moment_is_whole_and_can_be_finished(
    tmp_path: Path, each: int, options: tuple[str, ...]
) -> None:
    photos = tmp_path / "photos"
    for thing in range(12):
        write_pictures(photos / f"{thing:02}", thing, range(each))
    listing = folder(photos)
    taught = [
        (label, digest_of(path.read_bytes()))
        for path, label in zip(listing.files, listing.labels, strict=True)
    ]
    whole = tmp_path / "undisturbed.newfound"
    calls = teach_in_a_process(whole, photos, *options)
    expected = Recogniser(whole)

    kills, partial = KILLS[each, options], 0
    for number, share in enumerate(np.random.default_rng(seed(0)).uniform(0, 1, kills)):
        model = tmp_path / f"{number}.newfound"
        teach_in_a_process(model, photos, *options, last=1 + int(share * calls))
        if model.exists():
            found = Recogniser(model)
            known = sum(len(digests) for digests in found.taught.digests.values())
            prefix = taught[:known]
            assert all(found.taught.count(label, digest) == 1 for label, digest in prefix)
            assert found.model.n_samples_seen_ == known == len(found.taught)
            partial += known < len(taught)
        done = newfound("teach", model, photos, *TEACH, *options)
        assert done.code == 0, done.err
        finished = Recogniser(model)
        assert finished.taught.digests == expected.taught.digests
        assert finished.model.penalty_ == pytest.approx(expected.model.penalty_, rel=1e-12)
        np.testing.assert_array_equal(finished.model.recoding_, expected.model.recoding_)
        if each == 36:
            # At most d / 2 examples of a class: all sums are still rows, and nothing is rounded.
            assert model.read_bytes() == whole.read_bytes()
        else:
            sums, others = (
                finished.model.learner_.to_state().sums,
                expected.model.learner_.to_state().sums,
            )
            np.testing.assert_array_equal(sums.cross, others.cross)
            np.testing.assert_allclose(sums.gram, others.gram, rtol=1e-13)
        model.unlink()
    least = kills / 6 if TIER == "all" else 0  # of few, by chance, few
    assert partial > least, "hardly any kill came in the middle of the work"
