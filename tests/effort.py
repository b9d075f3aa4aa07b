"""How hard tests try, and with which seed: few examples at first, many in `make test-all`."""

import os

# What `make` asks for: see conftest.py at the root.
TIER = os.environ.get("NEWFOUND_TIER", "test")
SEED = os.environ.get("NEWFOUND_SEED", "fixed")
SHARE = {"quick": 0.1, "test": 0.2, "all": 1.0}[TIER]


def share_of(most: int, share: float | None = None) -> int:
    """Return how many of the examples that `make test-all` tries this run should try.

    >>> share_of(3)
    3
    """
    share = SHARE if share is None or TIER == "all" else share
    return max(min(3, most), round(share * most))


def seed(fixed: int) -> int:
    """Return the seed that a test gives, or, with `SEED=random`, another one in each run."""
    return fixed if SEED == "fixed" else (int(SEED) + fixed) % 2**32
