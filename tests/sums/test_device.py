"""Sums on a device are those of the host, whatever comes and goes."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.common.device import device_of, lasting, on_host
from newfound.common.errors import NotTaughtError
from newfound.sums import buffer, device_sums
from newfound.sums import device as on_device
from newfound.sums.arrays import moved, to_arrays
from newfound.sums.device import rows_at, square_of
from newfound.sums.device_sums import DeviceCross
from newfound.sums.gram import Gram
from newfound.sums.sums import Sums
from tests.devices import EVERYWHERE, PLACES, device, placed
from tests.effort import share_of
from tests.needs import is_here

LABELS = np.array(["mug", "cup", "a jug", "Krug", "杯"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "remove", "merge", "rename", "drop"]),
        st.integers(1, 70),
        st.integers(0, 2**16),
    ),
    min_size=1,
    max_size=12,
)


class Twins:
    """The same sums on a device and on the host, with a list of what they hold."""

    def __init__(self, width: int, per_class: bool, place: str) -> None:
        self.place, self.per_class, self.width = place, per_class, width
        self.there, self.here = Sums(width, per_class, device(place)), Sums(width, per_class)
        self.X, self.y = np.zeros((0, width)), LABELS[:0]

    def rows(self, size: int, seed: int) -> tuple[Any, Any]:
        """Rows that are whole numbers, so that sums are exact, and labels."""
        rng = np.random.default_rng(seed)
        X = rng.integers(-9, 10, (size, self.width)).astype(rng.choice(["f8", "f4"]))
        return X, LABELS[rng.integers(0, 1 + seed % len(LABELS), size)]

    def add(self, size: int, seed: int) -> None:
        X, y = self.rows(size, seed)
        self.here.add(X, *self.here.locate(y))
        self.there.add(placed(X, self.place), *self.there.locate(y))
        self.X, self.y = np.concatenate([self.X, X]), np.concatenate([self.y, y])

    def remove(self, size: int, seed: int) -> None:
        places = np.random.default_rng(seed).permutation(len(self.y))[:size]
        X, y = self.X[places], self.y[places]
        self.here.prepare_removal(X, self.here.locate(y)[0])()
        self.there.prepare_removal(placed(X, self.place), self.there.locate(y)[0])()
        self.X, self.y = np.delete(self.X, places, axis=0), np.delete(self.y, places)

    def merge(self, size: int, seed: int) -> None:
        other = Twins(self.width, self.per_class, self.place)
        other.add(size, seed)
        self.here.merge(other.here)
        self.there.merge(other.there if seed % 2 else other.here)
        self.X, self.y = np.concatenate([self.X, other.X]), np.concatenate([self.y, other.y])

    def rename(self, size: int, seed: int) -> None:
        if len(self.y):
            old, new = self.y[seed % len(self.y)], LABELS[size % len(LABELS)]
            for sums in (self.here, self.there):
                sums.rename(old.item(), np.array([new]))
            self.y = np.where(self.y == old, new, self.y)

    def drop(self, size: int, seed: int) -> None:
        if self.per_class and len(self.y):
            label = self.y[seed % len(self.y)]
            for sums in (self.here, self.there):
                sums.remove_classes(np.array([sums.position(label.item())]))
            kept = self.y != label
            self.X, self.y = self.X[kept], self.y[kept]

    def compare(self) -> None:
        """Assert that both hold exactly what the list says."""
        here, there = self.here, self.there
        assert there.labels.tolist() == here.labels.tolist()
        assert there.counts.tolist() == here.counts.tolist()
        assert there.total == len(self.y)
        assert there.dtype == here.dtype
        gram, columns = self.X.T @ self.X, np.arange(2.0 * self.width).reshape(self.width, 2)
        np.testing.assert_array_equal(on_host(there.gram), gram)
        np.testing.assert_array_equal(on_host(there.cross), here.cross)
        cross = [self.X[self.y == label].sum(axis=0) for label in here.labels]
        np.testing.assert_array_equal(here.cross.T, np.reshape(cross, (-1, self.width)))
        np.testing.assert_array_equal(there.squares, gram.diagonal())
        assert there.trace == np.trace(gram)
        image = there.gram_times(device(self.place).put(columns))
        np.testing.assert_array_equal(on_host(image), gram @ columns)
        assert [len(there.rows_of(label)) for label in there.labels.tolist()] == [
            len(here.rows_of(label)) for label in here.labels.tolist()
        ]


@pytest.mark.slow
@EVERYWHERE
@given(st.integers(1, 40), st.booleans(), STEPS)
@settings(max_examples=share_of(40))
def test_whatever_comes_and_goes_the_sums_are_those_of_the_host(
    place: str, width: int, per_class: bool, steps: list[tuple[str, int, int]]
) -> None:
    twins = Twins(width, per_class, place)
    for step, size, seed in steps:
        getattr(twins, step)(size, seed)
        twins.compare()
    for there in (device(place), None) if len(twins.y) else ():
        twins.there = moved(twins.there, there)
        back = moved(twins.there, device(place))
        found, expected = to_arrays(back), to_arrays(twins.there)
        assert found.keys() == expected.keys()
        for name in found:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@EVERYWHERE
@pytest.mark.parametrize("per_class", [False, True])
def test_copies_and_pickles_are_apart(place: str, per_class: bool) -> None:
    twins = Twins(7, per_class, place)
    twins.add(40, 1)
    before = to_arrays(twins.there)
    for other in (copy.deepcopy(twins.there), pickle.loads(pickle.dumps(twins.there))):
        assert other.device == device(place)
        other.add(placed(twins.X[:3], place), *other.locate(twins.y[:3]))
        assert other.total == 43
        for name, values in to_arrays(twins.there).items():
            np.testing.assert_array_equal(values, before[name])


@EVERYWHERE
def test_rows_are_copied_and_never_changed(place: str) -> None:
    X = np.arange(30.0).reshape(10, 3)
    rows, sums = placed(X, place), Sums(3, device=device(place))
    sums.add(rows, *sums.locate(np.repeat(["cup", "mug"], 5)))
    np.testing.assert_array_equal(on_host(rows), X)
    rows[:, :] = 7.0
    np.testing.assert_array_equal(on_host(sums.gram), X.T @ X)


@EVERYWHERE
def test_what_waits_goes_to_the_last_bit_in_whatever_company(place: str) -> None:
    """Subtracting the product of a large row would leave its rounding in all others."""
    rng = np.random.default_rng(0)
    X, large = rng.normal(size=(200, 8)), 1e8 * rng.normal(size=(1, 8))
    gram = Gram(8, device=device(place))
    gram.add(placed(X, place))
    gram.add(placed(large, place))
    many = np.concatenate([X[:100], large])
    assert len(many) > buffer.FEW_ROWS
    gram.prepare_removal(placed(many, place))()
    left = device(place).zeros(8, 8)
    gram.add_to(left, 1.0)
    np.testing.assert_allclose(on_host(left), X[100:].T @ X[100:], atol=1e-12)
    assert gram.buffer.count == 0


@EVERYWHERE
@pytest.mark.parametrize("rows", [3, 100])
def test_a_row_that_is_held_once_is_found_once(place: str, rows: int) -> None:
    X = np.zeros((rows, 2))
    X[:, 0] = np.arange(rows)
    gram = Gram(2, raw_limit=200, device=device(place))
    gram.add(placed(X, place))
    twice = np.concatenate([X[1:], X[1:2]])
    with pytest.raises(NotTaughtError, match="no row that is held equals it"):
        gram.prepare_removal(placed(twice, place))
    np.testing.assert_array_equal(gram.rows, X)
    gram.prepare_removal(placed(-1.0 * X, place) if rows == 1 else placed(X[1:], place))()
    np.testing.assert_array_equal(gram.rows, X[:1])


@EVERYWHERE
def test_zero_and_minus_zero_are_the_same_row(place: str) -> None:
    for rows in (2, 100):
        X = np.zeros((rows, 3))
        gram = Gram(3, raw_limit=200, device=device(place))
        gram.add(placed(X, place))
        gram.prepare_removal(placed(-X, place))()
        assert gram.buffer.count == 0


@EVERYWHERE
@pytest.mark.parametrize("per_class", [False, True])
def test_what_was_not_taught_is_refused_and_changes_nothing(place: str, per_class: bool) -> None:
    twins = Twins(5, per_class, place)
    twins.add(60, 4)
    before = to_arrays(twins.there)
    x, label = placed(1e3 + twins.X[:1], place), twins.there.locate(twins.y[:1])[0]
    many = np.zeros(61, dtype=int)
    with pytest.raises(NotTaughtError, match="61 examples"):
        twins.there.prepare_removal(rows_at(x, many, device(place)), label[many])
    if per_class:  # otherwise the solver sees to it
        with pytest.raises(NotTaughtError, match="those of no data"):
            twins.there.prepare_removal(x, label)
    for name, values in to_arrays(twins.there).items():
        np.testing.assert_array_equal(values, before[name])


@EVERYWHERE
def test_a_class_whose_rows_are_added_up_gives_their_room_back(place: str) -> None:
    gram = Gram(40, raw_limit=20, device=device(place))
    X = np.arange(840.0).reshape(21, 40)
    for row in X:
        gram.add(placed(row[None], place))
    assert not gram.holds_rows
    assert gram.buffer.capacity == gram.block < 20


@EVERYWHERE
def test_many_classes_of_many_rows_take_bounded_memory(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which class each row is of is written out, rows by classes, a chunk at a time."""
    monkeypatch.setattr(on_device, "CHUNK", 200)
    rng, largest, usual = np.random.default_rng(0), [0], on_device.chunks

    def noted(X: Any, width: int = 1) -> Any:
        for part in usual(X, width):
            largest.append(90 * (part.stop - part.start))
            yield part

    monkeypatch.setattr(device_sums, "chunks", noted)
    X, index = rng.normal(size=(90, 2)), rng.permutation(90)
    cross = DeviceCross(device(place).zeros(0, 2), device(place))
    cross.prepare(*cross.terms(placed(X, place), index, True), 90)()
    np.testing.assert_array_equal(on_host(cross.totals)[index], X)
    assert 0 < max(largest) <= 200


