"""The truth: sums over everything taught; add, remove, merge."""
