"""The service bears several clients at once, and what the benchmark of that says is true."""

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "part", ["starts", "memory", pytest.param("network", marks=pytest.mark.exhaustive)]
)
def test_a_small_load_is_borne_without_an_error_or_a_lost_lesson(part: str) -> None:
    from benchmarks.studio import PARTS, QUICK  # here, for collection shall not load it

    found = list(PARTS[part](QUICK))
    assert found
    # Times and ratios are for a machine that does nothing else; what must be zero is zero here.
    for each in found:
        assert each.bar != 0 or each.value == 0, f"{each.what}: {each.value} ({each.note})"


def test_a_lesson_that_is_lost_is_noticed() -> None:
    from benchmarks.studio import lost

    assert lost(10, entries=10, kept=10, restarted=10) == 0
    assert lost(10, entries=10, kept=10, restarted=8) == 2
    assert lost(10, entries=11, kept=10, restarted=10) == 1, "or in the journal twice"
