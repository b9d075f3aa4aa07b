"""The demo: what it measures, what it prints, and where."""

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from typer.testing import CliRunner

from newfound import __version__
from newfound.cli import app
from newfound.datasets import digits
from newfound.paper.protocol import Measurement, TrialSizes, draw
from newfound.paper.report import summarise
from newfound.paper.run import Arrival, arrivals
from tests import clock as clocks
from tests import oracles

RUN = CliRunner()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    figure = tmp_path_factory.mktemp("demo") / "demo.png"
    done = RUN.invoke(app, ["demo", "--trials", "1", "--json", "--output", str(figure)])
    assert done.exit_code == 0, done.output
    numbers: dict[str, Any] = json.loads(done.stdout)
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert numbers["figure"] == str(figure)
    return numbers


@pytest.mark.slow
def test_the_demo_shows_what_recoding_and_rebalancing_are_for(result: dict[str, Any]) -> None:
    assert result["runs"] == 10
    after_five = {method: points[2] for method, points in result["methods"].items()}
    assert after_five["naive"]["examples"] == 5
    assert after_five["naive"]["new"] < 0.1
    for method in ("rebalanced", "recoded"):
        assert after_five[method]["new"] > 0.6
        assert after_five[method]["all"] > after_five["naive"]["all"] + 0.04
        assert after_five[method]["known"] > after_five["naive"]["known"] - 0.03
    # With as many examples of each digit, the three are one and the same.
    last = [points[-1] for points in result["methods"].values()]
    assert last[0]["all"] == last[1]["all"] == last[2]["all"] > 0.9


@pytest.mark.slow
def test_the_table_shows_the_numbers(tmp_path: Path, result: dict[str, Any]) -> None:
    done = RUN.invoke(app, ["demo", "--trials", "1", "--output", str(tmp_path / "demo.png")])
    assert done.exit_code == 0
    for points in result["methods"].values():
        row = " │ ".join(f"{100 * point['known']:.1f}" for point in points)
        assert row in done.stdout
    assert "learn one, predict one (ms)" in done.stdout


@pytest.mark.slow
def test_a_figure_that_cannot_be_saved_is_a_failure_after_the_table(tmp_path: Path) -> None:
    (tmp_path / "demo.png").symlink_to(tmp_path / "gone" / "demo.png")
    done = RUN.invoke(app, ["demo", "--trials", "1", "--output", str(tmp_path / "demo.png")])
    assert done.exit_code == 1
    assert "could not be saved" in done.stderr
    assert "new digit" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--trials", "0"],
        ["--seed", "-1"],
        ["--output", "demo.xyz"],
        ["--output", "demo"],
        ["--output", "no/such/folder/demo.png"],
        ["--output", "folder.png"],
    ],
)
def test_wrong_usage_is_said_at_once(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    done = RUN.invoke(app, ["demo", *arguments])
    assert done.exit_code == 2
    assert arguments[0] in done.stderr
    assert not done.stdout


@pytest.mark.slow
def test_numbers_stay_whole_on_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = RUN.invoke(app, ["demo", "--trials", "1", "--output", str(tmp_path / "demo.png")])
    assert "93." in done.stdout
    assert "…" not in done.stdout


def test_arrivals_measure_what_ridge_would() -> None:
    X, y = digits()
    sizes = TrialSizes(n_bal=30, n_test=20, n_imb=5, validation_share=0.0)
    trial = draw(X, y, None, 8, sizes, seed=[0, 0, 8])
    taught, labels = (np.concatenate(parts) for parts in zip(trial.known, trial.rare, strict=True))
    assert np.bincount(labels).tolist() == [30] * 8 + [5, 30]
    assert np.bincount(trial.test.y).tolist() == [20] * 10
    runs = arrivals(X, y, [5], trials=1, sizes=sizes)
    last = {run.method: run.measurements[-1] for run in islice(runs, 8 * 3, 9 * 3)}
    targets = oracles.one_hot(labels, range(10))
    for method, weight in (("naive", None), ("rebalanced", oracles.balanced_weights(labels))):
        ridge = Ridge(alpha=1.0).fit(taught, targets, sample_weight=weight)
        right = ridge.predict(trial.test.X).argmax(axis=1) == trial.test.y
        assert last[method].total == pytest.approx(right.mean())
        assert last[method].rare == pytest.approx(right[trial.test.y == 8].mean())
        assert last[method].balanced == pytest.approx(right[trial.test.y != 8].mean())


def test_a_step_of_the_demo_is_to_learn_one_and_to_predict_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = clocks.Clock()
    monkeypatch.setattr("newfound.paper.timing.perf_counter", clock)
    monkeypatch.setattr("newfound.paper.methods.IncrementalRidgeClassifier", clock.timed())
    run = next(arrivals(*digits(), [5], trials=1, sizes=TrialSizes(20, 5, 5)))
    step = (clocks.LEARN + clocks.PREDICT + clocks.LOOK) / 1000
    assert run.step_seconds == pytest.approx([step] * 5)


def test_summaries_are_means_and_deviations() -> None:
    seconds = [0.001 * (k + 1) for k in range(30)]
    runs = [
        Arrival("naive", [Measurement("naive", 30, total, rare, balanced=1.0)], seconds)
        for total, rare in ((0.5, 0.2), (0.7, 0.4))
    ]
    summary = summarise(runs)
    (point,) = summary["methods"]["naive"]
    assert point["examples"] == 30
    assert point["all"] == pytest.approx(0.6)
    assert point["new"] == pytest.approx(0.3)
    assert point["new_deviation"] == pytest.approx(np.std([0.2, 0.4], ddof=1))
    assert (point["known"], point["known_deviation"]) == (1.0, 0.0)
    assert summary["milliseconds"]["naive"] == {
        "first": pytest.approx(5.5),
        "last": pytest.approx(25.5),
    }
    assert summary["runs"] == 2


@pytest.mark.slow
def test_quiet_leaves_the_data_alone(tmp_path: Path) -> None:
    figure = tmp_path / "demo.png"
    done = RUN.invoke(app, ["demo", "--trials", "1", "-q", "-o", str(figure)])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "new digit" in done.stdout
    assert figure.exists()


def test_version_and_help_import_nothing_slow() -> None:
    assert RUN.invoke(app, ["--version"]).stdout.strip() == __version__
    script = (
        "import sys\n"
        "from newfound.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "print({'numpy', 'sklearn', 'matplotlib'} & set(sys.modules) or 'fast')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Watch a tenth digit" in done.stdout
    assert done.stdout.split()[-1] == "fast"
