"""From votes to a choice: how they are mixed, and which penalties are tried."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from newfound.common.pieces import Stages, at_once
from newfound.engine.engine import Engine
from newfound.selection import findings
from newfound.selection.findings import Findings, candidates, vote, without_votes, work_out
from newfound.selection.panel import Panel
from newfound.selection.rules import prior
from newfound.selection.what_if import Basis
from tests.choices import basis_of, snapshot_of, to_choose

RECODINGS = np.array([0.0, 0.5, 1.0])


def panel(counts: list[int], **changes: Any) -> Panel:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(y), 6)) + 0.7 * np.eye(len(counts), 6)[y]
    settings = to_choose(**changes)
    engine = Engine.blank(6, settings)
    engine.fit(X, *engine.sums.locate(y))
    return Panel(snapshot_of(engine), 8, what_if=settings.rule == "what-if")


@pytest.mark.parametrize(("counts", "known"), [([30, 20, 25, 3], 3), ([30, 20, 3, 3], 2)])
def test_what_ifs_weigh_the_more_the_more_classes_are_known(counts: list[int], known: int) -> None:
    voting = panel(counts)
    assert np.count_nonzero(voting.known) == known
    basis = basis_of(voting, 3.0)
    real = voting.as_it_is(basis, RECODINGS)
    table, rare = at_once(vote(voting, to_choose(), basis))
    for m, rung in enumerate(voting.ladder):
        of_known, of_rare = at_once(voting.what_if_in_stages(basis, rung, RECODINGS))
        np.testing.assert_allclose(table[m], ((known - 1) * of_known + real) / known)
        np.testing.assert_array_equal(rare[m], of_rare)
        assert abs(of_known - real).max() > 0.02  # so that the mixture shows


def test_with_one_known_class_only_the_model_as_it_is_is_voted_on() -> None:
    voting = panel([30, 4, 3])
    basis = basis_of(voting, 3.0)
    real = voting.as_it_is(basis, RECODINGS)
    for each in at_once(vote(voting, to_choose(), basis)):
        np.testing.assert_array_equal(each, np.tile(real, (len(voting.ladder), 1)))


def search(
    monkeypatch: pytest.MonkeyPatch, accuracy: Callable[[float], float], **changes: Any
) -> tuple[Findings, list[float]]:
    """Choose where a penalty, in decades from the usual one, is right so often."""
    tried: list[float] = []
    voting, start = panel([30, 20, 25]), without_votes(to_choose(**changes), 75, 2.0)

    def note(panel: Panel, penalty: float) -> Stages[Basis]:
        tried.append(float(np.log10(penalty / start.usual)))
        return (yield from basis_for(panel, penalty))

    def fake(panel: Panel, _: Any, __: Basis) -> Stages[Any]:
        yield []
        return np.full((2, len(panel.ladder), 3), accuracy(tried[-1]))

    basis_for = Panel.basis_for
    monkeypatch.setattr(Panel, "basis_for", note)
    monkeypatch.setattr(findings, "vote", fake)
    return at_once(work_out(voting, start)), tried


@pytest.mark.parametrize("best", [-10.0, -4.5, -2.0, -0.5, 0.0, 1.0, 2.5])
def test_the_search_climbs_to_the_best_penalty(
    best: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, tried = search(monkeypatch, lambda x: 0.9 - 0.05 * abs(x - best))
    assert np.log10(found.penalty / found.usual) == pytest.approx(best)
    assert {round(best - 0.5, 6), round(best + 0.5, 6)} <= {round(each, 6) for each in tried}
    assert len(tried) == len(set(tried)) < 20


def test_where_votes_cannot_tell_the_usual_penalty_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    found, tried = search(monkeypatch, lambda _: 0.6)
    assert found.penalty == found.usual
    assert 0.0 in tried


def test_what_could_not_win_with_all_votes_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found, tried = search(monkeypatch, lambda _: 1.0)
    assert tried == [0.0]
    assert found.penalty == found.usual


def test_the_choice_is_the_best_after_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decade away must be better by what may be luck; here it is, by a hair, or is not."""
    voters = len(panel([30, 20, 25]).voters)
    cost = prior(np.array([10.0]), 1.0, voters)[0] / 100
    for extra, expected in ((0.001, 1.0), (-0.001, 0.0)):
        better = 0.6 + cost + extra
        found, _ = search(monkeypatch, partial(_step, better), penalties=[2.0, 20.0])
        assert np.log10(found.penalty / 2.0) == pytest.approx(expected)


def _step(better: float, decades: float) -> float:
    return better if decades > 0.5 else 0.6


def test_the_paper_tries_all_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    found, tried = search(monkeypatch, lambda _: 1.0, rule="paper", penalties=[0.1, 1.0, 5.0, 9.0])
    assert len(tried) == 4
    assert found.penalties.tolist() == [0.1, 1.0, 5.0, 9.0]


@pytest.mark.parametrize("usual", [1e-100, 1e-95, 1.0, 1e99, 1e100])
def test_candidates_rise_and_hold_the_usual_one(usual: float) -> None:
    grid = candidates(to_choose(), usual)
    assert (np.diff(grid) > 0).all()
    assert np.isclose(grid, usual).any()
