"""Sums made by many workers, added by a tree."""
