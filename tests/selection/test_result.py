"""From scores to a choice: how they are mixed, and which penalties are tried."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from newfound.common.pieces import Stages, at_once
from newfound.engine.engine import Engine
from newfound.selection import result as results
from newfound.selection.result import SelectionResult, candidates, expected_result, score, select
from newfound.selection.rules import prior
from newfound.selection.validation import ValidationSet
from newfound.selection.what_if import Basis
from tests.choices import basis_of, fit, snapshot_of, to_choose

RECODINGS = np.array([0.0, 0.5, 1.0])


def validation(counts: list[int], **changes: Any) -> ValidationSet:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(y), 6)) + 0.7 * np.eye(len(counts), 6)[y]
    settings = to_choose(**changes)
    engine = Engine.blank(6, settings)
    fit(engine, X, y)
    return ValidationSet(snapshot_of(engine), 8, what_if=settings.rule == "what-if")


@pytest.mark.parametrize(("counts", "known"), [([30, 20, 25, 3], 3), ([30, 20, 3, 3], 2)])
def test_what_ifs_weigh_the_more_the_more_classes_are_known(counts: list[int], known: int) -> None:
    voting = validation(counts)
    assert np.count_nonzero(voting.frequent) == known
    basis = basis_of(voting, 3.0)
    real = voting.accuracy_as_is(basis, RECODINGS)
    table, rare = at_once(score(voting, to_choose(), basis))
    for m, count in enumerate(voting.counts):
        of_known, of_rare = at_once(voting.accuracy_if_rare(basis, count, RECODINGS))
        np.testing.assert_allclose(table[m], ((known - 1) * of_known + real) / known)
        np.testing.assert_array_equal(rare[m], of_rare)
        assert abs(of_known - real).max() > 0.02  # so that the mixture shows


def test_with_one_known_class_only_the_model_as_it_is_is_voted_on() -> None:
    voting = validation([30, 4, 3])
    basis = basis_of(voting, 3.0)
    real = voting.accuracy_as_is(basis, RECODINGS)
    for each in at_once(score(voting, to_choose(), basis)):
        np.testing.assert_array_equal(each, np.tile(real, (len(voting.counts), 1)))


def search(
    monkeypatch: pytest.MonkeyPatch, accuracy: Callable[[float], float], **changes: Any
) -> tuple[SelectionResult, list[float]]:
    """Choose where a penalty, in decades from the usual one, is right so often."""
    tried: list[float] = []
    voting, start = validation([30, 20, 25]), expected_result(to_choose(**changes), 75, 2.0)

    def note(validation: ValidationSet, penalty: float) -> Stages[Basis]:
        tried.append(float(np.log10(penalty / start.expected)))
        return (yield from basis_for(validation, penalty))

    def fake(validation: ValidationSet, _: Any, __: Basis) -> Stages[Any]:
        yield []
        return np.full((2, len(validation.counts), 3), accuracy(tried[-1]))

    basis_for = ValidationSet.basis_for
    monkeypatch.setattr(ValidationSet, "basis_for", note)
    monkeypatch.setattr(results, "score", fake)
    return at_once(select(voting, start)), tried


@pytest.mark.parametrize("best", [-10.0, -4.5, -2.0, -0.5, 0.0, 1.0, 2.5])
def test_the_search_climbs_to_the_best_penalty(
    best: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, tried = search(monkeypatch, lambda x: 0.9 - 0.05 * abs(x - best))
    assert np.log10(found.penalty / found.expected) == pytest.approx(best)
    assert {round(best - 0.5, 6), round(best + 0.5, 6)} <= {round(each, 6) for each in tried}
    assert len(tried) == len(set(tried)) < 20


def test_where_votes_cannot_tell_the_usual_penalty_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    found, tried = search(monkeypatch, lambda _: 0.6)
    assert found.penalty == found.expected
    assert 0.0 in tried


def test_what_could_not_win_with_all_votes_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found, tried = search(monkeypatch, lambda _: 1.0)
    assert tried == [0.0]
    assert found.penalty == found.expected


def test_the_choice_is_the_best_after_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decade away must be better by what may be luck; here it is, by a hair, or is not."""
    scored = len(validation([30, 20, 25]).rows)
    cost = prior(np.array([10.0]), 1.0, scored)[0] / 100
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
    grid = candidates(to_choose(), usual, 100)
    assert (np.diff(grid) > 0).all()
    assert np.isclose(grid, usual).any()
