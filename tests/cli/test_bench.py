"""`newfound bench`: what it times, and what it prints."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from newfound.cli import app
from tests import clock as clocks

RUN = CliRunner()
SMALL = ["bench", "-d", "20", "-t", "3", "-n", "50", "--steps", "20"]
STEP = clocks.LEARN + clocks.PREDICT + clocks.LOOK


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = clocks.Clock()
    monkeypatch.setattr("newfound.paper.timing.perf_counter", clock)
    monkeypatch.setattr("newfound.estimators.classifier.IncrementalRidgeClassifier", clock.timed())


@pytest.mark.usefixtures("clock")
def test_a_step_is_to_learn_one_row_and_to_predict_one() -> None:
    numbers = json.loads(RUN.invoke(app, [*SMALL, "--json"]).stdout)
    assert numbers == {
        "features": 20,
        "classes": 3,
        "known": 50,
        "steps_per_second": pytest.approx(1000 / STEP),
        "median_ms": pytest.approx(STEP),
        "percentile_99_ms": pytest.approx(STEP),
        "copies": pytest.approx(STEP / clocks.LOOK),
        "follows_30_frames": True,
    }


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("predict", "follows"), [(5, "yes"), (50, "no")])
def test_bench_prints_what_a_step_takes(
    predict: int, follows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clocks, "PREDICT", predict)
    done = RUN.invoke(app, SMALL)
    step = clocks.LEARN + predict + clocks.LOOK
    assert done.exit_code == 0
    assert f"  {1000 / step:.0f} steps per second\n" in done.stdout
    assert f"  {step:.2f} ms a step, 99 % below {step:.2f} ms\n" in done.stdout
    assert f"  {step:.2f} times copying a d x d matrix, which" in done.stdout
    assert f"30 frames per second: {follows}\n" in done.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("clock")
def test_bench_says_what_a_step_takes_beside_other_programs() -> None:
    done = RUN.invoke(app, [*SMALL, "--busy"])
    assert done.exit_code == 0
    for name in ("nobody", "loops", "numpy"):
        assert f"  {name:<14}{STEP:>8.2f} ms{STEP:>11.2f} ms   yes\n" in done.stdout
    assert "times as long" not in done.stderr


@pytest.mark.usefixtures("clock")
def test_bench_says_what_to_do_if_other_programs_make_steps_much_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def slow(kind: str) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clocks, "PREDICT", 5 * STEP if kind == "numpy" else clocks.PREDICT)
            yield

    monkeypatch.setattr("newfound.paper.busy.busy", slow)
    done = RUN.invoke(app, [*SMALL, "--busy"])
    longer = clocks.LEARN + 5 * STEP + clocks.LOOK
    assert f"A step takes {longer / STEP:.0f} times as long beside other programs" in done.stderr
    found = json.loads(RUN.invoke(app, [*SMALL, "--busy", "--json"]).stdout)["busy"]
    assert found["loops"] == pytest.approx(found["quiet"])
    assert found["numpy"]["mean_ms"] == pytest.approx(longer)


def test_wrong_usage_is_said() -> None:
    assert RUN.invoke(app, ["bench", "-d", "0"]).exit_code == 2