@EVERYWHERE
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("rows", [1, 2])
def test_one_number_tells_rows_that_cannot_be_added_up(place: str, value: float, rows: int) -> None:
    X = np.ones((rows, 3))
    assert square_of(placed(X.astype(np.float32), place), device(place)) == 3 * rows
    X[-1, 1] = value
    assert not square_of(placed(X, place), device(place)) < 1e300


@EVERYWHERE
def test_a_device_knows_its_own(place: str) -> None:
    rows = placed(np.ones((2, 2)), place)
    there = device(place)
    assert there.has(rows)
    assert device_of(rows) == there
    assert there.put(rows) is rows
    assert copy.deepcopy(there) is there
    assert pickle.loads(pickle.dumps(there)) == there
    others = [device(other) for other in PLACES if other != place and is_here(other)]
    assert not any(other.has(rows) or other == there for other in others)
    for other in others:
        np.testing.assert_array_equal(on_host(other.put(rows)), np.ones((2, 2)))


@EVERYWHERE
@pytest.mark.parametrize("kind", [">f8", ">i4", "f4", "u1", "?"])
def test_numbers_of_numpy_arrive_whatever_their_type(place: str, kind: str) -> None:
    there, values = device(place), np.array([[0, 1], [1, 0]]).astype(kind)
    np.testing.assert_array_equal(on_host(there.put(values, double=False)), values)
    np.testing.assert_array_equal(on_host(there.put(values[::-1])), values[::-1].astype(float))


@EVERYWHERE
def test_memory_of_numpy_is_not_shared(place: str) -> None:
    values = np.ones((2, 2))
    values.flags.writeable = False
    device(place).put(values)[0, 0] = 7.0
    np.testing.assert_array_equal(values, np.ones((2, 2)))


@pytest.mark.needs("torch")
def test_what_is_made_in_inference_mode_can_be_changed_outside() -> None:
    import torch

    @lasting
    def make(fill: float) -> Any:
        return torch.full((2,), fill)

    with torch.inference_mode():
        made = make(fill=1.0)
        assert torch.is_inference_mode_enabled()
    made += 1
    assert made.tolist() == make(2.0).tolist()
