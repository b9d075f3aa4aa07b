"""`newfound bench`: what it prints."""

import json

from typer.testing import CliRunner

from newfound.cli import app

RUN = CliRunner()
SMALL = ["bench", "-d", "20", "-t", "3", "-n", "50", "--steps", "20"]


def test_bench_prints_what_a_step_takes() -> None:
    done = RUN.invoke(app, SMALL)
    assert done.exit_code == 0
    assert "steps per second" in done.stdout
    assert "times copying a d x d matrix" in done.stdout
    assert "30 frames per second can be followed: yes" in done.stdout


def test_bench_gives_numbers() -> None:
    numbers = json.loads(RUN.invoke(app, [*SMALL, "--json"]).stdout)
    assert numbers["features"] == 20
    assert numbers["percentile_99_ms"] >= numbers["median_ms"] > 0
    assert numbers["steps_per_second"] > 0


def test_wrong_usage_is_said() -> None:
    assert RUN.invoke(app, ["bench", "-d", "0"]).exit_code == 2
