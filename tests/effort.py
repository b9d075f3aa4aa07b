"""How hard tests try, and with which seed: few examples at first, many in `make test-all`."""

import os

# What `make` asks for: see conftest.py at the root.
TIER = os.environ.get("NEWFOUND_TIER", "test")
SEED = os.environ.get("NEWFOUND_SEED", "fixed")
SHARE = {"quick": 0.1, "test": 0.3, "all": 1.0}[TIER]


def share_of(most: int, least: int = 3) -> int:
    """Return how many of the examples that `make test-all` tries this run should try.

    >>> share_of(100, least=100)
    100
    """
    return max(min(least, most), round(SHARE * most))


def seed(fixed: int) -> int:
    """Return the seed that a test gives, or, with `SEED=random`, another one in each run."""
    return fixed if SEED == "fixed" else (int(SEED) + fixed) % 2**32
