"""The truth: sums over everything taught; add, remove, merge."""

from newfound.sums.sums import Sums as Sums

__all__ = ["Sums"]
