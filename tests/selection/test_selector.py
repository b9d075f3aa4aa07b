"""The selector: it works in pieces, at the same moments however a stream is cut or asked."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.common.pieces import Stages, Task
from newfound.engine.engine import Engine
from newfound.selection.calibration import Calibration
from newfound.selection.pending import SMALLEST_PIECE, PendingSelection
from newfound.selection.result import SelectionResult, expected_result
from newfound.selection.selector import Selector, spread_of
from newfound.solvers.settings import SelectionSettings
from newfound.sums.sums import Sums
from tests.choices import fit, forget, learn, recoding_of, result_of, selector_of, to_choose
from tests.effort import share_of

N = 300


SETTINGS = [
    to_choose(),
    to_choose(rule="paper", penalties=[0.1, 1.0, 10.0]),
    to_choose(rule=None, recodings=0.5, fit_intercept=False),
    to_choose(class_weight={2: 3.0}, witnesses=3),
    to_choose(class_weight="balanced"),
]


def stream(seed: int = 0, n: int = N) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.choice(4, n, p=[0.4, 0.3, 0.25, 0.05])
    return rng.normal(size=(n, 5)) + 1.5 * np.eye(4, 5)[y], y


def next_call(X: Any, y: Any, least: int) -> int:
    """The number of rows, at least so many, at which votes are called for."""
    engine = learn(Engine.blank(5, SETTINGS[0]), X[:least], y[:least])
    latest = selector_of(engine).pending or selector_of(engine).latest
    assert latest is not None
    return 2 * latest.total


def ask(engine: Engine, how: str) -> Engine:
    """Something that must not matter."""
    if how == "weights":
        _ = engine.solver.weights
    elif how == "choice":
        _ = engine.penalty, recoding_of(engine)
    elif how == "finished":
        pending = selector_of(engine).pending
        if pending is not None:
            pending.finish()
    elif how == "copied":
        return copy.deepcopy(engine)
    elif how == "pickled":
        restored: Engine = pickle.loads(pickle.dumps(engine))
        return restored
    return engine


def assert_same_calibration(one: Calibration, other: Calibration) -> None:
    assert one.sharpness == pytest.approx(other.sharpness, rel=1e-5)
    assert (one.bound is None) == (other.bound is None)
    if one.bound is not None and other.bound is not None:
        assert tuple(one.bound) == pytest.approx(tuple(other.bound), rel=1e-6)
        assert one.typical is not None
        assert other.typical is not None
        assert one.typical.of_all == pytest.approx(other.typical.of_all)
        assert one.typical.of_class == pytest.approx(other.typical.of_class)


def assert_same_findings(one: SelectionResult | None, other: SelectionResult | None) -> None:
    assert (one is None) == (other is None)
    for name, value in (one._asdict() if one is not None else {}).items():
        if name == "settings":
            assert value == getattr(other, name)
        elif name == "calibration":
            assert_same_calibration(value, getattr(other, name))
        elif name == "rival":
            assert value is None
        else:
            np.testing.assert_allclose(value, getattr(other, name), atol=1e-9, err_msg=name)


def assert_same_choice(one: Engine, other: Engine) -> None:
    """What was found, what is under way, and what will be."""
    ours, theirs = selector_of(one), selector_of(other)
    assert one.penalty == pytest.approx(other.penalty)
    order, same = np.argsort(one.memory.sums.labels), np.argsort(other.memory.sums.labels)
    np.testing.assert_allclose(recoding_of(one)[order], recoding_of(other)[same], atol=1e-9)
    assert_same_findings(ours.latest, theirs.latest)
    assert (ours.pending is None) == (theirs.pending is None)
    if ours.pending is not None and theirs.pending is not None:
        assert (ours.pending.total, ours.pending.rows) == (
            theirs.pending.total,
            theirs.pending.rows,
        )
        assert_same_findings(
            copy.deepcopy(ours.pending).finish(), copy.deepcopy(theirs.pending).finish()
        )


@pytest.mark.slow
@given(
    st.sets(st.integers(1, N - 1), max_size=8),
    st.lists(st.sampled_from(["weights", "choice", "finished", "copied", "pickled", ""])),
    st.sampled_from(SETTINGS),
    st.integers(1, N),
)
@settings(max_examples=share_of(60))
def test_neither_cuts_nor_questions_matter(
    cuts: set[int], questions: list[str], settings_: SelectionSettings, n: int
) -> None:
    """Not after the last row, nor anywhere before."""
    X, y = (each[:n] for each in stream())
    by_row, in_parts = Engine.blank(5, settings_), Engine.blank(5, settings_)
    last = 0
    for place, cut in enumerate([*sorted(cut for cut in cuts if cut < n), n]):
        learn(in_parts, X[last:cut], y[last:cut])
        for row in range(last, cut):
            learn(by_row, X[row : row + 1], y[row : row + 1])
        assert_same_choice(by_row, in_parts)
        if questions:
            in_parts = ask(in_parts, questions[place % len(questions)])
        last = cut


@pytest.mark.slow
@pytest.mark.parametrize("n", [64, 65, 127, 128, 129, 140, 255, 256, 270, 300])
def test_the_first_lesson_may_be_of_any_length(n: int) -> None:
    """Votes under way in the end do not count yet, and those before them do."""
    X, y = stream()
    whole, by_row = (Engine.blank(5, SETTINGS[0]) for _ in range(2))
    learn(whole, X[:n], y[:n])
    for row in range(n):
        learn(by_row, X[row : row + 1], y[row : row + 1])
    assert_same_choice(whole, by_row)


@pytest.mark.slow
def test_votes_under_way_are_not_lost_on_a_long_lesson() -> None:
    """They end in its midst, before the next are called for."""
    X, y = stream(n=700)
    first = next_call(X, y, 100)
    whole, by_row = (Engine.blank(5, SETTINGS[0]) for _ in range(2))
    for engine in (whole, by_row):
        learn(engine, X[: first + 2], y[: first + 2])
        pending = selector_of(engine).pending
        assert pending is not None
        assert pending.total == first
    learn(whole, X[first + 2 : 2 * first + 1], y[first + 2 : 2 * first + 1])
    for row in range(first + 2, 2 * first + 1):
        learn(by_row, X[row : row + 1], y[row : row + 1])
    assert_same_choice(whole, by_row)
    findings = selector_of(whole).latest
    assert findings is not None
    assert findings.total == first


def test_votes_are_called_for_wherever_examples_have_doubled() -> None:
    selector = Selector(SETTINGS[0])
    assert selector.points(0, 1, []) == [1]
    assert selector.points(0, 100, []) == [1, 2, 4, 8, 16, 32, 64]
    selector.latest = expected_result(SETTINGS[0], 48, 1.0)
    assert selector.points(48, 95, []) == []
    assert selector.points(48, 500, []) == [96, 192, 384]
    assert selector.points(200, 300, []) == []
    # Votes under way are later than those found.
    selector.pending = PendingSelection(started(96), pieces(3))
    assert selector.points(96, 200, []) == [192]


def started(total: int = 1000) -> SelectionResult:
    return expected_result(SETTINGS[0], total, 1.0)


def pieces(number: int) -> Stages[SelectionResult]:
    for _ in range(number - 1):
        yield [Task(SMALLEST_PIECE, lambda: None)]
    return started()


def test_a_piece_is_done_for_every_row_and_counts_when_all_are() -> None:
    pending = PendingSelection(started(), pieces(5))
    for row in range(1, 5):
        pending.advance(1)
        assert (pending.done, pending.rows) == (row, row)
        assert not pending.counts
    pending.advance(1)
    assert pending.counts
    assert pending.done == 5
    pending.advance(100)
    assert pending.done == 5
    at_once = PendingSelection(started(), pieces(5))
    at_once.advance(100)
    assert at_once.counts
    assert at_once.done == 5


@pytest.mark.parametrize(("total", "speed"), [(1, 256), (5, 51), (128, 2), (129, 1), (1000, 1)])
def test_of_a_young_model_several_pieces_are_done_with_a_row(total: int, speed: int) -> None:
    """So that what they find counts before there are twice as many rows."""
    pending = PendingSelection(started(total), pieces(130))
    rows = -(-130 // speed)
    for _ in range(rows - 1):
        pending.advance(1)
    assert pending.done == speed * (rows - 1)
    assert not pending.counts
    pending.advance(1)
    assert pending.counts


def test_until_anybody_has_voted_what_is_expected_goes_by_the_latest_rows() -> None:
    X, y = stream()
    engine, selector = Engine.blank(5, SETTINGS[0]), None
    for row in range(64):
        learn(
            engine, 10.0**row * X[row : row + 1] if row < 4 else X[row : row + 1], y[row : row + 1]
        )
        selector = selector_of(engine)
        assert selector.latest is not None
        if not selector.latest.rows:
            latest = selector.pending or selector.latest
            assert selector.latest.total == latest.total > (row + 1) // 2
    assert selector is not None
    assert selector.latest is not None
    assert selector.latest.rows


def test_work_finished_early_counts_no_earlier() -> None:
    pending = PendingSelection(started(), pieces(5))
    pending.advance(2)
    found = pending.finish()
    assert pending.done == 5
    assert not pending.counts
    pending.advance(2)
    assert not pending.counts
    pending.advance(1)
    assert pending.counts
    assert pending.finish() is found
    again = PendingSelection.finished(found, rows=4)
    assert not again.counts
    again.advance(1)
    assert again.counts


def test_a_copy_of_work_goes_on_by_itself() -> None:
    pending = PendingSelection(started(), pieces(5))
    pending.advance(2)
    twin = copy.deepcopy(pending)
    twin.advance(3)
    assert twin.counts
    assert pending.rows == 2
    assert not pending.counts


def test_what_is_found_takes_as_many_rows_as_there_were_pieces() -> None:
    X, y = stream(n=700)
    first = next_call(X, y, 150)
    engine = learn(Engine.blank(5, SETTINGS[0]), X[:first], y[:first])
    selector = selector_of(engine)
    pending, before = selector.pending, selector.latest
    assert pending is not None
    assert before is not None
    number = copy.deepcopy(pending).finish().delay
    assert 3 < number < first
    learn(engine, X[first : first + number - 1], y[first : first + number - 1])
    assert selector.latest is before
    learn(engine, X[-1:], y[-1:])
    assert selector.latest is not before
    assert selector.latest is not None
    assert selector.latest.total == first


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_two_classes_vote_as_soon_as_they_can_and_again_when_they_are_known(chunk: int) -> None:
    """In a stream sorted by class, that is long before examples have doubled."""
    X, y = stream(n=1200)
    rows = np.concatenate([np.flatnonzero(y == 0)[:300], np.flatnonzero(y == 1)[:200]])
    engine, called = Engine.blank(5, SETTINGS[0]), []
    for start in range(0, 500, chunk):
        part = rows[start : start + chunk]
        learn(engine, X[part], y[part])
        latest = selector_of(engine).pending or selector_of(engine).latest
        assert latest is not None
        called.append(latest.total)
    assert called[-1] == 308
    assert chunk > 1 or {256, 302, 308} <= set(called)
    findings = selector_of(engine).latest
    assert findings is not None
    assert (findings.total, findings.rows > 0) == (308, True)


def test_what_is_put_off_is_worked_out_at_the_next_question() -> None:
    X, y = stream()
    engine = learn(Engine.blank(5, SETTINGS[0]), X[:100], y[:100])
    learn(engine, X[100:], y[100:], defer=True)
    selector = selector_of(engine)
    assert selector.latest is None
    assert selector.pending is None
    fitted = Engine.blank(5, SETTINGS[0])
    fit(fitted, X, y)
    assert_same_choice(engine, fitted)


def test_what_was_put_off_does_not_mix_with_what_comes_after() -> None:
    """A question in between makes no difference."""
    X, y = stream()
    asked, silent = (
        learn(Engine.blank(5, SETTINGS[0]), X[:200], y[:200], defer=True) for _ in range(2)
    )
    _ = asked.penalty
    for engine in (asked, silent):
        learn(engine, X[200:], y[200:])
    assert_same_choice(asked, silent)


@pytest.mark.slow
def test_reconsidering_makes_a_stream_what_fit_would() -> None:
    X, y = stream()
    for settings_ in SETTINGS:
        fitted, parts = Engine.blank(5, settings_), Engine.blank(5, settings_)
        fit(fitted, X, y)
        for part in np.array_split(np.arange(N), 7):
            learn(parts, X[part], y[part])
        parts.reconsider()
        assert_same_choice(parts, fitted)
        assert result_of(fitted).total == N


@pytest.mark.slow
def test_many_rows_forgotten_call_for_votes() -> None:
    X, y = stream()
    engine = Engine.blank(5, SETTINGS[0])
    fit(engine, X, y)
    selector = selector_of(engine)
    for row in range(0, 200):
        forget(engine, X[row : row + 1], y[row : row + 1])
        if row % 10 == 9:
            _ = result_of(engine)
    latest = selector.pending or selector.latest
    assert latest is not None
    assert latest.total < N
    assert selector.forgotten < 0.5


def test_a_choice_does_not_rest_on_what_is_no_more() -> None:
    """Whatever the size of a row: after it is forgotten, votes are as if it had never been."""
    X, y = stream()
    engine, never = Engine.blank(5, SETTINGS[0]), Engine.blank(5, SETTINGS[0])
    fit(never, X, y)
    fit(engine, X, y)
    row = np.full((1, 5), 1e4)
    learn(engine, row, np.array([1]))
    engine.reconsider()
    assert engine.penalty > 10 * never.penalty
    forget(engine, row, np.array([1]))
    assert engine.penalty == pytest.approx(never.penalty)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_spread_is_the_mean_squared_length_of_a_row(fit_intercept: bool) -> None:
    X, y = stream()
    around = X - X.mean(axis=0) * fit_intercept
    expected = (around**2).sum(axis=1).mean()
    for scale in (1e-5, 1.0, 1e7):
        found = spread_of(Sums.of(scale * (X + 3 * fit_intercept), y), fit_intercept)
        assert found == pytest.approx(scale**2 * expected)


def test_rows_that_are_all_alike_are_as_long_as_they_are() -> None:
    sums = Sums.of(np.tile([[3.0, 4.0]], (7, 1)), ["a"] * 7)
    assert spread_of(sums, fit_intercept=True) == pytest.approx(25.0)


@pytest.mark.slow
def test_in_a_stream_of_rows_that_come_and_go_votes_are_rare() -> None:
    """A window of 300 rows: forgetting calls for votes at once only after a thousand rows."""
    X, y = stream(n=3000)
    engine = learn(Engine.blank(5, SETTINGS[0]), X[:300], y[:300])
    selector, at_once = selector_of(engine), 0
    for row in range(300, 3000):
        forget(engine, X[row - 300 : row - 299], y[row - 300 : row - 299])
        at_once += selector.latest is None
        learn(engine, X[row : row + 1], y[row : row + 1])
    assert 2 < at_once <= 1 + 2700 // 150 + 2 * 2700 // 1000


def test_rows_forgotten_one_by_one_call_for_votes_once() -> None:
    X, y = stream()
    engine, never = (Engine.blank(5, SETTINGS[0]) for _ in range(2))
    fit(engine, X, y)
    fit(never, X[5:], y[5:])
    for row in range(5):
        forget(engine, X[row : row + 1], y[row : row + 1])
        assert selector_of(engine).latest is None
    assert result_of(engine).total == len(X) - 5
    assert engine.penalty == never.penalty


@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_a_copy_that_was_interrupted_leaves_no_half_votes(
    failure: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The votes under way are gone, those of before count until the next are called for."""
    X, y = stream(n=700)
    first = next_call(X, y, 150)
    engine = learn(Engine.blank(5, SETTINGS[0]), X[:first], y[:first])
    selector, before = selector_of(engine), selector_of(engine).latest
    assert selector.pending is not None

    def fail(*_: Any) -> None:
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr("newfound.selection.validation.solve_lower", fail)
        with pytest.raises(failure):
            copy.deepcopy(engine)
    assert selector.pending is None
    copy.deepcopy(engine)
    learn(engine, X[first : first + 100], y[first : first + 100])
    assert selector.latest is before
